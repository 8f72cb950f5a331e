"""Isolation, locks and savepoints with two and three sessions."""

import threading
import time

import pymysql
import pytest


class Session:
    """A session that can send statements without waiting for the result."""

    def __init__(self, server, isolation=None, **settings):
        self.connection = server.connect(database="t")
        self.thread = None
        if isolation:
            self("set session transaction isolation level " + isolation)
        for name, value in settings.items():
            self(f"set session {name}={value}")

    def __call__(self, statement):
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return tuple(cursor.fetchall())

    def fails(self, statement):
        with pytest.raises(pymysql.err.MySQLError) as error:
            self(statement)
        return error.value.args[0]

    def send(self, statement):
        self.outcome = None

        def work():
            try:
                self.outcome = self(statement)
            except pymysql.err.MySQLError as error:
                self.outcome = error.args[0]

        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()
        return self

    def waits(self, seconds=0.3):
        self.thread.join(seconds)
        return self.thread.is_alive()

    def reap(self):
        self.thread.join(30)
        assert not self.thread.is_alive(), "it still waits"
        return self.outcome


@pytest.fixture
def table(database):
    database.query("create table t.a (id int primary key, v int, key (v))", "insert into t.a values (1,10),(2,20),(3,30)")
    yield database


def test_read_committed_sees_each_commit(table):
    one, two = Session(table, "read committed"), Session(table)
    one("begin")
    assert one("select v from a where id=1") == ((10,),)
    two("update a set v=11 where id=1")
    assert one("select v from a where id=1") == ((11,),)
    one("update a set v=v+1 where id=1")
    one("commit")
    assert two("select v from a where id=1") == ((12,),)


def test_repeatable_read_is_one_snapshot(table):
    one, two = Session(table, "repeatable read"), Session(table)
    one("begin")
    assert one("select sum(v) from a") == ((60,),)
    two("update a set v=11 where id=1")
    two("insert into a values (4, 40)")
    two("delete from a where id=2")
    assert one("select id, v from a order by id") == ((1, 10), (2, 20), (3, 30))
    assert one("select id from a where v=20") == ((2,),)
    one("commit")
    assert one("select id, v from a order by id") == ((1, 11), (3, 30), (4, 40))


def test_a_write_to_a_row_changed_since_the_snapshot_is_refused(table, request):
    for change in ["update a set v=v+1 where id=1", "delete from a where id=1"]:
        one, two = Session(table, "repeatable read"), Session(table)
        if request.config.getoption("--server") == "mariadb":
            one("set session innodb_snapshot_isolation=ON")
        one("begin")
        one("select * from a")
        two(change)
        assert one.fails("update a set v=99 where id=1") == 1020
        one("rollback")
        table.query("replace into t.a values (1, 10)")
    # A transaction that began without a snapshot cannot conflict with one.
    one, two = Session(table, "repeatable read"), Session(table)
    one("begin")
    two("update a set v=50 where id=1")
    one("update a set v=v+1 where id=1")
    one("commit")
    assert table.query("select v from t.a where id=1") == ((51,),)


def test_a_row_that_is_not_there_is_locked_as_well(table):
    """From REPEATABLE READ on, a session that searched for a row with a lock and found none can rely on that, by
    whichever unique key it searched."""
    table.query("alter table t.a add column u int, add unique key (u)")
    for level in ["repeatable read", "serializable"]:
        for condition in ["id=7", "u=77"]:
            one, two = Session(table, level), Session(table, level)
            one("begin")
            assert one(f"select id from a where {condition} for update") == ()
            two.send(f"insert into a (id, v, u) values ({7 if condition == 'id=7' else 8}, 1, 77) on duplicate key update v=v+1")
            assert two.waits()
            one("insert into a (id, v, u) values (7, 5, 77)")
            one("commit")
            two.reap()
            assert table.query("select id, v from t.a where u=77") == ((7, 6),)
            table.query("delete from t.a where u=77")


