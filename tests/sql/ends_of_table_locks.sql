-- LOCK TABLES ends with its last table.
create table a (x int);
create table b (x int);
lock tables a write, b write;
drop table a;
create table c (x int);
drop table b;
create table c (x int);
-- events are refused
lock tables c write;
create event ev on schedule every 1 day do select 1;
alter event ev disable;
drop event if exists ev;
unlock tables;
-- of two locks that forbid a change, that of the table is told
lock tables c read;
flush tables c with read lock;
unlock tables;
flush tables c with read lock;
insert into c values (3);
unlock tables;
-- a temporary table does not hide a view from SHOW CREATE VIEW
create temporary table tv (x int);
create view tv as select 1 a;
show create view tv;
drop view tv;
show create view tv;
