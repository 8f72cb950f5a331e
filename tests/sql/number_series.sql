-- The tables of numbers of the SEQUENCE engine are there without being made.
select * from seq_1_to_5;
select seq * 2 as twice from seq_10_to_1_step_3;
select count(*), min(seq), max(seq) from seq_1_to_100000 where seq % 7 = 0;
create table n (a int unsigned, primary key (a)) select seq as a from seq_0_to_30_step_10;
insert into n select seq from seq_1_to_3;
select * from n order by a;
select n.a, s.seq from n left join seq_1_to_20 s on s.seq = n.a order by n.a;
select a.seq, b.seq from seq_1_to_3 a join seq_1_to_3 b on a.seq < b.seq order by 1, 2;
update n join seq_10_to_20 s on s.seq = n.a set n.a = n.a + 100;
delete from n where a in (select seq from seq_1_to_2);
select * from n order by a;
create view w as select seq + 1 as next from seq_1_to_3;
select * from w;
drop view w;
select * from t.seq_3_to_1;
insert into seq_1_to_3 values (9);
select * from seq_1_to;
select * from seq_a_to_3;
-- A table of that name is that table.
create table seq_1_to_2 (a int);
insert into seq_1_to_2 values (7);
select * from seq_1_to_2;
drop table seq_1_to_2;
select * from seq_1_to_2 limit 1;
select seq from seq_1_to_18446744073709551614 limit 2;
