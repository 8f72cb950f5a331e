"""events_statements_summary_by_{thread,account,user,host}_by_event_name and …_global_…, beside MariaDB."""

import mysql.connector
import pymysql
import pytest
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

# Programs are left out: here their statements have no events of their own.
STATEMENTS = [
    "select 1", "selec", "/* nothing */", "explain select 1", "analyze select 1 from dual where 1 = 0", "set statement max_statement_time = 1 for do 1",
    "prepare s from 'select 3'", "execute s", "execute immediate 'select 4'", "deallocate prepare s", "select 1 from nowhere.t",
    "select; select", "select ?", "use d", "create temporary table tt (a int)", "insert into tt values (1), (2)",
    "insert into tt select * from tt", "update tt set a = a + 1 where a = 1", "select * from tt order by a", "drop temporary table tt",
    "create table t2 (a int)", "create table t2 (a int)", "drop table t2", "begin not atomic do 1; end", "help 'nothing at all'",
]
LEVELS = {"by_thread": "thread_id", "by_account": "user, host", "by_user": "user", "by_host": "host", "global": "''"}
# MariaDB adds a session's events to those of its user when it ends, kind by kind, after it has left the process list.
THREADS = "performance_schema.threads"
TABLE = "performance_schema.events_statements_summary_{}_by_event_name"


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory):
    server = MariaDb(tmp_path_factory.mktemp("mariadb"), "--performance-schema=ON").start()
    yield prepared(server)
    server.close()


@pytest.fixture
def server(tmp_path):
    server = Paceline(tmp_path / "server").start()
    yield prepared(server)
    server.close()


def prepared(server):
    server.query("create database d", "create user u@localhost", "grant all on *.* to u@localhost")
    return server


def run(connection, statement):
    with connection.cursor() as cursor:
        try:
            cursor.execute(statement)
            return cursor.fetchall()
        except pymysql.err.MySQLError as error:
            return error.args


def events_of(server, user, columns="sum_errors, sum_warnings, sum_rows_affected, sum_rows_sent"):
    table = TABLE.format("by_user")
    return server.query(f"select event_name, count_star, {columns} from {table} where user = '{user}' and count_star > 0 order by 1")


def test_kinds_are_counted_as_in_mariadb(server, mariadb):
    for each in (server, mariadb):
        each.query(f"truncate table {TABLE.format('global')}")
        with each.connect(user="u") as connection:
            for statement in STATEMENTS:
                run(connection, statement)
            connection.ping()
    for each in (server, mariadb):
        wait_for("the end of the session", lambda each=each: not each.query(f"select 1 from {THREADS} where processlist_user = 'u'"))
    ours, theirs = (events_of(each, "u") for each in (server, mariadb))
    # A block of several statements has events of its statements in MariaDB.
    assert ours == tuple(row for row in theirs if not row[0].startswith("statement/sp/"))


def test_commands_of_the_protocol_are_counted_as_in_mariadb(server, mariadb):
    for each in (server, mariadb):
        each.query(f"truncate table {TABLE.format('global')}")
        connection = mysql.connector.connect(unix_socket=str(each.socket), user="u", use_pure=True)
        cursor = connection.cursor(prepared=True)
        for value in (1, 2):
            cursor.execute("select ? as b", (value,))
            cursor.fetchall()
        cursor.close()
        connection.cmd_init_db("d")
        connection.cmd_ping()
        connection.close()
    names = "statement/com/%"
    shown = f"select event_name, count_star from {TABLE.format('by_user')} where user = 'u' and count_star > 0 and event_name like '{names}'"
    for each in (server, mariadb):
        wait_for("the end of the session", lambda each=each: each.query(shown + " and event_name like '%Quit'"))
    assert sorted(server.query(shown)) == sorted(mariadb.query(shown))
    assert ("statement/com/Execute", 2) in server.query(shown)


