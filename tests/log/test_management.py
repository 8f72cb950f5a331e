"""Files, positions and GTIDs of the log, as an operator sees them."""

import re

import pymysql
import pytest

from support.servers import MariaDb
from support.waiting import wait_for


def rows(server, statement, *more):
    return server.query(statement, *more)


def fails(server, *statements):
    with pytest.raises(pymysql.err.MySQLError) as error:
        server.query(*statements)
    return error.value.args[0]


def status(server, name):
    return server.query(f"show global status like '{name}'")[0][1]


@pytest.fixture
def table(server):
    server.query("create database t", "create table t.a (id int primary key auto_increment, v varchar(200))")
    return server


def own_server_id(server):
    return server.query("select @@server_id")[0][0]


def test_gtids_of_a_session(table):
    id = own_server_id(table)
    with table.connect() as connection, connection.cursor() as cursor:
        def ask(statement):
            cursor.execute(statement)
            return cursor.fetchall()[0][0]

        cursor.execute("insert into t.a values ()")
        first = ask("select @@last_gtid")
        assert re.fullmatch(rf"0-{id}-\d+", first)
        cursor.execute("insert into t.a values ()")
        number = int(first.split("-")[2])
        assert ask("select @@last_gtid") == f"0-{id}-{number + 1}"
        cursor.execute("set session gtid_domain_id=5, server_id=77, gtid_seq_no=1000")
        cursor.execute("insert into t.a values ()")
        assert ask("select @@last_gtid") == "5-77-1000"
        # gtid_seq_no applies to one transaction.
        cursor.execute("insert into t.a values ()")
        assert ask("select @@last_gtid") == "5-77-1001"
        cursor.execute("begin")
        cursor.execute("insert into t.a values ()")
        with pytest.raises(pymysql.err.MySQLError) as error:
            cursor.execute("set session gtid_seq_no=2000")
        assert error.value.args[0] in (1953, 1694)
        cursor.execute("rollback")
    assert rows(table, "select @@gtid_binlog_pos") == ((f"0-{id}-{number + 1},5-77-1001",),)
    assert rows(table, "select @@gtid_binlog_state") == ((f"0-{id}-{number + 1},5-77-1001",),)
    assert rows(table, "select @@gtid_current_pos")[0][0].startswith(f"0-{id}-{number + 1}")


def test_gtids_continue_after_a_restart(table):
    for _ in range(3):
        rows(table, "insert into t.a values ()")
    before = rows(table, "select @@gtid_binlog_pos")[0][0]
    table.kill()
    table.start()
    assert rows(table, "select @@gtid_binlog_pos") == ((before,),)
    rows(table, "insert into t.a values ()")
    after = rows(table, "select @@gtid_binlog_pos")[0][0]
    assert int(after.split("-")[2]) == int(before.split("-")[2]) + 1
    assert table.stop() == 0
    table.start()
    assert rows(table, "select @@gtid_binlog_pos") == ((after,),)


def test_an_older_number_in_the_own_domain(table):
    rows(table, "insert into t.a values ()")
    assert fails(table, "set global gtid_strict_mode=1", "set session gtid_seq_no=1", "insert into t.a values ()") == 1950
    rows(table, "set global gtid_strict_mode=0")
    rows(table, "insert into t.a values ()")


