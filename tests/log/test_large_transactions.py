"""Transactions beyond binlog_large_commit_threshold: they bring a file of the log, and their rows in table files."""

import random
import threading
import time

import pymysql
import pytest

from support.replication import assert_same, change_master, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import let_run, wait_for

# The lowest threshold; a transaction of a few thousand rows exceeds it.
SMALL = "--binlog_large_commit_threshold=10485760"
ROW = "repeat(concat('v', n), 500)"


@pytest.fixture
def server(tmp_path):
    paceline = Paceline(tmp_path / "paceline", SMALL, "--server-id=1")
    paceline.start()
    yield paceline
    paceline.close()


def create(server):
    server.query("create database t", "create table t.n (n int primary key)",
                 "create table t.a (id int primary key, v varchar(4000), k int, key (k))",
                 "create table t.b (v varchar(4000), u int, unique (u))",
                 "create table t.small (id int primary key, v int)")
    for start in range(0, 10000, 1000):
        server.query("insert into t.n values " + ",".join(f"({n})" for n in range(start, start + 1000)))


def large(session, fill, rows=10000):
    """Returns the statements of a transaction of about 25 MB: rows with and without a primary key."""
    session.execute(f"insert into t.a select n, concat('{fill}', {ROW}), n from t.n where n < {rows} "
                    "on duplicate key update v=values(v), k=k+1")
    session.execute(f"insert into t.b select concat('{fill}', {ROW}), n from t.n where n < {rows} and n % 10 = 0 "
                    "on duplicate key update v=values(v)")


def check_large(server, fill, rows=10000):
    [(count, right)] = server.query(f"select count(*), sum(v = concat('{fill}', repeat(concat('v', id), 500))) from t.a")
    assert (count, right) == (rows, rows)
    [(count, right)] = server.query(f"select count(*), sum(v = concat('{fill}', repeat(concat('v', u), 500))) from t.b")
    assert (count, right) == (rows // 10, rows // 10)


def status(server, name):
    return int(server.query(f"show global status like '{name}'")[0][1])


def test_statements_read_their_own_rows_and_roll_back(server):
    create(server)
    with server.connect(autocommit=False) as connection, connection.cursor() as session:
        session.execute("insert into t.small values (1, 1)")
        session.execute("savepoint early")
        large(session, "gone")
        session.execute("rollback to early")
        large(session, "x", rows=6000)
        session.execute("savepoint middle")
        large(session, "gone", rows=9000)
        session.execute("delete from t.a where id >= 5000")
        session.execute("rollback to middle")
        # A statement that fails after it has changed thousands of rows.
        with pytest.raises(pymysql.err.IntegrityError):
            session.execute(f"insert into t.a select 9999 - n, {ROW}, n from t.n where n < 5000")
        session.execute("select count(*), min(id), max(id), sum(length(v)) from t.a")
        before = session.fetchone()
        assert before[:3] == (6000, 0, 5999)
        session.execute("select id from t.a where k between 1000 and 1009 order by k desc")
        assert [row[0] for row in session.fetchall()] == list(range(1009, 999, -1))
        session.execute("update t.a set v=concat('y', v) where id < 100")
        session.execute("delete from t.b where u=20")
        # No other session sees any of it.
        assert server.query("select count(*) from t.a") == ((0,),)
        connection.commit()
    assert status(server, "binlog_cache_disk_use") >= 1
    assert server.query("select count(*), sum(v like 'yx%'), sum(v like 'xv%') from t.a") == ((6000, 100, 5900),)
    assert server.query("select count(*) from t.b") == ((599,),)
    assert server.query("select * from t.small") == ((1, 1),)
    # Later transactions change its rows, and MariaDB's tool reads the log's file.
    server.query("update t.a set v='z' where id=7", "delete from t.b where u=30", "insert into t.b values ('w', 20)")
    server.query("flush binary logs")
    text = server.client("-v", *server.log_files()[:-1], program="mariadb-binlog")
    assert "gone" not in text
    assert text.count("### UPDATE `t`.`a`") >= 101


def test_beyond_max_binlog_cache_size_it_gets_1197(server):
    create(server)
    server.query("set global max_binlog_cache_size=20000000")
    with server.connect(autocommit=False) as connection, connection.cursor() as session:
        session.execute(f"insert into t.a select n, {ROW}, n from t.n where n < 5000")
        with pytest.raises(pymysql.err.OperationalError) as error:
            session.execute(f"insert into t.a select n, {ROW}, n from t.n where n >= 5000")
        assert error.value.args[0] == 1197
        connection.commit()
    assert server.query("select count(*), max(id) from t.a") == ((5000, 4999),)


class Small(threading.Thread):
    """A client that runs small transactions. It records the acknowledged ones and the longest commit time."""

    def __init__(self, server, number):
        super().__init__()
        self.server, self.number = server, number
        self.acknowledged, self.slowest_seconds = 0, 0.0
        self.done = self.may_fail = False

    def run(self):
        try:
            with self.server.connect() as connection, connection.cursor() as session:
                session.execute(f"replace into t.small values ({self.number}, 0)")
                while not self.done:
                    start = time.monotonic()
                    session.execute(f"update t.small set v={self.acknowledged + 1} where id={self.number}")
                    self.acknowledged += 1
                    self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - start)
        except (pymysql.err.Error, OSError):
            assert self.may_fail, "only a server that was killed refuses"


