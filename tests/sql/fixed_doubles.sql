-- CAST to DOUBLE with fixed decimals.
select cast('123456.789' as double(5,2)) as a, cast(-123456 as double(5,2));
select cast(1.555 as double(5,2)), cast(1.005 as double(5,2)), cast(2.5 as double(5,0)), cast(null as double(5,2));
select concat(cast(2.5 as double(5,1))), cast(3 as double(5,2)) + 1, cast(3 as double(5,2)) * 1.5;
select cast(1 as double(5,6));
select cast(1 as double(300,6));
select cast(1.23 as double(40,31)), cast(1e10 as double), cast(1.5 as float);
select cast(1 as double(5));
create table c (a double(10,3), b varchar(20));
insert into c values (1.23456, '7.891'), (99999, 'x');
select cast(a as double(4,1)), cast(b as double(6,2)) from c;
create table h as select cast(1.23456 as double(10,2)) a, cast(1 as float) b, cast(2 as double) c;
show create table h;
select * from h;
create view v as select cast(1 as double(5,2)), cast(1 as double), cast(1 as float);
show create view v;
select * from v;
