-- Set operations with three or more parts: a column's type comes from all of them at once, so a part that makes it text is
-- considered before the first two are compared. A part in parentheses, or one after INTERSECT, is a query of its own.
create table u1 (c text);
insert into u1 values ('ä'),('a');
create table f (v varbinary(10));
select c from u1 union select 'aa' from u1 where 0 union select concat('Cc',v) from f where 0;
create table d (d date, ts timestamp null, i int);
insert into d values ('2001-01-01','2002-02-02 10:11:12',1);
select d from d union select ts from d union select 1;
select d from d union select 1;
select 1 union select 1.5 union select 'a';
select 1 union select -1.25 except select 'a' union all select 1e0;
(select 1 union select 1.5) union select 'a';
select 1 intersect select 1.0 union select 'a';
select 'a' union select 1 intersect select 1.0;
select 1 union select null union select cast(1 as unsigned);
select i from d union select cast(1 as unsigned) union select 1.5e0;
select 1 union select 2 union select 3 order by 1 desc limit 2;
select 1 union all select 1 union select 1 union all select 1;
create table e as select d from d union select ts from d union select 1;
show create table e;
create or replace table e as select 1 union select 1.5 union select 'a' union select d from d;
show create table e;
drop table u1, f, d, e;
