-- A time of day has no month, and no day with a name.
select time'12:34:56' - interval 1 month, time'12:34:56' + interval 1 year, time'12:34:56' + interval '1-1' year_month, time'12:34:56' + interval 1 week;
select time'12:34:56' - interval 0 month, time'12:34:56' + interval 1 day, time'12:34:56' + interval 1 hour;
select timestampadd(month, 1, time'12:34:56'), date_sub(time'12:34:56.5', interval 1 year);
create table t1 (id int primary key, t time);
insert into t1 values (1, '12:34:56'), (2, '10:00:00'), (3, null);
select id, t - interval id month from t1;
select id from t1 where t - interval 1 month;
update t1 set t = t - interval 1 month;
select date_format(t, '%Y-%m-%d %H:%i:%s.%f'), date_format(t, '%c %e %y'), date_format(t, '%r %T %p %k %l') from t1;
select date_format(t, '%j'), date_format(t, '%W'), date_format(t, '%M'), date_format(t, '%H %a'), date_format(t, '%b'), date_format(t, '%w') from t1;
select date_format(time'12:34:56', '%Y %W'), date_format(time'12:34:56', '%%W');
drop table t1;
