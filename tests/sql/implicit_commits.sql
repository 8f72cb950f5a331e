-- Statements that end an open transaction, and statements that begin none.
create table f (a int);
begin;
insert into f values (1);
flush tables;
rollback;
begin;
insert into f values (2);
flush status;
rollback;
begin;
insert into f values (3);
flush privileges;
rollback;
select a from f order by a;
-- A statement without tables begins no transaction under autocommit=0.
set autocommit = 0;
select 1;
set transaction isolation level serializable;
select 1 + 1;
set sql_log_bin = 0;
do 1;
set sql_log_bin = 1;
show variables like 'autocommit';
set transaction isolation level read committed;
select count(*) from f;
set transaction isolation level serializable;
set sql_log_bin = 0;
insert into f values (4);
rollback;
select a from f order by a;
commit;
set autocommit = 1;
-- SET TRANSACTION applies to the next transaction, not to a statement without tables.
set transaction read only;
select 1;
insert into f values (5);
set transaction read write;
insert into f values (6);
-- Settings that SET STATEMENT rejects.
set statement autocommit = 0 for insert into f values (7);
set statement wait_timeout = 9 for select 1;
set statement tx_isolation = 'SERIALIZABLE' for select 1;
set statement skip_replication = 1 for insert into f values (8);
set statement sort_buffer_size = 100000, character_set_client = latin1 for select 1;
select a from f order by a;
-- The session's own global read lock.
flush tables with read lock;
create user locked_out;
grant select on *.* to locked_out;
drop user if exists locked_out;
insert into f values (9);
unlock tables;
select a from f order by a;
