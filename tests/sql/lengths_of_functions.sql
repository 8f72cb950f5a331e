-- The lengths that CREATE TABLE … SELECT gives the results of functions.
create table base (a varchar(10) character set latin1, i int, c char(5), n bigint unsigned, d decimal(10,2), t datetime, f double);
create table made as select format(1,2), format(i,2), format(n,2), format(d,2), format(d,0), format(f,2), format('1',2) from base;
show create table made;
create or replace table made as select make_set(1,'a','b'), make_set(1,a), export_set(1,'a','b'), export_set(1,'abc','b','--') from base;
show create table made;
create or replace table made as select from_base64(a), from_base64('YQ=='), from_base64(c), unhex(a), unhex(c), to_base64(a), to_base64('abc') from base;
show create table made;
create or replace table made as select hex(i), hex(f), hex(d), hex(a), bin(i), oct(i), inet_ntoa(i), random_bytes(3) from base;
show create table made;
create or replace table made as select substr(a,2), substr(a,2,3), substr(a,-3), substr(a,0), left(a,2), mid('abcdef',2,3) from base;
show create table made;
create or replace table made as select json_array(1), json_array('abc'), json_array(a), json_array(i, t), json_object('a', 1), json_object(a, i) from base;
show create table made;
create or replace table made as select json_set('{}','$.a',1), json_set('{}','$.a',1,'$.b',2), json_insert(a,'$.a',i), json_array_append('[]','$',1), json_remove(a,'$.a') from base;
show create table made;
create or replace table made as select json_merge_preserve(a,a), json_merge_patch('1','2'), json_extract(a,'$.a'), json_extract(a,'$.a','$.b'), json_value(a,'$.a'), json_keys(a), json_search(a,'one','x'), json_compact(a), json_detailed(a), json_type(a) from base;
show create table made;
drop table base, made;