def test_no_commit_comes_after_read_only(database):
    """A switch-over sets read_only and then reads the end of the log: a later commit would be lost."""
    database.query("create table t.a (id int primary key)", "create user writer@localhost", "grant all on t.* to writer@localhost")
    try:
        with database.connect(user="writer", database="t", autocommit=False) as connection, connection.cursor() as cursor:
            cursor.execute("insert into a values (1)")
            database.query("set global read_only=1")
            with pytest.raises(pymysql.err.MySQLError) as error:
                connection.commit()
            assert error.value.args[0] == 1290
            connection.rollback()
            cursor.execute("select * from a")
            assert cursor.fetchall() == ()
            connection.commit()
            database.query("insert into t.a values (2)")  # root may write
            database.query("set global read_only=0")
            cursor.execute("insert into a values (3)")
            connection.commit()
        assert database.query("select id from t.a") == ((2,), (3,))
    finally:
        database.query("set global read_only=0", "drop user writer@localhost")


def test_a_transaction_that_shall_write_is_refused_while_the_server_is_read_only(database):
    database.query("create user writer@localhost", "set global read_only=1")
    try:
        with database.connect(user="writer") as connection, connection.cursor() as cursor:
            with pytest.raises(pymysql.err.MySQLError) as error:
                cursor.execute("start transaction read write")
            assert error.value.args[0] == 1290
            for begin in ("start transaction", "begin", "start transaction read only", "set transaction read write"):
                cursor.execute(begin)
                connection.rollback()
        database.query("start transaction read write")
    finally:
        database.query("set global read_only=0", "drop user writer@localhost")


def test_locks_wait_time_out_and_are_released(table):
    one, two = Session(table), Session(table, innodb_lock_wait_timeout=1)
    one("begin")
    one("update a set v=11 where id=1")
    two("begin")
    two("update a set v=21 where id=2")
    start = time.monotonic()
    assert two.fails("update a set v=12 where id=1") == 1205
    assert 0.8 < time.monotonic() - start < 3
    # Only the statement is rolled back.
    two.send("select v from a where id=1 for update")
    assert two.waits(0.2)
    one("commit")
    assert two.reap() == ((11,),)
    two("commit")
    assert table.query("select v from t.a where id=2") == ((21,),)


def test_nowait_and_skip_locked_and_shared_locks(table):
    one, two = Session(table), Session(table)
    one("begin")
    one("select * from a where id=1 for update")
    assert two.fails("select * from a where id=1 for update nowait") == 1205
    assert two("select id from a order by id for update skip locked") == ((2,), (3,))
    assert two("select v from a where id=1") == ((10,),)
    one("commit")
    one("begin")
    two("begin")
    assert one("select v from a where id=1 lock in share mode") == two("select v from a where id=1 lock in share mode")
    one.send("update a set v=0 where id=1")
    assert one.waits()
    two("commit")
    one.reap()
    one("rollback")


def test_deadlock_has_a_victim(table):
    one, two = Session(table), Session(table)
    one("begin")
    two("begin")
    one("update a set v=11 where id=1")
    two("update a set v=22 where id=2")
    one.send("update a set v=21 where id=2")
    assert one.waits()
    two.send("update a set v=12 where id=1")
    outcomes = sorted(str(session.reap()) for session in (one, two))
    assert outcomes == ["()", "1213"]
    one("commit")
    two("commit")
    assert table.query("select v from t.a where id<3 order by id") in (((11,), (21,)), ((12,), (22,)))


def test_serializable_has_no_write_skew_and_no_phantoms(table):
    one, two = Session(table, "serializable"), Session(table, "serializable", innodb_lock_wait_timeout=5)
    for session in (one, two):
        session("begin")
        assert session("select sum(v) from a") == ((60,),)
    one.send("update a set v=0 where id=1")
    two.send("update a set v=0 where id=2")
    outcomes = sorted(str(session.reap()) for session in (one, two))
    assert outcomes == ["()", "1213"]
    one("commit")
    two("commit")
    assert table.query("select count(*) from t.a where v=0") == ((1,),)
    one("begin")
    assert one("select count(*) from a where id between 5 and 10") == ((0,),)
    two.send("insert into a values (7, 70)")
    assert two.waits()
    assert one("select count(*) from a where id between 5 and 10") == ((0,),)
    one("commit")
    two.reap()


def test_unique_keys_are_locked_by_inserts(table):
    table.query("alter table t.a add unique key u (v)")
    one, two = Session(table), Session(table)
    one("begin")
    one("insert into a values (4, 40)")
    two.send("insert into a values (5, 40)")
    assert two.waits()
    one("commit")
    assert two.reap() == 1062
    one("begin")
    one("insert into a values (6, 60)")
    two.send("insert into a values (7, 60)")
    assert two.waits()
    one("rollback")
    assert two.reap() == ()


