-- A condition whose value changes between evaluations is evaluated once for each row, after all tables are read.
create table t (a int primary key, b int not null default 0);
insert into t (a) with recursive c as (select 1 n union all select n + 1 from c where n < 1000) select n from c;
select count(*) between 400 and 600 from t where rand() < 0.5;
select count(*) from t where rand(1) < 0.5;
select a from t where rand(1) < 0.5 and a <= 20;
set @i = 0;
select a from t where (@i := @i + 1) <= 3;
select @i;
set @i = 0;
select count(*) from t where (@i := @i + 1) % 2 = 0 and a > 10;
-- Without FROM; and a condition that is the same for all rows.
select 1 from dual where rand() >= 0;
select 1 from dual where rand() < 0;
select count(*) from t where connection_id() = 0;
select count(*) from t where connection_id() > 0;
-- Joins.
create table s (a int primary key);
insert into s values (1), (2), (3), (4), (5);
create table u as select * from s;
select count(*) from s straight_join u where rand(2) < 0.5;
set @i = 0;
select count(*) from s straight_join u where (@i := @i + 1) <= 3;
select @i;
-- Locking reads and changes.
set @i = 0;
select a from t where (@i := @i + 1) + a * 0 <= 3 for update;
select @i;
set @i = 0;
update t set b = -2 where (@i := @i + 1) + a * 0 <= 3;
select @i;
select * from t where b <> 0;
update t set b = 7 where rand(4) < 0.01;
select a from t where b = 7;
delete from t where rand(3) < 0.5;
select count(*) from t;
select count(*) from s where get_lock('conditions', 0) + a * 0 = 1 for update;
select release_lock('conditions'), release_lock('conditions'), release_lock('conditions'), release_lock('conditions'), release_lock('conditions'), release_lock('conditions');
-- The row that was inserted last, by its key.
create table n (id int auto_increment primary key, a int);
insert into n (a) values (5);
update n set a = 6 where id = last_insert_id();
select * from n;
drop table t, s, u, n;
