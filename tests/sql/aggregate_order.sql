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
