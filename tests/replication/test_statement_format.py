"""Statements that replicas get as text (binlog_format=STATEMENT and MIXED), with their rows beside them for recovery."""

import subprocess

import pymysql
import pytest

from support.replication import assert_same, change_master, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline

KINDS = pytest.mark.parametrize("kind", [MariaDb, Paceline])


def texts(server):
    """Returns the statements in the log, with the values that precede them, and the names of other events of transactions."""
    shown = [row for row in server.query("show binlog events") if row[2] in ("Query", "Intvar", "RAND", "User var", "Write_rows_v1")]
    return [row[2] if row[2] in ("RAND", "Write_rows_v1") else row[5] for row in shown]


def follow(replica, primary):
    replication_user(primary)
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")


@KINDS
def test_a_replica_executes_the_text_with_its_own_rows(servers, kind):
    primary, replica = servers(Paceline, 1), servers(kind, 2)
    follow(replica, primary)
    primary.query("create database t", "create table t.a (id int primary key, v int)", "create table t.sums (place varchar(9) primary key, n int, c bigint)",
                  "insert into t.a values (1, 10), (2, 20), (3, 30)")
    wait_for_replica(replica, primary)
    replica.query("set sql_log_bin = 0", "update t.a set v = 21 where id = 2")
    summing = "replace into t.sums select '{}', count(*), sum(v) from t.a"
    primary.query("set session binlog_format = 'STATEMENT'", summing.format("text"), "set session binlog_format = 'ROW'", summing.format("rows"))
    wait_for_replica(replica, primary)
    assert primary.query("select * from t.sums order by place") == (("rows", 3, 60), ("text", 3, 60))
    assert replica.query("select * from t.sums order by place") == (("rows", 3, 60), ("text", 3, 61))


@KINDS
@pytest.mark.parametrize("binlog_format", ["STATEMENT", "MIXED"])
def test_a_replica_has_the_values_that_a_text_depends_on(servers, kind, binlog_format):
    primary, replica = servers(Paceline, 1), servers(kind, 2)
    follow(replica, primary)
    primary.query("create database t")
    primary.query(
        "create table a (id int primary key auto_increment, v varchar(200), t timestamp(6) default current_timestamp(6))",
        "create table b (id int primary key, f double, d decimal(30, 10))",
        f"set session binlog_format = '{binlog_format}'",
        "insert into a (v) values ('x'), ('y'), ('z')",
        "insert into a (v) values (last_insert_id())",
        "insert into a (v) values (rand()), (rand())",
        "set @i = -5, @u = 18446744073709551615, @d = 12345.678, @f = 1.5e300, @s = 'größe', @b = x'00ff', @n = null",
        "insert into a (v) values (@i), (@u), (@d), (@f), (@s), (hex(@b)), (@n), (@never)",
        "insert into b values (1, @f, @d), (2, now(6) + 0, @i)",
        "update a set v = concat(v, @s) where id < 3",
        "set @i = 1",
        "insert into a (v) values (@i := @i + 1), (@i := @i + 1)",
        "prepare p from 'insert into a (v) values (?), (?), (?)'", "set @q = 'it''s \\\\ \"x\" größe'", "execute p using @q, @d, @n",
        "set insert_id = 100",
        "insert into a (v) values ('hundred'), ('and one')",
        "insert into a (id, v) values (500, 'given'), (null, 'after it')",
        "set time_zone = '+05:00'",
        "insert into a (v) values (now()), (curdate())",
        "delete from a where id = 2",
        "set sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
        """insert into a (v) values ('back\\slash')""",
        "set session auto_increment_increment = 10, auto_increment_offset = 3",
        "insert into a (v) values ('ten'), ('apart')",
        "begin", "insert into a (v) values ('in a transaction')", "savepoint s", "insert into a (v) values ('undone')", "rollback to s",
        "insert into a (v) values (uuid())" if binlog_format == "MIXED" else "insert into a (v) values (3)",
        "update b set f = 2", "commit",
        database="t")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    logged = "\n".join(texts(primary))
    assert "insert into a (v) values ('x'), ('y'), ('z')" in logged and "update b set f = 2" in logged
    assert ("uuid()" in logged, "Write_rows_v1" in logged) == ((False, True) if binlog_format == "MIXED" else (False, False))


def test_recovery_and_restores_do_not_execute_the_text(servers, tmp_path):
    primary = servers(Paceline, 1)
    primary.query("create database t", "create table t.a (id int primary key auto_increment, v varchar(200))", "create table t.b (id int primary key, v varchar(200))",
                  "set session binlog_format = 'STATEMENT'", "insert into t.a (v) values (uuid()), (uuid())",
                  "update t.a set v = concat(v, uuid())", "insert into t.b select id, uuid() from t.a", "delete from t.a order by uuid() limit 1",
                  "begin", "insert into t.a (v) values (uuid())", "set @a = uuid()", "insert into t.b values (50, @a)", "commit",
                  "update t.b set v = uuid() where false")
    before = [primary.query("select * from t.a order by id"), primary.query("select * from t.b order by id")]
    assert len(before[0]) == 2 and len(before[1]) == 3
    primary.kill()
    # Without the tables, everything comes from the log.
    primary.start()
    assert [primary.query("select * from t.a order by id"), primary.query("select * from t.b order by id")] == before


