-- SHOW BINLOG EVENTS from a place that is none.
show binlog events from 330;
show binlog events in 'nowhere';
create table hashed (c1 int, key (c1 desc) using hash, key (c1 desc));
show create table hashed;
drop table hashed;
