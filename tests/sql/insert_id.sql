-- INSERT_ID applies to all rows of the statement, whatever the table contains.
create table ai (id int auto_increment primary key, x int);
insert into ai values (8, 0);
set insert_id = 5;
insert into ai (x) values (10), (11), (12);
select last_insert_id();
select * from ai order by id;
insert into ai (x) values (13);
select * from ai order by id;
-- Explicit values: larger ones move the following values, smaller ones do not.
create or replace table ai (id int auto_increment primary key, x int);
set insert_id = 5;
insert into ai values (null, 10), (3, 11), (null, 12), (20, 13), (null, 14), (22, 15), (null, 16);
select * from ai order by id;
create or replace table ai (id int auto_increment primary key, x int);
set insert_id = 5;
insert into ai values (30, 10), (null, 11), (null, 12);
select * from ai order by id;
-- The value of a row that is not inserted is used for the next one.
create or replace table ai (id int auto_increment primary key, x int);
insert into ai values (7, 0);
set insert_id = 5;
insert ignore into ai (x) values (10), (11), (12), (13);
select * from ai order by id;
set insert_id = 7;
insert into ai (x) values (14), (15) on duplicate key update x = values(x);
select * from ai order by id;
-- From a query.
create or replace table ai (id int auto_increment primary key, x int);
insert into ai values (8, 0);
set insert_id = 5;
insert into ai (x) select 1 union all select 2 union all select 3;
select * from ai order by id;
-- With an increment.
set auto_increment_increment = 10;
create or replace table ai (id int auto_increment primary key, x int);
set insert_id = 5;
insert into ai (x) values (10), (11), (12);
select * from ai order by id;
set auto_increment_offset = 5;
create or replace table ai (id int auto_increment primary key, x int);
set insert_id = 7;
insert into ai values (null, 10), (null, 11), (16, 12), (null, 13);
select * from ai order by id;
set auto_increment_increment = 1, auto_increment_offset = 1;
-- At the column's end.
create or replace table ai (id tinyint auto_increment primary key, x int);
set insert_id = 127;
insert into ai (x) values (10), (11);
select * from ai;
drop table ai;
