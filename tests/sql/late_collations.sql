-- COLLATE of a column directly after its type, and among its attributes.
create table t (a char(10) collate default not null collate utf8mb4_general_ci) charset latin1;
show create table t;
create or replace table t (a char(10) collate default not null collate latin1_swedish_ci) charset latin1 collate latin1_bin;
show create table t;
create or replace table t (a char(10) character set utf8mb4 collate default not null collate latin1_swedish_ci) charset latin1;
create or replace table t (a char(10) collate default not null collate latin1_bin);
create or replace table t (a char(10) collate default collate default);
create or replace table t (a char(10) collate latin1_bin collate default);
create or replace table t (a char(10) not null collate default);
create or replace table t (a char(10) default '' collate default);
create or replace table t (a char(10) not null collate default default '');
drop table if exists t;
