"""Generated columns in the log: it contains their values, for replay and for MariaDB."""

import subprocess

STATEMENTS = [
    "create database t character set utf8mb4",
    "create table t.g (id int primary key, a int, v int as (a * 2) virtual, s varchar(20) as (concat('s', v)) stored, "
    "u int as (id div 10) virtual unique, d int default (a + 1))",
    "insert into t.g (id, a) values (1, 1), (10, 2), (20, 3)",
    "update t.g set a = a + 10 where u > 0",
    "insert into t.g (id, a) values (15, 7) on duplicate key update a = 99",
    "replace into t.g (id, a) values (25, 5)",
    "delete from t.g where v = 2",
    "alter table t.g add w int as (v + 1) stored, add key (v)",
    "insert into t.g (id, a) values (30, 1)",
]
ROWS = "select id, a, v, s, u, d, w from t.g order by id"


def test_values_are_replayed(paceline, mariadb):
    paceline.query("reset master", *STATEMENTS)
    rows = paceline.query(ROWS)
    assert rows[0] == (10, 99, 198, "s198", 1, 3, 199) and len(rows) == 3
    paceline.kill()
    paceline.start()
    assert paceline.query(ROWS) == rows
    assert paceline.query("select id from t.g where v = 198") == ((10,),)
    paceline.query("flush binary logs")
    script = subprocess.run(["mariadb-binlog", "--no-defaults", *map(str, paceline.log_files()[:-1])], check=True, capture_output=True,
                            text=True).stdout
    mariadb.client(text=script)
    assert mariadb.query(ROWS) == rows
    mariadb.query("check table t.g extended")
    # A dump of the table can be loaded.
    dump = paceline.client("--databases", "t", program="mariadb-dump")
    paceline.query("drop database t")
    paceline.client(text=dump)
    assert paceline.query(ROWS) == rows
