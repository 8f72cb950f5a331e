-- Digits of literals in the types of results.
create table t as select 0.5 a, 0.05 b, .5 c, 00.5 d, 0.50 e, 10.5 f, 010.5 g, 0.5 + 0.5 h, 0.5 * 2 i, 0.5 / 2 j, -0.5 k,
  sum(0.5) l, 0.0 m, 0. n, 0.5 % 2 o, concat(0.5) p, concat(.5) q, concat(-0.5) r, if(1, 0.5, 0.55) s, abs(0.5) u;
show create table t;
create or replace table t as select ceiling(0.5) a, floor(0.99) b, round(0.5) c, truncate(0.5, 0) d, ceiling(.5) e,
  round(0.55, 1) f, ceiling(99999999.5) g, ceiling(999999999.5) h, floor(9999999.5) i, round(9.5) j;
show create table t;
create table s (a decimal(3,3), b decimal(4,3), c decimal(8,0), d decimal(9,1), e decimal(10,1), f decimal(9,0), g decimal(10,0));
create or replace table t as select ceiling(a) a, ceiling(b) b, ceiling(c) c, ceiling(d) d, floor(e) e, floor(f) f, floor(g) g from s;
show create table t;
create or replace table t as select 0xff + 0 a, floor(0xffff) b, ceiling(0xffffff) c, round(0xffffffff) d, 0xffffffffff + 0 e,
  truncate(0xffffffffffffffff, 0) f, round(0xffffffffffffffffff) g, sum(0xff) h, 0xff % 3 i, ceiling(0b11) j;
show create table t;
create or replace table t as select round(5, null) a, round(12345678901234567890, null) b, truncate(5, null) c, round(5, -1) d,
  round(99, -1) e, round(cast(5 as unsigned), null) f, round(99999999, -2) g, round(999999999, -2) h,
  round(18446744073709551615, -1) i, round(0xffffffffffffffff, null) j;
show create table t;
drop table t, s;
