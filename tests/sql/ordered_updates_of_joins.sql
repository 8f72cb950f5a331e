-- UPDATE of several tables with ORDER BY and LIMIT: the limit counts joined rows. (MariaDB 10.11 may give all rows the
-- values of the last one, if they are not constants.)
create table t1 (id int primary key, v int);
create table t2 (id int primary key, v int);
insert into t1 (id, v) values (2,3),(1,4);
insert into t2 (id, v) values (5,5),(6,6);
update t1, t2 set t1.v=-1, t2.v=-1 order by t1.id, t2.id limit 2;
select * from t1;
select * from t2;
create table t3 (id int primary key, v int);
truncate t1;
truncate t2;
insert into t1 (id, v) values (1, 1000), (2, 2000), (3, 3000), (4, 4000), (5, 5000);
insert into t2 (id, v) values (10, 100), (20, 200), (30, 300), (40, 400), (50, 500);
insert into t3 (id, v) values (11, 111), (22, 222), (33, 333), (44, 444), (55, 555);
update t1, t2, t3 set t1.v=-1, t2.v=-2, t3.v=-3 order by t1.id, t2.id, t3.id limit 3;
select * from t1;
select * from t2;
select * from t3;
update t1 join t2 on t2.id = t1.id * 10 set t1.v = 12 order by t2.v desc limit 2;
select * from t1;
update t1 left join t2 on t2.id = t1.id * 20 set t1.v = 7, t2.v = 8 order by t1.id desc limit 4;
select * from t1;
select * from t2;
update t1, t2 set t1.v = 1 limit 0;
update t1 natural join t2 set t1.v = 1 order by avg(t1.v);
update t1, t2 set t1.v = 1 order by nope;
update t1, t2 set t1.v = 13 order by t1.id + t2.id limit 3;
select * from t1;
