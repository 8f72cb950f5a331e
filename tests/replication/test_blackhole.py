"""Tables of BLACKHOLE between servers: rows pass through the log of a server that keeps none of them."""

import pytest

from support.replication import change_master, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline

ROWS = ((1, "one"), (2, "zwei"))


@pytest.fixture
def servers(tmp_path):
    """Makes servers that end with the test."""
    made = []

    def make(kind, name, *options):
        server = kind(tmp_path / name, *options)
        server.start()
        made.append(server)
        return server

    yield make
    for server in made:
        server.close()


def follow(replica, primary):
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")


def change(primary):
    """Inserts, updates and deletes rows of t.t."""
    primary.query("insert into t.t values (1,'one'),(2,'two'),(3,'three')", "update t.t set b='zwei' where a=2",
                  "delete from t.t where a=3")


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
@pytest.mark.parametrize("last", [Paceline, MariaDb])
def test_a_server_that_keeps_nothing_passes_rows_on(servers, kind, last):
    first = servers(kind, "first", "--server-id=1")
    relay = servers(Paceline, "relay", "--server-id=2")
    end = servers(last, "end", "--server-id=3")
    for server in (first, relay):
        replication_user(server)
    follow(relay, first)
    follow(end, relay)
    first.query("create database t", "create table t.t (a int primary key, b varchar(10))", "create table t.k (b varchar(10))")
    wait_for_replica(relay, first)
    relay.query("set sql_log_bin=0", "alter table t.t engine=blackhole", "alter table t.k engine=blackhole")
    change(first)
    first.query("insert into t.k values ('x'),('y'),('x')", "update t.k set b='z' where b='y'", "delete from t.k where b='x' limit 1")
    wait_for_replica(relay, first)
    wait_for_replica(end, relay)
    assert relay.query("select * from t.t") == relay.query("select * from t.k") == ()
    assert end.query("select * from t.t order by a") == ROWS
    assert sorted(end.query("select * from t.k")) == [("x",), ("z",)]


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_rows_of_a_primary_that_keeps_nothing_arrive(servers, kind):
    primary = servers(Paceline, "primary", "--server-id=1")
    replica = servers(kind, "replica", "--server-id=2")
    replication_user(primary)
    follow(replica, primary)
    primary.query("create database t", "create table t.t (a int primary key, b varchar(10))")
    wait_for_replica(replica, primary)
    primary.query("set sql_log_bin=0", "alter table t.t engine=blackhole")
    primary.query("insert into t.t values (1,'one'),(2,'zwei')", "begin", "insert into t.t values (9,'nine')", "rollback")
    wait_for_replica(replica, primary)
    assert replica.query("select * from t.t order by a") == ROWS


def test_recovery_replays_such_tables(servers):
    server = servers(Paceline, "server")
    server.query("create database t", "create table t.t (a int primary key, b varchar(10)) engine=blackhole",
                 "create table t.k (b varchar(10)) engine=blackhole", "create table t.i (a int)", "insert into t.k values ('a')")
    server.query("insert into t.t values (1,'a')", "insert into t.i values (5)")
    server.kill()
    server.start()
    assert server.query("select * from t.i") == ((5,),)
    assert server.query("select * from t.t") == server.query("select * from t.k") == ()
