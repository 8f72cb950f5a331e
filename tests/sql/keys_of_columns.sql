-- PRIMARY KEY and UNIQUE of the same column's definition are one key.
create table s1 (a serial primary key, b int);
show create table s1;
create table s2 (a serial, b int, unique(a));
show create table s2;
create table s3 (a serial, b int, primary key(a));
show create table s3;
create table s4 (a int unique primary key, b int unique key);
show create table s4;
create table s5 (b int);
alter table s5 add column a int primary key unique;
show create table s5;
alter table s5 add column c int unique comment 'x';
show create table s5;
-- the largest number
create table m1 (a bigint unsigned primary key auto_increment, b int);
insert into m1 values (18446744073709551615, 1);
insert into m1 (b) values (2);
select * from m1;
