-- Differences found by MariaDB's own tests, with related cases.
-- Numbers with many fractional digits as dates, rounded.
set sql_mode = 'TIME_ROUND_FRACTIONAL', time_zone = '+00:00';
create table d (a decimal(38,10), b time(3), c datetime(6), d double, e timestamp(5) null);
insert into d (a) values (235959.9999999), (20001231235959.9999999), (20001231235858.9999999);
update d set d = a;
select cast(a+0 as time(3)), cast(a+0 as datetime(6)), cast(a+0 as date), timestamp(a+0), hour(a+0), date(a+0) from d;
update d set c = a;
update d set b = a where a < 9999999;
select b, c from d;
insert into d (c) values (20001231235959.9999999);
select c from d where c = 20001231235959.9999999;
create table last_second (a timestamp(6) null);
insert into last_second values ('2038-01-19 03:14:07.999999');
alter table last_second modify a timestamp(5) null;
select * from last_second;
set sql_mode = default;
-- With IGNORE, a subquery with several rows is NULL.
create table i (a int, b int);
insert into i values (1, 2);
update ignore i set a = 2 where a != (select 1 union select 2);
update ignore i set a = (select 1 union select 2), b = 3;
insert ignore into i select (select 1 union select 2), 4;
insert ignore into i values ((select 1 union select 2), 5);
delete ignore from i where a = (select 1 union select 2);
select * from i order by b;
update i set a = (select 1 union select 2);
-- Names of columns.
select +1, + a, +(a), (+1), + 'x', +-a, -a from i limit 1;
create view v as select a as Abc from i;
select abc, ABC, v.abC from v limit 1;
select x.ABC from (select a as abc from i) x limit 1;
select x.ABC from (select distinct a as abc from i) x limit 1;
with c(Xy) as (select a from i) select xY from c limit 1;
drop view v;
-- Types of NULL and of empty strings.
create table n as select null, coalesce(null, null) a, greatest(null, null) b, if(null, null, null) c, '' d, user() e, charset('a') f;
show create table n;
-- A query in parentheses with clauses of its own.
create table q (a int, b int);
insert into q values (3, 1), (1, 2), (2, 3), (2, 4);
(select a, b from q order by b desc limit 3) order by a, b;
(select a, b from q order by b limit 2) order by b desc limit 1;
(select a from q group by a order by group_concat(b)) limit 1;
(select a from q group by a order by group_concat(a)) order by a;
((select a, b from q order by b limit 3) order by a desc limit 2) order by b;
(select a x from q limit 2) order by x desc;
(select a x from q limit 2) order by a desc;
select (select (select a from q order by b limit 2) limit 1);
select sql_calc_found_rows 'foo' union select 'bar' limit 0;
select found_rows();
select sql_calc_found_rows a from q union all select b from q order by 1 limit 2, 1;
select found_rows();
-- GROUP BY with the name of both a column and a select item.
select a + 1 as a from q group by a order by 1;
select x.a from q x, q y where x.a = y.a group by a order by 1;
select x.b + 1 as a from q x, q y where x.a = y.a and x.b = y.b group by a order by 1;
select a, b as a from q group by a;
-- LIMIT of an execution.
prepare s from 'select 1 limit ?';
set @a = 'qwe';
execute s using @a;
set @a = -1;
execute s using @a;
set @a = '3';
execute s using @a;
prepare s from 'select 1;  ';
prepare s from 'select 1 from x where y/* ;';
-- Conditions of text, and invalid dates.
create table c (a int, d varchar(10));
insert into c values (1, 'r'), (2, '1c');
select * from c where d;
select * from c where not d;
select * from c where d or a = 5;
select if(d, 1, 2), d and 1, d xor 1 from c;
set sql_mode = 'ALLOW_INVALID_DATES';
select datediff('1997-11-31', '1997-12-31'), to_days('1997-11-31'), dayname('1997-11-31'), month('1997-11-31'), unix_timestamp('1997-11-31');
select last_day('1997-11-31'), date('1997-11-31');
set sql_mode = default;
select sha2('a', null), sha2(null, 256), sha2('a', 1);
select json_normalize('{"b":1,"a":[1,2.50,-0.00,1e3,-1.5e-7,0.001,100,"\\u00e9",{}]}'), json_normalize('{'), json_normalize(null);
-- RETURNING.
insert into q values (9, 9) returning (select count(*) from q);
insert into q values (9, 9) returning x;
delete from q where a = 9 returning x;
-- Names and comments that InnoDB refuses.
create table r (DB_ROW_ID int);
create table r (a int, key GEN_clust_INDEX (a));
create table r (a int, b int, key (b));
alter table r add db_trx_id int;
alter table r rename index b to GEN_CLUST_INDEX;
create index GEN_CLUST_INDEX on r (a);
alter table r disable keys;
alter table r enable keys, add c int;
set sql_mode = '';
alter table r add d int comment 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
set sql_mode = default;
set global innodb_force_primary_key = on;
create table f (a int);
create table f (a int unique);
create table f (a int not null unique);
set global innodb_force_primary_key = default;
purge binary logs before (select now());
-- The catalog of InnoDB tables.
create table parent (a int primary key, b int, key (b));
create table child (a int primary key, p int, q int, constraint fk foreign key (p) references parent (a) on delete cascade on update set null);
select name, n_cols, row_format from information_schema.innodb_sys_tables where name like 't/%nt' or name like 't/%ld' order by 1;
select * from information_schema.innodb_sys_foreign where id like 't/%';
select * from information_schema.innodb_sys_foreign_cols where id like 't/%';
select i.name, i.type, i.n_fields, f.name, f.pos from information_schema.innodb_sys_indexes i join information_schema.innodb_sys_tables t using (table_id)
  join information_schema.innodb_sys_fields f using (index_id) where t.name like 't/child' order by 1;
select c.name, c.pos, c.mtype, c.prtype, c.len from information_schema.innodb_sys_columns c join information_schema.innodb_sys_tables t using (table_id)
  where t.name = 't/child' order by c.pos;
insert into parent values (1, 1), (2, 1), (3, 2);
analyze table parent;
select table_name, n_rows from mysql.innodb_table_stats where database_name = 't' and table_name = 'parent';
select index_name, stat_name, stat_value, stat_description from mysql.innodb_index_stats
  where database_name = 't' and table_name = 'parent' and index_name = 'PRIMARY' and stat_name = 'n_diff_pfx01';
