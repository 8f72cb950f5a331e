-- A name that information_schema does not have: 1109, by which clients know a server without that table. Elsewhere 1146.
select * from information_schema.nosuch;
select * from INFORMATION_SCHEMA.nosuch as x;
describe information_schema.nosuch;
show create table information_schema.nosuch;
show columns from nosuch from information_schema;
select * from performance_schema.nosuch;
