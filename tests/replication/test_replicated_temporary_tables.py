"""Temporary tables of a MariaDB primary that logs statements: they exist here while their sessions exist on the
primary; rows that are read from them are logged as rows, and a replica of ours does not need them."""

import contextlib

import pytest

from support.replication import assert_same, change_master, gtid_position, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for


@pytest.fixture(params=["statement", "mixed"])
def chain(request, tmp_path):
    """A MariaDB, a Paceline that follows it, and a MariaDB that follows that."""
    servers = [MariaDb(tmp_path / "primary", "--server-id=100", f"--binlog-format={request.param.upper()}"), Paceline(tmp_path / "replica", "--server-id=2"),
               MariaDb(tmp_path / "behind", "--server-id=3", "--log-bin", "--log-slave-updates")]
    with contextlib.ExitStack() as stack:
        for server in servers:
            stack.callback(server.close)
            server.start()
        primary, replica, behind = servers
        replication_user(primary)
        change_master(replica, primary, master_use_gtid="slave_pos")
        replica.query("start slave")
        wait_for_replica(replica, primary)
        # The account was replicated. Another statement here would have a number that the primary assigns later, and
        # nobody could wait for that.
        change_master(behind, replica, master_use_gtid="slave_pos")
        behind.query("start slave")
        yield servers


def open_tables(server):
    [(_, count)] = server.query("show status like 'slave_open_temp_tables'")
    return int(count)


def settle(primary, replica, behind):
    wait_for_replica(replica, primary)
    wait_for_replica(behind, replica)
    assert_same(primary, replica)
    assert_same(replica, behind)
    assert gtid_position(replica) == gtid_position(primary)


def test_tables_of_two_sessions(chain):
    primary, replica, behind = chain
    primary.query("create database d", "create table d.t (id int auto_increment primary key, a int, b varchar(30))")
    with primary.connect(database="d", autocommit=True) as one, primary.connect(database="d", autocommit=True) as other:
        sessions = [one.cursor(), other.cursor()]
        for number, cursor in enumerate(sessions):
            cursor.execute("create temporary table tmp (a int primary key, b varchar(30))")
            cursor.execute(f"insert into tmp values (1, 'session {number}'), (2, 'two of {number}')")
        for cursor in sessions:
            cursor.execute("insert into t (a, b) select a, b from tmp order by a")
        settle(*chain)
        assert open_tables(replica) == 2 and open_tables(behind) == 0
        assert len(replica.query("select * from d.t")) == 4

        # In a transaction, with a rollback, with definitions. One hides an ordinary table.
        for statement in ("begin", "insert into tmp values (3, 'three')", "insert into t (a, b) select a, b from tmp where a = 3", "commit",
                          "begin", "insert into tmp values (4, 'four')", "insert into t (a, b) select a, b from tmp where a = 4", "rollback",
                          "alter table tmp add c int default 7", "create index i on tmp (c)", "update tmp set c = a",
                          "create temporary table t (z int)", "insert into t values (1),(2)", "create table made select z, 'x' as y from t",
                          "drop table t", "create table liked like tmp", "insert into liked select * from tmp",
                          "create temporary table copied select * from tmp where a > 1", "insert into t (a, b) select a, b from copied order by a",
                          "truncate table copied", "drop temporary table copied"):
            sessions[0].execute(statement)
        settle(*chain)
        assert open_tables(replica) == 2

        # They survive STOP SLAVE.
        replica.query("stop slave")
        assert open_tables(replica) == 2
        for cursor in sessions:
            cursor.execute("insert into tmp (a, b) values (100, 'later')")
            cursor.execute("insert into t (a, b) select a, b from tmp where a = 100")
        replica.query("start slave")
        settle(*chain)
        sessions[0].execute("drop temporary table tmp")
        settle(*chain)
        assert open_tables(replica) == 1
    # The primary logs that the tables of the other session are dropped when it ends.
    wait_for("the tables to go with the session", lambda: open_tables(replica) == 0)
    settle(*chain)
    log = "\n".join(str(row[5]) for (name, *_) in replica.query("show binary logs") for row in replica.query(f"show binlog events in '{name}'"))
    assert "TEMPORARY" not in log.upper() and "like tmp" not in log and "table tmp" not in log, log
    status = slave_status(replica)
    assert (status["Slave_SQL_Running"], status["Last_Errno"]) == ("Yes", 0)


