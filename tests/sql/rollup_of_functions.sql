-- A group key that is a function call is NULL in the summary rows.
create table t1 (id int primary key, d date, v varchar(20), n int);
insert into t1 values (1, '2020-01-31', 'a', 1), (2, '2020-02-01', 'a', 2), (3, '2021-02-01', 'b', 3), (4, null, null, 4);
select year(d), count(*) from t1 group by year(d) with rollup;
select year(d) y, month(d) m, sum(n) from t1 group by year(d), month(d) with rollup;
select upper(v), count(*) from t1 group by upper(v) with rollup;
select date_format(d, '%Y-%m'), sum(n) from t1 where d is not null group by date_format(d, '%Y-%m') with rollup;
select ifnull(upper(v), 'none'), count(*) from t1 group by ifnull(upper(v), 'none') with rollup;
select if(n > 1, 'x', 'y'), count(*) from t1 group by if(n > 1, 'x', 'y') with rollup;
select n + 1, v, count(*) from t1 group by n + 1, v with rollup;
select year(d) y, sum(n) from t1 where d is not null group by year(d) with rollup having y is null;
select year(d) y, sum(n) from t1 where d is not null group by y with rollup having ifnull(y, 'all') = 'all';
select year(d), sum(n) from t1 group by year(d) order by year(d) desc;
select y, s from (select year(d) y, sum(n) s from t1 group by year(d) with rollup) q order by s, y;
-- It is recognized in the select list too.
set sql_mode = concat(@@sql_mode, ',ONLY_FULL_GROUP_BY');
select year(d), count(*) from t1 group by year(d);
select month(d), count(*) from t1 group by year(d);
set sql_mode = default;
drop table t1;
