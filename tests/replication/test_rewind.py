"""`paceline rewind`: a primary that died with transactions that no other server has becomes a replica of its
successor."""

import random
import re
import threading

import pymysql
import pytest
from support.backups import paceline as command
from support.replication import assert_same, change_master, gtid_position, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for


def pair(servers, successor, *options):
    """A primary with a replica that has everything."""
    one = servers(Paceline, 1, *options)
    replication_user(one)
    one.query("create database d", "create table d.t (id int primary key, v varchar(20), key (v))",
              "insert into d.t values (1, 'one'), (2, 'two'), (3, 'three')")
    two = servers(successor, 2, "--log-slave-updates=ON", "--log-bin=binlog")
    change_master(two, one, master_use_gtid="slave_pos")
    two.query("start slave")
    wait_for_replica(two, one)
    return one, two


def promote(server):
    server.query("stop slave", "reset slave all", "set global read_only=0")


def follow(old, new):
    """Makes the rewound old primary a replica, and checks that both are equal then."""
    old.start()
    change_master(old, new, master_use_gtid="current_pos")
    old.query("start slave")
    # gtid_slave_pos and MASTER_GTID_WAIT know nothing about domains without later transactions.
    old.query("set session wait_for_gtid_timeout=30", f"set session wait_for_gtid='{gtid_position(new)}'", "select 1")
    assert gtid_position(old) == gtid_position(new), slave_status(old)
    assert_same(old, new)


def rewind(old, new, *options):
    return command("rewind", new.socket, "--datadir", old.datadir, *options)


def refused(old, new, *options):
    version = old.datadir / "paceline.version"
    version.write_text("format=1\nwritten_by=0.1.0\n")
    before = {path: path.read_bytes() for path in [*old.log_files(), version]}
    status, printed, said = rewind(old, new, *options)
    assert (status, printed) == (1, ""), (status, printed, said)
    # The version that wrote the directory can still open it.
    assert {path: path.read_bytes() for path in [*old.log_files(), version]} == before
    return said


@pytest.mark.parametrize("successor", [Paceline, MariaDb])
def test_transactions_that_no_other_server_has_are_cut_off_and_saved(servers, successor):
    one, two = pair(servers, successor)
    two.query("stop slave")
    last = gtid_position(one)
    one.query("insert into d.t values (4, 'only here')", "update d.t set v='changed' where id=1", "flush binary logs", "delete from d.t where id=2",
              "create table d.only_here (a int)", "insert into d.only_here values (1)")
    one.kill()
    promote(two)
    two.query("insert into d.t values (4, 'of the successor')", "update d.t set v='other' where id=1", "create table d.u (a int primary key)")

    version = one.datadir / "paceline.version"
    version.write_text("format=1\nwritten_by=0.1.0\n")
    status, listed, said = rewind(one, two, "--dry-run")
    assert status == 0 and version.read_text().endswith("=0.1.0\n"), said
    gtids = re.findall(r"^  (0-1-\d+) ", listed, re.MULTILINE)
    number = int(last.split("-")[2])
    assert gtids == [f"0-1-{number + 1 + at}" for at in range(5)] and "lacks 5 transactions" in listed
    assert "nothing was changed" in listed and not list(one.datadir.glob("rewound-*"))

    status, printed, said = rewind(one, two)
    assert status == 0 and not version.read_text().endswith("=0.1.0\n"), said
    assert f"the log now ends at {last}" in printed
    [kept] = re.findall(r"^  paceline (binlog .*)$", printed, re.MULTILINE)
    status, text, said = command(*kept.split())
    assert status == 0, said
    assert all(part in text for part in ("'only here'", "create table d.only_here", "### DELETE FROM `d`.`t`", gtids[0], gtids[-1]))
    follow(one, two)
    assert dict(one.query("select * from d.t"))[1] == "other"
    # And back, with the transactions that it has received since.
    promote(one)
    one.query("insert into d.t values (10, 'again')")
    two.query(f"change master to master_host='127.0.0.1', master_port={one.port}, master_user='repl', master_password='secret', "
              "master_use_gtid=current_pos", "start slave")
    wait_for_replica(two, one)
    assert_same(one, two)
    files = [path.name for path in one.log_files()]
    status, _, said = command("binlog", "--verify", *one.log_files())
    assert status == 0, (files, said)


def test_what_was_never_replicated_is_named(servers):
    """It is removed with the rest, and no other server has it, not even the successor."""
    one, two = pair(servers, Paceline)
    two.query("stop slave")
    one.query("set session sql_log_bin=0", "insert into d.t values (7, 'local')", "delete from d.t where id=7")
    one.query("insert into d.t values (4, 'only here')")
    one.query("set session sql_log_bin=0", "insert into d.t values (8, 'local')", "update d.t set v='still' where id=8")
    one.kill()
    promote(two)
    for options in (["--dry-run"], []):
        status, printed, said = rewind(one, two, *options)
        assert status == 0 and "lacks 1 transaction of this log" in printed, (printed, said)
        replicated, local = printed.split("transactions that were never replicated (sql_log_bin=0) are removed too, and do not come back:\n")
        assert "  4294967295-" not in replicated and len(re.findall(r"^  4294967295-1-", local, re.MULTILINE)) == 2
    follow(one, two)


