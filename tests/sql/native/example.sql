-- MariaDB's own example of native functions. What its test main.udf does, without what depends on its engines.
create function metaphon returns string soname 'udf_example.so';
create function myfunc_double returns real soname 'udf_example.so';
create function myfunc_nonexist returns integer soname 'udf_example.so';
-- 40 characters, 80 bytes: its library is looked at as well.
create function üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü returns integer soname 'udf_example.so';
create function myfunc_int returns integer soname 'udf_example.so';
create function udf_sequence returns integer soname 'udf_example.so';
create function lookup returns string soname 'udf_example.so';
create function reverse_lookup returns string soname 'udf_example.so';
create aggregate function avgcost returns real soname 'udf_example.so';
create aggregate function avg2 returns real soname 'udf_example.so';
create function is_const returns string soname 'udf_example.so';
create function check_const_len returns string soname 'udf_example.so';
create function myfunc_argument_name returns string soname 'udf_example.so';
select * from mysql.func order by name;
select myfunc_double();
select myfunc_double(1);
select myfunc_double(78654);
select myfunc_nonexist();
select myfunc_int();
select lookup();
select lookup('127.0.0.1');
select lookup(127,0,0,1);
select reverse_lookup();
select avgcost();
select avgcost(100,23.76);
create table t1(sum int, price float(24));
insert into t1 values(100, 50.00), (100, 100.00);
select avgcost(sum, price) from t1;
delete from t1;
select avgcost(sum, price) from t1;
insert into t1 values(100, 54.33), (200, 199.99);
select avgcost(sum, price) from t1;
drop table t1;
select metaphon('hello');
create procedure xxx1(in testval varchar(10)) select metaphon(testval);
call xxx1('hello');
drop procedure xxx1;
create table bug19904(n int, v varchar(10));
insert into bug19904 values (1,'one'),(2,'two'),(null,null),(3,'three'),(4,'four');
select myfunc_double(n) as f from bug19904;
select metaphon(v) as f from bug19904;
drop table bug19904;
create definer=current_user() function should_not_parse returns string soname 'should_not_parse.so';
create definer=someone@somewhere function should_not_parse returns string soname 'should_not_parse.so';
create table t1(a int, b int);
insert into t1 values (1,1),(2,2);
create function fn(a int) returns int deterministic return a;
select myfunc_int(a as attr_name) from t1;
select a, fn(min(b) xx) as c from t1 group by a;
select myfunc_int(fn(min(b) xx)) as c from t1 group by a;
select myfunc_int(t.fn(min(b) xx)) as c from t1 group by a;
select myfunc_int(fn(min(b)) xx) as c from t1 group by a;
select myfunc_int(min(b) xx) as c from t1 group by a;
select myfunc_int(fn(min(b))) as c from t1 group by a;
select myfunc_int(t.fn(min(b))) as c from t1 group by a;
drop table t1;
drop function fn;
select myfunc_double(3);
select myfunc_double(3 as three);
select myfunc_double(abs(3));
select myfunc_double(abs(3) as named_param);
select abs(myfunc_double(3));
select abs(myfunc_double(3 as three));
select myfunc_double(abs(3 as wrong));
select abs(myfunc_double(3) as wrong);
select if(1 as wrong, 2, 3);
create function pi returns string soname 'should_not_parse.so';
drop function if exists metaphon;
create function metaphon(a int) returns int deterministic return 0;
create function metaphon returns string soname 'udf_example.so';
drop function metaphon;
drop function metaphon;
create function metaphon returns string soname 'udf_example.so';
create function metaphon(a int) returns int deterministic return 0;
create function t.metaphon(a int) returns int deterministic return 0;
select IS_const(3);
select
  is_const(3) as const,
  is_const(3.14) as const,
  is_const('fnord') as const,
  is_const(2+3) as const,
  is_const(rand()) as 'nc rand()',
  is_const(sin(3.14)) as const,
  is_const(upper('test')) as const;
create table bug18761 (n int);
insert into bug18761 values (null),(2);
select
  is_const(3) as const,
  is_const(3.14) as const,
  is_const('fnord') as const,
  is_const(2+3) as const,
  is_const(2+n) as 'nc  2+n  ',
  is_const(sin(n)) as 'nc sin(n)',
  is_const(sin(3.14)) as const,
  is_const(upper('test')) as const,
  is_const(rand()) as 'nc rand()',
  is_const(n) as 'nc   n   ',
  is_const(is_const(n)) as 'nc ic?(n)',
  is_const(is_const('c')) as const
from
  bug18761;
