-- Defaults of numbers have the digits of their columns, also in DESC and information_schema.
create table z (a smallint(5) unsigned zerofill not null default 0, b float(13,1) default 0, c blob default '', d double(8,3) default 1.5, e int(3) zerofill default 5, f decimal(6,2) zerofill default 3, g float default 0, h double(5,2) unsigned zerofill default 1.5, y year default 0, b2 bit(3) default 2, i bigint default 007, dd decimal(5,2) default 1, v varchar(5) default 'it''s', t text default 'x');
show create table z;
desc z;
show full columns from z;
select column_name, column_default from information_schema.columns where table_name = 'z' and table_schema = 't' order by ordinal_position;
create table p (a mediumint, b mediumint unsigned);
select column_name, numeric_precision from information_schema.columns where table_name = 'p' and table_schema = 't' order by ordinal_position;
-- A default that sql_mode does not allow any more.
set sql_mode = '';
create table zd (a date not null default '0000-00-00', b datetime default '2001-00-00', c int);
set sql_mode = 'strict_all_tables,no_zero_date,no_zero_in_date';
insert into zd () values ();
insert into zd values (default, default, 1);
insert into zd (a) values ('2001-01-01');
insert into zd (a, b) values ('2001-01-01', null);
insert into zd (c) select 5;
insert ignore into zd () values ();
insert ignore into zd (c) values (1), (2);
replace into zd (c) values (1);
update zd set a = default;
update zd set b = default(b);
select * from zd;
set sql_mode = 'no_zero_date,no_zero_in_date';
insert into zd () values ();
set sql_mode = 'strict_all_tables';
insert into zd () values ();
select * from zd;
set sql_mode = default;