def test_a_large_text(servers):
    """Its rows are in a file of their own, and its text is at the end of it."""
    primary, replica = servers(Paceline, 1, "--binlog_large_commit_threshold=10485760"), servers(Paceline, 2)
    follow(replica, primary)
    primary.query("create database t", "use t", "create table a (id int primary key, v varchar(2000))", "set session binlog_format = 'STATEMENT'", "begin",
                  "insert into a select seq, repeat('x', 2000) from seq_1_to_10000", "update a set v = concat(id, uuid()) where id < 4000", "commit")
    rows = primary.query("select count(*), sum(crc32(v)) from t.a")
    primary.kill()
    primary.start()
    assert primary.query("select count(*), sum(crc32(v)) from t.a") == rows
    wait_for_replica(replica, primary)
    assert replica.query("select count(*), count(distinct v) from t.a") == primary.query("select count(*), count(distinct v) from t.a")
    assert primary.query("show global status like 'Binlog_cache_disk_use'") == (("Binlog_cache_disk_use", "0"),)


def test_mariadbs_tool_prints_and_restores_the_text(servers, mariadb):
    primary = servers(Paceline, 1)
    primary.query("create database t", "create table t.a (id int primary key auto_increment, v varchar(200))", database=None)
    primary.query("set session binlog_format = 'MIXED'", "insert into a (v) values ('x'), ('y')", "set @v = 'z'", "insert into a (v) values (@v)",
                  "begin", "update a set v = rand() where id = 1", "insert into a (v) values (uuid())", "insert into a (v) values (last_insert_id())", "commit",
                  database="t")
    primary.query("flush binary logs")
    file = sorted((primary.directory / "data").glob("binlog.0*"))[0]
    text = subprocess.run(["mariadb-binlog", file], capture_output=True, check=True).stdout.decode()
    ours = subprocess.run([primary.command()[0], "binlog", file], capture_output=True, check=True).stdout.decode()
    assert ours == text
    assert "insert into a (v) values ('x'), ('y')" in text and "SET INSERT_ID=1" in text and "SET @`v`:=" in text
    mariadb.client(text=text)
    assert_same(primary, mariadb)


def test_what_is_logged(servers, mariadb):
    """The same statements are logged as text, and with the same context, as by MariaDB."""
    primary = servers(Paceline, 1)
    statements = [
        "create table a (id int primary key auto_increment, v varchar(200))",
        "create table b (id int primary key, v varchar(200))",
        "insert into a (v) values ('x'), ('y')",
        "update a set v = 'z' where id = 99",
        "insert into b select id, v from a",
        "replace into b select id, v from a",
        "replace into b values (1, 'r')",
        "insert ignore into b values (1, 'r')",
        "delete from b where id = 1 limit 1",
        "insert into a (v) select v from b",
        "insert into b values (10, last_insert_id()), (11, @v), (12, rand())",
        "set @i = -7, @u = 18446744073709551615, @d = 12.50, @f = 0.5e0, @s = 'größe', @b = x'00ff', @e = ''",
        "insert into b values (13, @i), (14, @u), (15, @d), (16, @f), (17, @s), (18, hex(@b)), (19, @e)",
        "set @s = _latin1'abc'",
        "insert into b values (40, @s)",
        "prepare p from 'insert into b values (?, ?), (?, ?)'", "set @i = 41, @s = 'it''s \\\\ \"x\"', @n = null, @j = 42", "execute p using @i, @s, @j, @n",
        "insert into b values (20, uuid())",
        "insert into b values (21, user())",
        "update a, b set a.v = 'u', b.v = 'w' where a.id = b.id",
        "delete a, b from a join b using (id)",
        "begin", "insert into b values (30, 'a')", "insert into b values (31, 'b')", "commit",
        "begin", "insert into b values (32, 'a')", "rollback",
        "set session transaction isolation level read committed", "insert into b values (33, 'a')",
        "set session transaction isolation level repeatable read",
        "set statement sql_mode='' for insert into b values (35, 'a')",
    ]
    for binlog_format in ("STATEMENT", "MIXED"):
        logged = []
        for server in (mariadb, primary):
            server.query("create database t")
            server.query("reset master")
            with server.connect(database="t") as connection, connection.cursor() as cursor:
                cursor.execute(f"set session binlog_format = '{binlog_format}'")
                for statement in statements:
                    try:
                        cursor.execute(statement)
                    except Exception as error:
                        assert error.args[0] == 1665, error
            logged.append([text for text in texts(server) if text != "COMMIT"])
            server.query("drop database t")
        assert logged[0] == logged[1], binlog_format


@pytest.mark.parametrize("isolation, waits", [("repeatable read", True), ("read committed", False)])
def test_nothing_appears_in_what_a_text_has_read(servers, isolation, waits):
    """A replica executes the text at its place in the log: what it reads must be the same there."""
    primary = servers(Paceline, 1)
    primary.query("create database t", "create table t.a (id int primary key, k int, v int, key (k))", "create table t.sums (n int)",
                  "insert into t.a values (1, 1, 1), (20, 20, 2)")
    reads = ["insert into t.sums select count(*) from t.a where id between 5 and 15", "update t.a set v = 3 where id between 5 and 15",
             "delete from t.a where k between 5 and 15", "insert into t.sums values ((select count(*) from t.a where k > 5))"]
    for statement in reads:
        with primary.connect(autocommit=False) as connection, connection.cursor() as cursor:
            cursor.execute("set session binlog_format = 'MIXED'")
            cursor.execute(f"set session transaction isolation level {isolation}")
            cursor.execute(statement)
            insert = ("set innodb_lock_wait_timeout = 1", "insert into t.a values (10, 10, 10)")
            if waits:
                with pytest.raises(pymysql.err.OperationalError) as error:
                    primary.query(*insert)
                assert error.value.args[0] == 1205, statement
            elif "values ((" not in statement:
                primary.query(*insert, "delete from t.a where id = 10")
            connection.rollback()
