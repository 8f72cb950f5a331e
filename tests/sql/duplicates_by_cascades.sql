-- What a cascade makes equal in a unique key of the child is an error (1761), also for IGNORE.
create table fp (a int, b varchar(5), primary key (a,b)) engine=innodb;
create table fc (id int primary key, a int, b varchar(5), unique key ab (a,b), foreign key (a,b) references fp (a,b) on delete set null on update cascade) engine=innodb;
set foreign_key_checks=0;
insert into fp values (1,'x'),(1,'y'),(2,'y');
insert into fc values (100,1,'x'),(101,3,'x'),(102,1,'y');
set foreign_key_checks=1;
insert ignore into fp values (1,'x') on duplicate key update a=3;
update ignore fp set a=3 order by b desc;
select * from fp;
update ignore fp, (select 1) x set fp.a=3 where fp.b='x';
select * from fp;
drop table fc, fp;
