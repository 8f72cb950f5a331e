-- CYCLE … RESTRICT: rows are told apart by some columns.
create table g (from_ int, to_ int);
insert into g values (1,2), (1,100), (2,3), (3,4), (4,1);
with recursive c as (select 1 as a union all select null from c where a is not null) cycle a, a restrict select * from c;
with recursive c as (select 1 as a union all select null from c where a is not null) cycle b restrict select * from c;
with c as (select 1 as a) cycle a restrict select * from c;
with recursive c as (select 1 as a, 2 as b) cycle b restrict select * from c;
with recursive c as (select 1 as a, 2 as b union all select a + 1, 2 from c where a < 5) cycle b restrict select * from c;
with recursive c (depth, from_, to_) as (select 0, 1, 1 union select depth+1, g.from_, g.to_ from g, c where g.from_ = c.to_) cycle from_, to_ restrict select * from c order by depth, to_;
create view gv as with recursive c (depth, from_, to_) as (select 0, 1, 1 union select depth+1, g.from_, g.to_ from g, c where g.from_ = c.to_) cycle from_, to_ restrict select * from c;
show create view gv;
select * from gv order by depth, to_;
