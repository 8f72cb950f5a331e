-- Literals of dates and times: fractions of more than six digits, and dates without a month or a day.
select timestamp'2001-00-00 00:00:00.9999999';
select time'10:10:10.1234567', time'10:10:10.1234560', time'10:10:10.123456';
select timestamp'2001-01-01 10:10:10.1234567';
create table t (a time(6));
insert into t values (time'10:20:30.1234567');
select * from t where a > time'10:20:30.1234560';
create or replace table t as select date'2001-01-01' a, date'0000-01-01' b, date'2001-00-00' c, date'2001-00-01' d, date'2001-01-00' e,
  date'0000-00-00' f, timestamp'2001-00-00 10:00:00' g, timestamp'0000-00-00 00:00:00' h, time'00:00:00' i;
show create table t;
drop table t;
