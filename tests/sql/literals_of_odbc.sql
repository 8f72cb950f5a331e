-- ODBC's literals: a text that is no such value stays a string.
select {d'2001-01-01'} a, {d '2001-01-01 10:10:10'} b, {t'10:10:10'} c, {t'900:00:00'} d, {ts'2001-01-01 10:10:10'} e, {ts'x'} f, {t'x'} g;
create table t1 select {d'2001-01-01'} a, {d '2001-01-01 10:10:10'} b, {t'10:10:10'} c, {ts'2001-01-01 10:10:10'} d, {ts'x'} e;
show create table t1;
-- a time out of range is no literal
select time'900:00:00';
select time'-900:00:00';
select time'838:59:59', time'-838:59:59.999999';
select time'839:00:00';
select date'2001-13-01';
