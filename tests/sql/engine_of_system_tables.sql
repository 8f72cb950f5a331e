-- Part of setting up replicas: the table of their position gets the engine of their tables.
alter table mysql.gtid_slave_pos engine = InnoDB;
alter table mysql.gtid_slave_pos engine InnoDB;
use mysql;
alter table if exists gtid_slave_pos engine = InnoDB;
use t;
alter table mysql.gtid_slave_pos engine = nothing_known;
alter table mysql.no_such_table engine = InnoDB;
select count(*) from mysql.gtid_slave_pos;
