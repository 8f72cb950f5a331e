"""More long-running statements than the server has workers: other sessions are served meanwhile."""

import contextlib
import threading
import time

import pymysql
import pytest
from support.servers import Paceline
from support.waiting import wait_for

LONG = "select sum(sqrt(a.v * b.v + c.v)) from d.n a join d.n b join d.n c"


@pytest.fixture
def server(tmp_path):
    server = Paceline(tmp_path, "--paceline_worker_threads=2").start()
    server.query("create database d", "create table d.n (v int primary key)",
                 "insert into d.n values " + ", ".join(f"({number})" for number in range(1000)))
    yield server
    server.close()


def test_others_are_served_and_each_can_be_killed(server):
    ended = []

    def run():
        try:
            server.query(LONG)
        except pymysql.err.MySQLError as error:
            ended.append(error.args[0])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    running = "select count(*) from information_schema.processlist where info like 'select sum(sqrt%'"
    wait_for("the statements to begin", lambda: server.query(running) == ((4,),), 20)
    longest = 0
    for number in range(50):
        start = time.monotonic()
        server.query(f"replace into d.n values ({number})", "select max(v) from d.n")
        longest = max(longest, time.monotonic() - start)
    assert longest < 5, f"a connection with two statements took {longest:.1f} s"
    for (session,) in server.query("select id from information_schema.processlist where info like 'select sum(sqrt%'"):
        server.query(f"kill query {session}")
    for thread in threads:
        thread.join(timeout=20)
        assert not thread.is_alive()
    assert ended == [1317] * 4


