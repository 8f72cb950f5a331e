-- A decimal below zero is out of an unsigned column's range, also where it would be rounded to zero; a double is rounded first.
create table t (a int unsigned, b bigint unsigned, c tinyint unsigned);
insert into t (a) values (-0.41);
insert into t (b) values (-0.41);
insert into t (c) values (-0.5);
insert into t (a) values (-0.0);
insert into t (b) values (-0.41e0);
set sql_mode='';
insert into t values (-0.41, -0.41, -0.41);
insert into t values ('-0.41', '-0.41', '-0.41');
select * from t order by a, b, c;
set sql_mode=default;
create table d (a decimal(10,2));
insert into d values (-0.41), (3.5);
alter table d modify a bigint unsigned;
delete from d where a < 0;
alter table d modify a bigint unsigned;
select * from d;
drop table t, d;