def test_killed_at_any_moment(server, seed, effort):
    rng = random.Random(f"large-{seed}")
    create(server)
    committed = None
    for round in range(max(3, int(5 * effort))):
        fill = f"round{round}"
        clients = [Small(server, number) for number in range(3)]
        [client.start() for client in clients]
        told = []

        def run():
            try:
                with server.connect(autocommit=False) as connection, connection.cursor() as session:
                    large(session, fill)
                    told.append("executed")
                    connection.commit()
                    told.append("committed")
            except (pymysql.err.Error, OSError):
                pass

        transaction = threading.Thread(target=run)
        transaction.start()
        # Most of the moments are during its commit.
        wait_for("the commit to begin", lambda: told or not transaction.is_alive())
        let_run(rng.uniform(0, 1.0))
        for client in clients:
            client.may_fail = True
        server.kill()
        transaction.join()
        for client in clients:
            client.done = True
            client.join()
        server.start()
        for client in clients:
            [(found,)] = server.query(f"select v from t.small where id={client.number}")
            assert found >= client.acknowledged
        [(found,)] = server.query("select left(v, 6) from t.a where id=1") or ((None,),)
        assert found in (committed, fill)
        assert found == fill or "committed" not in told
        committed = found
        if committed is not None:
            check_large(server, committed)
        left = [path.name for path in server.datadir.rglob("*") if ".large." in path.name or path.name.startswith(("rows-", "spill-"))]
        assert not left, left
    with server.connect(autocommit=False) as connection, connection.cursor() as session:
        large(session, "last")
        connection.commit()
    check_large(server, "last")


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_replicas_get_it(server, tmp_path, kind):
    """A replica of each kind receives it. Ours writes it to its own log as a large transaction too."""
    create(server)
    replication_user(server)
    replica = kind(tmp_path / "replica", *([SMALL] if kind is Paceline else []), "--server-id=7")
    replica.start()
    try:
        if kind is MariaDb:
            replica.query("set global gtid_slave_pos=''", "set global max_allowed_packet=1073741824")
        change_master(replica, server, master_use_gtid="slave_pos")
        replica.query("start slave")
        with server.connect(autocommit=False) as connection, connection.cursor() as session:
            session.execute("insert into t.small values (1, 1)")
            large(session, "one")
            connection.commit()
            session.execute("update t.small set v=2")
            connection.commit()
            large(session, "two")
            session.execute("delete from t.b where u < 500")
            connection.commit()
            session.execute("update t.small set v=3")
            connection.commit()
        wait_for_replica(replica, server)
        assert slave_status(replica)["Slave_SQL_Running"] == "Yes"
        assert_same(server, replica)
        if kind is Paceline:
            assert status(replica, "binlog_cache_disk_use") >= 2
            replica.kill()
            replica.start()
            assert_same(server, replica)
            server.query("update t.small set v=4")
            wait_for("the replica to go on", lambda: replica.query("select v from t.small") == ((4,),))
    finally:
        replica.close()


def test_others_go_on_beside_it(server):
    """Clients commit while large transactions do. bench/large_transaction.py measures the time of their commits; here
    no commit takes as long as that of the large transaction alone."""
    create(server)
    clients = [Small(server, number) for number in range(4)]
    [client.start() for client in clients]
    with server.connect(autocommit=False) as connection, connection.cursor() as session:
        for fill in ("a", "b"):
            large(session, fill)
            connection.commit()
    for client in clients:
        client.done = True
        client.join()
    assert all(client.acknowledged > 20 for client in clients)
    assert max(client.slowest_seconds for client in clients) < 5
    check_large(server, "b")


def test_too_many_rows_are_refused(server):
    """Locks of a transaction are in memory until it ends. Beyond the limit it is rolled back, and no other session is
    affected."""
    create(server)
    server.query("insert into t.small values (-1, 0)", "set global paceline_row_locks_max=20000")
    with server.connect(autocommit=False) as connection, connection.cursor() as session:
        session.execute("insert into t.small select n, n from t.n")
        with pytest.raises(pymysql.err.OperationalError, match="1206, 'The total number of locks exceeds the lock table size'"):
            session.execute("insert into t.small select 10000 + a.n + b.n * 10000, 0 from t.n a, t.n b where b.n < 10")
        # All of its rows and locks are gone.
        server.query("insert into t.small values (1, 1)", "update t.small set v=v+1")
        session.execute("select count(*), sum(v) from t.small")
        assert session.fetchone() == (2, 3)
        connection.commit()
    server.query("set global paceline_row_locks_max=0", "insert into t.small select 10000 + a.n + b.n * 10000, 0 from t.n a, t.n b where b.n < 10")
    assert server.query("select count(*) from t.small") == ((100_002,),)
    assert server.query("select @@paceline_row_locks_max") == ((0,),)
