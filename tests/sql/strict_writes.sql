-- Strict mode turns warnings about assigned values into errors; not notes, and not in a DELETE.
-- MariaDB evaluates a constant an unspecified number of times: of several warnings only one is compared.
set max_error_count = 1;
create table n (a bigint unsigned, b bigint);
insert into n (a) values (cast(-1 as unsigned));
insert into n (a) values (cast('-1' as unsigned));
insert into n (b) values (cast('18446744073709551615' as signed));
insert into n (b) values (cast(1e30 as signed));
update n set a = cast(-2 as unsigned) where b is null;
select * from n order by a, b;
select cast(-1 as unsigned);
select cast(1e30 as signed);
insert into n (a) values ('x' + 1);
insert into n (a) values (1 / 0);
insert ignore into n (b) values (1 / 0);
create table s (s varchar(10), v int);
insert into s values ('a', 1), ('5', 2), ('0', 3), ('b', 4);
delete from s where s <> 0;
select * from s order by v;
delete from s where s = 7;
update s set v = 9 where s = 0;
update ignore s set v = 9 where s = 0;
select * from s order by s;
update s set v = 10 where json_value('x', '$.a') = 1;
delete from s where json_extract('x', '$.a') = 1;
delete from s where json_value(s, '$.a') = 1;
delete s from s where s = 7;
select * from s order by s;
drop table n, s;
