-- Bounds that a column of the index cannot contain.
create table ts (ts timestamp not null, c char, primary key (ts));
insert into ts values ('1971-01-01', 'a'), ('2007-05-25', 'b'), ('2008-01-01', 'c'), ('2038-01-09', 'd');
select * from ts where ts < '2040-01-01';
select * from ts where ts < 20400101;
select * from ts where ts between '2000-01-01' and '9999-12-31';
select * from ts where ts > '2040-01-01';
select * from ts where ts > '1960-01-01';
select * from ts where ts between '0000-00-00' and '2010-00-01 00:00:00' order by ts desc limit 2;
select * from ts where ts <= '2010-01-00';
select * from ts where ts between '2010-00-01' and '2040-01-01';
create table y (y year primary key);
insert into y values (1990), (2000), (2100), (0);
select * from y where y < 3000;
select * from y where y > 3000;
select * from y where y > 1800;
select * from y where y between 1800 and 3000;
-- A day that its month does not have is compared as it is.
create table d (d date, dt datetime, ts timestamp, key (d), key (dt));
insert into d values ('2010-02-01', '2010-02-01', '2010-02-01'), ('2010-03-01', '2010-03-01', '2010-03-01');
select d from d where d <= '2010-02-31';
select dt from d where dt < '2010-02-30 10:00:00';
select ts from d where ts < '2010-04-31' order by ts;
select d from d where d between '2010-01-31' and '2010-02-31';
select d from d where d = '2010-02-31';
select d from d where d > 20100231;
select d < '2010-02-30', dt < '2010-02-30', ts < '2010-02-30', d = '2010-02-30', d < 20100230 from d order by d;
select date'2010-02-01' < '2010-02-30', date'2010-02-01' in ('2010-02-30'), date'2010-02-01' < '2010-02-32';
drop table ts, y, d;
