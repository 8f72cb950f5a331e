-- Statements that would wait for their own session.
create table t1 (a int);
begin;
set global read_only = 1;
rollback;
begin;
insert into t1 values (1);
set global read_only = 1;
rollback;
lock tables t1 read;
set global read_only = 1;
set global read_only = 0;
flush privileges;
unlock tables;
select @@global.read_only;
-- Names of accounts in errors are escaped.
drop user 'u\'s"\n\\'@'localhost';
create user 'u\'s"\n\\'@'localhost';
create user 'u\'s"\n\\'@'localhost';
drop user 'u\'s"\n\\'@'localhost';
alter user 'u\'s"\n\\'@'localhost' identified by 'x';
create role 'r\'x';
create role 'r\'x';
drop role 'r\'x';
drop role 'r\'x';
-- IF EXISTS of ALTER TABLE lists an error.
alter table if exists nix rename to t2;
alter table if exists nix add column a int;
-- CUBE.
select a, count(*) from t1 group by a with cube;
-- The session's own global read lock does not hinder read_only: tools for failover take it first.
flush tables with read lock;
set global read_only = 1;
select @@global.read_only;
unlock tables;
start transaction read write;
rollback;
set global read_only = 0;
-- Tables of the system are locked like others.
lock tables t1 read, mysql.event read;
select count(*) from mysql.event;
select * from t1;
unlock tables;
lock tables mysql.user read;
select * from t1;
unlock tables;
