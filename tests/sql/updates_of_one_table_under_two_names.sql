-- The changes of each name apply to the row as changed by the names before; the assigned values come from the rows as they were found.
create table t (id int primary key, a int, b int, s varchar(10), k int as (a * 100), unique (b));
insert into t (id, a, b) values (1, 1, 1);
update t x join t y on x.id = y.id set x.a = 10, y.b = 20;
select * from t;
update t x join t y on x.id = y.id set x.a = x.a + 1, y.a = y.a + 5, y.s = x.a;
select * from t;
insert into t (id, a, b) values (2, 2, 2), (3, 3, 3), (4, 4, 4);
update t x join t y on x.id = y.id - 1 set x.a = x.a + 1, y.b = y.b + 100;
select * from t order by id;
update t x join t y on x.id = y.id - 1 set x.s = 'x', y.s = 'y';
select * from t order by id;
update t y join t x on x.id = y.id - 1 set x.s = concat('x', y.a), y.a = x.a;
select * from t order by id;
update t x left join t y on y.id = x.id + 1 set x.a = 0, y.a = 7;
select * from t order by id;
update t x, t y, t z set x.a = 1, y.b = y.b + 1, z.s = x.id where x.id = 1 and y.id = 1 and z.id = 1;
select * from t order by id;
-- A failure in the middle: nothing is changed.
update t x join t y on x.id = y.id set x.a = 50, y.b = 5;
select * from t order by id;
update t x join t y on x.id = y.id set x.id = x.id + 10, y.b = 5;
update t x join t y on x.id = y.id set y.a = 5, x.id = x.id + 10;
create table u (a int, b int);
insert into u values (1, 1), (1, 1), (2, 2);
update u x join u y on x.a = y.a set x.a = x.a + 10, y.b = y.b + 20;
select * from u order by a, b;
drop table t, u;
