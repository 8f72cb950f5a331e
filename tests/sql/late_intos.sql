-- INTO at the end of a query is deprecated: a warning when the statement is parsed, for each of a program's queries.
create table c (a int);
insert into c values (1);
select 1 into @a;
select a from c into @a;
select a into @a from c;
select a from c limit 1 into @a;
select 1 union select 2 limit 1 into @a;
select a from c into @a for update;
select a from c for update into @a;
create procedure p() begin select a from c into @x; select a from c into @y; end;
show warnings;
call p();
show warnings;
prepare s from 'select a from c into @a';
show warnings;
execute s;
show warnings;
execute immediate 'select a from c into @a';
