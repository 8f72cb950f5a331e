"""Definitions that begin while another one is logged and not yet published: neither takes numbers or names of the
other."""

import threading

import pymysql
import pytest
from support.replication import assert_same, change_master, replication_user, wait_for_replica, waiting_commits
from support.servers import MariaDb, Paceline
from support.waiting import wait_for


@pytest.fixture
def primary(servers):
    primary = servers(Paceline, 1)
    replication_user(primary)
    primary.query("create database d")
    return primary


def behind(primary, first, second):
    """Runs a definition while another one waits for an acknowledgement that never comes. Returns its error, or None."""
    primary.query("set global rpl_semi_sync_master_timeout=2000", "set global rpl_semi_sync_master_wait_no_slave=on",
                  "set global rpl_semi_sync_master_enabled=on")
    running = threading.Thread(target=primary.query, args=(first,))
    running.start()
    wait_for("the first one to wait for its acknowledgement", lambda: waiting_commits(primary) == 1)
    try:
        primary.query(second)
        return None
    except pymysql.MySQLError as error:
        return error.args[0]
    finally:
        running.join()
        primary.query("set global rpl_semi_sync_master_enabled=off")


def check_log(servers, primary):
    """Replicas and recovery have the same tables."""
    for replica in (servers(Paceline, 2), servers(MariaDb, 3, "--log-bin=b")):
        change_master(replica, primary, master_use_gtid="slave_pos")
        replica.query("start slave")
        wait_for_replica(replica, primary)
        assert_same(primary, replica)
    primary.kill()
    primary.start()
    assert_same(primary, replica)


@pytest.mark.parametrize("second, error", [("alter table d.bad add check (a > 0)", 4025), ("alter table d.bad add unique (a)", None)])
def test_each_tests_and_builds_its_own_rows(servers, primary, second, error):
    """A statement that only tests rows takes no number for its build."""
    primary.query("create table d.good (a int)", "create table d.bad (a int)", "insert into d.good values (1), (2)", "insert into d.bad values (-1), (-2)")
    assert behind(primary, "alter table d.good add check (a > 0)", second) == error
    primary.query("insert into d.bad values (-3)")
    with pytest.raises(pymysql.MySQLError):
        primary.query("insert into d.good values (0)")
    check_log(servers, primary)


@pytest.mark.parametrize("first, second", [
    ("alter table d.c1 add constraint fk foreign key (a) references p1 (id)", "alter table d.c2 add constraint FK foreign key (a) references p2 (id)"),
    ("alter table d.c1 add constraint fk foreign key (a) references p1 (id)", "create table d.c3 (a int, constraint fk foreign key (a) references p2 (id))"),
    ("alter table d.c1 add constraint c2_ibfk_1 foreign key (a) references p1 (id)", "alter table d.c2 add foreign key (a) references p2 (id)")])
def test_a_name_is_given_to_one_foreign_key(servers, primary, first, second):
    for number in "12":
        primary.query(f"create table d.p{number} (id int primary key)", f"create table d.c{number} (a int)")
    assert behind(primary, first, second) == 1005
    check_log(servers, primary)


def test_a_wait_for_another_change_of_accounts_can_be_killed(primary):
    primary.query("set global rpl_semi_sync_master_timeout=10000", "set global rpl_semi_sync_master_wait_no_slave=on",
                  "set global rpl_semi_sync_master_enabled=on")
    running = threading.Thread(target=primary.query, args=("create user first",))
    running.start()
    wait_for("the first one to wait for its acknowledgement", lambda: waiting_commits(primary) == 1)
    with primary.connect() as waiting, waiting.cursor() as cursor:
        killing = threading.Timer(0.5, primary.query, [f"kill query {waiting.thread_id()}"])
        killing.start()
        with pytest.raises(pymysql.MySQLError) as error:
            cursor.execute("create user second")
        assert error.value.args[0] == 1317 and running.is_alive()
    killing.join()
    primary.query("set global rpl_semi_sync_master_enabled=off")
    running.join()
    assert primary.query("select user from mysql.user where user in ('first', 'second')") == (("first",),)
