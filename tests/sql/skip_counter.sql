-- The counter of a default connection that CHANGE MASTER has not created yet.
set global sql_slave_skip_counter = 3;
select @@sql_slave_skip_counter, @@global.sql_slave_skip_counter;
change master to master_host = '127.0.0.1', master_port = 1, master_user = 'x', master_use_gtid = slave_pos;
select @@sql_slave_skip_counter;
set global sql_slave_skip_counter = 1;
select @@sql_slave_skip_counter;
reset slave all;
select @@sql_slave_skip_counter;
set default_master_connection = 'nope';
set global sql_slave_skip_counter = 4;
set default_master_connection = '';
select @@sql_slave_skip_counter;
