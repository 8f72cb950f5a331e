-- An item of the select list that has another value each time is evaluated once a row: what GROUP BY, HAVING and ORDER
-- BY read is what the result shows.
-- (Where an index gives MariaDB the groups, it evaluates the item again.)
create table t (a int, b int);
insert into t select seq, seq % 10 from seq_1_to_1000;
-- Sorted by the values that are shown.
select count(*) from (select r, lag(r) over (order by n) before_it from (select r, row_number() over () n from (select rand() r from t order by r limit 10000) d) e) f where before_it > r;
set @n = 0;
select @n := @n + 1 v from t where a <= 5 order by v desc;
select @n;
set @n = 0;
select @n := @n + 1 v, b from t where a <= 5 order by b desc, v;
set @n = 0;
select @n := @n + 1 v, sum(b) from t where a <= 5 group by a order by v desc;
-- HAVING reads them after grouping, with DISTINCT and before a sort.
select count(*) > 300, sum(r < .5) from (select a, rand() r from t group by a having r >= .5) d;
select sum(r < .5) from (select b, a, rand() r from t group by b, a having r >= .5) d;
select sum(r < .5) from (select b, rand() + sum(a) * 0 r from t group by a, b having r >= .5 order by b) d;
select sum(r < .5) from (select distinct a, rand() r from t having r >= .5) d;
select sum(r < .5) from (select a, rand() r from t having r >= .5 order by r) d;
select sum(r < .5) from (select a, rand() r from t group by a having r >= .5 and exists (select 1 from t u where u.a = t.a)) d;
set @n = 0;
select @n := @n + 1 v from t where a <= 5 group by a having v > 2;
select @n;
set @n = 0;
select distinct @n := @n + 1 v from t where a <= 5 having v > 2 order by v desc;
-- GROUP BY: each group shows its own value.
select count(*), count(r), sum(n) from (select floor(rand() * 3) r, count(*) n from t group by r with rollup) d;
-- An item that no other clause reads is evaluated for the rows that are shown.
set @n = 0;
select a, (@n := @n + 1) > 0 v from t order by b, a limit 3;
