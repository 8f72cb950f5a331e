-- NULLIF returns its first argument unchanged and compares it by the type of the second; each argument is evaluated once.
create table t1 (id int primary key, a int, l1 varchar(10) character set latin1, u4 varchar(10), b varbinary(10), j json, d date);
insert into t1 values (1, 1, 'ä', 'ä', 'ä', '{"a": "x", "n": 7, "t": true}', '2001-01-02'), (2, 3, 'b', 'b', 'b', '{"a": "\\"", "n": 7.5, "t": false}', '2001-02-03'), (3, null, null, null, null, null, null);
select id, nullif(1/3, 0.3333), nullif(a/3, 0.3333), nullif(a/3, 0.3333)*3, nullif(a/3, 1)*3 from t1;
select id, nullif(l1, u4), nullif(l1, b), hex(nullif(b, l1)), hex(nullif(l1, x'E4')), nullif(u4, b) from t1;
select id, nullif(json_extract(j, '$.n'), 7), nullif(json_extract(j, '$.a'), 'x'), nullif(json_extract(j, '$.t'), 1), nullif('x', json_extract(j, '$.a')) from t1;
select id, nullif(date_add('2001-01-01', interval a day), 20010102), nullif(date_add('2001-01-01', interval a day), d), nullif(date_add('2001-01-01', interval a day), '2001-01-02') from t1;
select nullif(x'61', 97), nullif(x'61', 'a'), nullif(97, x'61'), nullif(0x3A, ':');
select id, nullif(nullif(nullif(a/3, 1), 2), 0.3333)*3, nullif(nullif(nullif(json_extract(j, '$.n'), 8), 9), 7) from t1;
-- An operand of comparisons with numbers and with texts is read as both.
select id, json_extract(j, '$.n') in ('7', 7.5), json_extract(j, '$.n') in (7, 'x'), json_extract(j, '$.t') in ('x', 1), json_extract(j, '$.t') not in ('x', 1) from t1;
select id, date_add('2001-01-01', interval a day) in (20010102, '2001-01-04'), date_add('2001-01-01', interval a day) not in (20010102, 'x'), x'37' in (7, '8'), x'37' in (55, '8') from t1;
select id, case json_extract(j, '$.n') when '7' then 'text' when 7 then 'number' else 'none' end, case json_extract(j, '$.t') when 'true' then 'text' when 1 then 'number' when 0 then 'zero' end from t1;
select id, case date_add('2001-01-01', interval a day) when 20010102 then 'number' when '2001-01-04' then 'text' end, case x'37' when '7' then 'text' when 55 then 'number' end, case x'37' when 7 then 'number' when '8' then 'text' when 55 then 'bytes' end from t1;
drop table t1;