def test_savepoints_and_statement_rollback(table):
    one = Session(table)
    one("begin")
    one("insert into a values (4, 40)")
    one("savepoint s")
    one("update a set v=0")
    assert one.fails("insert into a values (5, 50), (1, 0)") == 1062
    assert one("select count(*), sum(v) from a") == ((4, 0),)
    one("savepoint s2")
    one("delete from a")
    one("rollback to savepoint s2")
    assert one("select count(*) from a") == ((4,),)
    one("rollback to s")
    assert one("select sum(v) from a") == ((100,),)
    assert one.fails("rollback to s2") == 1305
    one("release savepoint s")
    assert one.fails("rollback to s") == 1305
    one("commit")
    assert table.query("select sum(v) from t.a") == ((100,),)


def test_read_only_and_consistent_snapshots(table):
    one, two = Session(table), Session(table)
    one("start transaction read only")
    assert one.fails("insert into a values (9, 9)") == 1792
    one("commit")
    one("start transaction with consistent snapshot")
    two("update a set v=0 where id=1")
    assert one("select v from a where id=1") == ((10,),)
    one("commit")


def test_a_snapshot_is_one_over_both_engines_and_has_a_position(table, request):
    if request.config.getoption("--server") == "mariadb":
        pytest.skip("MariaDB's MEMORY tables have no transactions")
    table.query("create table t.m (id int primary key, v int) engine=memory", "insert into t.m values (1, 10)")
    stop = threading.Event()

    def move():
        session = Session(table)
        for number in range(100_000):
            if stop.is_set():
                return
            session("begin")
            session(f"update a set v={number} where id=1")
            session(f"update m set v={number} where id=1")
            session("commit")

    mover = threading.Thread(target=move)
    mover.start()
    try:
        reader = Session(table)
        last = -1
        for _ in range(100):
            reader("start transaction with consistent snapshot")
            file, position = (reader(f"show status like 'binlog_snapshot_{name}'")[0][1] for name in ("file", "position"))
            (memory,), (disk,) = reader("select v from m")[0], reader("select v from a where id=1")[0]
            assert memory == disk
            assert (file, int(position)) > ("", last)
            last = max(last, int(position))
            reader("commit")
    finally:
        stop.set()
        mover.join()
    session = Session(table)
    session("begin")
    session("update m set v=-1")
    session("rollback")
    assert session("select v from m")[0][0] >= 0


def test_autocommit_off_and_implicit_commits(table):
    one = Session(table, autocommit=0)
    one("update a set v=0 where id=1")
    assert table.query("select v from t.a where id=1") == ((10,),)
    one("create table b (a int)")
    assert table.query("select v from t.a where id=1") == ((0,),)
    one("insert into b values (1)")
    one("rollback")
    assert one("select count(*) from b") == ((0,),)


def test_a_large_transaction_is_limited(table, request):
    if request.config.getoption("--server") == "mariadb":
        pytest.skip("sizes of caches differ")
    table.query("create table t.big (id int primary key auto_increment, pad text)")
    table.query("set global max_binlog_cache_size=1048576")
    one = Session(table)
    one("begin")
    with pytest.raises(pymysql.err.MySQLError) as error:
        for _ in range(100):
            one("insert into big (pad) values (repeat('x', 50000))")
    assert error.value.args[0] == 1197
    one("rollback")
    assert one("select count(*) from big") == ((0,),)
    table.query("set global max_binlog_cache_size=18446744073709547520")


def test_metadata_locks(table):
    one, two, three = Session(table), Session(table), Session(table, lock_wait_timeout=1)
    one("begin")
    one("select * from a")
    two.send("alter table a add column c int default 7")
    assert two.waits()
    assert three.fails("select * from a") == 1205
    assert one("select v from a where id=1") == ((10,),)
    one("commit")
    two.reap()
    assert three("select c from a where id=1") == ((7,),)
    one("flush tables with read lock")
    two.send("insert into a (id) values (50)")
    assert two.waits()
    assert three("select count(*) from a") == ((3,),)
    one("unlock tables")
    two.reap()
    one("lock tables a write")
    two.send("select count(*) from a")
    assert two.waits()
    one("insert into a (id) values (51)")
    one("unlock tables")
    assert two.reap() == ((5,),)
