-- Texts of views: two negations, tests for NULL of constants, names in views that are invalid.
create table t (a int not null, b int);
create view v as select 1 is null x1, null is null x2, (1 + 1) is null x3, (1 / 2) is null x4, 'a' is null x5, (1 = 1) is null x6,
  (1 is true) is null x7, a is null x8, (not 1) is null x9, (1 and 0) is null x10, (1 > null) is null x11, isnull(1) x12,
  1 is not null x13, (1 in (1, 2)) is null x14, (1 between 0 and 2) is null x15, date'2001-01-01' is null x16,
  (a = 1) is null x17, ('a' like 'b') is null x18, not (1 is null) x19 from t;
select view_definition from information_schema.views where table_schema = 't' and table_name = 'v';
select * from v;
create or replace view v as select not not a x1, not not 1 x2, !!a x3, not not (a = 1) x4, not not not a x5, not not exists(select 1) x6,
  not not (1 <=> 2) x7, not not ('a' regexp 'b') x8, not not (1 xor 2) x9, not not (1 is true) x10, not not (1 + 1) x11,
  not not if(1, 2, 3) x12 from t;
select view_definition from information_schema.views where table_schema = 't' and table_name = 'v';
create table d (a int default (not not 1), b int as (not not a), c int default (not not (1 = 1)), d int default (1 is null));
show create table d;
create or replace view v as select a, b + 1 from t where b > 1 group by a;
create view w as select z.a, (select max(b) from t y where y.a = z.a) m from (select a from t) z;
show create view v;
alter table t change b c int;
show create view v;
show create view w;
drop view v, w;
drop table t, d;
