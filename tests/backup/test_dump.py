"""`mariadb-dump --single-transaction --master-data` against this server: no lock affects writers, and the position is
exact."""

import re
import threading
import time

from support import workload
from support.backups import backup, checksums, on, restore, state_at
from support.real_replicas import allow_replicas, catch_up, change_master, check_same_tables, start_replica
from support.servers import Paceline
from support.waiting import let_run


def test_a_dump_under_load_is_exact_and_stops_nobody(paceline, mariadb, tmp_path, seed):
    """The dump, loaded into a Paceline and into a MariaDB, has the primary's state at the GTID that it names. Both
    replicate from there."""
    workload.create(paceline)
    load = workload.Load(paceline, 4, seed).start()
    let_run(0.7)
    longest = 0.0
    stopping = threading.Event()

    def commits():
        nonlocal longest
        with paceline.connect() as connection, connection.cursor() as cursor:
            number = 0
            while not stopping.is_set():
                number += 1
                started = time.monotonic()
                cursor.execute("replace into load_test.probe values (1, %s)", (number,))
                longest = max(longest, time.monotonic() - started)

    paceline.query("create table load_test.probe (id int primary key, n int)")
    probe = threading.Thread(target=commits)
    probe.start()
    blockers = []
    with paceline.connect() as watcher, watcher.cursor() as cursor:
        dumps = []
        dump = threading.Thread(target=lambda: dumps.append(
            paceline.client("--single-transaction", "--master-data=2", "--gtid", "--databases", "load_test", program="mariadb-dump")))
        dump.start()
        while dump.is_alive():
            cursor.execute("show processlist")
            blockers += [row for row in cursor.fetchall() if row[6] and "lock" in row[6].lower() and "backup" in row[6].lower()]
            # The pause of a loop that looks.
            time.sleep(0.01)
        dump.join()
    stopping.set()
    probe.join()
    let_run(0.3)
    load.stop()
    [text] = dumps
    assert blockers == []
    assert longest < 5
    position = re.search(r"SET GLOBAL gtid_slave_pos='([^']+)'", text).group(1)
    assert re.search(r"-- CHANGE MASTER TO MASTER_LOG_FILE='binlog\.\d+', MASTER_LOG_POS=\d+", text)
    expected = state_at(paceline, tmp_path / "replica", position)

    other = Paceline(tmp_path / "other", "--server-id=2").start()
    try:
        allow_replicas(paceline)
        for server in (other, mariadb):
            server.client(text=text)
            server.query(f"set global gtid_slave_pos='{position}'")
        assert checksums(other) == expected
        assert check_same_tables(other, mariadb) > 20
        for server in (other, mariadb):
            change_master(server, paceline)
            server.query("start slave")
            catch_up(server, paceline)
            assert check_same_tables(server, paceline) > 20
        assert checksums(other) == checksums(paceline)
        workload.check(other, load)
        workload.check(mariadb, load)
    finally:
        other.close()


def test_what_a_dump_makes_is_replicated_and_restored(paceline, mariadb, tmp_path):
    """The statements that a dump has in comments are logged so that replicas of each kind, and recovery, can execute
    them."""
    mariadb.query("create database d", "create table d.t (id int primary key, b text, key (b(9)))", "insert into d.t values (1, 'a'), (2, 'b')",
                  "create table d.`empty` (id int)")
    dump = mariadb.client("--databases", "d", "--add-drop-database", program="mariadb-dump")
    assert "/*!40000 ALTER TABLE `t` DISABLE KEYS */;" in dump and "/*!40000 DROP DATABASE IF EXISTS `d`*/;" in dump
    place = tmp_path / "backup"
    paceline.query("create database other")
    backup(paceline, place)
    paceline.client(text=dump)
    other = Paceline(tmp_path / "other", "--server-id=2").start()
    try:
        mariadb.query("drop database d", "reset master")
        for server in (other, mariadb):
            start_replica(server, paceline)
            catch_up(server, paceline)
            assert check_same_tables(server, paceline) == 2
    finally:
        other.close()
    backup(paceline, place, "--incremental")
    restore(place, tmp_path / "restored")
    restored = on(tmp_path / "restored", tmp_path / "server").start()
    try:
        assert check_same_tables(restored, paceline) == 2
    finally:
        restored.close()
