-- An introducer says which character set the bytes of a string have: it converts nothing.
create table t1 (b blob, v varbinary(20), c varchar(20) character set utf8mb4);
insert into t1 values (_binary'ä', _binary'ä', _latin1'ä');
set names latin1;
insert into t1 values (_binary'ä', _binary'ä', _binary'ä');
insert into t1 values ('ä', 'ä', 'ä');
insert into t1 values (_latin1'ä', _utf8mb4'ä', _utf8mb4'ä');
select hex(b), hex(v), hex(c) from t1;
select hex(_binary'ä') a, hex('ä'), hex(_utf8mb4'ä') b, hex(_latin1'ä') c, hex(_ascii'a'), length(_binary'ä' 'ö') d, hex(_binary'\'\0ä') e;
prepare s from 'select hex(_binary''ä'') a, hex(_latin1''ä'') b, hex(''ä'')';
execute s;
set names utf8mb4;
select hex(b), hex(v), hex(c) from t1;
select hex(_binary'ä'), hex(_latin1'ä') l, hex(_utf8mb4'ä'), hex(_latin1 x'e4'), hex(_latin1 0xe4), hex(_utf8mb3'ä');
select concat(_latin1'ä', _utf8mb4'ä') x, _latin1'ä' = 'ä' y, char_length(_latin1'ä') z;
prepare s from 'select hex(_latin1''ä'') x';
execute s;
-- bytes that are no text of their character set
select _utf8mb4 x'e4' x;
select _utf8mb3 x'f09f9880' x;
select _utf8mb4 b'11111111' x;
-- in stored definitions
create view v1 as select _utf8mb4'ä' a, _binary'ä' c, 'ä' d, _latin1 x'e4' e, N'ä' f, _latin1'ä' g;
select hex(a), hex(c), hex(d), hex(e), hex(f), hex(g) from v1;
create table d1 (a varchar(10) default _latin1'ä', d varbinary(10) default _binary'ä', n int);
insert into d1 (n) values (1);
show create table d1;
select hex(a), hex(d) from d1;
-- adjacent strings
select N'x' 'y', n'a' 'b' 'c', N'x' as y, _latin1'x' 'y';
select 'a' N'b';
