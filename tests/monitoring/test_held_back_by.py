"""`Paceline_replica_held_back_by`: each cause is made to happen, and is the one that is shown."""

import contextlib
import threading

import pytest
from support.line import Slow
from support.replication import change_master, replication_user, wait_for_replica
from support.servers import CrashFs, Paceline
from support.waiting import wait_for


def held_back_by(replica):
    return replica.query("show status like 'Paceline_replica_held_back_by'")[0][1]


def wait_until_held_back_by(replica, cause):
    seen = []

    def is_it():
        seen.append(held_back_by(replica))
        return seen[-1] == cause

    try:
        wait_for(f"the replica to be held back by {cause}", is_it)
    except AssertionError as error:
        raise AssertionError(f"{error}: {sorted(set(seen))}") from None


@contextlib.contextmanager
def running(server):
    try:
        yield server.start()
    finally:
        server.close()


@pytest.fixture
def primary(tmp_path):
    with running(Paceline(tmp_path / "primary", "--server-id=1")) as server:
        replication_user(server)
        server.query("create database d", "create table d.t (a int primary key, b int, c longtext)", "insert into d.t values (0, 0, '')")
        yield server


def follow(replica, primary, **settings):
    change_master(replica, primary, master_use_gtid="slave_pos", **settings)
    replica.query("start slave")


@pytest.fixture
def replica(tmp_path, primary):
    with running(Paceline(tmp_path / "replica", "--server-id=2", "--slave-parallel-threads=4")) as server:
        yield server


def ends_with_nothing(replica, primary):
    wait_for_replica(replica, primary)
    wait_until_held_back_by(replica, "nothing")


@contextlib.contextmanager
def load(server, statements):
    """Executes statements again and again in a session, and the rest of the block beside it."""
    ended = threading.Event()

    def work():
        with server.connect() as session, session.cursor() as cursor:
            for statement in statements:
                if ended.is_set():
                    return
                cursor.execute(statement)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def inserts():
    return (f"insert into d.t values ({number}, 0, repeat('x', 100))" for number in range(1, 1_000_000))


@contextlib.contextmanager
def following_slowly(replica, primary):
    """A replica that has everything so far, over a line of 20,000 bytes a second."""
    line = Slow(primary.port, 20_000)
    try:
        follow(replica, primary, port=line.port)
        wait_for_replica(replica, primary)
        yield
    finally:
        line.close()


def test_the_network(primary, replica):
    """The replica applies each transaction at once, but the line brings them late."""
    with following_slowly(replica, primary):
        assert held_back_by(replica) == "nothing"
        primary.query(*(f"insert into d.t values ({number}, 0, repeat('x', 1000))" for number in range(1, 200)))
        wait_until_held_back_by(replica, "the network")


def test_the_network_within_one_large_transaction(primary, replica):
    with following_slowly(replica, primary):
        primary.query("insert into d.t select seq, 0, repeat('x', 1000) from d.seq_1_to_1000")
        wait_until_held_back_by(replica, "the network")


def of_one_row():
    """Each transaction changes the same row, so each needs a sync of its own; those that change different rows share one."""
    return ("update d.t set b = b + 1 where a = 0" for _ in range(1_000_000))


@pytest.mark.parametrize("cause, milliseconds, statements, options", [
    ("the disk", 250, inserts, []),
    ("conflicts", 20, of_one_row, []),
    # One client's transactions are each a commit group of its own, which a conservative replica keeps apart.
    ("commit groups of the primary", 20, inserts, ["--slave-parallel-mode=conservative"]),
], ids=["disk", "conflicts", "commit groups"])
def test_syncs_that_take_long(tmp_path, primary, cause, milliseconds, statements, options):
    disk = CrashFs(tmp_path / "disk")
    try:
        server = Paceline(tmp_path / "replica", "--server-id=2", "--slave-parallel-threads=4", *options, datadir=disk.mount_point / "data")
        with running(server) as replica:
            follow(replica, primary)
            wait_for_replica(replica, primary)
            assert disk.say(f"slow-sync {milliseconds}") == "ok"
            with load(primary, statements()):
                wait_until_held_back_by(replica, cause)
            assert disk.say("slow-sync 0") == "ok"
            ends_with_nothing(replica, primary)
    finally:
        disk.close()


def test_a_long_definition(primary, replica):
    """A generated column that takes its time for each row, on both servers."""
    follow(replica, primary)
    primary.query("insert into d.t select seq, seq, repeat('y', 500) from d.seq_1_to_60000")
    wait_for_replica(replica, primary)
    primary.query("alter table d.t add column d char(200) as (sha2(concat(c, sha2(repeat(c, 20), 512)), 512)) stored, algorithm=copy")
    wait_until_held_back_by(replica, "a definition")
    ends_with_nothing(replica, primary)


def test_a_lock_of_a_session(primary, replica):
    follow(replica, primary)
    wait_for_replica(replica, primary)
    with replica.connect() as session, session.cursor() as cursor:
        cursor.execute("lock tables d.t write")
        primary.query("insert into d.t values (1, 1, '')")
        wait_until_held_back_by(replica, "a lock")
        cursor.execute("unlock tables")
    ends_with_nothing(replica, primary)


def test_a_lock_that_a_definition_waits_for(primary, replica):
    follow(replica, primary)
    wait_for_replica(replica, primary)
    with replica.connect() as session, session.cursor() as cursor:
        cursor.execute("begin")
        cursor.execute("select * from d.t")
        primary.query("alter table d.t add column e int")
        wait_until_held_back_by(replica, "a lock")
        cursor.execute("commit")
    ends_with_nothing(replica, primary)


def test_a_statement(primary, replica):
    """A transaction that was logged as a statement runs alone."""
    follow(replica, primary)
    with primary.connect() as session, session.cursor() as cursor:
        cursor.execute("set binlog_format = 'statement'")
        cursor.execute("insert into d.t values (sleep(1) + 1, 1, '')")
        wait_until_held_back_by(replica, "a statement")
    ends_with_nothing(replica, primary)


def test_a_stopped_applier_and_a_lost_primary(primary, replica):
    follow(replica, primary)
    wait_for_replica(replica, primary)
    replica.query("stop slave sql_thread")
    assert held_back_by(replica) == "the applier does not run"
    replica.query("start slave sql_thread")
    wait_until_held_back_by(replica, "nothing")
    replica.query("stop slave io_thread")
    assert held_back_by(replica) == "the primary cannot be reached"
