-- FLUSH TABLES under LOCK TABLES.
create table f (i int);
create table g (i int);
lock tables f read;
flush tables with read lock;
flush table f;
flush tables;
flush table g;
flush table f with read lock;
unlock tables;
lock tables f write, g read;
flush tables with read lock;
flush table f;
flush table g;
flush tables;
unlock tables;
drop table f, g;
commit and chain release;
rollback and chain release;
