"""Who waits for whom: SHOW ENGINE INNODB STATUS, deadlocks in the log, metadata locks."""

import re
import threading

import pymysql
import pytest
from support.servers import Paceline
from support.waiting import wait_for


@pytest.fixture
def server(tmp_path):
    server = Paceline(tmp_path / "server").start()
    server.query("create database d", "create table d.t (a int primary key, b int)", "insert into d.t values (1,1),(2,2)")
    yield server
    server.close()


def monitor(server):
    return server.query("show engine innodb status")[0][2]


def sections(text):
    """Returns the sections of the monitor's output by title, as programs find them."""
    parts = re.split(r"^([-=]{3,})\n(.+)\n\1\n", text, flags=re.M)
    return dict(zip(parts[2::3], parts[3::3]))


def waiting(server, count=1):
    return server.query("select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'")[0][0] >= count


def make_deadlock(server):
    """Two transactions wait for each other; the one that has changed less is rolled back."""
    with server.connect(database="d") as light, server.connect(database="d") as heavy:
        one, two = light.cursor(), heavy.cursor()
        for cursor in (one, two):
            cursor.execute("begin")
        one.execute("update t set b = 10 where a = 1")
        two.execute("update t set b = 20 where a = 2")
        two.execute("update t set b = 21 where a = 2")
        errors = []

        def wait():
            try:
                one.execute("update t set b = 'secret-free' + 0 where a = 2")
            except pymysql.err.OperationalError as error:
                errors.append(error.args[0])

        waiter = threading.Thread(target=wait)
        waiter.start()
        wait_for("the first wait", lambda: waiting(server))
        two.execute("update t set b = 22 where a = 1")
        waiter.join()
        assert errors == [1213]
        two.execute("rollback")


def test_the_latest_deadlock_is_described(server):
    assert "LATEST DETECTED DEADLOCK" not in monitor(server)
    make_deadlock(server)
    text = sections(monitor(server))["LATEST DETECTED DEADLOCK"]
    assert [text.count(line) for line in ("TRANSACTION:", "WAITING FOR THIS LOCK", "CONFLICTING WITH", "RECORD LOCKS")] == [2, 2, 2, 4]
    assert "index PRIMARY of table `d`.`t`" in text and "where a = 1" in text and "where a = 2" in text
    victim = re.search(r"WE ROLL BACK TRANSACTION \((\d)\)", text)[1]
    described = re.search(rf"\*\*\* \({victim}\) TRANSACTION:(.*?)\n\n", text, re.S)[1]
    assert "secret-free" in described
    assert "a deadlock was found" not in server.said()
    server.query("set global innodb_print_all_deadlocks = on")
    make_deadlock(server)
    assert "a deadlock was found" in server.said() and "WE ROLL BACK TRANSACTION" in server.said()


def test_transactions_and_their_waits_are_listed(server):
    with server.connect(database="d") as holder, server.connect(database="d") as other:
        holding = holder.cursor()
        holding.execute("begin")
        holding.execute("update t set b = 5 where a = 1")
        waiter = threading.Thread(target=lambda: other.cursor().execute("update t set b = 6 where a = 1"))
        waiter.start()
        wait_for("the wait", lambda: waiting(server))
        text = sections(monitor(server))["TRANSACTIONS"]
        assert text.count("---TRANSACTION") == 2
        assert re.search(r"TRX HAS BEEN WAITING \d+ us FOR THIS LOCK TO BE GRANTED:\nRECORD LOCKS .*`d`.`t` .*lock_mode X", text)
        assert "update t set b = 6 where a = 1" in text
        holding.execute("rollback")
        waiter.join()


def metadata_locks(server):
    return set(server.query("select thread_id, lock_mode, lock_type, table_schema, table_name from information_schema.metadata_lock_info "
                            "where table_schema in ('d', 'mine')"))


def test_metadata_locks_are_listed_with_their_sessions(server):
    with server.connect(database="d") as holder, server.connect(database="d") as other:
        holding, number = holder.cursor(), holder.thread_id()
        holding.execute("begin")
        holding.execute("insert into t values (3, 3)")
        holding.execute("select get_lock('mine', 0)")
        assert metadata_locks(server) == {(number, "MDL_SHARED_WRITE", "Table metadata lock", "d", "t"),
                                          (number, "MDL_SHARED_NO_WRITE", "User lock", "mine", "")}
        waiter = threading.Thread(target=lambda: other.cursor().execute("alter table t add column c int"))
        waiter.start()
        pending = wait_for("the pending lock", lambda: server.query(
            "select object_type, lock_type, owner_thread_id from performance_schema.metadata_locks "
            "where lock_status = 'PENDING' and object_schema = 'd'"))
        assert pending == (("TABLE", "EXCLUSIVE", other.thread_id()),)
        holding.execute("commit")
        waiter.join()
    wait_for("no lock", lambda: not metadata_locks(server))


def test_waits_need_a_privilege(server):
    server.query("create user u identified by 'x'")
    for statement in ("show engine innodb status", "select * from information_schema.metadata_lock_info"):
        with pytest.raises(pymysql.err.OperationalError, match="1227"):
            server.query(statement, user="u", password="x")
