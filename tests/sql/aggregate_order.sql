-- ORDER BY inside aggregates.
create table t1 (id int primary key, x int, e enum('z', 'a', 'm'), s set('z', 'a'), j json);
insert into t1 values (1, 10, 'm', 'a', '[1]'), (2, null, 'z', 'z', '{"k":2}'), (3, 30, 'a', 'z,a', null);
select json_arrayagg(x order by id desc), json_arrayagg(x), json_arrayagg(j order by id desc), json_arrayagg(e order by e) from t1;
select json_arrayagg(distinct x order by x desc) from t1;
select group_concat(id order by 1 desc), group_concat(id, x order by 2 desc), group_concat(id order by -id), group_concat(id order by x desc, 1) from t1;
select group_concat(id order by 2) from t1;
select group_concat(id order by 0) from t1;
select group_concat(e order by e), group_concat(e order by e desc), group_concat(s order by s), group_concat(id order by e + 0), group_concat(id order by concat(e)) from t1;
select min(e), max(e), min(s), max(s) from t1;
select json_objectagg(id, x), json_objectagg('k', id), json_objectagg(e, j) from t1;
select json_arrayagg(x), json_objectagg(id, x), group_concat(x) from t1 where id > 9;
drop table t1;
-- DISTINCT without ORDER BY sorts.
create table gd (a int, b varchar(5), c enum('z', 'y'), d decimal(5, 2));
insert into gd values (3, 'c', 'y', 1.5), (1, 'B', 'z', -2), (2, 'a', 'y', 10), (3, 'c', 'z', 1.5), (10, 'd', 'y', null);
select group_concat(distinct a), group_concat(distinct b), group_concat(distinct a, b), group_concat(distinct b separator '-'), group_concat(distinct a limit 2) from gd;
select group_concat(distinct c), group_concat(distinct d), group_concat(distinct -a), json_arrayagg(distinct a), json_arrayagg(distinct d) from gd;
select group_concat(distinct a order by b), group_concat(distinct a order by a desc) from gd;
select b < 'c' x, group_concat(distinct a) from gd group by x;