def test_a_server_that_cannot_be_rewound_is_left_alone(servers):
    one, two = pair(servers, Paceline)
    assert "is in use by another server" in refused(one, two)
    two.query("stop slave")
    promote(two)
    one.kill()
    status, printed, said = rewind(one, two)
    assert status == 0 and "has all transactions of this log: nothing is removed" in printed, said
    assert not list(one.datadir.glob("rewound-*"))

    stranger = servers(Paceline, 3)
    stranger.query("create database d", "create table d.t (a int)")
    assert "it is not the successor" in refused(one, stranger)

    # After a restart, its tables contain what the other server lacks.
    one.start()
    one.query("insert into d.t values (4, 'only here')")
    assert one.stop() == 0
    assert "the tables contain transactions that" in refused(one, two)
    one.start()
    assert one.query("select v from d.t where id=4") == (("only here",),)
    one.kill()

    one.directory.joinpath("empty").mkdir()
    status, _, said = command("rewind", two.socket, "--datadir", one.directory / "empty")
    assert status == 1 and "is not a data directory" in said
    status, _, said = command("rewind", "127.0.0.1:1", "--datadir", one.datadir)
    assert status == 1 and "cannot connect" in said


def test_what_waits_for_a_replica_is_in_no_table(servers):
    """Transactions that semi-sync has not acknowledged can always be cut off, however full the memory was."""
    one, two = pair(servers, Paceline, "--paceline-memtable-size=1M", "--max-binlog-size=1M")
    two.query("set global rpl_semi_sync_slave_enabled=1", "stop slave", "start slave")
    one.query("create table d.wide (id int primary key, v longblob)", "set global rpl_semi_sync_master_timeout=1000000",
              "set global rpl_semi_sync_master_enabled=1")
    wait_for("the replica", lambda: one.query("show status like 'Rpl_semi_sync_master_clients'")[0][1] == "1")
    for number in range(8):
        one.query(f"insert into d.wide values ({number}, repeat('x', 500000))")
    wait_for_replica(two, one)
    two.query("stop slave")
    last = gtid_position(two)

    def write(number):
        with pytest.raises(pymysql.err.OperationalError):
            one.query(f"insert into d.wide values ({100 + number}, repeat('y', 500000))")

    writers = [threading.Thread(target=write, args=(number,)) for number in range(12)]
    for writer in writers:
        writer.start()
    wait_for("all to wait", lambda: one.query("show status like 'Rpl_semi_sync_master_wait_sessions'")[0][1] == "12")
    assert one.query("select count(*) from d.wide") == ((8,),)
    one.kill()
    for writer in writers:
        writer.join()
    promote(two)
    status, printed, said = rewind(one, two)
    assert status == 0 and "lacks 12 transactions" in printed and f"the log now ends at {last}" in printed, (printed, said)
    two.query("insert into d.wide values (100, 'z')")
    follow(one, two)


@pytest.mark.parametrize("successor", [Paceline, MariaDb])
def test_what_was_its_own_comes_back(servers, successor):
    """If the log has the domains in another order than that in which the successor received them, more is cut off
    than the successor lacks. It is replicated back."""
    one, two = pair(servers, successor)
    two.query("stop slave", "change master to ignore_domain_ids=(1)", "start slave")
    one.query("set gtid_domain_id=1", "update d.t set v='of domain 1' where id=3", "update d.t set v='again' where id=3")
    one.query("update d.t set v='of domain 0' where id=1", "insert into d.t values (4, 'four')", "delete from d.t where id=2")
    last = [gtid for gtid in gtid_position(one).split(",") if gtid.startswith("0-")]
    wait_for("domain 0", lambda: gtid_position(two).split(",") == last)
    one.kill()
    promote(two)
    two.query("insert into d.t values (5, 'of the successor')")
    status, printed, said = rewind(one, two)
    assert status == 0 and "lacks 2 transactions" in printed, (printed, said)
    follow(one, two)
    assert one.query("select * from d.t order by id") == ((1, "of domain 0"), (3, "three"), (4, "four"), (5, "of the successor"))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_primary_that_is_killed_at_any_moment(servers, seed):
    rng = random.Random(seed)
    one, two = pair(servers, Paceline, "--paceline-memtable-size=1M")
    over = threading.Event()

    def load(number):
        draw = random.Random(seed * 100 + number)
        try:
            with one.connect() as connection, connection.cursor() as cursor:
                while not over.is_set():
                    row = draw.randrange(50)
                    cursor.execute(f"set gtid_domain_id={number % 2}")
                    cursor.execute(draw.choice([f"replace into d.t values ({row + 100 * (number % 2)}, '{draw.randrange(10**9)}')",
                                                f"delete from d.t where id={row + 100 * (number % 2)}"]))
        except pymysql.err.Error:
            assert over.is_set()

    threads = [threading.Thread(target=load, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    wait_for("rows", lambda: one.query("select count(*) from d.t")[0][0] > 20)
    two.query("stop slave")
    position = gtid_position(two)
    wait_for("the primary to go on", lambda: gtid_position(one) != position)
    over.wait(rng.uniform(0, 0.3))
    over.set()
    one.kill()
    for thread in threads:
        thread.join()
    promote(two)
    two.query("insert into d.t values (1000, 'new')")
    status, printed, said = rewind(one, two)
    assert status == 0 and "of this log:" in printed, (printed, said)
    follow(one, two)
    assert not slave_status(one)["Last_SQL_Error"]
