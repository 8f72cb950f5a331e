-- The keys of WITH ROLLUP are NULL in some rows, so columns of views and derived tables that show them can be NULL.
create table w (a int not null, b int, v varchar(10) not null, t tinyint(2) not null, z int(3) zerofill not null);
insert into w values (1,1,'a',1,1),(2,2,'bb',2,2);
create view v1 as select a, length(v), count(*), b, a+1, t, z from w group by a, length(v), b, a+1, t, z with rollup;
desc v1;
create view v2 as select a, max(b), a+0, v from w group by a with rollup;
desc v2;
create view v3 as select * from (select a, length(a), count(*) from w group by a with rollup) x;
desc v3;
create table c3 as select * from v3;
show columns from c3 where field <> 'count(*)';
select * from c3 order by a;
create table c4 as select * from v1;
desc c4;
create table c5 as select a, count(*) from w group by a with rollup;
drop view v1, v2, v3;
drop table w, c3, c4;
