-- A row that is reached by several names is deleted once.
create table t (a int primary key, b int);
insert into t values (1, 1), (2, 2), (3, 3), (4, 4);
delete x, y from t x join t y on x.a = y.a + 1;
select row_count();
select * from t;
insert into t values (1, 1), (2, 2), (3, 3), (4, 4);
delete x, y from t x join t y on x.a = y.a where x.b > 2;
select row_count();
delete from x, y, z using t x, t y, t z where x.a = 1;
select row_count();
select * from t;
-- Identical rows are separate rows.
create table u (a int);
insert into u values (1), (1), (2), (3);
delete x, y from u x join u y on x.a + 1 = y.a;
select row_count();
select * from u;
drop table t, u;
