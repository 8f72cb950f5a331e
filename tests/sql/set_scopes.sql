-- GLOBAL and SESSION also apply to the variables after them, in one SET.
set global lock_wait_timeout = 100, net_read_timeout = 60;
select @@global.lock_wait_timeout, @@global.net_read_timeout, @@session.net_read_timeout;
set global lock_wait_timeout = 110, @a = 5, net_read_timeout = 61, session net_read_timeout = 7, lock_wait_timeout = 8;
select @a, @@global.lock_wait_timeout, @@global.net_read_timeout, @@session.lock_wait_timeout, @@session.net_read_timeout;
set net_read_timeout = 9, global lock_wait_timeout = 111;
select @@global.lock_wait_timeout, @@global.net_read_timeout, @@session.lock_wait_timeout, @@session.net_read_timeout;
set global lock_wait_timeout = 112, @@net_read_timeout = 10, net_read_timeout = 62;
select @@global.lock_wait_timeout, @@global.net_read_timeout, @@session.net_read_timeout;
set @@global.lock_wait_timeout = 113, lock_wait_timeout = 9;
select @@global.lock_wait_timeout, @@session.lock_wait_timeout;
set global lock_wait_timeout = default, net_read_timeout = default;
