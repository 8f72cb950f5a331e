-- Derived conditions, buffered rows and join orders must not change answers.
create table a (id int primary key, g int, d date, v varchar(10), n decimal(8,2), key (g), key (v));
create table b (id int primary key, a_id bigint, g smallint unsigned, v varchar(20) collate utf8mb4_bin, t datetime, key (a_id));
create table c (id int, g int, w varchar(10), x double);
create table nothing (id int primary key, g int);
insert into a values (1,1,'2020-01-01','a',1.5),(2,1,'2020-01-02','A ',2.5),(3,2,null,'b',null),(4,null,'2020-02-01',null,1.5),(5,3,'2021-01-01','c',0);
insert into b values (1,1,1,'a','2020-01-01'),(2,1,1,'A','2020-01-01 10:00:00'),(3,3,2,'b','2020-01-02'),(4,null,null,null,null),(5,9,3,'c','2021-01-01');
insert into c values (1,1,'a',1.5),(2,2,'b',2.5),(3,null,null,null),(null,3,'c',0),(4,1,'A',1);
-- An OR whose alternatives share conditions, or consist only of shared ones.
select a.id, b.id from a, b where (a.id = b.a_id and a.g = 1 and b.v = 'a') or (a.id = b.a_id and a.g = 2) order by 1, 2;
select a.id, b.id from a, b where (a.id = b.a_id and a.g = 1) or (a.id = b.a_id) order by 1, 2;
select a.id, b.id from a, b where (a.id = b.a_id and a.g = 1) or (a.id = b.a_id and a.g is null) or (a.id = b.id and a.id = b.a_id) order by 1, 2;
select a.id, b.id from a, b where (a.g = 1 and b.g = 1) or (a.g = 2 and b.g = 2) order by 1, 2;
select a.id, b.id from a left join b on (a.id = b.a_id and a.g = 1) or (a.id = b.a_id and b.g = 2) order by 1, 2;
select a.id from a where (g = 1 and id = 1) or (g = 1 and id = 2) or g = 1 and v = 'x' order by 1;
select a.id from a where not ((g = 1 and id = 1) or (g = 1 and id = 2)) order by 1;
select a.g, count(*) from a group by g having (a.g = 1 and count(*) > 1) or (a.g = 1 and count(*) < 0);
-- Columns equal to each other and to a constant, in types of one kind and of several.
select a.id, b.id, c.id from a, b, c where a.g = b.g and b.g = c.g and c.g = 1 order by 1, 2, 3;
select a.id, b.id, c.id from a, b, c where a.g = b.g and b.g = c.g order by 1, 2, 3;
select a.id, b.id from a, b where a.id = b.a_id and b.a_id = 1 order by 1, 2;
select a.id, b.id from a, b where a.id = b.a_id and b.a_id = '1' order by 1, 2;
select a.id, b.id from a, b where a.id = b.a_id and b.a_id = 1.0 order by 1, 2;
select a.id, b.id from a, b where a.v = b.v and b.v = 'a' order by 1, 2;
select a.id, b.id from a, b where a.v = b.v and a.v = 'a' order by 1, 2;
select a.id, c.id from a, c where a.v = c.w and c.w = 'A' order by 1, 2;
select a.id, c.id from a, c where a.v = c.w and c.w = 0 order by 1, 2;
select a.id, b.id from a, b where a.d = b.t and b.t = '2020-01-01' order by 1, 2;
select a.id, b.id from a, b where a.d = b.t and a.d = '2020-01-01' order by 1, 2;
select a.id, c.id from a, c where a.n = c.x and a.n = 1.5 order by 1, 2;
select a.id, c.id from a, c where a.id = c.id and c.id = c.g order by 1, 2;
select a.id, b.id from a left join b on a.id = b.a_id and b.g = a.g where a.g = 1 order by 1, 2;
select a.id, b.id, c.id from a left join b on a.id = b.a_id left join c on c.g = b.g and b.g = a.g order by 1, 2, 3;
select a.id, b.id, c.id from a left join (b join c on b.g = c.g) on a.g = b.g where a.g = 1 or a.g is null order by 1, 2, 3;
select a.id, b.id from a left join b on a.id = b.a_id where b.g <=> a.g order by 1, 2;
-- Joins without an index, without an equality, without any condition.
select a.id, c.id from a, c where a.id < c.id order by 1, 2;
select a.id, c.id from a, c where a.id + c.id = 5 order by 1, 2;
select a.id, c.id from a join c where c.g = 1 order by 1, 2;
select count(*) from a, b, c, a a2, c c2;
select a.id, c.id, c2.id from a, c, c c2 where c.id > 1 and c2.w = 'a' and a.id < c.id order by 1, 2, 3;
select a.id, c.id from a left join c on c.g > a.g and c.id > 1 order by 1, 2;
select a.id, c.id from a left join c on c.g = 7 order by 1, 2;
select a.id, c.id from a left join c on 0 order by 1, 2;
select a.id, nothing.id from a left join nothing on nothing.g = a.g order by 1;
select count(*) from a, nothing;
select count(*), max(a.id) from a, c, nothing where a.id = c.id;
select a.id, (select count(*) from b, c where b.g = c.g and b.a_id = a.id) from a order by 1;
select a.id, (select count(*) from b, c where c.id > 1 and b.id > a.id and c.g < a.g) from a order by 1;
select a.id from a where exists (select 1 from b, c where b.id > a.id and c.g = a.g) order by 1;
select a.id from a where a.g in (select c.g from c, b where c.id = b.id and b.id > 1) order by 1;
select a.id, d.n from a, (select g, count(*) as n from c group by g) d where d.g = a.g order by 1;
select a.id, d.n from a left join (select g, count(*) as n from c group by g) d on d.g >= a.g order by 1, 2;
set @k = 1;
select a.id, c.id from a, c where c.g = @k and a.g = c.g order by 1, 2;
select a.id, c.id, @k := c.g from a straight_join c where c.g = @k order by 1, 2 limit 0;
select straight_join a.id, c.id from a, c where a.v = c.w order by 1, 2;
-- Many tables.
select count(*) from a t1, a t2, a t3, a t4, a t5, a t6, a t7, a t8, a t9, a t10, a t11, a t12 where t1.id = t2.id and t2.id = t3.id and t3.id = t4.id and t4.id = t5.id and t5.id = t6.id and t6.id = t7.id and t7.id = t8.id and t8.id = t9.id and t9.id = t10.id and t10.id = t11.id and t11.id = t12.id and t12.g = 1;
select count(*) from a t1 join b t2 on t1.id = t2.a_id join c t3 on t2.g = t3.g join a t4 on t4.g = t3.g join b t5 on t5.g = t4.g left join c t6 on t6.g = t5.g left join nothing t7 on t7.id = t6.id join a t8 on t8.id = t1.id join b t9 on t9.id = t2.id join c t10 on t10.g = t9.g where t1.g = 1;
-- Changes with joins, and queries that read the table that they change.
update a, c set a.n = c.x where a.g = c.g and c.id = 2;
select id, n from a order by id;
insert into c select c.id + 10, c.g, a.v, 1 from c, a where a.id < 3 and c.g = 1;
select * from c order by id, w;
delete c from c join a on c.g = a.g and c.id > 10;
select count(*) from c;
select a.id, c.id from a, c where a.g = c.g order by 1, 2 for update;
-- Orders of rows with a limit.
select a.id, b.id from a, b where a.id = b.a_id order by a.id, b.id limit 2;
select a.id, c.id from a, c where a.id > 1 and c.id > 1 order by a.id desc, c.id limit 3;
drop table a, b, c, nothing;
