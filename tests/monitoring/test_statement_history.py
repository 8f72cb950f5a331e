"""events_statements_current, _history and _history_long, and setup_consumers, beside MariaDB."""

import pymysql
import pytest
from support.servers import MariaDb, Paceline

STATEMENTS = [
    "set @a = 1",
    "select * from nope.x",
    "create table t (a int primary key, b int)",
    "insert into t values (1, 2), (2, 3)",
    "select * from t where b = 2 order by a desc",
    "update t set b = b + 1 where a = 1",
    "insert into t select a + 10, b from t",
    "show tables",
    "drop table t",
]
COLUMNS = ("event_id, end_event_id, event_name, sql_text, digest_text, current_schema, mysql_errno, message_text, errors, "
           "rows_affected, rows_sent, nesting_event_level")
OWN = "from performance_schema.{} h join performance_schema.threads using (thread_id) where processlist_id = connection_id()"
ENABLE = "update performance_schema.setup_consumers set enabled = 'YES' where name like 'events_statements_%'"


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory):
    server = MariaDb(tmp_path_factory.mktemp("mariadb"), "--performance-schema=ON").start()
    server.query("create database d")
    yield server
    server.close()


@pytest.fixture
def server(tmp_path):
    server = Paceline(tmp_path / "server").start()
    server.query("create database d")
    yield server
    server.close()


def run(cursor, statement):
    try:
        cursor.execute(statement)
        return cursor.fetchall()
    except pymysql.err.MySQLError as error:
        return error.args


def history_of(server):
    with server.connect(database="d") as connection, connection.cursor() as cursor:
        run(cursor, ENABLE)
        run(cursor, "truncate table performance_schema.events_statements_history")
        for statement in STATEMENTS:
            run(cursor, statement)
        rows = run(cursor, f"select {COLUMNS} " + OWN.format("events_statements_history") + " order by event_id")
        # The statements before the list count too.
        first = rows[1][0]
        return [(row[0] - first, row[1] - first, *row[2:]) for row in rows[1:]]


def test_the_history_is_mariadbs(server, mariadb):
    ours, theirs = history_of(server), history_of(mariadb)
    assert len(ours) == len(STATEMENTS)
    # MariaDB has messages such as 'Rows matched: 1' here too.
    quiet = lambda row: row[:7] + ((row[7] if row[6] else None),) + row[8:]
    assert [quiet(row) for row in ours] == [quiet(row) for row in theirs]


def test_nothing_is_kept_before_it_is_asked_for(server):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("select 1")
        for table in ("current", "history", "history_long"):
            cursor.execute(f"select count(*) from performance_schema.events_statements_{table}")
            assert cursor.fetchone() == (0,)


def test_current_shows_the_running_statement(server):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(ENABLE)
        cursor.execute("select event_name, end_event_id, sql_text " + OWN.format("events_statements_current"))
        name, end, text = cursor.fetchone()
        assert (name, end) == ("statement/sql/select", None)
        assert text.startswith("select event_name")


def test_the_long_history_has_sessions_that_have_ended(server):
    server.query(ENABLE)
    server.query("select 'gone'")
    texts = [row[0] for row in server.query("select sql_text from performance_schema.events_statements_history_long")]
    assert "select 'gone'" in texts
    server.query("truncate table performance_schema.events_statements_history_long")
    assert len(server.query("select sql_text from performance_schema.events_statements_history_long")) <= 2


def test_secrets_are_not_kept(server):
    server.query(ENABLE)
    server.query("create user u identified by 'secret-word'")
    with server.connect() as connection:
        run(connection.cursor(), "set password for u = 'secret-word' nonsense")
    rows = server.query("select * from performance_schema.events_statements_history_long where sql_text like '%create user%' or sql_text like '%password%'")
    assert rows and "secret-word" not in str(rows)


def test_consumers_are_switched(server, mariadb):
    consumers = "select name, enabled from performance_schema.setup_consumers"
    assert server.query(consumers) == mariadb_defaults(mariadb)
    with server.connect() as connection, connection.cursor() as cursor:
        assert cursor.execute(ENABLE) == 3
        assert cursor.execute(ENABLE) == 0
        cursor.execute("update performance_schema.setup_consumers set enabled = 'YES' where name = 'events_waits_current'")
        cursor.execute("show warnings")
        assert cursor.fetchone()[1] == 1235
        assert dict(server.query(consumers))["events_waits_current"] == "NO"
        assert run(cursor, "update performance_schema.setup_consumers set name = 'x'") == (1683, "Invalid performance_schema usage")
        assert run(cursor, "update performance_schema.setup_consumers set enabled = 'maybe'")[0] == 1265
        # Without digests nothing is counted.
        cursor.execute("update performance_schema.setup_consumers set enabled = 'NO' where name = 'statements_digest'")
        cursor.execute("truncate table performance_schema.events_statements_summary_by_digest")
        cursor.execute("select 1, 2, 3, 4")
        cursor.execute("select count(*) from performance_schema.events_statements_summary_by_digest")
        assert cursor.fetchone() == (0,)
    server.query("create user u", "grant select on performance_schema.* to u")
    with server.connect(user="u") as connection:
        assert run(connection.cursor(), ENABLE)[0] == 1142


def test_consumers_are_switched_in_programs_and_by_prepared_statements(server):
    enabled = "select enabled from performance_schema.setup_consumers where name = '{}'"
    update = "update performance_schema.setup_consumers set enabled = '{}' where name = '{}'"
    server.query("create procedure d.p() " + update.format("YES", "events_statements_history"), "call d.p()")
    assert server.query(enabled.format("events_statements_history")) == (("YES",),)
    server.query(f"prepare s from \"{update.format('NO', 'events_statements_history')}\"", "execute s")
    assert server.query(enabled.format("events_statements_history")) == (("NO",),)


def mariadb_defaults(mariadb):
    changed = "update performance_schema.setup_consumers set enabled = 'NO' where name like 'events_statements_%'"
    mariadb.query(changed)
    return mariadb.query("select name, enabled from performance_schema.setup_consumers")


def test_options_switch_consumers_at_start_up(tmp_path):
    server = Paceline(tmp_path / "server", "--performance-schema-consumer-events-statements-history=ON",
                      "--performance_schema_consumer_events_stages_history").start()
    try:
        enabled = server.query("select name from performance_schema.setup_consumers where enabled = 'YES' order by 1")
        assert ("events_statements_history",) in enabled and ("events_stages_history",) not in enabled
        assert "events-stages-history' has no effect" in server.said()
    finally:
        server.close()
