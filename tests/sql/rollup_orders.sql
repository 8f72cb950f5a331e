-- GROUP BY … DESC WITH ROLLUP: each row that summarizes follows its members.
create table t (a int, b int, p varchar(10) not null, d decimal(10,2));
insert into t values (1, 1, 'x', 1.5), (1, 2, 'y', -1.5), (2, 1, 'xy', 0), (3, null, '', 10), (null, 4, 'z', null), (null, null, 'z', null);
select a, b, count(*) from t group by a desc, b with rollup;
select a, b, count(*) from t group by a desc, b desc with rollup;
select a, b, count(*) from t group by a, b desc with rollup;
select a, b, count(*) from t group by a asc, b with rollup;
select a, b, count(*) from t group by a desc, b with rollup limit 2;
select p, count(*) from t group by p desc with rollup;
select p, a, count(*) from t group by p desc, a desc with rollup;
select d, p, sum(a) from t group by d desc, p with rollup;
select a, b, count(*) from t group by a desc, b with rollup having b is null;
select a, b, count(*) from t group by a desc, b with rollup order by 1;
select a, count(*) from t group by a desc;
create view v as select a, b, count(*) from t group by a desc, b with rollup;
show create view v;
select * from v;
-- Two keys with the same expression are two keys.
create table r (a int not null, b int not null);
insert into r values (1, 1), (1, 2), (2, 1), (3, 1);
select a, b, a as c, count(*) from r group by a, b, c with rollup;
select a, a as c, count(*) from r group by c, a with rollup;
select a, a as c, count(*) from r group by 1, 2 with rollup;
select a + 1 as x, a + 1 as y, count(*) from r group by x, y with rollup;
