-- Rounding of doubles: no exponent if a digit follows the point; of two equally near numbers the even one.
select concat_ws(' ', 1e15 + 0.3, 1e15 + 0.5, 1e15 + 0.125, 1e15 + 0.75, 1e14 + 0.125, 1e14 + 0.375, -1e15 - 0.3, 2e15 + 0.25e0);
select concat_ws(' ', 1e15, 1e15 + 1e0, 1234567890123456e0, 1234567890123456.5e0, 12345678901234567e0, 4503599627370497.5e0, 562949953421312.125e0, 562949953421312.0625e0, 1e15 - 0.125);
create table t1 (x double, f float, v varchar(30));
insert into t1 (x, f) values (1e15 + 0.3, 1234567890123456.5), (1e15 + 0.125, 1e15), (1234567890123456.75e0, 1.5e15);
update t1 set v = x;
select x, f, v, concat(x), cast(x as char), x + 0 from t1;
drop table t1;
