-- NAME_CONST stands for a variable of a program: its collation yields to that of a column.
create table w (a varchar(100) character set utf8mb4 collate utf8mb4_unicode_ci);
insert into w values ('foo'), ('bar');
select * from w where a = name_const('v', _latin1'foo' collate latin1_swedish_ci);
select * from w where a = name_const('v', 'foo');
select coercibility(name_const('a',1)), coercibility(name_const('a',null)), coercibility(name_const('a',date'2001-01-01')), coercibility(name_const('a',1.5)), coercibility(name_const('a',_latin1'x' collate latin1_bin)), coercibility(name_const('a','x'));
drop table w;
