-- The sum of a text and an interval is text; in numeric context it is the date's number, and in temporal context the date.
select '2001-01-01' + interval 1 day = 20010102, date_add('2001-01-01', interval 1 day) + 0, date_sub('2001-01-01', interval 1 day) * 1, addtime('10:10:10', '1:0:0') + 0, subtime('10:10:10', '1:0:0') + 0, addtime('2001-01-01 10:10:10', '1:0:0') + 0, date_add('2001-01-01 10:10:10', interval 1 second) + 0, date_add('2001-01-01', interval 1.5 second) + 0, date_add('2001-01-01', interval 1 microsecond) + 0, -date_add('2001-01-01', interval 1 day), date_add('2001-01-01', interval 1 day) | 0, date_add('2001-01-01', interval 1 day) << 1, date_add('2001-01-01', interval 1 day) div 10, date_add('2001-01-01', interval 1 day) % 100, abs(date_add('2001-01-01', interval 1 day)), round(date_add('2001-01-01', interval 1 day), -2), cast(date_add('2001-01-01', interval 1 day) as signed), cast(date_add('2001-01-01', interval 1 day) as unsigned), cast(date_add('2001-01-01', interval 1 day) as decimal(20,2)), cast(date_add('2001-01-01', interval 1 day) as double), cast(date_add('2001-01-01', interval 1 day) as date), cast(date_add('2001-01-01', interval 1 day) as char), cast(date_add('2001-01-01', interval 1 second) as time), timestampadd(day, 1, '2001-01-01') + 0, adddate('2001-01-01', 1) + 0, subdate('2001-01-01', 1) = 20001231, '2001-01-01' - interval 1 day < 20010101, str_to_date('2001-01-01', '%Y-%m-%d') + 0;
select case date_add('2001-01-01', interval 1 day) when 20010102 then 'number' when '2001-01-02' then 'text' end, case date_add('2001-01-01', interval 1 day) when '2001-01-02' then 'text' when 20010102 then 'number' end, date_add('2001-01-01', interval 1 day) in (20010102), date_add('2001-01-01', interval 1 day) in (20010102, 5), date_add('2001-01-01', interval 1 day) in ('2001-01-02', 5), date_add('2001-01-01', interval 1 day) between 20010101 and 20010103, date_add('2001-01-01', interval 1 day) = '2001-1-2', date_add('2001-01-01', interval 1 day) = date'2001-01-02', date_add('2001-01-01', interval 1 day) = timestamp'2001-01-02 00:00:00', nullif(date_add('2001-01-01', interval 1 day), 20010102), if(date_add('2001-01-01', interval 1 day), 1, 2), if(1, date_add('2001-01-01', interval 1 day), 'x') + 0, coalesce(date_add('2001-01-01', interval 1 day), 'x') + 0, ifnull(date_add('2001-01-01', interval 1 day), 'x') = 20010102, case when 1 then date_add('2001-01-01', interval 1 day) else 'x' end + 0, greatest(date_add('2001-01-01', interval 1 day), 0), not date_add('2001-01-01', interval 1 day), date_add('2001-01-01', interval 1 day) and 1, date_add('2001-01-01', interval 1 day) xor 0, date_add('2001-01-01', interval 1 day) is true;
create table t1 (id int primary key, v varchar(30), d date, dt datetime, t time, n bigint, e enum('a','b','9'), s set('x','y'), key(d), key(dt), key(t), key(n));
insert into t1 values (1, '2001-01-01', '2001-01-02', '2001-01-02 00:00:00', '10:00:00', 20010102, 'b', 'x,y'), (2, '2001-12-31 10:10:10', '2002-01-01', '2002-01-01 10:10:10', '11:10:10', 20020101101010, '9', 'y'), (3, '10:10:10', null, null, null, null, 'a', ''), (4, null, null, null, null, null, null, null);
select v + interval 1 day, v + interval 1 day + 0, v + interval 1 day = n, v + interval 1 day = d, v + interval 1 day = dt, d = v + interval 1 day, (v + interval 1 day) between 20010101 and 20010103, n in (v + interval 1 day), if(id, v + interval 1 day, 'x') + 0 from t1;
select sum(v + interval 1 day), avg(v + interval 1 day), min(v + interval 1 day), max(v + interval 1 day), bit_or(v + interval 1 day), std(v + interval 1 day), count(distinct v + interval 1 day), group_concat(v + interval 1 day order by id) from t1 where id < 3;
select id from t1 where v + interval 1 day = 20010102;
select id from t1 where d = '2001-01-01' + interval 1 day;
select id from t1 where dt >= '2001-01-01' + interval 1 day and dt < '2001-01-02' + interval 1 day;
select id from t1 where n = '2001-01-01' + interval 1 day;
select id from t1 where n between '2001-01-01' + interval 1 day and '2001-01-01' + interval 2 day;
select id from t1 where t = addtime('9:00:00', '1:0:0');
select id from t1 where d in ('2001-01-01' + interval 1 day, '2001-12-31' + interval 1 day) order by id;
select id from t1 where v + interval 1 day;
select id from t1 order by v + interval 1 day, id;
prepare p from 'select id from t1 where d = ? + interval ? day or n = ? + interval 1 day';
set @d = '2001-01-01', @n = 1;
create table t2 as select '2001-01-01' + interval 1 day a, ('2001-01-01' + interval 1 day) + 0 b, addtime('10:00:00', '1:0:0') c, addtime('10:00:00', '1:0:0') + 0 d, round('2001-01-01' + interval 1 day) e;
select * from t2;
create table t3 (n bigint, d date, v varchar(30), t time);
insert into t3 values ('2001-01-01' + interval 1 day + 0, '2001-01-01' + interval 1 day, '2001-01-01' + interval 1 day, addtime('10:00:00', '1:0:0'));
update t3 set n = n + (v + interval 1 day);
select * from t3;
-- A function that selects among texts, in numeric context, reads the selected text as a number.
select if(1, e, 'x') + 0, if(0, e, '7') + 0, if(1, e, s) + 0, ifnull(e, 'x') + 0, coalesce(e, s) + 0, coalesce(null, s, e) + 0, case when 1 then e else 'x' end + 0, case id when 1 then e when 2 then s else '5' end + 0, nullif(e, 'x') + 0, if(1, e, 'x') = 2, if(1, e, 'x') * 1.5, -if(1, e, 'x'), abs(if(1, e, 'x')), round(if(1, e, 'x')), if(1, e, 'x') | 0, if(1, e, 'x') < 3, if(1, e, 'x') = 'b', concat(if(1, e, 'x')), left('abcdef', if(1, e, 'x')), if(1, if(1, e, 'x'), 'y') + 0, greatest(if(1, e, 'x'), 0), if(if(1, e, 'x'), 1, 2), not if(1, e, 'x'), cast(if(1, e, 'x') as signed), cast(if(1, e, 'x') as unsigned), cast(if(1, e, 'x') as decimal(5,2)), cast(if(1, e, 'x') as double), cast(if(1, e, 'x') as char) from t1;
select sum(if(1, e, 'x')), avg(coalesce(e, 'x')), max(if(1, e, 'x')), sum(case when id then e else '1' end), bit_or(if(1, e, 'x')), count(if(1, e, 'x')) from t1;
select id from t1 where if(1, e, 'x') = 2;
select id from t1 where if(1, e, 'x');
select id from t1 where ifnull(e, 'x') > 1 order by id;
select if(1, x'41', 'x') + 0, if(1, 0x41, 'x') + 0, coalesce(0x41, 'x') + 0, if(1, 0x41, 5) + 0, if(1, json_extract('{"a":true}', '$.a'), 'x') + 0, if(1, json_extract('{"a":"5"}', '$.a'), 'x') + 0, coalesce(json_extract('[true]', '$[0]'), 'x') = 1, case when 1 then json_extract('[false]', '$[0]') else 'x' end = 0;
-- GREATEST and LEAST treat invalid dates as zero; a zero date has no UNIX time.
select greatest(-5, date'2001-01-01'), least(-5, date'2001-01-01'), greatest('x', date'2001-01-01'), greatest(null, date'2001-01-01'), least('x', time'10:10:10'), greatest(20010101, timestamp'2000-01-01 00:00:00');
select unix_timestamp(0), unix_timestamp('0000-00-00'), unix_timestamp(null), unix_timestamp('2001-01-01 00:00:00.5') is not null;
-- ENUM values selected by a function.
create table e1 (k int primary key, e enum('a','b','9'), s set('x','y','5'));
insert into e1 values (1, 'b', 'x,y'), (2, '9', '5'), (3, null, null);
select k from e1 order by if(1, e, e);
select k from e1 order by coalesce(e);
select distinct if(1, e, e) from e1;
select k from e1 where if(1, e, e) = 2;
select k from e1 where coalesce(e) = 'b';
select sum(e), avg(e), e / 3, s * 1.5 from e1 group by k order by k;
create table e2 as select if(1, e, e) a, coalesce(s) b, (select e from e1 limit 1) c, nullif(e, 'x') d from e1;
show create table e2;
