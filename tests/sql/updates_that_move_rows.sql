-- A row that an UPDATE moves within the index by which it is found is changed once.
create table t (a int, b int, primary key (a, b));
insert into t values (1, 1), (5, 1);
update t set b = b + 2 where a in (1, 5) and b in (1, 3);
select * from t order by a;
create table u (id int primary key, a int, b int, key (a, b));
insert into u values (1, 1, 1), (2, 5, 1);
update u set b = b + 2, id = id + 10 where a in (1, 5) and b in (1, 3);
select * from u order by id;
drop table t, u;
