-- A date as text has the fractional digits written in it or in the interval; a text column has six.
select date_add('2024-01-01', interval 1.5 second), date_add('2024-01-01', interval '1.5' second), date_add('2024-01-01 00:00:00', interval 1.25 second), date_add('2024-01-01', interval 1 second), date_add('2024-01-01', interval 1.500 second), date_add('2024-01-01', interval 1e0 second);
select date_sub('2024-01-01 00:00:01.5', interval 1 second), date_add('2024-01-01', interval '1.5' second_microsecond), date_add('2024-01-01', interval 1 microsecond), timestampadd(second, 1.5, '2024-01-01'), '2024-01-01' + interval 1.5 second, date_add('2024-01-01', interval 1.5 minute), date_add('2024-01-01', interval 1.5 day);
select date_add('2024-01-01 00:00:00.000', interval 1 hour), date_add('2024-01-01 00:00:00.25', interval 0.75 second), date_add('2024-01-01', interval -0.5 second), date_add(20240101, interval 1.5 second), date_add('2024-01-01 10:00', interval 1 second), date_add(date'2024-01-01', interval 1.5 second);
create table t1 (v varchar(30), n decimal(5, 2), i int);
insert into t1 values ('2024-01-01 00:00:00', 1.5, 1), ('2024-01-01 00:00:00.25', 1, 2), ('2024-01-01', 1.25, 3);
select date_add(v, interval 1 second), date_add(v, interval 1.5 second), date_add(v, interval n second), date_add(v, interval 1 hour), date_add(v, interval 1 microsecond), date_add(v, interval 1 day) from t1;
select date_add('2024-01-01', interval n second), date_add('2024-01-01 00:00:00.25', interval i second), date_add('2024-01-01 00:00:00.25', interval 1 hour) from t1;
set @v = '2024-01-01 00:00:00', @s = 1;
select date_add(@v, interval 1.5 second), date_add(@v, interval 1 second);
prepare s1 from 'select date_add(?, interval ? second)';
execute s1 using @v, @s;
drop table t1;
