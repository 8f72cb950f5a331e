-- A user variable has the widest type of its class, in result sets and in the columns of CREATE TABLE … SELECT.
set @i=5, @u=cast(5 as unsigned), @d=1.25, @f=1e0, @s='abc', @b=x'4142', @dt=date'2001-01-01', @n=null, @bin=binary 'a', @l=_latin1'abc';
create table a as select @i, @u, @d, @f, @s, @b, @n, @nothing, @bin, @l;
show create table a;
select * from a;
-- Functions of variables.
create table c as select @i+1, @d+1, @f+1, concat(@s), @d*2, if(1,@d,1), coalesce(@i,@s), ifnull(@u,1), @s='abc', @d/3, round(@d), -@d, sum(@d), max(@i), group_concat(@s), max(@d), left(@s,2), @d|1;
show create table c;
select * from c;
create table d as select @d union select 1;
show create table d;
create table e as select @s union select 'a';
show create table e;
create table g as select * from (select @s x, @l m, concat(@s) c) y;
show create table g;
-- Decimals have 38 digits after the point, except for the variable itself.
select @i+1, @d+1, @f+1, @d*2, if(1,@d,1), @d/3, round(@d), round(@d,1), -@d, sum(@d), max(@d), @d|1;
select @d, (select @d), (select @d+1), greatest(@d,1), case when 1 then @d end, nullif(@d,1), cast(@d as decimal(10,3)), truncate(@d,1), floor(@d), abs(@d), @d mod 1, @d div 1, @d-@d, concat(@d,''), concat(@d+1);
select * from (select @d, @d+1) x;
select @d union all select 2.5;
select distinct @d, @i;
set @y=@d+1; select @y; set @y=@d*2; select @y;
set @z=@d+0.5e0; select @z;
select @d = 1.25, @d in (1.25,2), @d between 1 and 2, format(@d,2);
select avg(@d), @d*1e0, @d+'1', @d||'';
select round(@i/3,2), @i/3, @u/3, @i*1.5, @i%3;
select date_add('2001-01-01', interval @d second), sec_to_time(@d), from_unixtime(@d) = '1970-01-01 00:00:01.25', maketime(1,2,@d), addtime('10:00:00',@d);
