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
-- A column that is read from a temporary table has the zero of its type as default, an expression has none.
create table made as select 1 a, 'x' b, 1.5 c, 1e0 d, date'2020-01-01' e, true g, x'41' h, time'10:00:00' i
    union select 2, 'y', 2.5, 2e0, date'2020-01-02', false, x'42', time'10:00:01';
show create table made;
create or replace table made as select a from (select 1 a, 'x' b) d;
show create table made;
create or replace table made as with c as (select 1 a) select a, 2 b from c;
show create table made;
create or replace table made as select 1 a intersect select 1;
show create table made;
create or replace table made as values (1, 2), (100, 3);
show create table made;
create or replace table wide (a tinyint(1), b int(2), c int(2) unsigned, d bigint(3));
create or replace table made as select a, b, c, d from wide union all select a, b, c, d from wide;
show create table made;
create or replace table made as select a + 1, b + 1, c + 1, coalesce(a, b), ifnull(1, 2), if(1, 1, 100), greatest(1, 100) from wide;
show create table made;
-- In strict mode a text made by a function can be NULL.
create or replace table made as select concat('a') a, hex(1) b, md5(1) c, cast(1 as char) d, 'a' collate utf8mb4_bin e,
    convert('a' using latin1) f, quote('a') g, concat_ws(',', 'a') h, json_array(1) i, coalesce('a') j, if(1, 'a', 'b') k;
show create table made;
set sql_mode = '';
create or replace table made as select concat('a') a, hex(1) b, md5(1) c, cast(1 as char) d, 'a' collate utf8mb4_bin e;
show create table made;
set sql_mode = default;
drop table made, wide;
