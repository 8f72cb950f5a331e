-- Values equal to the same value need not be equal to each other: '1' and '01' to the number 1, 'a' and 'A' without case.
create table g (id int primary key, c varchar(10), b varchar(10) collate utf8mb4_bin, n bigint, key (n));
insert into g values (1, '1', 'a', 9007199254740993), (2, '01', 'A', 9007199254740992), (3, '1', 'a', 9007199254740993), (4, 'x', 'x', 1);
select c, count(*) from g where c = 1 group by c order by c;
select min(c), max(c) from g where c = 1;
select c from g where c = 1 order by c;
select b, count(*) from g where b = 'a' collate utf8mb4_general_ci group by b order by b;
select min(b) from g where b = 'a' collate utf8mb4_general_ci;
select n, count(*) from g where n = 9007199254740992e0 group by n order by n;
select distinct c from g where c = 1 order by c;
drop table g;
