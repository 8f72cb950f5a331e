-- The search compares as many bytes as the needle has: letter case is ignored, accents only in single-byte character sets.
select locate('e', 'é'), locate('E', 'e'), instr('café', 'e'), instr('CAFÉ', 'é'), locate('é', 'É'), position('e' in 'é'), locate('é', 'xÉ'), locate('É', 'éé', 2);
select locate('ss', 'ß'), locate('ss', 'ß' collate utf8mb4_unicode_ci), locate('eé', 'ée'), locate('é', 'e '), locate('é', 'e ' collate utf8mb4_unicode_ci), locate('a ', 'aé'), locate('i', 'ı'), locate('d', 'Ð'), locate('e', 'é' collate utf8mb4_bin), locate('é', 'xé' collate utf8mb4_bin);
select locate('', 'é'), locate('', ''), instr('', 'a'), locate('a', ''), locate(null, 'a'), locate('b', 'äb'), locate('B', 'äöb', 3);
create table t1 (l varchar(10) character set latin1, u varchar(10) character set utf8mb3, b varbinary(10));
insert into t1 values ('café', 'café', 'café');
select locate('e', l), instr(l, 'E'), locate('e', u), locate('É', u), locate('É', l), locate('é', b), locate('F', b) from t1;
drop table t1;
