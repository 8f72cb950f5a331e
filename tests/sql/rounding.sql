-- ROUND and TRUNCATE with the number of digits in a column.
create table r (id int primary key, d decimal(10,4), f double, g float, i int, u bigint unsigned, s int, v varchar(10), fd double(10,3), t time(3), dt datetime(2));
insert into r values (1, 12.3456, 12.3456, 12.3456, 12, 12, 2, '12.3456', 12.345, '10:10:10.123', '2001-01-01 01:01:01.12'), (2, 1.5, 1.5, 1.5, -15, 15, 0, '1.5', 1.5, '01:01:01', '2001-01-01'), (3, 100, 100, 100, 155, 18446744073709551615, -1, '100', 100, '00:00:01.5', '2001-01-01 00:00:00.5'), (4, 7.1, 7.1, 7.1, 7, 7, 5, '7.1', 7.1, null, null), (5, 1, 1, 1, 1, 1, null, '1', 1, null, null), (6, -2.5555, -2.5555, -2.5555, -25, 25, 1, '-2.5555', -2.555, '-10:00:00.999', null), (7,3.3333,3.3333,3.3333,3,3,40,'3.3333',3.333,null,null);
select id, s, round(d, s), truncate(d, s), round(f, s), truncate(f, s), round(g, s), truncate(g,s), round(i, s), truncate(i, s), round(v, s), truncate(v, s), round(fd, s), truncate(fd, s) from r;
select id, round(u, s), truncate(u, s) from r where s >= 0;
select id, round(t, s), truncate(t, s), round(dt, s), truncate(dt, s) from r where s between 0 and 6;
select id, round(12.3456, s), truncate(12.3456, s), round(12, s), round(12.5e0, s), round('12.5', s), round(1, s), concat(round(d, s)), concat(truncate(d, s)), round(d, s) + 0, round(d, s) * 1.0 from r;
create table r2 as select round(d, s) a, truncate(d, s) b, round(f, s) c, round(i, s) e, round(12.3456, s) g, round(fd, s) h, round(t, s) k, round(v, s) l, round(d) m, round(d, 2) n, round(d, -1) o, truncate(d, 2) p, round(i, 2) q, round(i, -1) r, round(f, 2) s1, round(fd, 2) t1, round(g, s) u1, truncate(i, s) v1, round(u, s) w1 from r limit 0;
select round(d, s) x from r order by x;
select sum(round(d, s)), max(round(d,s)), min(truncate(d,s)), avg(round(d,s)) from r;
select round(12.345, 1), round(12.345, 5), truncate(12.345, 5), round(12.345, -1), round(12.345, null), round(null, 1), round(12, 2), round(12.0, 40), truncate(1.999, 1);
set @s = 2;
select round(12.3456, @s), truncate(12.3456, @s), round(1.5, @s), truncate(1.5, @s);
prepare p from 'select round(12.3456, ?), truncate(1.5, ?), round(1.5, ?)';
execute p using @s, @s, @s;
select round(d, s) = 12.35, round(d, (select 2)), truncate(d, (select 3)), round(1.5, 1 + 1), round(d, id - 1) from r;
select id, round(if(1, d, 0), s), round(d / 3, s), round(d * 1.00, s), truncate(d / 3, s), round(d / 3, 2), round(cast(f as decimal(20,10)), s) from r;
