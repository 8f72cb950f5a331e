-- A DELETE from several tables names them by their alias, or by their name if they have none.
create or replace database other;
create table one (i int);
create table other.one (i int);
create table other.two (i int);
delete from other.alias using other.one, other.two alias where one.i = alias.i;
delete one from other.one, other.two;
delete other.one from other.one as one, other.two;
delete other.x from other.one as x, other.two;
delete x from other.one as x, other.two;
delete x from other.one as x, other.two as x;
delete other.one, one from other.one, one;
delete one from one, other.one as x where one.i = x.i;
delete other.two from other.one, (one cross join other.two);
drop database other;
drop table one;
-- Names are resolved before tables are opened.
delete x from nosuch as y, one as z;
delete x from nosuch.one as x, nosuch.two as x;
delete x from x, nosuch.one as x;
