-- Doubles with fixed decimals are equal if they show the same digits.
create table f1 (a float(5,4), b float, c double(6,3), d decimal(6,3), e double, key(a));
insert into f1 values (1.2345, 1.2345, 1.234, 1.234, 1.234), (0.1, 0.1, 0.1, 0.1, 0.1), (3.1416,3.1416,3.142,3.142,3.142);
select a from f1 where a = 1.2345;
select a = 1.2345, b = 1.2345, c = 1.234, c = 1.2340, a = 1.23451, a = 1.23454, a = 1.23456, a < 1.2345, a <= 1.2345, a > 1.2345, a <> 1.2345, a <=> 1.2345, a in (1.2345), a in (1.2345, 5), a between 1.2345 and 1.2345, a = '1.2345', a = 1.2345e0, c = d, a = c, a = e, b = d, a = 1, round(e, 2) = 1.23, pi() = 3.141593, pi() = 3.1415926535, nullif(a, 1.2345), case a when 1.2345 then 1 else 0 end, (a, 1) = (1.2345, 1) from f1;
select f.a, g.c from f1 f join f1 g on f.a = g.c;
select f.a, g.d from f1 f join f1 g on f.a = g.d;
select a from f1 where a in (select d from f1);
select a, count(*) from f1 where a > 1.2344 group by a having a = 1.2345;
select '2001-01-01' + interval 1.1234567 second, '2001-01-01' + interval '1.1234567' second, date_add('2001-01-01 00:00:00', interval '1:1.1234567' minute_microsecond), date_add('2001-01-01 00:00:00', interval '1.1234567' second_microsecond), date_add('2001-01-01 00:00:00', interval '1.12' second_microsecond), date_add('2001-01-01', interval '1 1:1:1.1234567' day_microsecond), date_add('2001-01-01', interval '1:1:1.12345678901' hour_microsecond), date_add('2001-01-01', interval 1.9999999 second), date_add('2001-01-01', interval '1.9999999' second), date_add('2001-01-01', interval 0.0000005 second), date_sub('2001-01-01', interval 1.1234567 second), date_add('2001-01-01', interval -1.1234567 second), date_add('2001-01-01', interval 1.1234567 minute), date_add(20010101, interval 1.1234567 second), timestampadd(second, 1.1234567, '2001-01-01');