def test_positions_and_events(table):
    [(file, position, *_)] = rows(table, "show master status")
    assert rows(table, "show binlog status")[0][:2] == (file, position)
    gtid = rows(table, "select @@gtid_binlog_pos")[0][0]
    assert rows(table, f"select binlog_gtid_pos('{file}', {position})") == ((gtid,),)
    rows(table, "insert into t.a (v) values ('hello')")
    events = rows(table, f"show binlog events in '{file}' from {position}")
    assert [event[2] for event in events] == ["Gtid", "Annotate_rows", "Table_map", "Write_rows_v1", "Xid"]
    assert events[0][1] == position
    assert all(event[4] == following[1] for event, following in zip(events, events[1:]))
    assert events[1][5] == "insert into t.a (v) values ('hello')"
    assert re.fullmatch(r"BEGIN GTID 0-\d+-\d+", events[0][5])
    assert rows(table, "show master status")[0][1] == events[-1][4]
    assert len(rows(table, f"show binlog events in '{file}' limit 2, 3")) == 3
    first = [event[2] for event in rows(table, f"show binlog events in '{file}' limit 10")]
    assert first[0] == "Format_desc" and "Gtid_list" in first
    assert fails(table, "show binlog events in 'nowhere.000001'") == 1220
    # Without annotations.
    position = events[-1][4]
    rows(table, "set session binlog_annotate_row_events=0", "insert into t.a (v) values ('x')")
    assert "Annotate_rows" not in [event[2] for event in rows(table, f"show binlog events in '{file}' from {position}")]


def test_rotation_purge_and_reset(table):
    names = [row[0] for row in rows(table, "show binary logs")]
    for _ in range(3):
        rows(table, "insert into t.a values ()", "flush binary logs")
    files = rows(table, "show binary logs")
    assert len(files) == len(names) + 3
    assert rows(table, "show master logs") == files
    assert all(size > 250 for _, size in files)
    # MariaDB also refuses to purge what the last checkpoint needs; wait until it has moved on.
    last = files[-1][0]
    wait_for("the files to be purged", lambda: len(rows(table, f"purge binary logs to '{last}'", "show binary logs")) == 1, 20)
    assert rows(table, "show binary logs")[0][0] == last
    assert fails(table, "purge binary logs to 'nowhere.000001'") == 1373
    gtid = rows(table, "select @@gtid_binlog_pos")[0][0]
    rows(table, "insert into t.a values ()", "flush binary logs", "insert into t.a values ()")
    assert rows(table, "select @@gtid_binlog_pos")[0][0] > gtid
    rows(table, "reset master")
    [(name, _)] = rows(table, "show binary logs")
    assert name.endswith(".000001")
    assert rows(table, "select @@gtid_binlog_pos") == (("",),)
    rows(table, "insert into t.a (v) values ('after')")
    assert rows(table, "select @@gtid_binlog_pos") == ((f"0-{own_server_id(table)}-1",),)
    table.kill()
    table.start()
    assert rows(table, "select v from t.a order by id desc limit 1") == (("after",),)
    rows(table, "update t.a set v='again'")
    table.kill()
    table.start()
    assert rows(table, "select distinct v from t.a") == (("again",),)


def test_rotation_by_size(table):
    rows(table, "set global max_binlog_size=4096")
    for _ in range(30):
        rows(table, "insert into t.a (v) values (repeat('x', 200))")
    files = rows(table, "show binary logs")
    assert len(files) >= 3
    assert all(size < 4096 + 1024 for _, size in files[:-1])
    for name, size in files[:-1]:
        events = rows(table, f"show binlog events in '{name}'")
        assert events[-1][2] == "Rotate" and events[-1][4] == size


def test_expired_files_are_purged(table):
    rows(table, "set global binlog_expire_logs_seconds=1")
    for _ in range(3):
        rows(table, "insert into t.a values ()", "flush binary logs")
    # Each question begins a file, and a file expires after a second.
    wait_for("files to expire", lambda: len(rows(table, "flush binary logs", "show binary logs")) <= 3, 20, pause_seconds=0.5)
    rows(table, "set global binlog_expire_logs_seconds=0")


def test_changes_that_are_not_logged(table, request):
    gtid = rows(table, "select @@gtid_binlog_pos")
    rows(table, "set session sql_log_bin=0", "insert into t.a (v) values ('quiet')", "create table t.quiet (a int)")
    assert rows(table, "select @@gtid_binlog_pos") == gtid
    table.kill()
    table.start()
    assert rows(table, "select v from t.a") == (("quiet",),)
    assert rows(table, "show tables in t") == (("a",), ("quiet",))
    assert rows(table, "select @@gtid_binlog_pos") == gtid


