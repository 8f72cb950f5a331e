-- ROWNUM() counts the rows that meet the conditions, before they are sorted.
create table r (a int primary key, b int);
insert into r values (1, 5), (2, 4), (3, 3), (4, 2), (5, 1);
select a, rownum() from r where rownum() <= 3;
select a, rownum() from r where b <= 3 and rownum() < 3;
select a from r where rownum() = 2;
select count(*) from r where rownum() <= 4;
select a, rownum() from r order by a desc limit 2;
select * from (select a, rownum() as n from r where b > 1) x where n = 2;
select sum(a), rownum() as n from r where a > 100 having n = 1;
select rownum();
delete from r where rownum() <= 2;
update r set b = rownum() where rownum() <= 2;
select * from r;
create view rv as select a, rownum() as n from r;
select * from rv where n > 1;
