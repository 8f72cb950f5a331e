-- A BEFORE trigger that assigns NULL to a column without a default: 1048, not 1364.
set sql_mode = 'strict_all_tables';
create table w (a int not null, b int);
create trigger w_bi before insert on w for each row case new.b when 10 then set new.a = new.b; when 30 then set new.a = new.a; when 40 then set new.a = null; when 50 then select null into @x; else do 1; end case;
insert w (b) values (10);
insert w (b) values (20);
insert w (b) values (30);
insert w (b) values (40);
insert w (b) values (50);
select * from w;
create or replace trigger w_bi before insert on w for each row set new.a = if(new.b is null, null, 5);
insert w (b) values (1), (2);
insert w (b) values (1), (null);
insert ignore w (b) values (null);
insert into w select null, 7;
select * from w order by a, b;
set sql_mode = default;
drop table w;
