"""Definitions whose logged text contains only the name of another table: its definition must be the same when a
replica runs them."""

import threading

import pytest
from support.replication import assert_same, change_master, replication_user, wait_for_replica, waiting_commits
from support.servers import MariaDb, Paceline
from support.waiting import wait_for


@pytest.fixture
def primary(servers):
    primary = servers(Paceline, 1)
    replication_user(primary)
    primary.query("create database d", "create table d.t (id int primary key)", "insert into d.t values (1)")
    return primary


@pytest.mark.parametrize("definition", ["create table d.x like d.t", "create view d.x as select * from d.t"])
def test_they_wait_for_who_redefines_it(servers, primary, definition):
    """An ALTER TABLE is logged and not yet published: its commit waits for an acknowledgement that never comes."""
    primary.query("set global rpl_semi_sync_master_timeout=2000", "set global rpl_semi_sync_master_wait_no_slave=on",
                  "set global rpl_semi_sync_master_enabled=on")
    altering = threading.Thread(target=primary.query, args=("alter table d.t add column c int first",))
    altering.start()
    wait_for("the ALTER TABLE to wait for its acknowledgement", lambda: waiting_commits(primary) == 1)
    primary.query(definition)
    altering.join()
    assert primary.query("select column_name from information_schema.columns where table_name='x' order by ordinal_position") == (("c",), ("id",))
    primary.query("drop table d.t" if "like" in definition else "insert into d.t values (2, 2)")
    for replica in (servers(Paceline, 2), servers(MariaDb, 3, "--log-bin=b")):
        change_master(replica, primary, master_use_gtid="slave_pos")
        replica.query("start slave")
        wait_for_replica(replica, primary)
        assert_same(primary, replica)
