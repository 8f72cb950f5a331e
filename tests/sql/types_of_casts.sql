-- The length of an integer that CAST makes, which is its type's: a driver maps INT UNSIGNED and BIGINT UNSIGNED to different classes.
create table c (tu tinyint unsigned, iu int unsigned, bu bigint unsigned, i int, c char(1), v varchar(5), y year, db double, f float);
create table t1 as select cast(1 as unsigned) a, cast('1' as unsigned) b, cast('12' as unsigned) c, cast(12345678901 as unsigned) d, cast(-1 as unsigned) e, cast(1.5 as unsigned) f, cast(1234567890 as unsigned) g, cast(null as unsigned) h, cast('' as unsigned) i, cast(cast(5 as unsigned) as unsigned) j, convert(7, unsigned integer) k;
show create table t1;
create table t2 as select cast(1 as signed) a, cast('' as signed) b, cast(1e3 as signed) c, cast(null as signed) d, cast(123 as signed) e, cast('123' as signed) f;
show create table t2;
create table t3 as select cast(tu as unsigned) a, cast(iu as unsigned) b, cast(bu as unsigned) c, cast(i as unsigned) d, cast(c as unsigned) e, cast(v as unsigned) f, cast(y as unsigned) g, cast(db as signed) h, cast(f as signed) i, cast(tu + 1 as unsigned) j, cast(db as unsigned) k from c;
show create table t3;
insert into c values (255, 4294967295, 18446744073709551615, -1, '-', '-5', 2026, -1e18, 5e5);
select cast(tu as unsigned) a, cast(iu as unsigned) b, cast(bu as unsigned) c, cast(i as unsigned) d, cast(c as unsigned) e, cast(v as unsigned) f, cast(y as unsigned) g, cast(db as signed) h, cast(f as signed) i, cast(tu + 1 as unsigned) j from c;
create table t4 as select @@autocommit a, @@max_connections b, @@sql_auto_is_null c;
show create table t4;
select * from information_schema.tablespaces;
