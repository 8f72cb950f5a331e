"""The start of a cluster's epoch is an event group that changes nothing. It goes wherever the log goes."""

import subprocess

import pymysql
import pytest
from support.archive import Archive
from support.backups import backup, on, paceline, restore
from support.epochs import append_epoch_start, epoch_starts, text_of
from support.real_replicas import allow_replicas
from support.replication import assert_same, change_master, gtid_position, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline

FILTERS = ["--replicate-do-db=d", "--replicate-wild-do-table=d.%"]


def primary_with_epoch(servers, *options):
    """A primary that was killed in epoch 4 and continues in epoch 5. Returns it and the GTID of the start."""
    one = servers(Paceline, 1, *options)
    replication_user(one)
    one.query("create database d", "create table d.t (id int primary key, v varchar(20))", "insert into d.t values (1, 'one')")
    one.kill()
    start = append_epoch_start(one, 1, 5, 3)
    one.start()
    return one, start


def follow(replica, primary):
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    wait_for_replica(replica, primary)


def events(server, text):
    """Returns the statements of the server's log that contain a text."""
    found = []
    for name, *_ in server.query("show binary logs"):
        found += [row[5] for row in server.query(f"show binlog events in '{name}'") if text in row[5]]
    return found


def test_recovery_replays_it_as_nothing(servers):
    one, start = primary_with_epoch(servers)
    assert gtid_position(one) == start
    one.query("insert into d.t values (2, 'two')")
    one.kill()
    one.start()
    assert one.query("select * from d.t") == ((1, "one"), (2, "two"))
    assert events(one, "paceline: epoch") == [text_of(5, 3)]
    one.query("insert into d.t values (3, 'three')")
    assert gtid_position(one) == f"0-1-{int(start.split('-')[2]) + 2}"


@pytest.mark.parametrize("options", [[], ["--slave-parallel-threads=4"], ["--slave-parallel-mode=conservative", "--slave-parallel-threads=4"],
                                     FILTERS, ["--slave-parallel-threads=4", "--binlog-format=STATEMENT"]])
def test_a_replica_logs_exactly_the_same_group(servers, options):
    one, start = primary_with_epoch(servers)
    two, three = servers(Paceline, 2, *options), servers(Paceline, 3)
    follow(two, one)
    # It may be the last group of a log.
    assert two.query("select @@gtid_slave_pos") == ((start,),)
    follow(three, two)
    one.query("insert into d.t values (2, 'two')", "create table d.u (a int primary key)", "insert into d.u values (7)")
    wait_for_replica(two, one)
    wait_for_replica(three, one)
    for replica in (two, three):
        assert_same(one, replica)
        assert gtid_position(replica) == gtid_position(one)
        assert epoch_starts(replica.log_files()) == epoch_starts(one.log_files())
    assert [found[0] for found in epoch_starts(one.log_files())] == [start]
    # A replica that starts again replays it, too.
    two.kill()
    two.start()
    assert_same(one, two)


def test_a_replica_of_mariadb_goes_on(servers):
    one, start = primary_with_epoch(servers)
    two = servers(MariaDb, 2, "--slave-parallel-threads=4", "--slave-parallel-mode=optimistic", "--gtid-strict-mode=ON")
    follow(two, one)
    assert two.query("select @@gtid_slave_pos") == ((start,),)
    # It connects again with that position.
    two.query("stop slave", "start slave")
    one.query("insert into d.t values (2, 'two')", "create table d.u (a int primary key)")
    wait_for_replica(two, one)
    assert_same(one, two)