drop table bug18761;
select is_const((1,2,3));
create function f1(p1 varchar(255)) returns varchar(255) deterministic return metaphon(p1);
create function f2(p1 varchar(255)) returns double deterministic return myfunc_double(p1);
create function f3(p1 varchar(255)) returns double deterministic return myfunc_int(p1);
select f3(null);
select f2(null);
select f1(null);
select f1('hello'), f2('hello'), f3('hello');
drop function f1;
drop function f2;
drop function f3;
create table const_len_bug (str_const varchar(4000), result2 varchar(4000));
create trigger check_const_len_trigger before insert on const_len_bug for each row set new.result2 = concat(new.str_const, myfunc_int(new.str_const));
insert into const_len_bug(str_const) values ('foo'), ('foobar');
select * from const_len_bug;
drop table const_len_bug;
set @text = 'abc';
prepare p from 'select is_const(?), check_const_len(?), check_const_len(@text), udf_sequence()';
execute p using @text, @text;
set @text = 'abcdef';
execute p using @text, @text;
deallocate prepare p;
create table t1 (a int);
create table t2 (a int primary key);
insert into t1 values (4),(3),(2),(1);
insert into t2 select * from t1;
select udf_sequence() as seq, a from t1 order by seq asc;
select udf_sequence() as seq, a from t1 order by seq desc;
select * from t1 where a = udf_sequence();
drop table t1, t2;
drop function if exists t.metaphon;
drop function if exists metaphon;
create function metaphon returns string soname 'udf_example.so';
select metaphon('Hello');
drop function if exists t.metaphon;
select metaphon('Hello');
drop function metaphon;
create function t.metaphon(a text) returns text deterministic return 'This is a SF';
create function metaphon returns string soname 'udf_example.so';
select metaphon('Hello');
select t.metaphon('Hello');
drop function metaphon;
select metaphon('Hello');
drop function metaphon;
drop function if exists no_such_func;
drop function no_such_func;
drop function if exists t.no_such_func;
drop function t.no_such_func;
create table t1(pk int primary key, a int, sum int, price float(24));
insert into t1 values (1, 1, 100, 50.00), (2, 1, 100, 100.00), (3, 1, 100, 50.00), (4, 1, 100, 50.00), (5, 1, 100, 50.00),
  (6, 1, 100, null), (7, 1, null, null), (8, 2, 2, 2), (9, 2, 4, 4);
select pk, a, sum, price, avgcost(sum, price) over (partition by a order by pk rows between 1 preceding and 1 following) as r from t1 order by pk;
select pk, a, sum, price, avgcost(sum, price) over (partition by a order by pk rows between 1 preceding and 0 following) as r from t1 order by pk;
select pk, a, sum, price, avg2(sum, price) over (partition by a order by pk rows between 1 preceding and 1 following) as r from t1 order by pk;
select pk, a, sum, price, avg2(sum, price) over (partition by a order by pk rows between 1 preceding and 0 following) as r from t1 order by pk;
select pk, tttttttt(sprice,sum) over (partition by a order by pk rows between 1 preceding and 0 following) from t1;
select pk, myfunc_double(sum) over (partition by a order by pk rows between 1 preceding and 0 following) from t1;
select pk, round(sprice,sum) over (partition by a order by pk rows between 1 preceding and 0 following) from t1;
drop table t1;
create table t1(pk int primary key, a varchar(20));
create table t2(pk int primary key, a varchar(20));
create view v1 as select pk, a from t1 union select pk, a from t2;
insert into t1 values (1, 'One'), (3, 'Three'), (5, 'Five');
insert into t2 values (2, 'Dos'), (4, 'Quatro'), (6, 'Seis');
select pk, myfunc_int(a) from t1 order by pk;
select pk, myfunc_int(a) from v1 order by pk;
select pk from t1 where myfunc_int(a) > 4;
select pk from (select pk, a from t1) A where myfunc_int(A.a) > 4;
select myfunc_argument_name(a+1), myfunc_argument_name( a +  1), myfunc_argument_name(t1.a), myfunc_argument_name(a as x), myfunc_argument_name(a 'y') from t1 limit 1;
create or replace view v1 as select pk, myfunc_argument_name(a as xx) as n from t1;
select * from v1 where pk = 1;
drop view v1;
drop table t1, t2;
create function if not exists myfunc_int returns string soname 'udf_example.so';
create or replace function if not exists myfunc_int returns string soname 'udf_example.so';
create or replace function myfunc_int returns string soname 'udf_example.so';
select ret from mysql.func where name = 'myfunc_int';
create or replace function myfunc_int returns integer soname 'udf_example.so';
drop function myfunc_double;
drop function myfunc_int;
drop function udf_sequence;
drop function lookup;
drop function reverse_lookup;
drop function avgcost;
drop function avg2;
drop function is_const;
drop function check_const_len;
drop function myfunc_argument_name;
select * from mysql.func;
select is_const(3);
