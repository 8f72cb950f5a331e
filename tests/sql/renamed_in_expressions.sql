-- Columns that trade their names, or pass them on, take their expressions with them.
create table r (id int primary key, a int, b int, g int as (a + 1) stored, check (a > 0));
insert into r (id, a, b) values (1, 10, -5);
alter table r rename column a to b, rename column b to a;
select id, a, b, g from r;
update r set a = -6;
select id, a, b, g from r;
update r set b = -1;
update r set b = 20;
select id, a, b, g from r;
alter table r rename column a to c, rename column b to a;
select id, a, c, g from r;
update r set a = -1;
update r set a = 30;
select id, a, c, g from r;
drop table r;
