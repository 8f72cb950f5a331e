"""Statistics by the digest of statements, and of tables: performance_schema, PACELINE_STATEMENTS, TRUNCATE, limits."""

import mysql.connector
import pymysql
import pytest
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

BY_DIGEST = "performance_schema.events_statements_summary_by_digest"
STATEMENTS = [
    "create table t (a int primary key, b varchar(20), key k (b))",
    "insert into t values (1,'a')",
    "insert into t values (2,'a'),(3,'b')",
    "insert into t values (4,'a'),(5,'b'),(6,null)",
    "insert into t (a) values (10)",
    "select a, B from t where a=5 and b='x'",
    "SELECT  a , B FROM t -- c\n WHERE a = 'y' AND b=\"z\"",
    "select * from d.t where a in (1,2,3) order by a limit 2",
    "select count(*), max(a), concat(b, 'x') from t as x group by b having count(*) > 0",
    "update t set b = null where a = -1 or a between 2 and 3",
    "delete from t where a = 4",
    "select * from nosuch where a = 1",
    "set @x = 5",
    "begin",
    "rollback",
    "show tables like 't%'",
    # MariaDB counts a statement after its reply, so the last one may be missing.
    "do 1",
]


def counted(server):
    rows = server.query(f"select digest_text, count_star, sum_errors, sum_rows_affected, sum_rows_sent from {BY_DIGEST} "
                        "where schema_name = 'd' and digest_text not like 'DO %' order by digest_text")
    return [tuple(row) for row in rows]


def work(server):
    """Work of the statements that have the same plan on both servers."""
    return server.query("select digest_text, sum_select_scan, sum_select_range, sum_sort_rows, sum_sort_scan, sum_created_tmp_tables, "
                        f"sum_created_tmp_disk_tables, sum_no_index_used, sum_no_good_index_used from {BY_DIGEST} "
                        "where schema_name = 'd' and digest_text not rlike '^DO|^SHOW|GROUP|LIMIT' order by digest_text")


def reads_and_writes(server):
    """Reads and writes by table and index. MariaDB counts the end of some scans as a read."""
    index = server.query("select object_name, index_name, count_insert, count_update, count_delete "
                         "from performance_schema.table_io_waits_summary_by_index_usage where object_schema = 'd' order by 1, 2")
    table = server.query("select object_type, object_name, count_read > 0, count_read = count_fetch, count_write, "
                         "count_star = count_read + count_write from performance_schema.table_io_waits_summary_by_table "
                         "where object_schema = 'd'")
    objects = server.query("select object_type, object_name, count_star > 0 from performance_schema.objects_summary_global_by_type "
                           "where object_schema = 'd' and object_type = 'TABLE'")
    return index, table, objects


def test_statistics_are_mariadbs(tmp_path):
    found = {}
    for kind, options in ((Paceline, []), (MariaDb, ["--performance-schema=ON"])):
        server = kind(tmp_path / kind.__name__, *options).start()
        try:
            server.query("create database d")
            with server.connect(database="d") as connection, connection.cursor() as cursor:
                for statement in STATEMENTS:
                    try:
                        cursor.execute(statement)
                        cursor.fetchall()
                    except pymysql.err.ProgrammingError:
                        pass
            found[kind] = counted(server), work(server), *reads_and_writes(server)
        finally:
            server.close()
    assert found[Paceline] == found[MariaDb]


@pytest.fixture
def server(tmp_path):
    server = Paceline(tmp_path / "server", "--performance-schema-digests-size=20").start()
    server.query("create database d", "create table d.t (a int primary key)")
    yield server
    server.close()


def test_ended_and_prepared_executions_count(server):
    for number in range(5):
        server.query(f"insert into d.t values ({number})")
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("prepare p from 'insert into d.t values (?)'")
        cursor.execute("set @a = 7")
        cursor.execute("execute p using @a")
    row = server.query("select executions, rows_affected, errors, p50_usec <= p95_usec, p95_usec <= p99_usec, p99_usec <= max_usec, "
                       "min_usec <= mean_usec, first_seen <= last_seen from information_schema.paceline_statements "
                       "where digest_text like 'INSERT INTO `d` . `t` VALUES (?)%'")
    assert row == ((5, 5, 0, 1, 1, 1, 1, 1),)


def test_truncate_forgets_and_states_stay(server):
    server.query("select 1")
    assert server.query(f"select count(*) from {BY_DIGEST}")[0][0] > 1
    server.query(f"truncate table {BY_DIGEST}")
    left = server.query(f"select digest_text from {BY_DIGEST}")
    # Those of the sessions that forgot and that look.
    assert all("`d`" not in text for text, in left) and len(left) <= 4
    with pytest.raises(pymysql.err.OperationalError, match="1683"):
        server.query("truncate table performance_schema.threads")


def test_digests_beyond_the_limit_share_a_row(server):
    with server.connect() as connection, connection.cursor() as cursor:
        for number in range(40):
            cursor.execute(f"select 1 as a{number}")
    rows = server.query(f"select digest_text, count_star from {BY_DIGEST}")
    assert len(rows) <= 22
    beyond = dict(rows)[None]
    assert beyond >= 20
    lost = server.query("show global status like 'Performance_schema_digest_lost'")[0][1]
    assert int(lost) >= beyond


def test_literals_and_passwords_are_not_shown(server):
    server.query("create user u identified by 'hunter2'", "select 'hunter2'")
    assert all("hunter2" not in (text or "") for text, in server.query(f"select digest_text from {BY_DIGEST}"))


