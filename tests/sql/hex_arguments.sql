-- A hexadecimal literal is a number if a function expects one.
select left('abc', 0x02), right('abc', 0x02), substr('abcdef', 0x02, 0x03), mid('abcdef', 0x02), substring_index('a.b.c', '.', 0x02), lpad('a', 0x03, 'x'), rpad('a', 0x03, 'x'), length(space(0x02)), repeat('x', 0x03), insert('abcdef', 0x02, 0x01, 'Z'), locate('c', 'abcabc', 0x04);
select abs(0x41), char(0x41), chr(0x41), round(0x41), round(1.2345, 0x02), mod(0x41, 3), truncate(1.999, 0x01), ceiling(0x41), floor(0x41), sign(0x41), sqrt(0x04), pow(0x02, 0x03), exp(0x00), ln(0x01), log(0x02, 0x08), bit_count(0x07), format(0x41, 0x02), interval(0x02, 1, 2, 3);
select greatest(0x41, 5), least(0x41, 100), greatest(0x41, 1.5), greatest(0x41, 'B'), field(0x41, 64, 65), field(0x41, 'A'), elt(0x02, 'a', 'b'), make_set(0x03, 'a', 'b', 'c'), export_set(0x05, '1', '0', ',', 0x04);
select conv(0x41, 10, 16), conv('41', 0x0a, 0x10), bin(0x41), hex(0x41), sha2('a', 0x0100) = sha2('a', 256), inet_ntoa(0x7f000001);
select sec_to_time(0x41), makedate(0x07e4, 0x20), maketime(0x01, 0x02, 0x03), period_add(0x031511, 0x01), date_add('2020-01-01', interval 0x02 day), adddate('2020-01-01', 0x02), timestampadd(day, 0x02, '2020-01-01'), week('2020-01-01', 0x01);
select abs(b'101'), left('abc', b'10'), if(0x00, 1, 2), if(0x01, 1, 2);
-- In CASE, rows and subqueries as well.
create table t1 (id int primary key, bt bit(1), b8 bit(8), ti tinyint unsigned, j json);
insert into t1 values (1, b'1', 5, 200, '{"a":"1"}'), (2, b'0', 6, 100, '{"a":2}');
select id, case bt when b'1' then 'y' when b'0' then 'n' else '?' end, case ti when 0xC8 then 'y' end, case 200 when ti then 'y' end from t1;
select id from t1 where (bt, id) in ((b'1', 1), (b'0', 2));
select id from t1 where (bt, id) = (b'1', 1);
select id from t1 where (b8, id) = (0x05, 1);
select id from t1 where (0x05, 1) = (b8, id);
select id from t1 where (bt, ti) < (b'1', 0xC8);
select id from t1 where bt in (select b'1');
select id from t1 where ti in (select 0xC8);
select id from t1 where (ti, id) in (select 0xC8, 1);
select id from t1 where bt not in (select b'1');
select id from t1 where json_extract(j, '$.a') in (select '1');
select id, case json_extract(j, '$.a') when 1 then 'one' when 2 then 'two' end from t1;
select id from t1 where (json_extract(j, '$.a'), id) = ('1', 1);
drop table t1;
