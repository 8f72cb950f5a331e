-- Which collations mix, and the errors of those that do not, with the name of each operation.
create table c (id int primary key, u4 varchar(10) collate utf8mb4_general_ci, u4u varchar(10) collate utf8mb4_unicode_ci, u4b varchar(10) collate utf8mb4_bin, l1 varchar(10) character set latin1 collate latin1_swedish_ci, lg varchar(10) character set latin1 collate latin1_general_ci, a varchar(10) character set ascii, tx text character set utf8mb4 collate utf8mb4_general_ci, n int, d date);
insert into c values (1, 'a', 'a', 'a', 'a', 'a', 'a', 'a', 1, '2020-01-01');
-- A column of a UNION has one collation.
select u4 from c union select u4u from c;
select tx from c union select u4u from c;
select u4 from c union select 1 union select u4u from c;
select concat(u4, u4u) from c union select 'a';
select concat(u4, u4u) from c union select concat(u4, u4u) from c;
select u4 from c union select u4b from c;
select u4 from c union select l1 from c union select 'x' order by 1;
select u4 from c except select u4u from c;
select u4 from c intersect select u4u from c;
create table x as select u4 from c union select u4u from c;
insert into c (id, u4) select 2, u4 from c union select 3, u4u from c;
values ('a'), (_latin1 'b');
-- REPLACE looks for its second argument, so all three must mix.
select replace(u4, u4u, 'x') from c;
select replace('a', concat(u4, u4u), 'x') from c;
select replace(u4, 'a', u4u) from c;
select replace(u4, u4b, 'x') from c;
select replace(l1, 'a', 'x'), replace('a', l1, 'x'), replace(u4, l1, 'x') from c;
-- The order in which an error names the operands, and its operation.
select locate(u4, u4u) from c;
select instr(u4, u4u) from c;
select position(u4 in u4u) from c;
select locate('a', u4, 1), locate(l1, u4) from c;
select u4 in (u4u) from c;
select u4 not in (u4u) from c;
select u4 in (u4u, 'a') from c;
select u4 between u4u and 'a' from c;
select u4 between 'a' and u4u from c;
select u4 not between concat(u4, u4u) and l1 from c;
select case u4 when u4u then 1 end from c;
-- Literals that the other side's character set does not have.
select a = 'a', 'a' in (a, 'b'), concat(a, 'ä') from c;
select a = 'ä' from c;
select 'ä' in (a, 'b') from c;
select case 'ä' when a then 1 end from c;
select l1 = 'ä', l1 = 'ж' from c;
drop table c;
-- In a UNION, BIT beside text becomes its number in digits.
create table b (bt bit(16), l1 varchar(10) character set latin1, u4 varchar(10), vb varbinary(10));
insert into b values (b'0110000101100010', 'x', 'x', 'x');
select bt from b union all select l1 from b;
select bt from b union all select u4 from b;
select bt from b union all select vb from b;
select bt from b union select 'a' union select null;
select hex(x) from (select bt as x from b union all select vb from b) q;
select coalesce(bt, l1), if(1, bt, u4), hex(coalesce(bt, vb)) from b;
drop table b;
