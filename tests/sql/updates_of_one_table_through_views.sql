-- 1706 names the tables and views as the statement does.
create table w (pk int primary key, a int);
create view v as select * from w;
create view vv as select * from v;
update v as x, w as y set x.pk = 1, y.a = 2;
update v as x, v as y set x.pk = 1, y.a = 2;
update w as x, v as y set x.pk = 1, y.a = 2;
update vv as x, v as y set x.pk = 1, y.a = 2;
update vv, v set vv.pk = 1, v.a = 2;
update w as x, w as y set x.pk = 1, y.a = 2;
drop view v, vv;
drop table w;
