-- A DROP of several objects says of each why it is not dropped.
create table t1 (i int);
create view v1 as select 1;
create sequence s1;
drop table t1, s1, v1, nope;
show warnings;
create table t1 (i int);
create sequence s1;
drop sequence s1, t1, v1, nope;
show warnings;
drop sequence if exists s1, t1, v1, nope;
show warnings;
drop table if exists v1, nope, t1;
show warnings;
show full tables;
drop view v1;
