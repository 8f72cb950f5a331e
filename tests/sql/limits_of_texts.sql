-- Numbers in the texts of intervals, characters of ESCAPE, depth of JSON, predicates as bounds of BETWEEN.
select date_add('2000-01-01', interval '0 00:00:01.50000000000000000000' day_microsecond), date_add('2000-01-01', interval '0 00:00:01.5000000000000000000' day_microsecond);
select date_add('2000-01-01', interval '99999999999999999999:1' hour_minute), date_add('2000-01-01', interval '1.20000000000000000000' second_microsecond);
select 'a%' like 'a3%' escape (1+2), 'a' like 'b' escape 3 is false, 'a0%' like 'a0%' escape (3 is false), 'a' like 'a' escape (3 in (0,1));
select 'a' like 'a' escape 12;
select 'a' like 'a' escape (12+1);
select 'a' like 'a' escape rand();
create view e as select 'a' like 'b' escape (1+1) as x1, 'a' like 'b' escape 3 as x2, 'a' like 'b' escape (3 is false) as x3;
show create view e;
select * from e;
select 1 between 0 in (0,1) and 3, 5 between 0 between 1 and 2 and 3, 1 between 0 and 3 between 1 and 2, 1 between 2 like 3 and 4;
select 1 between 1 = 1 and 3;
select json_valid(concat(repeat('[', 31), repeat(']', 31))), json_valid(concat(repeat('[', 32), repeat(']', 32)));
select json_valid(concat(repeat('{"a":', 31), '1', repeat('}', 31))), json_equals(concat(repeat('{"a":', 32), '1', repeat('}', 32)), '1');
select json_extract(concat(repeat('[', 32), repeat(']', 32)), '$.a');
