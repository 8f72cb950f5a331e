-- A user variable has no fixed decimals.
create table d (d double(5,2), f float(5,2));
insert into d values (1.5, 1.5);
select d, f into @d, @f from d;
select @d, @f, concat(@d, ' ', @f), @d + 1;
select concat(d, ' ', f) from d;
create table made as select @d a;
show create table made;
drop table d, made;
