-- Lengths beyond the limits of types.
create table z (a varchar(4294967296));
create table z (a char(4294967296));
create table z (a blob(99999999999));
create table z (a text(4294967296));
create table z (a binary(4294967296));
create table z (a varbinary(4294967296));
create table z (a blob(4294967295), b text(4294967295));
show create table z;
create or replace table z (a int(256));
create or replace table z (a bit(65));
create or replace table z (a decimal(66,1));
create or replace table z (a char(256));
create or replace table z (a time(7));
drop table z;
