-- Values beyond the limits of numbers and dates.
do sum(1);
do count(*);
do 1 + max(2);
do (select sum(1));
values (1), (count(*));
create table t1 (d date, j json);
set sql_mode = '';
insert into t1 values ('2024-00-00', '[1,2,3]'), ('0000-01-01', '{"a":[4]}'), ('0000-00-00', '5'), ('2024-02-00', null);
select d, date_format(d, '%U'), date_format(d, '%u'), date_format(d, '%V'), date_format(d, '%v'), date_format(d, '%X'), date_format(d, '%x') from t1 where d <> '0000-00-00';
select d, week(d, 0), week(d, 1), week(d, 2), week(d, 3), week(d, 4), week(d, 5), week(d, 6), week(d, 7) from t1;
select d, weekofyear(d), yearweek(d), yearweek(d, 1), yearweek(d, 3) from t1;
select date_format('10:00:00', '%U'), date_format('10:00:00', '%v %x');
select makedate(2020, 9223372036854775807), makedate(9999, 365), makedate(9999, 366), makedate(2020, -9223372036854775807);
select period_add(202401, 9223372036854775807), period_add(202401, 2147483647), period_add(202401, -9223372036854775807), period_add(202401, -1);
select j, json_extract(j, '$[last-2147483647]'), json_extract(j, '$[2147483647]') from t1;
drop table t1;
