-- The clause in which the left operand of IN, ANY and ALL is unknown.
create table ia(a int);
select * from ia where nope in (select 1);
select * from ia where nope = any (select 1);
select * from ia where nope > all (select 1);
select nope in (select 1) from ia;
select a from ia order by nope in (select 1);
select a from ia group by nope in (select 1);
select a from ia having nope in (select 1);
select * from ia where a in (select nope);
select * from ia where (a,nope) in (select 1,2);
select * from ia where nope in (1,2);
select * from ia where exists (select nope);
select * from ia join ia b on nope in (select 1);
update ia set a=1 where nope in (select 1);
delete from ia where nope not in (select 1);
select * from ia where nope+1 in (select 1);
drop table ia;
