"""START TRANSACTION WITH CONSISTENT SNAPSHOT AT GTID: the same state on every server that has reached it."""

import random
import threading

import pymysql
import pytest

from support.real_replicas import catch_up, start_replica
from support.servers import Paceline
from support.waiting import wait_for

AT = "start transaction with consistent snapshot at gtid '{}'"


class Writer(threading.Thread):
    """Runs transactions whose number is stored in every table, and remembers the number of each GTID."""

    def __init__(self, server, seed):
        super().__init__()
        self.server, self.random, self.stopping = server, random.Random(seed), threading.Event()
        self.gtids = []

    def run(self):
        with self.server.connect(autocommit=False) as session, session.cursor() as cursor:
            number = 0
            while not self.stopping.is_set():
                number += 1
                cursor.execute(f"update d.n set n = {number}, filler = repeat('{number % 10}', {number % 50})")
                cursor.execute(f"insert into d.keyless values ({number % 5}, 'same'), ({number}, 'own')")
                cursor.execute(f"insert into d.t values ({number}, {number % 7}, 'new')")
                cursor.execute(f"update d.t set v = v + 1, c = 'old' where id = {self.random.randint(1, number)}")
                if number % 4 == 0:
                    cursor.execute(f"delete from d.t where id = {self.random.randint(1, number)}")
                    cursor.execute(f"delete from d.keyless where a = {number % 5} limit 1")
                    cursor.execute(f"update d.keyless set b = 'changed' where a = {number - 2} limit 1")
                cursor.execute(f"replace into d.memory values ({number % 10}, {number})")
                session.commit()
                cursor.execute("select @@last_gtid")
                self.gtids.append((cursor.fetchone()[0], number))


QUERIES = ["select n from d.n", "select * from d.t order by id", "select v, id from d.t where v between 2 and 5 order by v, id",
           "select v, count(*) from d.t group by v order by v", "select a, b from d.keyless order by a, b",
           "select * from d.memory order by a", "select id from d.t where v = 3 order by id desc"]


def read_at(server, gtid):
    with server.connect() as session, session.cursor() as cursor:
        cursor.execute(AT.format(gtid))
        answers = []
        for query in QUERIES:
            cursor.execute(query)
            answers.append(cursor.fetchall())
        # Again, after more writes: a snapshot does not change.
        cursor.execute(QUERIES[0])
        assert cursor.fetchall() == answers[0]
        cursor.execute("commit")
    return answers


@pytest.fixture
def servers(tmp_path):
    """A primary and two replicas."""
    primary = Paceline(tmp_path / "primary", "--server-id=1").start()
    primary.query("create database d", "create table d.n (n int, filler varchar(60))", "insert into d.n values (0, '')",
                  "create table d.t (id int primary key, v int, c varchar(10), key (v))", "create table d.keyless (a int, b varchar(10), key (b))",
                  "create table d.memory (a int primary key, b int) engine=memory")
    replicas = [Paceline(tmp_path / f"replica{number}", f"--server-id={number + 2}").start() for number in range(2)]
    for replica in replicas:
        start_replica(replica, primary)
        catch_up(replica, primary)
    yield primary, *replicas
    for server in (primary, *replicas):
        server.close()


def error_of(server, *statements):
    with pytest.raises(pymysql.err.MySQLError) as error:
        server.query(*statements)
    return error.value.args


