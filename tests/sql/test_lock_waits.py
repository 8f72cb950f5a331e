"""INNODB_TRX, INNODB_LOCKS and INNODB_LOCK_WAITS: waiting sessions and the sessions that block them."""

import threading
import time

import pymysql
import pytest

from support.servers import MariaDb, Paceline
from support.waiting import wait_for

WAITING = "select trx_mysql_thread_id, trx_query, trx_operation_state, trx_isolation_level from information_schema.innodb_trx where trx_state = 'LOCK WAIT'"
BLOCKED = """select waiting.trx_mysql_thread_id, blocking.trx_mysql_thread_id, wanted.lock_table, wanted.lock_index, wanted.lock_mode, held.lock_mode,
             wanted.lock_data, held.lock_data
             from information_schema.innodb_lock_waits wait
             join information_schema.innodb_trx waiting on waiting.trx_id = wait.requesting_trx_id
             join information_schema.innodb_trx blocking on blocking.trx_id = wait.blocking_trx_id
             join information_schema.innodb_locks wanted on wanted.lock_id = wait.requested_lock_id
             join information_schema.innodb_locks held on held.lock_id = wait.blocking_lock_id"""


@pytest.fixture(params=[Paceline, MariaDb], ids=["paceline", "mariadb"])
def server(request, tmp_path):
    server = request.param(tmp_path / "server", "--server-id=1").start()
    server.query("create database t", "create table t.a (id int primary key, b int, key (b))", "insert into t.a values (1, 10), (2, 20)")
    yield server
    server.close()


def wait_for_transactions(what, condition):
    # MariaDB refreshes these tables only if they have not been read for 0.1 s.
    return wait_for(what, condition, 30, pause_seconds=0.2)


def test_a_statement_that_waits_for_a_row_is_shown_with_its_blocker(server):
    with server.connect(autocommit=False, database="t") as holder, server.connect(database="t") as waiter:
        with holder.cursor() as cursor:
            cursor.execute("update a set b = 11 where id = 1")
        statement = "delete from a where id = 1"
        thread = threading.Thread(target=lambda: waiter.cursor().execute(statement))
        thread.start()
        waiting = wait_for_transactions("the statement to wait", lambda: server.query(WAITING))
        assert waiting == ((waiter.thread_id(), statement, "starting index read", "REPEATABLE READ"),)
        assert server.query(BLOCKED) == ((waiter.thread_id(), holder.thread_id(), "`t`.`a`", "PRIMARY", "X", "X", "1", "1"),)
        [(modified,)] = server.query(f"select trx_rows_modified from information_schema.innodb_trx where trx_mysql_thread_id = {holder.thread_id()}")
        assert modified == 1
        holder.rollback()
        thread.join(30)
        transactions = "select * from information_schema.innodb_trx"
        wait_for_transactions("the transactions to end", lambda: server.query(transactions) == ())


@pytest.mark.parametrize("server", [Paceline], indirect=True)
@pytest.mark.parametrize("key, shown", [("(a, c, n)", "7, '2024-01-02', -1.50"), ("(a, b)", "7, 0x6162"), ("(d)", "0x"), ("(a, d(2))", "7, 0x")])
def test_the_values_of_a_locked_key_are_shown(server, key, shown):
    server.query(f"create table t.k (a int, b varbinary(9), c date, d varchar(9), n decimal(5, 2), primary key {key})",
                 "insert into t.k values (7, 'ab', '2024-01-02', 'text', -1.5)")
    with server.connect(autocommit=False, database="t") as holder, server.connect(database="t") as waiter:
        holder.cursor().execute("select * from k where a = 7 for update")
        thread = threading.Thread(target=lambda: waiter.cursor().execute("delete from k where a = 7"))
        thread.start()
        found = wait_for("the statement to wait", lambda: server.query("select lock_data from information_schema.innodb_locks"))
        assert {values.startswith(shown) for (values,) in found} == {True}, found
        assert "0x" in shown or found[0] == (shown,)
        assert f"Key {found[0][0]}, " in server.query("show engine innodb status")[0][2]
        holder.rollback()
        thread.join(30)


