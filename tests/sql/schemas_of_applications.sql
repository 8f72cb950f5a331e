-- Found by loading the schemas of applications (tests/exams/applications).
-- DROP DEFAULT leaves NULL where it is allowed.
create table sa (a int default 1, b datetime default '2000-01-01 00:00:00', c varchar(3) not null default 'x', d timestamp null default null);
alter table sa alter column a drop default, alter b drop default, alter c drop default, alter d drop default;
show create table sa;
insert into sa () values ();
insert into sa (c) values ('y');
select * from sa;
-- An unknown column of any index comes before a name that exists.
alter table sa add index x (a);
alter table sa add index x (a), add index y (nosuch);
alter table sa add index y (nosuch), add index x (a);
create table sb (a int, key x (a), key x (a), key y (nosuch));
-- The text between the parentheses of a routine.
create procedure sp1( in a int, out b int ) select 1;
create procedure sp2(/*x*/ in a int /* y */ ) select 1;
create procedure sp3 (  ) select 1;
create function sf1(  a int  ) returns int return 1;
create function sf2(  ) returns int return 1;
show create procedure sp1;
show create procedure sp2;
show create procedure sp3;
show create function sf1;
show create function sf2;
select name, param_list from mysql.proc where db = database() and name like 's_%';
-- Routines are ordered by the collation of their names: _ comes after letters.
create procedure so_a() select 1;
create procedure soUpload() select 1;
create procedure SoB() select 1;
select routine_name from information_schema.routines where routine_schema = database() and routine_name like 'so%';
-- Of several errors an unknown column comes first, then the first object that cannot be dropped, of whatever kind.
alter table sa drop index nx, drop column ny;
alter table sa drop column ny, drop index nx;
alter table sa drop column ny, modify nz int;
alter table sa drop index nx, drop foreign key nf, drop column nc;
alter table sa drop foreign key nf, drop column nc;
alter table sa drop primary key, drop column nc;
alter table sa drop index nx, rename index nb to c;
alter table sa rename index nb to c, drop index nx;
alter table sa drop index nx, rename column nb to c;
alter table sa drop index if exists nx, drop column if exists ny, drop column nz;
-- A query's column whose name is too long for a table.
create table sc as select 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb';
create table sc as select 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb';
