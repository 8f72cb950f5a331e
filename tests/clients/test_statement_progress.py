"""How far a long statement is: STAGE, MAX_STAGE, PROGRESS and EXAMINED_ROWS of the process list."""

import contextlib
import threading

import pymysql
import pytest
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

ROWS = 200_000
HALF = ROWS // 2


@pytest.fixture(scope="module", params=[Paceline, MariaDb])
def server(request, tmp_path_factory):
    server = request.param(tmp_path_factory.mktemp("server"))
    server.start()
    server.query("create database d", "use d", f"create table t engine=innodb as select seq a, repeat('x', 100) b from seq_1_to_{ROWS}",
                 "alter table t add primary key (a)")
    yield server
    server.close()


@contextlib.contextmanager
def running(connection, statement):
    """A thread that executes `statement` meanwhile. Its error is the test's."""
    failed = []

    def execute():
        try:
            connection.cursor().execute(statement)
        except pymysql.MySQLError as error:
            failed.append(error)

    thread = threading.Thread(target=execute)
    thread.start()
    try:
        yield thread
    finally:
        thread.join()
        assert not failed


def progress(server, statement):
    """Returns state, stage, number of stages, percent and examined rows; nothing after the end."""
    rows = server.query("select state, stage, max_stage, progress, examined_rows from information_schema.processlist where info = %r" % statement)
    return rows[0] if rows else None


def seen_halfway(server, statement):
    """Executes the statement until it is seen in the middle of its first stage. Returns what was seen then."""
    def seen():
        with server.connect(database="d") as connection, running(connection, statement) as thread:
            while thread.is_alive():
                now = progress(server, statement)
                if now and now[1] == 1 and 0 < now[3] < 100:
                    return now
        return None

    return wait_for(f"a part of {statement}", seen)


def test_a_table_that_is_copied(server):
    state, _, stages, _, _ = seen_halfway(server, "alter table t force, algorithm=copy")
    assert (state, stages) == ("copy to tmp table", 2)


def test_an_index_that_is_built(server):
    if isinstance(server, MariaDb):
        pytest.skip("InnoDB reports nothing")
    state, _, stages, _, _ = seen_halfway(server, "create or replace index b on t (b)")
    assert (state, stages) == ("altering table", 2)


def test_a_checked_table(server):
    if isinstance(server, MariaDb):
        pytest.skip("InnoDB reports nothing")
    state, _, stages, _, _ = seen_halfway(server, "check table t")
    assert state == "Checking table" and stages >= 1


def test_a_file_that_is_loaded(server, tmp_path):
    file = tmp_path / "rows"
    file.write_text("".join(f"{number}\n" for number in range(ROWS)))
    tmp_path.chmod(0o755)
    server.query("create or replace table d.l (a int, b int)")
    statement = f"load data infile '{file}' into table l (a) set b = if(a = {HALF}, get_lock('loading', 1000), 0)"
    with server.connect() as holder, holder.cursor() as cursor:
        cursor.execute("select get_lock('loading', 0)")
        with server.connect(database="d") as connection, running(connection, statement):
            wait_for("the lock", lambda: (progress(server, statement) or [None])[0] == "User lock")
            _, stage, stages, percent, _ = progress(server, statement)
            assert (stage, stages) == (1, 2) and 0 < percent < 100
            cursor.execute("select release_lock('loading')")


def test_rows_that_a_query_has_examined(server):
    if isinstance(server, MariaDb):
        pytest.skip("it counts them at the end of some operations only")
    statement = f"select count(*) from t where a < {HALF} or get_lock('reading', 1000)"
    with server.connect() as holder, holder.cursor() as cursor, server.connect(database="d") as connection:
        cursor.execute("select get_lock('reading', 0)")
        with running(connection, statement):
            wait_for("the lock", lambda: (progress(server, statement) or [None])[0] == "User lock")
            _, stage, stages, percent, examined = progress(server, statement)
            assert (stage, stages, percent) == (0, 0, 0) and HALF // 2 < examined <= ROWS
            cursor.execute("select release_lock('reading')")
        own = f"from information_schema.processlist where id = {connection.thread_id()}"
        wait_for("the statement's end", lambda: server.query(f"select command {own}") == (("Sleep",),))
        assert server.query(f"select examined_rows, stage {own}") == ((0, 0),)
