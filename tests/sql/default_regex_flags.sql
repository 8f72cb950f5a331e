-- Flags that every regular expression has.
select 'a\nb' rlike 'a.b', regexp_substr('ab', 'a b'), regexp_substr('aaa', 'a+'), regexp_instr('x\ny', '^y');
set default_regex_flags = 'DOTALL';
select @@default_regex_flags, 'a\nb' rlike 'a.b', 'a\nb' rlike '(?-s)a.b';
set default_regex_flags = 'EXTENDED';
select regexp_substr('ab', 'a b # both'), 'a b' rlike 'a b';
set default_regex_flags = 'EXTENDED_MORE,DUPNAMES';
select regexp_substr('ab', '[ a b ]+'), regexp_replace('ab', '(?<n>a)|(?<n>b)', 'x');
set default_regex_flags = 'MULTILINE,UNGREEDY,EXTRA';
select regexp_instr('x\ny', '^y'), regexp_substr('aaa', 'a+'), regexp_substr('aaa', 'a+?'), @@default_regex_flags;
select 'a' rlike 'a(';
select 'a\nb' rlike '(*ANYCRLF)^b';
create table r (id int, p varchar(20), s varchar(20));
insert into r values (1, '^b', 'a\nb'), (2, 'a.*', 'aab'), (3, '(', 'a');
select id, s rlike p, regexp_substr(s, p) from r order by id;
set default_regex_flags = 'NOTHING';
set default_regex_flags = '';
select id, s rlike p, regexp_substr(s, p) from r order by id;
drop table r;