def counts(connection):
    """Returns the executions of DO at each level; those of the session that reads are others."""
    shown = {}
    for level, owner in LEVELS.items():
        statement = f"select {owner}, count_star, sum_timer_wait > 0 from {TABLE.format(level)} where event_name = 'statement/sql/do' and count_star > 0"
        shown[level] = [row[1:] if level == "by_thread" else row for row in run(connection, statement)]
    return shown


def test_truncate_empties_a_level_and_moves_those_before_it_as_in_mariadb(server, mariadb):
    histories = []
    for each in (server, mariadb):
        each.query(f"truncate table {TABLE.format('global')}")
        history = []
        with each.connect() as reader, each.connect(user="u") as living:
            with each.connect(user="u") as ended:
                run(ended, "do 1")
                session, = run(ended, "select connection_id()")[0]
            wait_for("the end of the session", lambda: not run(reader, f"select 1 from {THREADS} where processlist_id = {session}"))  # noqa: B023
            for level in LEVELS:
                run(living, "do 2")
                # MariaDB counts a statement after it has replied, and before it reads the next command.
                living.ping()
                history.append(counts(reader))
                assert run(reader, f"truncate table {TABLE.format(level)}") in ((), [])
                history.append(counts(reader))
        histories.append(history)
    assert histories[0] == histories[1]


def test_times_are_those_of_the_statements(server):
    with server.connect(user="u") as connection:
        run(connection, "do sleep(0.2)")
        run(connection, "do 1")
    (_, count, total, least, average, most), = [row for row in events_of(server, "u", "sum_timer_wait, min_timer_wait, avg_timer_wait, max_timer_wait")
                                               if row[0] == "statement/sql/do"]
    assert count == 2 and 2e11 < most <= total < 2e12 and 0 < least < 1e11 and abs(average - total / 2) < 1e6


def test_another_user_of_the_connection_counts_for_itself(server):
    changed = mysql.connector.connect(unix_socket=str(server.socket), user="u", use_pure=True)
    changed.cmd_query("do 1")
    changed.cmd_change_user(username="root")
    changed.cmd_query("do 1")
    changed.cmd_query("do 1")
    table = TABLE.format("by_user")
    shown = dict(server.query(f"select user, count_star from {table} where event_name = 'statement/sql/do'"))
    assert shown == {"u": 1, "root": 2}
    changed.close()


def test_a_run_of_an_event_is_counted(server):
    server.query("set global event_scheduler = on", "create event d.e on schedule at now() do do 1")
    shown = f"select count_star from {TABLE.format('global')} where event_name = 'statement/scheduler/event'"
    wait_for("the event", lambda: server.query(shown) == ((1,),))


def test_nothing_is_counted_while_consumers_are_off(server):
    off = "update performance_schema.setup_consumers set enabled = '{}' where name = 'thread_instrumentation'"
    server.query(off.format("NO"), f"truncate table {TABLE.format('global')}", "do 1")
    total = f"select sum(count_star) from {TABLE.format('global')}"
    assert server.query(total) == ((0,),)
    server.query(off.format("YES"), "do 1")
    assert server.query(total)[0][0] > 0


def test_the_running_statement_has_the_kind_that_its_session_read(server):
    """In ANSI_QUOTES this text is a SELECT; in the default mode it would not be understood."""
    server.query("create table d.t (a int)", "insert into d.t values (1)",
                 "update performance_schema.setup_consumers set enabled = 'YES' where name = 'events_statements_current'")
    with server.connect(user="u", database="d") as connection:
        run(connection, "set sql_mode = 'ansi_quotes'")
        connection._execute_command(3, "select sleep(60) from \"t\"")
        shown = ("select event_name from performance_schema.events_statements_current join performance_schema.threads using (thread_id) "
                 "where processlist_user = 'u' and sql_text like '%sleep(60)%' and end_event_id is null")
        wait_for("the statement", lambda: server.query(shown) == (("statement/sql/select",),))
        session, = server.query("select id from information_schema.processlist where user = 'u'")[0]
        server.query(f"kill {session}")
