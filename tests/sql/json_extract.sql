-- The result of JSON_EXTRACT is compared with text without its quotes, and read as a number by its digits.
create table t1 (id int primary key, d json, l text character set latin1);
insert into t1 values (1, '{"s":"open","n":5,"b":true,"f":"1.5"}', '{"s":"open"}'), (2, '{"s":"Open","n":"5","b":false,"f":2}', '{"s":"x\\"y"}'), (3, '{"s":["open"],"n":null}', null), (4, '{}', '{}');
select id from t1 where json_extract(d, '$.s') = 'open';
select id from t1 where 'open' = json_extract(d, '$.s');
select id from t1 where json_extract(d, '$.s') = '"open"';
select id from t1 where json_extract(l, '$.s') = 'OPEN' or json_extract(l, '$.s') = 'x"y';
select id, json_extract(d, '$.s') <> 'open', json_extract(d, '$.s') < 'p', json_extract(d, '$.s') <=> 'open', json_extract(d, '$.s') <=> null from t1;
select id, json_extract(d, '$.s') in ('open'), json_extract(d, '$.s') not in ('open'), json_extract(d, '$.s') in ('open', 'x'), json_extract(d, '$.s') in ('"open"', 'x'), 'open' in (json_extract(d, '$.s')) from t1;
select id, json_extract(d, '$.s') between 'open' and 'p', case json_extract(d, '$.s') when 'open' then 1 else 0 end, json_extract(d, '$.s') like 'open', json_extract(d, '$.s') like '"open"' from t1;
select id, nullif(json_extract(d, '$.s'), 'open'), nullif('open', json_extract(d, '$.s')) from t1;
select id, nullif(json_extract(d, '$.n'), 5), nullif(5, json_extract(d, '$.n')), nullif(json_extract(d, '$.b'), 1) from t1;
select id, (json_extract(d, '$.s'), 1) = ('open', 1), json_extract(d, '$.s') = (select 'open') from t1;
select id, json_extract(d, '$.s') = json_extract(d, '$.s'), json_extract(d, '$.n') = json_extract(d, '$.n') from t1;
select id, json_extract(d, '$.s') = 'OPEN', collation(json_extract(d, '$.s')), collation(json_extract(l, '$.s')) from t1;
select id from t1 order by json_extract(d, '$.s'), id;
select json_extract('{"a":"x"}', '$.a') = 'x', json_extract('{"a":null}', '$.a') = 'null', json_extract('{"a":[1,2]}', '$.a') = '[1, 2]', json_extract('{"a":["x"]}', '$.a[*]') = 'x', json_extract('{"a":1.50}', '$.a') = '1.5', json_extract('{"a":true}', '$.a') = 'true';
-- As a number and as a condition.
select id from t1 where json_extract(d, '$.b');
select id from t1 where not json_extract(d, '$.b');
select id, json_extract(d, '$.b') = true, json_extract(d, '$.b') = 1, json_extract(d, '$.b') is true, if(json_extract(d, '$.b'), 'yes', 'no'), json_extract(d, '$.b') and 1, case when json_extract(d, '$.b') then 1 end, json_extract(d, '$.b') + 0 from t1;
select id, json_extract(d, '$.f') * 2, -json_extract(d, '$.f'), json_extract(d, '$.f') > 1, json_extract(d, '$.f') in (1, 1.5), json_extract(d, '$.n') = 5, json_extract(d, '$.s') + 0 from t1;
select sum(json_extract(d, '$.f')), avg(json_extract(d, '$.n')), max(json_extract(d, '$.f')), sum(json_extract(d, '$.b')) from t1;
select id, round(json_extract(d, '$.f')), abs(json_extract(d, '$.f')), cast(json_extract(d, '$.f') as double), cast(json_extract(d, '$.f') as decimal(10, 2)) from t1 where id = 1;
select json_extract('{"a":"12abc"}', '$.a') + 0, json_extract('{"a":" 7"}', '$.a') + 0, json_extract('{"a":[3]}', '$.a') + 1, json_extract('{"a":null}', '$.a') + 1, json_extract('{"a":"1e2"}', '$.a') + 1, json_extract('{"a":".5"}', '$.a') + 1, json_extract('{"a":"-3"}', '$.a') + 1, json_extract('{"a":"x"}', '$.a') + 1;
update t1 set l = 'done' where json_extract(d, '$.s') = 'open';
select id from t1 where l = 'done';
drop table t1;