def test_a_primary_that_restarts_has_none(chain):
    primary, replica, behind = chain
    primary.query("create database d", "create table d.t (a int)")
    with primary.connect(database="d", autocommit=True) as session, session.cursor() as cursor:
        cursor.execute("create temporary table tmp (a int)")
        cursor.execute("insert into tmp values (1)")
        settle(*chain)
        assert open_tables(replica) == 1
        primary.kill()
    primary.start()
    primary.query("insert into d.t values (5)")
    settle(*chain)
    assert open_tables(replica) == 0
    # A connection that breaks and reconnects loses none.
    with primary.connect(database="d", autocommit=True) as session, session.cursor() as cursor:
        cursor.execute("create temporary table tmp (a int)")
        cursor.execute("insert into tmp values (7)")
        settle(*chain)
        primary.query(*(f"kill {row[0]}" for row in primary.query("show processlist") if row[4] == "Binlog Dump"))
        cursor.execute("insert into t select * from tmp")
        settle(*chain)
        assert open_tables(replica) == 1
        # RESET SLAVE drops them, as in MariaDB.
        replica.query("stop slave", "reset slave")
        assert open_tables(replica) == 0
        replica.query("start slave")
        cursor.execute("insert into t select * from tmp")
        wait_for("the statement to fail", lambda: slave_status(replica)["Last_SQL_Errno"] == 1146)


def test_a_transaction_that_fails_halfway_comes_again(chain):
    """The tables that it created are gone and the one that it dropped has its rows, whenever it fails and when it
    finally succeeds."""
    primary, replica, behind = chain
    primary.query("create database d", "create table d.t (a int primary key, b varchar(30))")
    settle(*chain)
    with primary.connect(database="d", autocommit=True) as session, session.cursor() as cursor:
        for statement in ("create temporary table old (a int primary key, b varchar(30))", "insert into old values (10,'ten'),(11,'eleven')",
                          "create temporary table other (a int)"):
            cursor.execute(statement)
        settle(*chain)
        assert open_tables(replica) == 2
        replica.query("set session sql_log_bin=0", "insert into d.t values (2, 'in the way')")
        for statement in ("begin", "create temporary table tmp (a int primary key, b varchar(30))", "insert into tmp values (1,'one'),(2,'two')",
                          "create temporary table copied select * from tmp", "insert into old values (12, 'twelve')", "insert into t select * from old",
                          "drop temporary table old", "create temporary table old like tmp", "insert into old values (20, 'twenty')",
                          "insert into t select * from old", "insert into t select * from copied", "drop temporary table other", "commit"):
            cursor.execute(statement)
        for _ in range(3):
            wait_for("the error", lambda: slave_status(replica)["Slave_SQL_Running"] == "No")
            status = slave_status(replica)
            assert status["Last_SQL_Errno"] == 1062 and "Duplicate entry '2'" in status["Last_SQL_Error"], status
            assert open_tables(replica) == 2
            assert replica.query("select * from d.t") == ((2, "in the way"),)
            replica.query("start slave")
        wait_for("the error", lambda: slave_status(replica)["Slave_SQL_Running"] == "No")
        replica.query("set session sql_log_bin=0", "delete from d.t")
        replica.query("start slave")
        settle(*chain)
        assert open_tables(replica) == 3
        assert len(replica.query("select * from d.t")) == 6
        for statement in ("insert into t select a + 100, b from old", "insert into t select a + 200, b from tmp", "drop temporary table old, tmp, copied"):
            cursor.execute(statement)
        settle(*chain)
        assert open_tables(replica) == 0