def test_others_are_served_while_a_long_text_is_parsed_and_planned(server):
    values = ", ".join(map(str, range(5_000, 65_000)))
    texts = [f"select count(*) from d.n where v in ({values})", f"explain select count(*) from d.n where v in ({values})",
             f"insert ignore into d.n select v from d.n where v in ({values})", f"prepare p from 'select v + ? from d.n where v in ({values})'"]
    busy = threading.Barrier(5)
    ended = []

    def run(text):
        with server.connect() as connection, connection.cursor() as cursor:
            busy.wait()
            cursor.execute(text)
        ended.append(text)

    threads = [threading.Thread(target=run, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    latencies = []
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("select 1")
        busy.wait()
        while any(thread.is_alive() for thread in threads) or len(latencies) < 20:
            start = time.monotonic()
            cursor.execute("select max(v) from d.n")
            # A login is served too.
            server.query("select 1")
            latencies.append(time.monotonic() - start)
    for thread in threads:
        thread.join()
    # The operating system shares the processors among all threads, which costs a little time. A blocked worker would
    # be missing for the duration of a whole text.
    latencies.sort()
    assert latencies[len(latencies) // 2] < 0.1, latencies
    assert latencies[-1] < 1.5, latencies


@pytest.mark.parametrize("text", [
    "select length(concat(" + ", ".join(["repeat('a', 16000000)"] * 60) + "))",
    "select " + ", ".join(["length(sha2(repeat('a', 16000000), 512))"] * 20),
    "select sum(length(@a := concat(ifnull(@a, ''), repeat(v, 100000)))) from d.n",
], ids=lambda text: text[:40])
def test_others_are_served_while_long_texts_are_computed(server, text):
    """A short statement that computes for long in a single row, or before the first row."""
    begun = threading.Event()

    def run():
        with server.connect() as connection, connection.cursor() as cursor, contextlib.suppress(pymysql.err.DatabaseError):
            cursor.execute("set max_statement_time = 3")
            begun.set()
            cursor.execute(text)

    thread = threading.Thread(target=run)
    latencies = []
    with server.connect() as connection, connection.cursor() as cursor:
        thread.start()
        begun.wait()
        start = time.monotonic()
        while thread.is_alive() or len(latencies) < 20:
            before = time.monotonic()
            cursor.execute("select max(v) from d.n")
            latencies.append(time.monotonic() - before)
        took = time.monotonic() - start
    thread.join()
    latencies.sort()
    assert latencies[-1] < 1, latencies[-5:]
    assert took < 10, "max_statement_time is not heeded"
    resident = int(server.query("show global status like 'Memory_used'")[0][1])
    assert resident < 500 << 20, f"the process has {resident} bytes"


def nested(before, inner, after, depth):
    return f"select {before * depth}{inner}{after * depth}"


@pytest.mark.parametrize("before, inner, after, deepest, error", [
    ("(", "1", ")", 20_000, None),
    # MariaDB's stack is exhausted by 551 to 592 levels of these.
    ("abs(", "1", ")", 592, 1436),
    ("case when 1 then ", "1", " end", 592, 1436),
    ("(1 + ", "1", ")", 592, 1436),
    ("1 between 0 and (", "1", ")", 592, 1436),
    ("~", "1", "", 592, 1436),
    ("", "1", " + 1", 592, 1436),
    ("", "1", " or 1", 20_000, None),
    ("", "1", " union select 2", 2_000, None),
    ("", "1", " union all select 1", 2_000, None),
    ("", "1", " union select 2 union all select 3", 1_000, None),
], ids=lambda value: str(value).strip()[:20])
def test_deep_statements_work_or_get_an_error(server, before, inner, after, deepest, error):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(nested(before, inner, after, deepest))
        assert cursor.fetchone() is not None
        # Also in conditions, over columns, prepared, and explained.
        if "select" not in before + after and "from" not in before:
            text = nested(before, "v" if inner == "1" else inner, after, deepest)
            cursor.execute(f"select count(*) from d.n where ({text[len('select '):]}) is null")
            cursor.execute(f"explain {text} from d.n")
            cursor.execute(f"prepare deep from '{text} from d.n limit 1'")
            cursor.execute("execute deep")
        if "union" not in after:
            text = nested(before, inner, after, min(deepest, 592))
            cursor.execute(f"create or replace view d.deep as {text} as a")
            cursor.execute("select * from d.deep")
        for depth in (3_000, 100_000):
            if error is None:
                continue
            for statement in ("", "create or replace view d.deeper as "):
                with pytest.raises(pymysql.err.MySQLError) as caught:
                    cursor.execute(statement + nested(before, inner, after, depth))
                assert caught.value.args[0] == error
        # Just below the limit.
        for depth in range(600, 2_400, 300):
            for statement in ("", "create or replace view d.deeper as "):
                with contextlib.suppress(pymysql.err.DatabaseError):
                    cursor.execute(statement + nested(before, inner, after, depth))
        cursor.execute("select 1")


def test_operators_in_a_row_are_levels_too(server):
    """Each level of a text may have hundreds of operators, and all of them together make the height of the tree."""
    with server.connect() as connection, connection.cursor() as cursor:
        for text in ("select " + "abs(" * 500 + "1" + (" + 1" * 500 + ")") * 500,
                     "select " + "(" * 500 + "'a'" + (" collate utf8mb4_bin" * 500 + ")") * 500,
                     "(" * 60 + "select 1" + (" union select 1" * 1_000 + ")") * 60):
            with pytest.raises(pymysql.err.MySQLError) as caught:
                cursor.execute(text)
            assert caught.value.args[0] in (1436, 1473)
        cursor.execute("select 1")


def test_limits_of_what_a_query_names(server):
    with server.connect() as connection, connection.cursor() as cursor:
        def error_of(statement):
            try:
                cursor.execute(statement)
            except pymysql.err.MySQLError as error:
                return error.args
            return None

        def with_tables(count):
            return "with " + ", ".join(f"t{number} as (select 1)" for number in range(count)) + " select 1"

        def join(count, table):
            return "select 1 from " + ", ".join(table.format(number) for number in range(count)) + " limit 0"

        assert error_of(with_tables(64)) is None
        assert error_of(with_tables(65)) == (4003, "Too many WITH elements in WITH clause")
        for table in ("d.n t{}", "(select 1) t{}"):
            assert error_of(join(61, table)) is None
            for explain in ("", "explain "):
                assert error_of(explain + join(62, table)) == (1116, "Too many tables; MariaDB can only use 61 tables in a join")
        assert error_of("select " + ", ".join(["1"] * 10_000)) is None
        assert error_of("select 1 from d.n order by " + ", ".join(["v"] * 10_000) + " limit 1") is None
        assert error_of("create table d.wide (" + ", ".join(f"c{number} int" for number in range(1017)) + ")") is None
        assert error_of("create table d.wider (" + ", ".join(f"c{number} int" for number in range(4097)) + ")") == (1117, "Too many columns")
