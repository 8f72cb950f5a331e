-- A text with more than six fractional digits is cut, with a note.
select hour('10:10:10.1234567'), time('10:10:10.1234567');
select cast('10:10:10.1234567' as time(6)), cast('10:10:10.1234567' as time), cast('10:10:10.1234' as time);
select cast('2020-01-02 10:11:12.9999999' as datetime(6)), cast('2020-01-02 10:11:12.9999999' as datetime), cast('2020-01-02 10:11:12.9999999' as date), cast('2020-01-02 10:11:12.9999999' as time(6));
select year('2020-01-02 10:11:12.9999999'), to_days('2020-01-02 10:11:12.9999999'), date('2020-01-02 10:11:12.9999999'), last_day('2020-01-02 10:11:12.9999999');
select hour('2020-01-02 10:11:12.9999999'), microsecond('2020-01-02 10:11:12.9999999');
select unix_timestamp('2020-01-02 10:11:12.9999999') > 0;
select date_format('2020-01-02 10:11:12.9999999','%f'), time_format('10:11:12.9999999','%f');
select timestampdiff(second,'2020-01-02 10:11:12.9999999','2020-01-02 10:11:12.9999999');
select addtime('2020-01-02 10:11:12.9999999','10:11:12.9999999'), timediff('10:11:12.9999999','10:11:12.9999999');
select to_seconds('2020-01-02 10:11:12.9999999'), time_to_sec('10:11:12.9999999');
select timestamp('2020-01-02 10:11:12.9999999');
select '2020-01-02 10:11:12.9999999' = timestamp'2020-01-02 10:11:12', date'2020-01-02' = '2020-01-02 10:11:12.9999999';
select dayname('2020-01-02 10:11:12.9999999'), week('2020-01-02 10:11:12.9999999'), month('2020-01-02 10:11:12.9999999');
-- Warnings name the column.
create table a (id int, v varchar(40), d datetime, t time, da date, n decimal(20,10), i bigint);
insert into a values (1,'00:00:00.9999999','2001-01-01 00:00:00','10:00:00','2001-01-01',1,1),(2,'abc','2002-01-01','10:00:00','2001-01-01',9999999999,99);
select id from a where v=t;
select id from a where v=d;
select id from a where v>da;
select id, v between t and '11:00:00' from a;
select id, t in (v,'10:00:00') from a;
select id from a where i=da;
select id from a where n=t;
select extract(hour from v), extract(day from v), extract(year from v) from a;
select hour(v), minute(n), time(v), time(n), time_to_sec(v), cast(v as time), cast(v as datetime), date(v), year(v), to_days(v), timediff(v,t), last_day(v), dayname(v) from a where id=2;
select hour(v), time(v), time_to_sec(v), cast(v as time), cast(v as datetime), date(v), year(v), to_days(v), timediff(v,t), last_day(v), dayname(v) from a where id=1;
select case v when t then 1 else 2 end from a;
select nullif(t,v) from a;
select least(d,v) from a;
select (v,1)=(t,1) from a;
select concat(v)=t from a;
-- Types of EXTRACT.
create table e as select extract(year from t), extract(year_month from t), extract(quarter from t), extract(month from t), extract(week from t), extract(day from t), extract(day_hour from t), extract(day_minute from t), extract(day_second from t), extract(day_microsecond from t), extract(hour from t), extract(hour_minute from t), extract(hour_second from t), extract(hour_microsecond from t), extract(minute from t), extract(minute_second from t), extract(minute_microsecond from t), extract(second from t), extract(second_microsecond from t), extract(microsecond from t), extract(day from v), extract(day_hour from v), extract(day_minute from v), extract(day_second from v), extract(day_microsecond from v), extract(hour from v), extract(day from i), extract(day_minute from n) from a limit 0;
show create table e;
