"""kill -9 at random moments under load: every acknowledged transaction survives, and none survives in part."""

import random

import pytest

from support import workload
from support.servers import MariaDb


@pytest.mark.parametrize("options", [[], ["--max_binlog_size=65536"], ["--sync_binlog=0"]], ids=["default", "rotating", "unsynced"])
def test_acknowledged_transactions_survive_kill(paceline, seed, effort, options):
    rng = random.Random(f"kill-{seed}-{options}")
    paceline.stop()
    paceline.options = options
    paceline.start()
    workload.create(paceline)
    for round in range(max(2, int(6 * effort))):
        load = workload.Load(paceline, workers=8, seed=f"{seed}-{round}").start()
        workload.for_a_while(rng)
        paceline.kill()
        load.join()
        paceline.start()
        # Even with sync_binlog=0 the operating system has everything that the process wrote.
        found = workload.check(paceline, load)
    assert found > 0


def test_killed_during_recovery(paceline, seed, effort):
    """Repeated crashes during replay lose nothing."""
    rng = random.Random(f"recovery-{seed}")
    workload.create(paceline)
    load = workload.Load(paceline, workers=4, seed=seed).start()
    workload.for_a_while(rng, 1, 2)
    paceline.kill()
    load.join()
    for _ in range(max(3, int(8 * effort))):
        paceline.spawn()
        workload.for_a_while(rng, 0.0, 0.3)
        paceline.kill()
    paceline.start()
    workload.check(paceline, load)


def test_log_and_tables_agree_after_kill(paceline, tmp_path, seed):
    """A real MariaDB that executes the whole log, from its first event, has the same rows as the server."""
    rng = random.Random(f"agree-{seed}")
    workload.create(paceline)
    for round in range(3):
        load = workload.Load(paceline, workers=6, seed=f"{seed}-{round}").start()
        workload.for_a_while(rng)
        paceline.kill()
        load.join()
        paceline.start()
    workload.check(paceline, load)
    paceline.query("flush binary logs")
    mariadb = MariaDb(tmp_path / "replayed").start()
    try:
        mariadb.client(text=paceline.client(*paceline.log_files()[:-1], program="mariadb-binlog"))
        for table, key in [("counter", "worker"), ("history", "worker, number"), ("account", "id")]:
            statement = f"select * from load_test.{table} order by {key}"
            assert paceline.query(statement) == mariadb.query(statement), table
    finally:
        mariadb.close()


def test_clean_shutdown_needs_no_replay(paceline, seed):
    workload.create(paceline)
    load = workload.Load(paceline, workers=4, seed=seed).start()
    workload.for_a_while(random.Random(seed))
    assert paceline.stop() == 0
    load.join()
    paceline.start()
    workload.check(paceline, load)
    assert "replayed 0 rows" in paceline.said().rsplit("ready for connections", 2)[-2]


def test_memory_tables_are_empty_after_a_restart_and_the_log_says_so(paceline, tmp_path):
    paceline.query("create database m", "create table m.t (a int primary key) engine=memory", "insert into m.t values (1),(2)")
    paceline.kill()
    paceline.start()
    assert paceline.query("select count(*) from m.t") == ((0,),)
    paceline.query("insert into m.t values (7)", "flush binary logs")
    mariadb = MariaDb(tmp_path / "replayed").start()
    try:
        mariadb.client(text=paceline.client(*paceline.log_files()[:-1], program="mariadb-binlog"))
        assert mariadb.query("select a from m.t") == ((7,),)
    finally:
        mariadb.close()
