-- Nothing remains of a CREATE TABLE … SELECT that fails.
create table made (primary key (a)) select 1 a union all select 1;
show tables;
select * from made;
create table made (a int primary key) select 1 a;
create or replace table made (primary key (a)) select 1 a union all select 1;
show tables;
create table made (a tinyint) select 300 a;
show tables;
create table made (a int check (a < 2)) select 1 a union all select 2;
show tables;
-- A temporary table that hides it remains.
create temporary table made (z int);
create table made (primary key (a)) select 1 a union all select 1;
select * from made;
drop temporary table made;
select * from made;
set autocommit = 0;
create table made (primary key (a)) select 1 a union all select 1;
show tables;
set autocommit = default;
show tables;
create table made (primary key (a)) select 1 a;
select * from made;
drop table made;
