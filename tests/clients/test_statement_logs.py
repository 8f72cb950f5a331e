"""The general log, the slow query log, the audit log, `pid_file`, `log_error`; variables and options without effect say so."""

import json
import re
import subprocess

import pymysql
import pytest

from support.servers import MariaDb, Paceline
from support.waiting import wait_for


def lines_of(path):
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_the_general_log_names_the_statements_of_clients(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start()
    server.query("set global general_log_file = 'asked.log'", "set global general_log = 1")
    log = tmp_path / "server/data/asked.log"
    with server.connect() as session, session.cursor() as cursor:
        cursor.execute("select 'one'")
        cursor.execute("set sql_log_off = 1")
        cursor.execute("select 'silent'")
    with pytest.raises(pymysql.MySQLError):
        server.connect(user="nobody", password="wrong")
    assert any(line.endswith(" Query\tselect 'one'") for line in lines_of(log))
    assert any(line.endswith(" Connect\troot@localhost on  using Socket") for line in lines_of(log))
    refused = " Connect\tAccess denied for user 'nobody'@'localhost' (using password: YES)"
    assert any(line.endswith(refused) for line in lines_of(log))
    assert not any("silent" in line for line in lines_of(log))
    # Renamed and reopened.
    log.rename(tmp_path / "old")
    server.query("flush general logs", "select 'two'", "set global log_output = 'NONE'", "select 'three'")
    text = log.read_text()
    assert "select 'two'" in text and "three" not in text and "'two'" not in (tmp_path / "old").read_text()
    server.close()


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_the_slow_log_has_what_took_longer_than_long_query_time(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start("--slow-query-log=1", "--slow-query-log-file=slow.log", "--long-query-time=0.2")
    before = int(server.query("show global status like 'Slow_queries'")[0][1])
    server.query("select 'fast'", "select sleep(0.3)", "set slow_query_log = 0", "select sleep(0.31)")
    text = (tmp_path / "server/data/slow.log").read_text()
    assert "select sleep(0.3);" in text and "# Query_time: 0.3" in text and "SET timestamp=" in text
    assert "fast" not in text and "sleep(0.31)" not in text
    assert int(server.query("show global status like 'Slow_queries'")[0][1]) > before
    server.close()


TABLES = (
    "create database d",
    "create table d.t (a int primary key, b int, c varchar(100), key(b))",
    "insert into d.t values (1,1,'x'),(2,2,'y'),(3,3,'z')",
    "create procedure d.p() select * from d.t",
)
# Statements whose entries are equal.
LOGGED = (
    "set log_slow_verbosity = 'query_plan,explain,warnings', long_query_time = 0",
    "select 1",
    "use d",
    "select * from t where a = 1",
    "select * from t where b + 0 < 3",
    "select * from t where a in (2, 3) and c <> 'y'",
    "delete from t where b + 0 = 11",
    "set log_slow_verbosity = 'query_plan,warnings'",
    "select * from t where b = 2",
    "select * from t",
    "select a from t",
    "select c, count(*) from t where a = 1 group by c",
    "update t set c = 'w' where a = 1",
    "select 1/0, cast('a' as int)",
    "set log_slow_verbosity = 'warnings', log_slow_max_warnings = 1",
    "select 1/0, cast('b' as int)",
    "set log_slow_verbosity = ''",
    "set log_slow_admin_statements = 0",
    "select @@log_slow_disabled_statements, @@log_slow_admin_statements",
    "alter table t comment 'a'",
    "create index i on t (c)",
    "check table t",
    "set log_slow_disabled_statements = 'call,sp'",
    "select @@log_slow_disabled_statements, @@log_slow_admin_statements",
    "call p()",
    "set log_slow_disabled_statements = default",
    "alter table t comment 'b'",
    "set log_slow_filter = 'full_scan'",
    "select 'not logged'",
    "select * from t",
    "set log_queries_not_using_indexes = 1",
    "set log_slow_filter = 'not_using_index', long_query_time = 10",
    "select @@log_queries_not_using_indexes",
    "select b from t",
    "select b from t where a = 1",
    "set long_query_time = 0",
    "set log_slow_filter = ''",
    "select 'with any plan'",
    "set min_examined_row_limit = 2",
    "select @@log_slow_min_examined_row_limit",
    "select 'not logged'",
    "select count(*) from t",
)


def entries(server, path):
    """Runs the statements and returns their answers, and the log without times and sizes."""
    with server.connect() as session, session.cursor() as cursor:
        answers = []
        for statement in LOGGED:
            cursor.execute(statement)
            answers.append(cursor.fetchall())
    # MariaDB replies before it writes.
    wait_for("the last entry", lambda: path.read_text().endswith(f"{LOGGED[-1]};\n"))
    lines = []
    for line in path.read_text().splitlines()[3:]:
        # There is no InnoDB here, and no temporary table of a known size.
        if re.match("# (Time|Pages|Tmp_tables|User)", line):
            continue
        line = re.sub(r"(Query_time|Lock_time|Thread_id|Bytes_sent): [0-9.]+", r"\1: N", line)
        lines.append(re.sub(r"timestamp=\d+", "timestamp=N", line))
    return answers, lines


def test_the_slow_log_has_mariadbs_form(tmp_path):
    found = []
    for kind in (MariaDb, Paceline):
        server = kind(tmp_path / kind.__name__)
        server.start("--slow-query-log=1", "--slow-query-log-file=slow.log", "--long-query-time=10")
        server.query(*TABLES)
        path = tmp_path / kind.__name__ / "data/slow.log"
        head = path.read_text().splitlines()
        assert len(head) == 3 and "started with:" in head[0] and head[2] == "Time\t\t    Id Command\tArgument"
        found.append(entries(server, path))
        if kind is Paceline:
            text = "\n".join(found[-1][1])
            assert "not logged" not in text and text.count("# Full_scan: Yes") == 3
        server.close()
    assert found[0][0] == found[1][0]
    assert "\n".join(found[0][1]) == "\n".join(found[1][1])


def test_the_slow_log_says_how_rows_were_sorted(tmp_path):
    server = Paceline(tmp_path / "server")
    server.start("--slow-query-log=1", "--slow-query-log-file=slow.log", "--log-slow-verbosity=query_plan")
    server.query(*TABLES, "insert into d.t select seq, seq, repeat('x', 90) from d.seq_100_to_30000")
    path = tmp_path / "server/data/slow.log"
    with server.connect(database="d") as session, session.cursor() as cursor:
        cursor.execute("set long_query_time = 0")
        for statement, how in (("select * from t order by c", "Filesort_on_disk: No  Merge_passes: 0  Priority_queue: No"),
                               ("select * from t order by c limit 2", "Filesort_on_disk: No  Merge_passes: 0  Priority_queue: Yes"),
                               ("set log_slow_filter = 'filesort_priority_queue'", None), ("select * from t order by b, c", None),
                               ("select * from t order by b, c limit 1", "Priority_queue: Yes"),
                               ("set log_slow_filter = 'filesort_on_disk', max_session_mem_used = 4000000", None),
                               ("select b from t order by b", None),
                               ("select * from t order by c, b", "Filesort_on_disk: Yes  Merge_passes: 1  Priority_queue: No")):
            before = path.read_text()
            cursor.execute(statement)
            cursor.fetchall()
            entry = path.read_text()[len(before):]
            assert how in entry if how else "Filesort: Yes" not in entry, statement
    server.close()


def test_one_of_so_many_slow_statements_is_logged(tmp_path):
    server = Paceline(tmp_path / "server")
    server.start("--slow-query-log=1", "--slow-query-log-file=slow.log", "--log-slow-rate-limit=3")
    with server.connect() as session, session.cursor() as cursor:
        cursor.execute("set log_slow_verbosity = 'query_plan', long_query_time = 0")
        for number in range(8):
            cursor.execute(f"select 'rate{number}', table_name from information_schema.tables")
    path = tmp_path / "server/data/slow.log"
    assert path.read_text().count("select 'rate") == 3
    report = subprocess.run(["pt-query-digest", path], capture_output=True, text=True, check=True).stdout
    assert "Overall: 3 total, 1 unique" in report and "SELECT information_schema.tables" in report
    assert "# Rows examine " in report and "# Full scan " in report
    server.close()


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_logs_can_be_tables(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start("--general-log=1", "--general-log-file=general.log", "--slow-query-log=1", "--long-query-time=0")
    server.query("set global log_output = 'TABLE'")
    server.query("select 'to a table'")
    [row] = server.query(
        "select user_host, command_type, argument, server_id from mysql.general_log where argument = 'select \\'to a table\\''"
    )
    assert row[0].startswith("root[root] @ ") and row[1] == "Query"
    # The slow log gets a statement after its reply.
    [slow] = wait_for("the slow statement", lambda: server.query(
        "select rows_sent, rows_examined, lock_time, query_time < '00:00:05', db from mysql.slow_log"
        " where sql_text = 'select \\'to a table\\''"
    ))
    assert [str(value) for value in slow[:4]] == ["1", "0", "0:00:00", "1"]
    assert "to a table" not in (tmp_path / "server/data/general.log").read_text()
    server.query("set global log_output = 'FILE'", "truncate table mysql.general_log", "truncate mysql.slow_log")
    server.query("select 'to a file'")
    assert server.query("select count(*) from mysql.general_log") == ((0,),)
    assert server.query("select count(*) from mysql.slow_log") == ((0,),)
    assert "to a file" in (tmp_path / "server/data/general.log").read_text()
    server.query("set global log_output = 'NONE,TABLE'", "select 'nowhere'")
    assert server.query("select count(*) from mysql.general_log") == ((0,),)
    server.close()


def audited(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_audit_log_has_connections_tables_and_statements(tmp_path):
    server = Paceline(tmp_path / "server")
    server.start("--server-audit-logging=1")
    log = tmp_path / "server/data/server_audit.log"
    assert log.stat().st_mode & 0o777 == 0o600
    server.query(*TABLES, "create user u identified by 'secret'")
    with server.connect(database="d") as session, session.cursor() as cursor:
        cursor.execute("insert into t select a + 10, b, c from t")
        with pytest.raises(pymysql.MySQLError):
            cursor.execute("insert into t values (1, 1, 'again')")
        with pytest.raises(pymysql.MySQLError):
            cursor.execute("set password = password('secret') oops")
    with pytest.raises(pymysql.MySQLError):
        server.connect(user="u", password="wrong")
    assert "secret" not in log.read_text() and "PASSWORD '*****'" in log.read_text()
    events = audited(log)
    named = {event["event"] for event in events}
    assert {"CONNECT", "FAILED_CONNECT", "DISCONNECT", "QUERY", "READ", "WRITE", "CREATE"} <= named
    [refused] = [event for event in events if event["event"] == "FAILED_CONNECT"]
    assert (refused["user"], refused["error"]) == ("u", 1045)
    [twice] = [event for event in events if "again" in event.get("statement", "")]
    assert (twice["error"], twice["database"], twice["user"]) == (1062, "d", "root")
    assert twice["tables"] == ["d.t"]
    [copied] = [event for event in events if event.get("statement", "").startswith("insert into t select")]
    assert set(copied["tables"]) == {"d.t"} and copied["error"] == 0
    # Filters.
    server.query("set global server_audit_events = 'QUERY_DDL'", "select 'a query'", "create table d.n (a int)")
    server.query("set global server_audit_excl_users = 'root'", "create table d.unseen (a int)")
    server.query("set global server_audit_excl_users = ''", "set global server_audit_query_log_limit = 10")
    server.query("drop table d.n")
    statements = [event.get("statement") for event in audited(log)]
    assert "create table d.n (a int)" in statements and "drop table" in statements
    assert "select 'a query'" not in statements and "create table d.unseen (a int)" not in statements
    # Rotation.
    server.query("set global server_audit_file_rotate_now = 1", "drop table d.unseen")
    assert server.query("select @@server_audit_file_rotate_now") == ((0,),)
    assert [event["statement"] for event in audited(log)] == ["drop table"]
    assert len(audited(log.with_name("server_audit.log.1"))) > 10
    with pytest.raises(pymysql.MySQLError):
        server.query("set global server_audit_file_path = 'binlog.000001'")
    server.query("set global server_audit_logging = 0", "create table d.off (a int)")
    assert [event["event"] for event in audited(log)] == ["QUERY", "AUDIT"]
    assert audited(log)[1]["statement"] == "SET GLOBAL server_audit_logging='OFF'"
    server.close()


def test_no_log_shows_a_password(tmp_path):
    server = Paceline(tmp_path / "server")
    server.start(
        "--general-log=1",
        "--general-log-file=general.log",
        "--slow-query-log=1",
        "--slow-query-log-file=slow.log",
        "--long-query-time=0",
        "--log-slow-verbosity=query_plan,explain,warnings",
        "--server-audit-logging=1",
    )
    with server.connect() as session, session.cursor() as cursor:
        for statement, error in (
            ("create user a identified by 'hunter2' typo", 1064),
            ("create user a identified by hunter2", 1064),
            ("create user a identifed by 'hunter2'", 1064),
            ("grant all on *.* to a identified by 'pa'hunter2'", 1064),
            ("set password for 'a'@'h' 'hunter2'", 1064),
            ("execute immediate 'create user a identified by ''hunter2'' typo'", 1064),
            ("/* don't */ create user a identified by 'hunter2'", 0),
            ("set password for 'a' = password('hunter2')", 0),
            ("set password for 'a' = '*6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9'", 0),
        ):
            try:
                cursor.execute(statement)
                found = 0
            except pymysql.MySQLError as refused:
                found = refused.args[0]
            assert found == error, statement
        cursor.execute("select 'last'")
    data = tmp_path / "server/data"
    for name in ("general.log", "slow.log", "server_audit.log"):
        text = (data / name).read_text()
        assert "select 'last'" in text and "hunter2" not in text, name
    assert "*6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9" not in (data / "server_audit.log").read_text()
    server.close()


def test_the_audit_log_has_the_tables_of_an_event(tmp_path):
    server = Paceline(tmp_path / "server")
    server.start("--server-audit-logging=1", "--event-scheduler=1")
    log = tmp_path / "server/data/server_audit.log"
    server.query(
        "create database d",
        "create table d.t (a int primary key)",
        "create event d.e on schedule at now() on completion preserve do insert into d.t values (1)",
    )
    is_write = lambda event: event["event"] == "WRITE" and event["tables"] == ["d.t"]
    wait_for("the event's table", lambda: any(map(is_write, audited(log))))
    server.close()


def test_a_full_disk_does_not_stop_statements(tmp_path):
    full = tmp_path / "full.log"
    full.symlink_to("/dev/full")
    server = Paceline(tmp_path / "server")
    server.start("--server-audit-logging=1", f"--server-audit-file-path={full}", f"--log-error={tmp_path}/messages")
    assert server.query("select 1") == ((1,),)
    assert int(server.query("show status like 'Server_audit_writes_failed'")[0][1]) > 2
    assert (tmp_path / "messages.err").read_text().count("events are lost") == 1
    # There is room again.
    other = tmp_path / "other.log"
    server.query(f"set global server_audit_file_path = '{other}'", "select 2")
    assert [event["statement"] for event in audited(other) if "statement" in event][-1] == "select 2"
    server.close()


def test_the_process_and_its_messages_are_where_the_options_say(tmp_path):
    server = Paceline(tmp_path / "server")
    server.start("--pid-file=own.pid", f"--log-error={tmp_path}/messages", "--innodb-flush-neighbors=0")
    messages = tmp_path / "messages.err"
    assert (tmp_path / "server/data/own.pid").read_text().strip() == str(server.process.pid)
    assert server.query("select @@log_error, @@pid_file") == ((str(messages), f"{tmp_path}/server/data/own.pid"),)
    assert "innodb_flush_neighbors" in messages.read_text() and "has no effect" in messages.read_text()
    server.stop()
    assert not (tmp_path / "server/data/own.pid").exists()
    server.close()


def test_what_has_no_effect_says_so(tmp_path):
    server = Paceline(tmp_path / "server")
    server.start()
    server.query("create database d")
    with server.connect() as session, session.cursor() as cursor:
        for statement, level in (
            ("set sql_mode = 'ORACLE'", "Warning"),
            ("set log_slow_verbosity = 'engine'", "Warning"),
            ("set log_slow_disabled_statements = ''", "Warning"),
            ("set sql_auto_is_null = 1", "Warning"),
            ("set join_buffer_size = 1048576", "Note"),
            ("create table d.a (a int) row_format=compressed", "Note"),
            ("alter table d.a key_block_size=8", "Note"),
            ("create table d.b (a int) page_compressed=1", "Note"),
            ("create table d.c (a int) stats_persistent=1", "Note"),
            ("create table d.d (a text compressed)", "Note"),
        ):
            cursor.execute(statement)
            cursor.execute("show warnings")
            assert [(row[0], row[1]) for row in cursor.fetchall()] == [(level, 1235)], statement
        cursor.execute("create table d.e (a int) engine=myisam")
        cursor.execute("show warnings")
        assert cursor.fetchall() == (("Warning", 1266, "Using storage engine InnoDB for table 'e'"),)
        # A log must not be written to a file of the data directory.
        with pytest.raises(pymysql.MySQLError) as refused:
            cursor.execute("set global general_log_file = 'binlog.000001'")
        assert refused.value.args[0] == 1231
    server.close()
