-- ONLY_FULL_GROUP_BY: HAVING without GROUP BY cannot name a column of the select list by its own name.
create table w (a int, b int);
set sql_mode = 'ONLY_FULL_GROUP_BY';
select a from w having max(a) = a;
select a from w having a = max(a);
select a from w having a = 1;
select b, a from w having max(a) = b;
select a x from w having max(b) = x;
select a+1 x from w having max(b) = x;
select max(b) x from w having x = 1;
select a, 1 from w having max(b) = 1;
select a from w group by a, b having max(a) = a;
select b, a from w group by a having max(b) = b;
set sql_mode = default;
select a from w having a = 1;
drop table w;
