-- The column Key of SHOW COLUMNS, if a unique index replaces the primary key and if none can.
create table a (id int not null, c varchar(10) not null, d int, unique (d), unique (c), unique (id));
show columns from a;
create table b (id int not null, c varchar(10) not null, d int, unique (c(5)), unique (d, id), key (id));
show columns from b;
create table e (id int not null, c int not null, d int not null, unique (c, d), unique (id));
show columns from e;
create table f (id int primary key, c int not null, d int, unique (c), key (d));
show columns from f;
alter table f drop primary key;
show columns from f;
alter table f modify c int;
show columns from f;
select column_name, column_key from information_schema.columns where table_schema = 't' and table_name in ('a', 'b', 'e') order by table_name, ordinal_position;
select table_name, column_name, ordinal_position, column_default, is_nullable, column_type, privileges from information_schema.columns where table_schema = 'information_schema' and table_name in ('TABLES', 'PROCESSLIST', 'SCHEMATA', 'KEY_COLUMN_USAGE') order by 1, 3;