def test_behind_a_mariadb_only_its_number_is_missing(servers):
    """MariaDB logs no statement that is only a comment, wherever it comes from."""
    one, start = primary_with_epoch(servers)
    two = servers(MariaDb, 2, "--gtid-strict-mode=ON")
    three = servers(Paceline, 3, "--gtid-strict-mode=ON")
    follow(two, one)
    follow(three, two)
    one.query("insert into d.t values (2, 'two')")
    wait_for_replica(two, one)
    wait_for_replica(three, two)
    assert_same(one, three)
    assert gtid_position(three) == gtid_position(one) != start
    assert epoch_starts(three.log_files()) == []
    # A server that has it can follow the MariaDB, which does not.
    four = servers(Paceline, 4, "--gtid-strict-mode=ON")
    follow(four, one)
    four.query("stop slave")
    change_master(four, two, master_use_gtid="slave_pos")
    four.query("start slave")
    one.query("insert into d.t values (3, 'three')")
    wait_for_replica(two, one)
    wait_for_replica(four, two)
    assert_same(one, four)


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
@pytest.mark.parametrize("program", ["mariadb-binlog", "paceline binlog"])
def test_the_log_as_text_repeats_everything_else(servers, program, kind):
    one, start = primary_with_epoch(servers)
    one.query("insert into d.t values (2, 'two')")
    other = servers(kind, 9, "--gtid-strict-mode=ON")
    last = gtid_position(one)
    one.stop()
    command = {"mariadb-binlog": ["mariadb-binlog", "--no-defaults", "--verify-binlog-checksum"],
               "paceline binlog": [one.command()[0], "binlog"]}[program]
    text = subprocess.run([*command, *one.log_files()], capture_output=True, text=True, check=True).stdout
    assert f"\n{text_of(5, 3)}\n" in text
    other.client("--binary-mode", text=text)
    assert other.query("select * from d.t") == ((1, "one"), (2, "two"))
    assert gtid_position(other) == last


def test_archives_and_backups_keep_it(servers, tmp_path):
    one, start = primary_with_epoch(servers)
    allow_replicas(one)
    archive = Archive(tmp_path / "archive", one)
    archive.start()
    try:
        place = tmp_path / "backup"
        backup(one, place)
        one.query("insert into d.t values (2, 'two')")
        one.kill()
        later = append_epoch_start(one, 1, 6, 4)
        one.start()
        last = gtid_position(one)
        assert last == later
        one.query("insert into d.t values (3, 'three')")
        archive.wait_for(one)
        two = servers(Paceline, 2)
        change_master(two, archive, master_use_gtid="slave_pos", master_user=f"'{archive.user}'", master_password=f"'{archive.password}'")
        two.query("start slave")
        wait_for_replica(two, one)
        assert_same(one, two)
        expected = epoch_starts(one.log_files())
        assert [found[3] for found in expected] == [text_of(5, 3), text_of(6, 4)]
        assert epoch_starts(two.log_files()) == epoch_starts(archive.files()) == expected
        # A point in time: exactly after the start of the epoch.
        backup(one, place, "--incremental")
        assert restore(place, tmp_path / "restored", "--until", later) == later
        restored = on(tmp_path / "restored", tmp_path / "server").start()
        try:
            assert restored.query("select id from d.t") == ((1,), (2,))
            # The file that it has begun repeats them in its head, as each file does.
            assert restored.log_files()[-1].read_bytes().count(b"pace\x07") == 1
        finally:
            restored.close()
        status, printed, said = paceline("binlog", "--verify", *one.log_files())
        assert status == 0, (printed, said)
    finally:
        archive.close()


def test_no_client_can_write_one(servers):
    one = servers(Paceline, 1)
    one.query("create database d")
    before = gtid_position(one)
    text = text_of(9, 9)
    for statement in (text, text + "\n", f"/* x */ {text}", f"prepare s from '{text}'", "execute s", f"execute immediate '{text}'"):
        try:
            one.query(statement)
        except pymysql.err.Error as error:
            # An empty statement, and no statement of that name.
            assert error.args[0] in (1065, 1243), error
    one.client("--comments", text=f"{text}\n;\nbegin;\n{text}\n;\ncommit;\n")
    assert gtid_position(one) == before
    # A statement with the text as its comment is logged with more than that.
    one.query(f"{text}\ncreate table d.t (a int primary key)")
    assert epoch_starts(one.log_files()) == [] or epoch_starts(one.log_files())[0][3] != text
