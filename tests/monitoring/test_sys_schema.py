"""`paceline sys-schema`: the database `sys`, beside MariaDB's."""

import subprocess
import threading
from pathlib import Path

import pymysql
import pytest
from support.servers import BINARY, MariaDb, Paceline
from support.waiting import wait_for

MARIADBS_FILE = Path("/usr/share/mysql/mysql_sys_schema.sql")
# Types that differ without a difference for a reader.
SAME_TYPES = {"varchar": "text", "char": "text", "mediumtext": "text", "longtext": "text", "enum": "text", "int": "bigint", "timestamp": "datetime"}
# MariaDB adds up maxima here, which is no maximum.
OTHER_TYPES = {("x$user_summary_by_statement_latency", "max_latency")}


def sys_schema(*arguments, socket=None, user="root", password=""):
    address = ["--socket", socket, "--user", user] if socket else []
    return subprocess.run([BINARY, "sys-schema", *map(str, address), *arguments], capture_output=True, text=True, check=False, timeout=120,
                          env={"PACELINE_PASSWORD": password})


def install(server):
    done = sys_schema(socket=server.socket)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with the database. Tests use databases of their own."""
    server = Paceline(tmp_path_factory.mktemp("server")).start()
    install(server)
    yield server
    server.close()


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory):
    server = MariaDb(tmp_path_factory.mktemp("mariadb"), "--performance-schema=ON").start()
    yield server
    server.close()


def rows(server, statement):
    with server.connect(cursorclass=pymysql.cursors.DictCursor) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def read_every_view(server):
    """Returns the number of views, and the warnings of reading them."""
    views, warnings = server.query("select table_name from information_schema.views where table_schema = 'sys'"), []
    with server.connect() as connection, connection.cursor() as cursor:
        for (view,) in views:
            cursor.execute(f"select * from sys.`{view}`")
            cursor.fetchall()
            cursor.execute("show warnings")
            warnings += [(view, *warning) for warning in cursor.fetchall()]
    return len(views), warnings


def test_it_can_be_repeated_and_every_view_be_read(server):
    server.query("update sys.sys_config set value = '80' where variable = 'statement_truncate_len'")
    assert "100 views" in install(server)
    assert server.query("select value from sys.sys_config where variable = 'statement_truncate_len'") == (("80",),)
    server.query("update sys.sys_config set value = '64' where variable = 'statement_truncate_len'")
    assert read_every_view(server) == (100, [])


def test_nothing_is_sent_to_replicas(server):
    server.query("create database if not exists shop")
    before = server.query("select @@gtid_binlog_pos")
    install(server)
    assert server.query("select @@gtid_binlog_pos") == before


def test_the_columns_are_those_of_mariadb(server, mariadb):
    def columns(of):
        found = of.query("select table_name, column_name, data_type from information_schema.columns where table_schema = 'sys' "
                         "order by table_name, ordinal_position")
        return [(table, column, None if (table, column) in OTHER_TYPES else SAME_TYPES.get(kind, kind)) for table, column, kind in found]
    assert columns(server) == columns(mariadb)


def test_routines_have_the_parameters_of_mariadb(server, mariadb):
    def parameters(of):
        return set(of.query("select specific_name, routine_type, ordinal_position, parameter_mode, parameter_name, dtd_identifier "
                            "from information_schema.parameters where specific_schema = 'sys'"))
    ours = parameters(server)
    assert ours <= parameters(mariadb)
    assert {name for name, *_ in ours} >= {"format_bytes", "format_time", "list_drop", "table_exists", "create_synonym_db"}


FUNCTIONS = [
    *(f"format_bytes({bytes})" for bytes in ("null", "0", "1023", "1024", "1048575", "18446644073709551615", "-5", "'12x'", "10.5", "1000/7", "1000/6", "'0.5'", "1023.7", "pow(1024,5)")),
    *(f"format_time({time})" for time in ("null", "0", "999", "1000", "3501", "1234567890", "59999999999999", "60000000000000",
                                          "3600000000000000", "86400000000000000", "604800000000000000", "-5", "1.5")),
    *(f"format_statement({text})" for text in ("null", "''", r"'a\n  b'", "repeat('é',64)", "repeat('é',65)", "repeat('abcdefghij',10)")),
    "format_path('/etc/x')", "format_path(null)", "quote_identifier('a`b')", "quote_identifier(null)",
    "list_add('a,b','c')", "list_add('','c')", "list_add(null,'c')", "list_add('a','')",
    *(f"list_drop('{text}','{element}')" for text, element in (("a,b,c", "c"), ("a", "a"), ("a,b,a", "a"), ("a,a,b", "a"), ("ab,b", "b"),
                                                              ("a,b", "B"), ("a, b", "b"), ("a,,b", "a"))),
    "list_drop(null,'a')", "sys_get_config('statement_truncate_len',1)", "sys_get_config('no',1)", "sys_get_config(null,'x')",
    "version_major()", "version_minor()", "version_patch()", "ps_thread_id(0)", "ps_thread_account(ps_thread_id(connection_id()))",
    "ps_is_thread_instrumented(null)", "ps_is_thread_instrumented(connection_id())", "ps_is_consumer_enabled('no')",
    *(f"extract_{part}_from_file_name({path})" for part in ("schema", "table")
      for path in ("'/a/d/t.ibd'", "'x'", "null", r"'C:\\d\\t.ibd'", "'/a/b.c.d'")),
]


def test_functions_return_what_those_of_mariadb_return(server, mariadb):
    def values(of):
        return {function: of.query(f"select sys.{function.replace('(ps_', '(sys.ps_')}") for function in FUNCTIONS}
    assert values(server) == values(mariadb)


def test_procedures_do_what_those_of_mariadb_do(server, mariadb):
    script = ["drop database if exists syn", "create database procedures", "use procedures", "create table t (a int)", "create view v as select 1 as a",
              "create temporary table t2 (a int)", "create sequence s",
              *(f"call sys.table_exists({table}, @found)||select @found" for table in (
                  "'procedures','t'", "'procedures','t2'", "'procedures','v'", "'procedures','s'", "'procedures','no'", "'no','no'", "null,'no'",
                  "'information_schema','tables'")),
              "call sys.execute_prepared_stmt('select 1, 2')", "call sys.execute_prepared_stmt('')", "call sys.execute_prepared_stmt('select')",
              "call sys.create_synonym_db('no','syn')", "call sys.create_synonym_db('procedures','sys')", "call sys.create_synonym_db('procedures','syn')",
              "call sys.ps_setup_enable_consumer('statements')", "select sys.ps_is_consumer_enabled('events_statements_history')",
              "call sys.ps_setup_show_enabled_consumers()", "call sys.ps_setup_disable_consumer('statements_current')",
              "select sys.ps_is_consumer_enabled('events_statements_history'), sys.ps_is_consumer_enabled('statements_digest')",
              "call sys.ps_setup_disable_consumer('events')", "call sys.ps_setup_show_disabled_consumers()",
              "show full tables in syn", "select sys.list_add('a', null)", "select sys.list_drop('a', null)", "drop database syn"]

    def results(of):
        found = []
        with of.connect() as connection:
            for statement in "||".join(script).split("||"):
                with connection.cursor() as cursor:
                    try:
                        cursor.execute(statement)
                        found.append((statement, cursor.fetchall() if cursor.description else ()))
                    except pymysql.err.MySQLError as error:
                        found.append((statement, error.args))
        return found
    assert results(server) == results(mariadb)


def test_a_temporary_table_survives_the_question_whether_it_exists(server):
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in ("create database hidden", "create table hidden.t (a int)", "create temporary table hidden.t (b int)",
                          "call sys.table_exists('hidden', 't', @found)", "select @found, b from hidden.t"):
            cursor.execute(statement)
        cursor.execute("select @found")
        assert cursor.fetchone() == ("TEMPORARY",)


def test_indexes_and_counters_are_judged_as_in_mariadb(server, mariadb):
    script = [
        "create database judged", "use judged",
        "create table t1 (a int primary key, b int, c varchar(20), key k1(b), key k2(b,c), key k3(c), key k4(c(5)), unique u1(b), "
        "unique u2(c,b), key k5(c,b), unique u3(c,b), key k6(a), key k7(a,b), unique u4(a,b))",
        "create table t2 (a int, b int, c int, key x(a,b), key y(a), key z(a,b,c), unique q(c), key w(c,a), unique e(c,b), key f(c), key g(c))",
        "create table t3 (a tinyint unsigned auto_increment primary key)", "insert into t3 values (100)",
        "create table t4 (a bigint unsigned auto_increment primary key)", "create table t5 (a smallint auto_increment primary key)",
        "create table t6 (a float auto_increment primary key)",
    ]
    for of in (server, mariadb):
        of.query(*script)
    for query in ("select * from sys.schema_redundant_indexes where table_schema = 'judged' order by 1, 2, 3, 6",
                  "select * from sys.x$schema_flattened_keys where table_schema = 'judged' order by 1, 2, 3",
                  "select * from sys.schema_auto_increment_columns where table_schema = 'judged' order by 1, 2"):
        assert server.query(query) == mariadb.query(query), query
    overview = dict(server.query("select object_type, count from sys.schema_object_overview where db = 'judged'"))
    assert overview == {"BASE TABLE": 6, "INDEX (BTREE)": 24}


def test_statements_and_tables_are_shown_by_what_they_do(server):
    server.query("create database shop2", "create table shop2.item (a int primary key, b int, key used (b), key idle (b, a))",
                 "insert into shop2.item values (1, 1), (2, 2)")
    server.query("use shop2", "select * from item force index (used) where b = 1", "select a + b from item ignore index (used, idle) order by b - a")
    with pytest.raises(pymysql.err.MySQLError):
        server.query("use shop2", "insert into item values (1, 1)")

    def statements(view):
        return [row["query"] for row in rows(server, f"select * from sys.`{view}` where db = 'shop2'")]
    assert any(query.startswith("INSERT INTO") for query in statements("statements_with_errors_or_warnings"))
    assert any("ORDER BY" in query for query in statements("x$statements_with_sorting"))
    assert any("ORDER BY" in query for query in statements("x$statements_with_full_table_scans"))
    [both] = rows(server, "select s.total_latency as text, x.total_latency as number, sys.format_time(x.total_latency) as same "
                          "from sys.statement_analysis s join sys.x$statement_analysis x using (digest, db) where db = 'shop2' "
                          "and x.query like 'SELECT `a`%'")
    assert both["text"] == both["same"] and both["number"] > 0
    assert server.query("select index_name from sys.schema_unused_indexes where object_schema = 'shop2'") == (("idle",),)
    [table] = rows(server, "select * from sys.schema_table_statistics where table_schema = 'shop2'")
    assert table["rows_inserted"] == 2 and table["rows_fetched"] >= 3


def test_all_counts_can_begin_again(server):
    server.query("create database counted", "create table counted.t (a int primary key)", "insert into counted.t values (1)", "select * from counted.t")
    fetched = "select rows_fetched from sys.schema_table_statistics where table_schema = 'counted'"
    assert server.query(fetched) == ((1,),)
    assert "Truncated" in server.query("call sys.ps_truncate_all_tables(false)")[0][0]
    assert server.query(fetched) in ((), ((0,),))


def test_lock_waits_name_their_blockers(server):
    server.query("create database waits", "create table waits.t (a int primary key, b int)", "insert into waits.t values (1, 1)")

    def while_waiting(statement, view):
        with server.connect() as holder, server.connect() as other, holder.cursor() as holding:
            holding.execute("begin")
            holding.execute("update waits.t set b = b + 1 where a = 1")
            waiter = threading.Thread(target=lambda: other.cursor().execute(statement))
            waiter.start()
            [wait] = wait_for("the wait", lambda: rows(server, f"select * from sys.`{view}`"))
            assert (wait["waiting_pid"], wait["blocking_pid"]) == (other.thread_id(), holder.thread_id())
            assert wait["sql_kill_blocking_connection"] == f"KILL {holder.thread_id()}"
            sessions = {row["conn_id"]: row for row in rows(server, "select * from sys.session")}
            assert sessions[other.thread_id()]["current_statement"] == statement and sessions[holder.thread_id()]["command"] == "Sleep"
            holding.execute("rollback")
            waiter.join()
        return wait
    wait = while_waiting("update waits.t set b = 6 where a = 1", "innodb_lock_waits")
    assert (wait["locked_table"], wait["locked_index"], wait["waiting_query"]) == ("`waits`.`t`", "PRIMARY", "update waits.t set b = 6 where a = 1")
    wait = while_waiting("alter table waits.t add column c int", "schema_table_lock_waits")
    assert (wait["object_schema"], wait["object_name"], wait["waiting_account"]) == ("waits", "t", "root@localhost")


def test_memory_adds_up(server):
    [[total]] = server.query("select total_allocated from sys.x$memory_global_total")
    [[parts]] = server.query("select sum(current_alloc) from sys.x$memory_global_by_current_bytes")
    assert total > 1_000_000 and abs(total - parts) < total / 2


def test_readers_see_what_their_own_privileges_allow(server):
    server.query("create user reader identified by 'x'", "grant select, execute on sys.* to reader")
    reader = {"user": "reader", "password": "x"}
    for view, error in (("session", 1356), ("innodb_lock_waits", 1227)):
        with pytest.raises(pymysql.err.MySQLError) as refused:
            server.query(f"select * from sys.{view}", **reader)
        assert refused.value.args[0] == error
    server.query("grant select on performance_schema.* to reader", "grant process on *.* to reader")
    assert server.query("select distinct user from sys.session where user like 'reader%'", **reader) == (("reader@localhost",),)
    assert server.query("select * from sys.innodb_lock_waits", **reader) == ()


def test_its_errors_say_what_to_do(server, mariadb):
    server.query("create user maker identified by 'x'", "grant all on sys.* to maker")
    maker = {"socket": server.socket, "user": "maker", "password": "x"}
    refused = sys_schema(**maker)
    assert refused.returncode == 1 and "1227" in refused.stderr and "needs BINLOG ADMIN" in refused.stderr, refused
    server.query("grant binlog admin on *.* to maker")
    refused = sys_schema(**maker)
    assert refused.returncode == 1 and "1142" in refused.stderr and "SELECT on performance_schema" in refused.stderr, refused
    server.query("grant select on performance_schema.* to maker", "set global read_only = 1")
    try:
        refused = sys_schema(**maker)
        assert refused.returncode == 1 and "READ ONLY ADMIN" in refused.stderr, refused
        install(server)
    finally:
        server.query("set global read_only = 0")
    done = sys_schema(**maker)
    assert done.returncode == 0, done.stderr
    refused = sys_schema(socket=mariadb.socket)
    assert refused.returncode == 1 and "not a Paceline" in refused.stderr, refused


def test_the_printed_script_and_the_file_of_mariadb_can_be_loaded(tmp_path):
    server = Paceline(tmp_path / "server", "--sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES").start()
    try:
        server.client(text=sys_schema("--print").stdout)
        assert read_every_view(server) == (100, [])
        assert server.query("select sys.quote_identifier('a'), sys.extract_schema_from_file_name('/d/t.ibd')") == (("`a`", "d"),)
        server.query("drop database sys", "set global sql_mode = ''")
        if MARIADBS_FILE.exists():
            server.client(text=MARIADBS_FILE.read_text())
            assert read_every_view(server)[0] >= 100
            install(server)
            assert read_every_view(server)[0] >= 100
    finally:
        server.close()
