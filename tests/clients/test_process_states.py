"""States of waiting sessions in the process list, compared with MariaDB; and sessions whose client has disconnected."""

import contextlib
import threading

import pymysql
import pytest
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

WAIT_SECONDS_MAX = 30


@pytest.fixture(scope="module", params=[Paceline, MariaDb])
def server(request, tmp_path_factory):
    server = request.param(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.close()


def wait_for_state(server, statement, state):
    """Waits until the process list shows this state for a session that executes `statement`."""
    question = "select state from information_schema.processlist where info = %r" % statement
    wait_for(f"{state} of {statement}", lambda: server.query(question) == ((state,),))


@contextlib.contextmanager
def waiting(server, statement):
    """A session that executes `statement`, and ends with this context."""
    connection = server.connect(database="t")

    def execute():
        with contextlib.suppress(pymysql.MySQLError):
            connection.cursor().execute(statement)

    thread = threading.Thread(target=execute)
    thread.start()
    try:
        yield
    finally:
        thread.join(WAIT_SECONDS_MAX)
        assert not thread.is_alive(), statement
        connection.close()


@pytest.mark.parametrize("statement, state", [
    ("delete from a", "Updating"),
    ("insert into a values (1, 1)", "Update"),
    ("replace into a values (1, 1)", "Update"),
    ("select * from a for update", "Sending data"),
    ("alter table a add c int", "Waiting for table metadata lock"),
    ("drop table a", "Waiting for table metadata lock"),
])
def test_a_wait_for_another_transaction(server, statement, state):
    server.query("create or replace database t", "create table t.a (a int primary key, b int) engine=innodb", "insert into t.a values (1, 1), (2, 2)")
    with server.connect(database="t", autocommit=False) as holder:
        holder.cursor().execute("update a set b = b + 1")
        with waiting(server, statement):
            wait_for_state(server, statement, state)
            holder.rollback()


def test_a_commit_under_the_global_read_lock(server):
    server.query("create or replace database t", "create table t.a (a int primary key) engine=innodb")
    with server.connect(database="t", autocommit=False) as writer:
        writer.cursor().execute("insert into a values (1)")
        with server.connect() as locker:
            locker.cursor().execute("flush tables with read lock")
            thread = threading.Thread(target=lambda: writer.cursor().execute("commit"))
            thread.start()
            wait_for_state(server, "commit", "Waiting for backup lock")
            locker.cursor().execute("unlock tables")
            thread.join(WAIT_SECONDS_MAX)
            assert not thread.is_alive()
    assert server.query("select * from t.a") == ((1,),)


@pytest.mark.parametrize("statement, state", [("select get_lock('held', 3600)", "User lock"), ("select sleep(3600)", "User sleep")])
def test_a_session_whose_client_has_gone_waits_no_longer(server, statement, state):
    server.query("create or replace database t")
    with server.connect() as holder:
        holder.cursor().execute("select get_lock('held', 0)")
        client = server.connect()
        client._execute_command(3, statement)
        wait_for_state(server, statement, state)
        client._force_close()
        question = "select count(*) from information_schema.processlist where info = %r" % statement
        wait_for(f"the end of {statement}", lambda: server.query(question) == ((0,),))