def test_statistics_need_privileges(server):
    server.query("create user u identified by 'x'")
    with pytest.raises(pymysql.err.OperationalError, match="1142"):
        server.query(f"select * from {BY_DIGEST}", user="u", password="x")
    with pytest.raises(pymysql.err.OperationalError, match="1227"):
        server.query("select * from information_schema.paceline_statements", user="u", password="x")
    server.query("grant select on performance_schema.* to u", "grant process on *.* to u")
    assert server.query(f"select count(*) from {BY_DIGEST}", user="u", password="x")[0][0] > 0
    assert server.query("select count(*) from information_schema.paceline_statements", user="u", password="x")[0][0] > 0


def test_nothing_is_counted_with_performance_schema_off(tmp_path):
    server = Paceline(tmp_path / "server", "--performance-schema=OFF").start()
    try:
        server.query("select 1")
        server.query("create database d", "create table d.t (a int)", "select * from d.t")
        assert server.query(f"select count(*) from {BY_DIGEST}") == ((0,),)
        assert server.query("select count(*) from performance_schema.table_io_waits_summary_by_table") == ((0,),)
    finally:
        server.close()


def test_reads_of_tables_are_counted_and_forgotten(server):
    server.query("create table d.u (a int primary key, b int, c int, key k (b))", "insert into d.u (a, b) values (1,1),(2,1),(3,2)",
                 "select * from d.u where b = 1", "select * from d.u where a = 3", "select * from d.u")
    usage = ("select index_name, count_read, count_insert, sum_timer_wait from "
             "performance_schema.table_io_waits_summary_by_index_usage where object_name = 'u'")
    assert server.query(usage) == (("PRIMARY", 1, 0, 0), ("k", 2, 0, 0), (None, 3, 3, 0))
    # Definitions of the table come and go.
    server.query("create trigger d.r before insert on d.u for each row set @x = 1")
    assert len(server.query(usage)) == 3
    server.query("alter table d.u drop key k, add key l (c)")
    assert server.query(usage) == (("PRIMARY", 1, 0, 0), ("l", 0, 0, 0), (None, 3, 3, 0))
    server.query("truncate table performance_schema.table_io_waits_summary_by_table")
    assert server.query(usage) == (("PRIMARY", 0, 0, 0), ("l", 0, 0, 0), (None, 0, 0, 0))


def test_replies_say_that_no_index_was_used(server, monkeypatch):
    no_index_used = 0x20
    flags = []

    class RecordedEnd(pymysql.connections.EOFPacketWrapper):
        def __init__(self, packet):
            super().__init__(packet)
            flags.append(self.server_status & no_index_used)

    monkeypatch.setattr(pymysql.connections, "EOFPacketWrapper", RecordedEnd)
    with server.connect(database="d") as connection, connection.cursor() as cursor:
        for statement, expected in [("select * from t where a = 1", 0), ("select * from t", no_index_used), ("select 1", 0)]:
            flags.clear()
            cursor.execute(statement)
            assert set(flags) == {expected}, statement
        for statement, expected in [("update t set a = a", no_index_used), ("delete from t where a > 500", 0),
                                    ("insert into t select a + 100 from t", no_index_used), ("insert into t values (7000)", 0)]:
            cursor.execute(statement)
            assert connection.server_status & no_index_used == expected, statement


def test_statistics_of_users_need_a_privilege(server):
    server.query("create user u identified by 'x'", "set global userstat = on", "select * from d.t")
    one = "select count(*) from information_schema.{}_statistics"
    assert server.query(one.format("user"))[0][0] > 0
    assert server.query(one.format("user"), user="u", password="x")[0][0] == 0
    assert server.query(one.format("client"), user="u", password="x")[0][0] == 0
    server.query("insert into d.t values (1)")
    assert server.query(one.format("table") + " where table_schema = 'd'")[0][0] == 1
    assert server.query(one.format("table") + " where table_schema = 'd'", user="u", password="x")[0][0] == 0
    with pytest.raises(pymysql.err.OperationalError, match="1227"):
        server.query("flush user_statistics", user="u", password="x")
    with pytest.raises(pymysql.err.OperationalError, match="1045"):
        server.query("select 1", user="u", password="wrong")
    server.query("grant process on *.* to u")
    row = server.query("select total_connections, denied_connections, access_denied > 0 from information_schema.user_statistics "
                       "where user = 'u'", user="u", password="x")
    assert row[0][1:] == (1, 1) and row[0][0] > 3


def commands_of(server, user):
    rows = server.query(f"select select_commands, rows_sent from information_schema.user_statistics where user = '{user}'")
    return rows[0] if rows else (0, 0)


def test_work_belongs_to_the_user_who_did_it(server):
    server.query("create user one identified by ''", "create user two identified by ''", "set global userstat = on")
    connection = mysql.connector.connect(unix_socket=str(server.socket), user="one", password="", ssl_disabled=True)
    try:
        cursor = connection.cursor()

        def run(statement):
            cursor.execute(statement)
            cursor.fetchall()

        run("select 1")
        wait_for("the first statement", lambda: commands_of(server, "one")[0] > 0)
        before = commands_of(server, "one")
        connection.cmd_change_user("two", "")
        for _ in range(5):
            run("select 1 union all select 2")
        wait_for("the work of the second user", lambda: commands_of(server, "two")[1] >= 10)
        assert commands_of(server, "one")[1] == before[1]
    finally:
        connection.close()


def test_work_while_userstat_is_off_does_not_count(server):
    server.query("create user one identified by ''", "set global userstat = on")
    with server.connect(user="one") as connection, connection.cursor() as cursor:
        cursor.execute("select 1")
        before = commands_of(server, "one")
        server.query("set global userstat = off")
        for _ in range(20):
            cursor.execute("select 1 union all select 2")
        server.query("set global userstat = on")
        cursor.execute("select 1")
        wait_for("the last statement", lambda: commands_of(server, "one") == (before[0] + 1, before[1] + 1))
