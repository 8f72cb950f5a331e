-- Definitions that the MEMORY engine rejects, because a replica could not execute them.
create table t (a int primary key, b text) engine=memory;
create table t (a int primary key, b blob) engine=memory;
create table t (a int primary key, b varchar(100)) engine=memory;
alter table t add column c longtext;
alter table t modify column b mediumblob;
create table u (a int primary key, b text) engine=innodb;
alter table u engine=memory;
alter table u drop column b;
alter table u engine=memory;
insert into u values (1);
select * from u;
drop table t, u;
