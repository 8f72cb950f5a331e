-- A subquery names an item of the select list around it that contains a subquery itself, or has another value each time.
create table t (a int, b int);
create table u (a int, b int);
insert into t values (1, 1), (2, 2), (2, 4);
insert into u values (1, 1), (2, 3), (null, 2);
select (select max(a) from t) as d, (select count(*) from t where a = d) from u;
select (select max(a) from t where b = u.b) as d, (select d + 1), (select (select d) + 1) from u;
select (select max(a) from t where b = u.b) as d, (select d + 1) as e, (select e + d) from u;
select (select max(a) from t) as d, (select count(*) from t group by d) from u;
select (select a from t where a = u.a) as d, (select count(*) from t where a = d) from u;
select rand() < 2 as d, (select count(*) from t where a = d) from u;
-- In other clauses.
select a, (select max(a) from t where b = u.b) as d from u having (select d) = 1;
select a, (select max(a) from t where b = u.b) as d from u having exists (select 1 from t where a = d);
select a, (select max(a) from t where b = u.b) as d from u order by (select d), a;
select a, (select max(a) from t where b = u.b) as d from u order by (select -d), a limit 2;
select a, (select max(a) from t where b = u.b) as d, sum(b) from u group by a having exists (select 1 from t where a = d);
select min(a), (select max(a) from t where b = u.b) as d, sum(b) from u group by (select d);
select a, (select max(a) from t where b = u.b) as d, sum(b) from u group by a order by (select d), a;
select distinct (select max(a) from t) as d, (select d) from u;
select (select max(a) from t where b <= u.b) as d, (select d), row_number() over (order by u.b) n from u order by n;
select (select max(b) from t where a = u.a) as d, (select count(*) from t where b = d) c from u where a is not null union all select 1, 2;
select * from (select (select max(b) from t where a = u.a) as d, (select count(*) from t where b = d) c from u) x where c > 0;
create view v as select (select max(b) from t where a = u.a) as d, u.a from u;
select (select v.d) from v where a is not null;
select d as e, (select e) from v where a is not null;
select * from t, u where t.b in (select (select a from t order by b) as d from t group by (select d));
-- Errors.
select sum(a) as d, (select d) from u;
prepare s from 'select (select max(a) from t where b >= ?) as d, (select count(*) from t where a = d) from u';
set @x = 2;
execute s using @x;
set @x = 5;
execute s using @x;
