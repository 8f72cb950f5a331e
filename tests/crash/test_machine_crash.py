"""Seeded power failures below the process: unsynced writes are lost, kept, torn or reordered (tests/crashfs)."""

import random
import threading

import pymysql
import pytest

from support import workload
from support.servers import CrashFs, Paceline
from support.waiting import let_run, wait_for


@pytest.fixture
def crashfs(tmp_path):
    disk = CrashFs(tmp_path / "disk")
    yield disk
    disk.close()


@pytest.mark.parametrize("sync_binlog, binlog_format", [(1, "ROW"), (0, "ROW"), (1, "MIXED")])
def test_power_failures(crashfs, tmp_path, seed, effort, sync_binlog, binlog_format):
    rng = random.Random(f"power-{seed}-{sync_binlog}")
    server = Paceline(tmp_path / "server", f"--sync_binlog={sync_binlog}", "--max_binlog_size=262144", f"--binlog-format={binlog_format}",
                      datadir=crashfs.mount_point / "data")
    try:
        server.start()
        workload.create(server)
        # Creating a table is acknowledged: from here on it must survive, with sync_binlog=0 after a second at the
        # latest.
        workload.for_a_while(rng, 1, 1)
        for round in range(max(3, int(12 * effort))):
            load = workload.Load(server, workers=6, seed=f"{seed}-{round}").start()
            workload.for_a_while(rng, 0.1, 0.8)
            server.kill()
            load.join()
            power_seed = rng.randrange(1 << 32)
            assert crashfs.say(f"crash {power_seed}") == "ok"
            server.start()
            workload.check(server, load, loses_acknowledged=sync_binlog == 0)
    finally:
        server.close()


def test_power_failures_around_large_transactions(crashfs, tmp_path, seed, effort):
    """A large transaction brings its own file. At any moment of its commit, it survives completely or not at all."""
    rng = random.Random(f"power-large-{seed}")
    server = Paceline(tmp_path / "server", "--binlog_large_commit_threshold=10485760", datadir=crashfs.mount_point / "data")
    try:
        server.start()
        workload.create(server)
        server.query("create database l", "create table l.n (n int primary key)", "create table l.t (id int primary key, v text, k int, key (k))",
                     "insert into l.n values " + ",".join(f"({n})" for n in range(1000)))
        there = 0
        for round in range(1, 1 + max(4, int(6 * effort))):
            load = workload.Load(server, workers=3, seed=f"{seed}-{round}").start()
            told = []

            def run():
                try:
                    with server.connect(autocommit=False) as connection, connection.cursor() as session:
                        session.execute(f"insert into l.t select n, repeat('{round}', 15000), {round} from l.n "
                                        "on duplicate key update v=values(v), k=values(k)")
                        told.append("executed")
                        connection.commit()
                        told.append("committed")
                except (pymysql.err.Error, OSError):
                    pass

            transaction = threading.Thread(target=run)
            transaction.start()
            wait_for("the commit to begin", lambda: told or not transaction.is_alive(), pause_seconds=0.002)
            assert told, server.said()[-2000:]
            let_run(rng.uniform(0, 0.6))
            server.kill()
            transaction.join()
            load.join()
            assert crashfs.say(f"crash {rng.randrange(1 << 32)}") == "ok"
            server.start()
            workload.check(server, load)
            found = server.query("select k, count(*), count(distinct v), min(length(v)) from l.t group by k")
            assert found in ((), ((there, 1000, 1, 15000),), ((round, 1000, 1, 15000),)), found
            assert "committed" not in told or found[0][0] == round
            assert found or not there
            there = found[0][0] if found else 0
            server.query("check table l.t")
    finally:
        server.close()


def test_power_failures_at_any_moment_of_start_up(crashfs, tmp_path, seed, effort):
    rng = random.Random(f"power-start-{seed}")
    server = Paceline(tmp_path / "server", datadir=crashfs.mount_point / "data")
    try:
        server.start()
        workload.create(server)
        load = workload.Load(server, workers=4, seed=seed).start()
        workload.for_a_while(rng)
        server.kill()
        load.join()
        for _ in range(max(4, int(10 * effort))):
            assert crashfs.say(f"crash {rng.randrange(1 << 32)}") == "ok"
            server.spawn()
            workload.for_a_while(rng, 0.0, 0.5)
            server.kill()
        assert crashfs.say(f"crash {rng.randrange(1 << 32)}") == "ok"
        server.start()
        workload.check(server, load)
    finally:
        server.close()


def test_a_full_disk_fails_commits_and_loses_nothing(crashfs, tmp_path, seed):
    server = Paceline(tmp_path / "server", "--max_binlog_size=1048576", datadir=crashfs.mount_point / "data")
    try:
        server.start()
        server.query("create database full", "create table full.t (id int primary key auto_increment, pad longtext)")
        used = int(crashfs.say("used"))
        assert crashfs.say(f"capacity {used + (8 << 20)}") == "ok"
        acknowledged, refused = 0, None
        with server.connect() as connection, connection.cursor() as cursor:
            for _ in range(2000):
                try:
                    cursor.execute("insert into full.t (pad) values (repeat('x', 100000))")
                    acknowledged += 1
                except Exception as error:  # noqa: BLE001 - its number is checked below
                    refused = error
                    break
            assert refused is not None, "the disk never filled"
            assert refused.args[0] in (1021, 1026, 3), refused
            # The session and reads continue, and writes continue when there is space.
            cursor.execute("select count(*) from full.t")
            assert cursor.fetchone()[0] == acknowledged
            assert crashfs.say(f"capacity {1 << 40}") == "ok"
            cursor.execute("insert into full.t (pad) values ('room again')")
        server.kill()
        assert crashfs.say(f"crash {seed}") == "ok"
        server.start()
        assert server.query("select count(*) from full.t") == ((acknowledged + 1,),)
    finally:
        server.close()


def test_a_failing_sync_stops_the_server(crashfs, tmp_path, seed):
    server = Paceline(tmp_path / "server", datadir=crashfs.mount_point / "data")
    try:
        server.start()
        workload.create(server)
        load = workload.Load(server, workers=6, seed=seed).start()
        workload.for_a_while(random.Random(seed))
        assert crashfs.say("fail-sync 0") == "ok"
        assert server.process.wait(timeout=30) != 0
        load.join()
        assert "sync" in server.said().lower()
        assert crashfs.say(f"crash {seed}") == "ok"
        server.start()
        workload.check(server, load)
    finally:
        server.close()


def test_after_a_failed_sync_of_a_table_file_no_flush_waits_in_vain(crashfs, tmp_path, seed):
    """The engine accepts no further flush: whatever needs one gets the error, and the server stops when it is told to."""
    server = Paceline(tmp_path / "server", "--log-bin=log", datadir=crashfs.mount_point / "data")
    try:
        server.start()
        server.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1), (2)", "flush binary logs")
        syncs = []

        def is_quiet():
            syncs.append(crashfs.say("syncs"))
            return len(syncs) >= 10 and len(set(syncs[-10:])) == 1

        wait_for("the next log file to be prepared", is_quiet)
        [*_, (newest, *_)] = server.query("show binary logs")
        assert crashfs.say("fail-sync 0") == "ok"
        for _ in range(2):
            with pytest.raises(pymysql.err.Error, match="Input/output error"):
                server.query(f"purge binary logs to '{newest}'")
        server.process.terminate()
        server.process.wait(timeout=30)
        assert crashfs.say(f"crash {seed}") == "ok"
        server.start()
        assert server.query("select a from d.t order by a") == ((1,), (2,))
    finally:
        server.close()