def test_one_state_on_three_servers(servers, seed):
    primary, *replicas = servers
    writer = Writer(primary, seed)
    writer.start()
    try:
        chosen = random.Random(seed)
        for _ in range(12):
            wait_for("the writer", lambda: len(writer.gtids) >= 20)
            # Sometimes the newest one, which replicas may not have reached yet, sometimes an old one.
            written = list(writer.gtids)
            gtid, number = chosen.choice([written[-1], chosen.choice(written)])
            answers = [read_at(server, gtid) for server in servers]
            assert answers[0][0] == ((number,),)
            assert answers[0] == answers[1] == answers[2], f"at {gtid}"
            # It contains the rows of the transactions until then.
            assert {row[0] for row in answers[0][1]} <= set(range(1, number + 1))
            assert answers[0][5] == tuple(sorted({n % 10: n for n in range(1, number + 1)}.items()))
    finally:
        writer.stopping.set()
        writer.join()
    # The whole history, without concurrent writes: every state is as before.
    for replica in replicas:
        catch_up(replica, primary)
    for gtid, number in writer.gtids[::max(1, len(writer.gtids) // 5)]:
        answers = [read_at(server, gtid) for server in servers]
        assert answers[0][0] == ((number,),) and answers[0] == answers[1] == answers[2]
    now = read_at(primary, primary.query("select @@gtid_binlog_pos")[0][0])
    assert [primary.query(query) for query in QUERIES] == now


def test_two_domains(servers):
    primary, replica, _ = servers
    primary.query("insert into d.t values (1, 0, 'a')", "set gtid_domain_id=5", "insert into d.t values (2, 0, 'b')")
    before = primary.query("select @@gtid_binlog_pos")[0][0]
    primary.query("set gtid_domain_id=5", "insert into d.t values (3, 0, 'c')")
    primary.query("insert into d.t values (4, 0, 'd')")
    middle = primary.query("select @@gtid_binlog_pos")[0][0].split(",")[0] + "," + before.split(",")[1]
    # Transactions that are not logged are in no position.
    replica.query("set sql_log_bin=0", "insert into d.t values (100, 0, 'here')")
    for server, own in ((primary, ()), (replica, (100,))):
        def ids(position):
            return tuple(row[0] for row in server.query(AT.format(position), "select id from d.t order by id"))

        assert ids(before) == (1, 2, *own)
        assert ids(middle) == (1, 2, 4, *own)
        assert ids(before.split(",")[0]) == (1, *own)


def test_a_snapshot_in_the_past_refuses_writes_and_unknown_positions(servers):
    primary, replica, _ = servers
    primary.query("insert into d.t values (1, 0, 'a')")
    position = primary.query("select @@gtid_binlog_pos")[0][0]
    primary.query("update d.t set v = 1")
    assert error_of(primary, AT.format(position), "update d.t set v = 2")[0] == 1792
    assert error_of(primary, AT.format(position) + ", read write")[0] == 1221
    assert error_of(primary, AT.format("0-1"))[0] == 1941
    assert error_of(primary, "set wait_for_gtid_timeout=0.2", AT.format("0-1-1000"))[0] == 1205
    assert error_of(primary, AT.format("0-7-5"))[:2] == (1945, "There is no state at GTID 0-7-5, which is not in the binary log")
    # It waits for a future GTID.
    catch_up(replica, primary)
    replica.query("stop slave")
    primary.query("update d.t set v = 9")
    newest = primary.query("select @@gtid_binlog_pos")[0][0]
    found = []
    reader = threading.Thread(target=lambda: found.extend(replica.query(AT.format(newest), "select v from d.t")))
    reader.start()
    replica.query("start slave")
    reader.join(30)
    assert found == [(9,)]
    # The end of the transaction releases what was undone for it.
    with primary.connect() as session, session.cursor() as cursor:
        for end in ("commit", "rollback"):
            cursor.execute(AT.format(position))
            cursor.execute("savepoint a")
            cursor.execute("select v from d.t")
            assert cursor.fetchall() == ((0,),)
            cursor.execute("rollback to a")
            cursor.execute("select v from d.t where id = 1")
            assert cursor.fetchall() == ((0,),)
            cursor.execute(end)
            cursor.execute("select v from d.t")
            assert cursor.fetchall() == ((9,),)
        cursor.execute("update d.t set v = 10")
    # A table whose definition has changed since cannot be read; others can.
    primary.query("alter table d.n add x int", "truncate table d.keyless")
    assert error_of(primary, AT.format(position), "select * from d.n")[0] == 1412
    assert error_of(primary, AT.format(position), "select * from d.keyless")[0] == 1412
    assert primary.query(AT.format(position), "select v from d.t") == ((0,),)
    # A purged position is not available.
    primary.query("flush binary logs", "update d.t set v = 11", "flush binary logs")
    position = primary.query("select @@gtid_binlog_pos")[0][0]
    catch_up(replica, primary)
    last = primary.query("show binary logs")[-1][0]
    primary.query(f"purge binary logs to '{last}'")
    assert len(primary.query("show binary logs")) == 1
    assert error_of(primary, AT.format("0-1-9"))[0] in (1236, 1945)
    assert primary.query(AT.format(position), "select v from d.t") == ((11,),)
