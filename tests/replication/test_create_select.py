"""CREATE TABLE … SELECT of a MariaDB primary: the table and its rows are one transaction under one GTID, in every
format, here and on replicas of ours."""

import pytest
from support.replication import assert_same, change_master, gtid_position, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

STATEMENTS = [
    "create table d.plain select a, concat(b, '!') c from d.t",
    "create table d.keyed (primary key (a)) as select distinct a + 1 a, b from d.t",
    "create or replace table d.replaced select b from d.t",
    "create or replace table d.replaced select a x, a y from d.t",
    "create table d.nothing select * from d.t where a < 0",
    "create or replace table d.nothing select * from d.t where a < -1",
    "create table if not exists d.plain select 5 a, 'five' c",
    "create table if not exists d.new select * from d.t",
    "set statement sql_mode='' for create table d.`select` (n int default 7) select a from d.t",
]


@pytest.fixture(params=["row", "mixed", "statement"])
def line(request, servers):
    """A MariaDB, our replica of it, and replicas of that: one of ours, and a MariaDB. None accepts a GTID twice."""
    kinds = [(MariaDb, f"--binlog-format={request.param}"), (Paceline,), (Paceline,), (MariaDb,)]
    line = [servers(kind, number + 1, *options, "--gtid-strict-mode=ON") for number, (kind, *options) in enumerate(kinds)]
    replication_user(line[0])
    for replica, primary in zip(line[1:], [line[0], line[1], line[1]]):
        change_master(replica, primary, master_use_gtid="slave_pos")
        replica.query("start slave")
        wait_for_replica(replica, primary)
    line[0].query("create database d", "create table d.t (a int, b varchar(10))", "insert into d.t values (1, 'one'), (1, 'one'), (2, null)")
    return line


def assert_all_same(line):
    wait_for_replica(line[1], line[0])
    for replica in line[2:]:
        wait_for_replica(replica, line[1])
    for replica in line[1:]:
        assert_same(line[0], replica)
        assert gtid_position(replica) == gtid_position(line[0])


def test_a_table_and_its_rows_have_one_gtid(line):
    line[0].query(*STATEMENTS)
    assert_all_same(line)
    # A replica at the last GTID has all of it, and receives nothing again.
    for replica in line[1:]:
        replica.query("stop slave", "start slave")
    assert_all_same(line)
    line[0].query("create or replace table d.last select * from d.t")
    assert_all_same(line)
    line[2].query("stop slave", "start slave")
    line[1].kill()
    line[1].start()
    assert_all_same(line)


def test_a_crash_between_the_two_is_repaired(line):
    wait_for_replica(line[1], line[0])
    line[1].query("set sql_log_bin=0", "create table d.early (a int, b varchar(10))", "create table d.new (a int, b varchar(10))")
    line[0].query("create table d.early select * from d.t", "create table if not exists d.new select * from d.t")
    assert_all_same(line)


@pytest.mark.parametrize("line", ["mixed", "statement"], indirect=True)
def test_a_failed_one_leaves_no_table_and_is_repeated(line):
    wait_for_replica(line[1], line[0])
    line[1].query("set sql_log_bin=0", "insert into d.t values (2, 'two')")
    line[0].query("create table d.keyed (primary key (a)) select a from d.t where a = 2")
    wait_for("the replica to stop", lambda: slave_status(line[1])["Slave_SQL_Running"] == "No")
    assert int(slave_status(line[1])["Last_SQL_Errno"]) == 1062
    assert line[1].query("show tables from d") == (("t",),)
    line[1].query("set sql_log_bin=0", "delete from d.t where b = 'two'")
    line[1].query("start slave")
    assert_all_same(line)
