-- Names are utf8mb3 in information_schema and in mysql: queries of phpMyAdmin.
create table t1 (id int primary key, name varchar(64), key (name));
select table_name from information_schema.tables where table_schema collate utf8_bin = database();
select table_name from information_schema.tables where table_schema = database() and table_name collate utf8mb3_bin = 'T1';
select table_name from information_schema.tables where table_schema = database() and table_name = 'T1';
select table_name from information_schema.tables where table_schema collate utf8mb4_bin = database();
select schema_name from information_schema.schemata where schema_name collate utf8_general_ci = 'INFORMATION_SCHEMA';
select distinct User from mysql.user where User collate utf8_bin = 'root';
select collation(table_name), collation(lower(table_name)), collation(concat(table_name, 'ä')) from information_schema.tables where table_schema = database();
insert into t1 values (1, 't1'), (2, 'äß');
select id, table_name from t1 join information_schema.tables on name = table_name where table_schema = database();
select table_name from information_schema.tables where table_schema = database() union select name from t1;
drop table t1;
