-- LOCAL, GLOBAL and SESSION are scopes only after @@.
create or replace database `local`;
create table local.x (x int);
insert into local.x values (5);
select local.x.x from local.x;
select local.x from (select 1 x) local;
select global.x, session.x from (select 3 x) global, (select 4 x) session;
create table local.local (x int, local int);
insert into local.local values (1, 2);
select local.x, local.local, local.local.x from local.local;
update local.x set local.x.x = 6 where local.x.x = 5;
select `local`.x.x from local.x order by local.x.x;
delete from local.x where local.x.x = 6;
use local;
select x.x, local.x.x from x;
use t;
drop database local;
