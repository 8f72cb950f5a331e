-- KILL reads any value as an integer: a driver that fills in parameters itself sends text.
kill '999999';
kill query '999999';
set @number = 999999, @text = '999999', @nothing = null;
prepare s from 'kill ?';
execute s using @number;
execute s using @text;
execute s using @nothing;
kill 999998 + 1;
kill @number;
kill 1.5e5;
kill 1.6;
kill '12x';
kill null;
kill -1;
kill 99999999999999999999;
kill version();
