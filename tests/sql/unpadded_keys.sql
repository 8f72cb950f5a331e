-- Keys with collations in which trailing spaces are significant: ranges, prefixes and single values.
create table t1 (id int primary key, c varchar(10) character set utf8mb4 collate utf8mb4_unicode_nopad_ci, d varchar(10) character set utf8mb4 collate utf8mb4_unicode_520_nopad_ci, g varchar(10) character set utf8mb4 collate utf8mb4_general_nopad_ci, b varchar(10) character set utf8mb4 collate utf8mb4_nopad_bin, key (c), key (d), key (g, id), unique (b));
insert into t1 values (1, 'a', 'a', 'a', 'a'), (2, 'a ', 'a ', 'a ', 'a '), (3, 'ä', 'ä', 'ä', 'ä'), (4, 'ßx', 'ßx', 'ßx', 'ßx'), (5, 'b', 'b', 'b', 'b'), (6, '', '', '', ''), (7, '😀', '😀', '😀', '😀');
select id from t1 where c like 'a%' order by id;
select id from t1 where c like 'a' order by id;
select id from t1 where c = 'a' order by id;
select id from t1 force index (c) where c between 'a' and 'b' order by id;
select id from t1 force index (c) where c > 'a ' order by c, id;
select id from t1 force index (d) where d like 'ß%' or d = 'ä' order by id;
select id from t1 force index (g) where g = 'ä' and id > 1 order by id;
select id from t1 force index (b) where b like 'a%' order by id;
select id from t1 force index (b) where b in ('a', 'a ', 'ä') order by id;
insert into t1 values (8, '', '', '', 'a ');
insert into t1 values (8, '', '', '', 'a  ');
select x.id, y.id from t1 x join t1 y on x.c = y.d order by 1, 2;
select x.id, y.id from t1 x join t1 y on x.c = y.c order by 1, 2;
drop table t1;
