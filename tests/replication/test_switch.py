"""Servers that change roles: an old primary becomes a replica; a ring of two domains."""

import re

import pytest
from support.replication import assert_same, change_master, gtid_position, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for


def replication_user_here_only(server):
    """Creates the account for replicas, without logging it."""
    for host in ("%", "localhost"):
        server.query("set sql_log_bin=0", f"create user repl@'{host}' identified by 'secret'",
                     f"grant replication slave, binlog monitor on *.* to repl@'{host}'")


@pytest.mark.parametrize("second", [Paceline, MariaDb])
def test_the_old_primary_comes_back_with_one_statement(servers, second):
    """A typical user's session: dump, replicate, promote, and back again, without handling any position."""
    server1 = servers(Paceline, 1)
    replication_user(server1)
    server1.query("create database test1", "create table test1.t (id int primary key)", "insert into test1.t values (1)",
                  "insert into test1.t values (2)", "insert into test1.t values (3)")
    dump = server1.client("--master-data=2", "--single-transaction", "--databases", "test1", program="mariadb-dump")
    server1.query("insert into test1.t values (4)", "insert into test1.t values (5)")

    server2 = servers(second, 2)
    replication_user_here_only(server2)
    server2.client(text="set sql_log_bin=0;\n" + dump)
    found = re.search(r"-- CHANGE MASTER TO MASTER_LOG_FILE='([^']+)', MASTER_LOG_POS=(\d+)", dump)
    change_master(server2, server1, master_log_file=f"'{found[1]}'", master_log_pos=found[2])
    server2.query("start slave")
    wait_for(f"five rows: {slave_status(server2)}", lambda: server2.query("select count(*) from test1.t") == ((5,),))
    server2.query("stop slave", "insert into test1.t values (6)")

    server1.query(f"CHANGE MASTER TO master_host='127.0.0.1', master_port={server2.port}, master_user='repl', master_password='secret', "
                  "master_gtid_pos=AUTO")
    server1.query("start slave")
    wait_for(f"six rows: {slave_status(server1)}", lambda: server1.query("select count(*) from test1.t") == ((6,),))
    assert server1.query("select id from test1.t order by id") == tuple((number,) for number in range(1, 7))


@pytest.mark.parametrize("second", [Paceline, MariaDb])
def test_a_ring_of_two_domains(servers, second):
    one = servers(Paceline, 1, "--gtid-domain-id=1", "--auto-increment-increment=2", "--auto-increment-offset=1")
    two = servers(second, 2, "--gtid-domain-id=2", "--auto-increment-increment=2", "--auto-increment-offset=2")
    replication_user(one)
    one.query("create database d", "create table d.t (id int auto_increment primary key, who int)")
    replication_user_here_only(two)
    change_master(two, one, master_use_gtid="slave_pos", ignore_server_ids="()")
    two.query("start slave")
    wait_for_replica(two, one)
    change_master(one, two, master_use_gtid="slave_pos")
    one.query("start slave")
    for round in range(20):
        one.query("insert into d.t (who) values (1), (1)")
        two.query("insert into d.t (who) values (2), (2)")
    wait_for_replica(two, one)
    wait_for_replica(one, two)
    assert one.query("select who, count(*) from d.t group by who order by who") == ((1, 40), (2, 40))
    assert_same(one, two)
    assert sorted(gtid_position(one).split(",")) == sorted(gtid_position(two).split(","))
    # Nothing circulates twice, and nothing returns after a crash.
    one.kill()
    two.query("insert into d.t (who) values (2)")
    one.start()
    wait_for_replica(one, two)
    assert_same(one, two)
