-- Words in the value of a system variable have no blanks before them, and TRUE is not a word.
set sql_mode = 'ANSI, TRADITIONAL';
set sql_mode = 'ANSI,TRADITIONAL  ';
select @@sql_mode;
set sql_mode = default;
set autocommit = 'true';
set autocommit = 'on';
set foreign_key_checks = 'false';
set foreign_key_checks = true;
set optimizer_switch = 'mrr=on, index_merge=on';
set optimizer_switch = 'mrr=on,index_merge=on';
set optimizer_switch = default;
set global event_scheduler = 2;
do nope;
set max_user_connections = 100;
set max_join_size = 1;
show variables like 'max_join_size';
set max_join_size = default;
