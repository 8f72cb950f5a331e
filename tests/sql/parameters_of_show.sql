-- Parameters in the conditions of SHOW.
create table t1 (a int, b int);
create table t2 (a int);
prepare s from 'show tables where tables_in_t in (select ?)';
set @x='t1';
execute s using @x;
set @x='t2';
execute s using @x;
prepare s from 'show columns from t1 where field = ?';
set @x='b';
execute s using @x;
prepare s from 'show variables where variable_name = ?';
set @x='autocommit';
execute s using @x;
prepare s from 'show tables where tables_in_t like ? or tables_in_t = ?';
execute s using 'x%', 't1';
execute s using 'x%';
