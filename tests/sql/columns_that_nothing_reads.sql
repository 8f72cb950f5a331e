-- A derived table that is one SELECT without grouping is merged: an expression of it that nothing reads is not computed and cannot fail.
create table d (i int);
insert into d values (1);
with x as (select i a, i+9223372036854775807 b from d) select a from x;
with x as (select i a, i+9223372036854775807 b from d) select count(*) from x;
with x as (select i a, i+9223372036854775807 b from d) select p.a from x p, x q;
select a from (select i a, i+9223372036854775807 b from d) x;
select (select a from (select i a, i+9223372036854775807 b from d) x);
with x as (select 1 a, 9223372036854775807+1 b) select a from x;
drop table d;