def test_they_need_the_process_privilege(server):
    server.query("create user u")
    with server.connect(user="u") as session, session.cursor() as cursor:
        for table in ("trx", "locks", "lock_waits"):
            with pytest.raises(pymysql.err.OperationalError) as error:
                cursor.execute(f"select * from information_schema.innodb_{table}")
            assert error.value.args[0] == 1227


def test_the_time_to_wait_may_be_set_within_a_transaction(server):
    with server.connect(autocommit=False, database="t") as holder, server.connect(autocommit=False, database="t") as waiter:
        holder.cursor().execute("update a set b = 11 where id = 1")
        with waiter.cursor() as cursor:
            cursor.execute("select * from a")
            cursor.execute("set innodb_lock_wait_timeout = 1")
            started = time.monotonic()
            with pytest.raises(pymysql.err.OperationalError) as error:
                cursor.execute("delete from a where id = 1")
        assert error.value.args[0] == 1205
        assert time.monotonic() - started < 20


def test_a_row_is_locked_before_its_subquery_waits(server):
    """Of two transactions that wait for each other one is rolled back. If the subquery waited first, they would not
    conflict."""
    server.query("create table t.c (id int primary key, v int)", "insert into t.c values (2, null)")
    with server.connect(autocommit=False, database="t") as one, server.connect(autocommit=False, database="t") as other:
        one.cursor().execute("update a set b = b + 100")
        told = []

        def delete():
            try:
                other.cursor().execute("delete from c where v not in (select x.id from a x join a y on x.b = y.id)")
                other.commit()
                told.append(0)
            except pymysql.MySQLError as error:
                told.append(error.args[0])

        thread = threading.Thread(target=delete)
        thread.start()
        wait_for_transactions("the statement to wait", lambda: server.query(WAITING))
        one.cursor().execute("select * from c for update")
        one.commit()
        thread.join(30)
        assert told == [1213]


ROW_LOCKS = "select variable_name, variable_value from information_schema.global_status where variable_name like 'Innodb\\_row\\_lock\\_%' order by 1"


def test_a_wait_for_metadata_is_no_wait_for_a_row(server):
    before = server.query(ROW_LOCKS)
    with server.connect(autocommit=False, database="t") as holder, server.connect(database="t") as waiter:
        with holder.cursor() as cursor:
            cursor.execute("select * from a")
        thread = threading.Thread(target=lambda: waiter.cursor().execute("alter table a add c int"))
        thread.start()
        state = f"select 1 from information_schema.processlist where id = {waiter.thread_id()} and state like 'Waiting for table metadata lock'"
        wait_for("the ALTER to wait", lambda: server.query(state))
        assert server.query(ROW_LOCKS) == before
        holder.rollback()
        thread.join(30)
    assert server.query(ROW_LOCKS) == before


def test_a_wait_for_a_row_is_counted(server):
    with server.connect(autocommit=False, database="t") as holder, server.connect(database="t") as waiter:
        with holder.cursor() as cursor:
            cursor.execute("update a set b = 11 where id = 1")
        thread = threading.Thread(target=lambda: waiter.cursor().execute("update a set b = 12 where id = 1"))
        thread.start()
        waiting = wait_for_transactions("the UPDATE to wait", lambda: server.query(
            "select trx_autocommit_non_locking from information_schema.innodb_trx where trx_state = 'LOCK WAIT'"))
        # It ends with its statement, but it locks.
        assert waiting == ((0,),)
        status = {name.lower(): int(value) for name, value in server.query(ROW_LOCKS)}
        assert (status["innodb_row_lock_current_waits"], status["innodb_row_lock_waits"]) == (1, 1)
        holder.rollback()
        thread.join(30)
        status = {name.lower(): int(value) for name, value in server.query(ROW_LOCKS)}
        assert (status["innodb_row_lock_current_waits"], status["innodb_row_lock_waits"]) == (0, 1)
        assert status["innodb_row_lock_time"] == status["innodb_row_lock_time_avg"] == status["innodb_row_lock_time_max"] > 0