def test_group_commit_is_counted(table):
    import threading

    before = [int(status(table, name)) for name in ("Binlog_commits", "Binlog_group_commits")]
    rows(table, "set global binlog_commit_wait_count=8", "set global binlog_commit_wait_usec=1000000")

    def insert():
        for _ in range(5):
            rows(table, "insert into t.a values ()")

    threads = [threading.Thread(target=insert) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows(table, "set global binlog_commit_wait_count=0", "set global binlog_commit_wait_usec=0")
    commits, groups = (int(status(table, name)) - base for name, base in zip(("Binlog_commits", "Binlog_group_commits"), before))
    assert commits == 40
    assert groups <= 20
    assert int(status(table, "Binlog_group_commit_trigger_count")) + int(status(table, "Binlog_group_commit_trigger_timeout")) > 0
    # Transactions of one group have the same commit id.
    [(file, *_)] = rows(table, "show master status")
    infos = [event[5] for event in rows(table, f"show binlog events in '{file}'") if event[2] == "Gtid"]
    assert any("cid=" in info for info in infos)


def test_the_active_file_is_readable_from_the_server(table):
    rows(table, "insert into t.a (v) values ('remote')")
    [(file, *_)] = rows(table, "show master status")
    text = table.client("--read-from-remote-server", "-vv", "--base64-output=decode-rows", file, program="mariadb-binlog")
    assert "@2='remote'" in text


def test_statements_that_create_change_and_drop_are_replayable(server, tmp_path):
    """DDL as users write it, executed by a real MariaDB through mariadb-binlog: the result is the same tables."""
    server.query(
        "create database d default character set utf8mb4",
        "use d",
        "create table a (id int auto_increment primary key, v varchar(20) default 'x', unique key (v))",
        "insert into a (v) values ('1'),('2')",
        "alter table a add column n decimal(10,2) not null default 1.5 after id, add index (n), comment='changed'",
        "alter table a modify v varchar(50) character set latin1 null, rename column n to m",
        "create table b like a",
        "insert into b select * from a",
        "create table c (k int primary key) select id as k, v from a",
        "rename table a to a2, b to a",
        "create index i on a2 (v(3))",
        "drop index i on a2",
        "alter table c drop primary key, add primary key (k, v(10))",
        "truncate table a",
        "create or replace table e (x enum('a','b'), y set('c','d'))",
        "alter table e engine=memory",
        "create database gone",
        "create table gone.g (a int)",
        "drop database gone",
        "drop table if exists nowhere, e",
        "alter table c rename to f",
        "create user u@localhost identified by 'p'",
        "grant select on d.* to u@localhost",
        "flush binary logs",
    )
    if isinstance(server, MariaDb):
        pytest.skip("compares Paceline with MariaDB")
    other = MariaDb(tmp_path / "other").start()
    try:
        other.client(text=server.client(*server.log_files()[:-1], program="mariadb-binlog"))
        tables = server.query("show tables in d")
        assert tables == other.query("show tables in d")
        for (table,) in tables:
            assert server.query(f"show create table d.{table}") == other.query(f"show create table d.{table}")
            assert server.query(f"select * from d.{table} order by 1, 2") == other.query(f"select * from d.{table} order by 1, 2")
        assert other.query("show databases") and ("gone",) not in other.query("show databases")
        assert other.query("select count(*) from d.f", user="u", password="p") == ((2,),)
    finally:
        other.close()
    # Our own replay has the same result.
    before = {table: (server.query(f"show create table d.{table}"), server.query(f"select * from d.{table} order by 1, 2")) for (table,) in tables}
    server.kill()
    server.start()
    assert {table: (server.query(f"show create table d.{table}"), server.query(f"select * from d.{table} order by 1, 2")) for (table,) in tables} == before
