"""Statistics by the digest of statements: performance_schema, PACELINE_STATEMENTS, TRUNCATE, limits."""

import pymysql
import pytest
from support.servers import MariaDb, Paceline

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


def test_digests_are_mariadbs(tmp_path):
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
            found[kind] = counted(server)
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
    with pytest.raises(pymysql.err.OperationalError, match="1142"):
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
        assert server.query(f"select count(*) from {BY_DIGEST}") == ((0,),)
    finally:
        server.close()
