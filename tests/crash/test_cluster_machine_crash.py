"""Power failures below the members of a cluster (tests/crashfs), and damaged files of promises."""

import random
import threading

import pytest

from support.clusters import Cluster, Writer
from support.servers import CrashFs
from support.waiting import let_run, stays, wait_for

MEMBERS = 3
PROMISE = "paceline.promise"


@pytest.fixture
def disks(tmp_path):
    disks = [CrashFs(tmp_path / f"disk-{number}") for number in range(MEMBERS)]
    yield disks
    for disk in disks:
        disk.close()


@pytest.fixture
def cluster(tmp_path, disks):
    cluster = Cluster(tmp_path, MEMBERS, [disk.mount_point / "data" for disk in disks])
    cluster.primary().query("create database t", "create table t.n (i int primary key)")
    yield cluster
    cluster.close()


def start(members):
    for member in members:
        member.spawn()
    for member in members:
        member.wait_until_ready()


def assert_everywhere(cluster, writer):
    """Every member has each row that was reported as committed, and all have the same."""
    wait_for("a write", lambda: cluster.primary().query("insert into t.n select max(i) + 1 from t.n") is not None)
    rows = cluster.primary().query("select i from t.n order by i")
    lost = set(writer.committed) - {number for (number,) in rows}
    assert not lost, sorted(lost)[:20]
    cluster.wait_for_rows("select i from t.n order by i", rows)


class Switches:
    """Asks for a change of the primary again and again, so that a power failure meets elections."""

    def __init__(self, cluster):
        self.cluster, self.is_stopping = cluster, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_stopping.is_set():
            self.cluster.try_command("switch")

    def stop(self):
        self.is_stopping.set()
        self.thread.join()


@pytest.mark.parametrize("with_switches", [False, True])
def test_power_failures_of_members_lose_nothing_that_was_reported(cluster, disks, seed, effort, with_switches):
    rng = random.Random(f"cluster-power-{seed}-{with_switches}")
    writer = Writer(cluster)
    for _ in range(max(3, int(5 * effort))):
        before = len(writer.committed)
        wait_for("rows", lambda before=before: len(writer.committed) > before + 20)
        switches = Switches(cluster) if with_switches else None
        let_run(rng.uniform(0.05, 0.8))
        # A single member, all but one, or all.
        failing = rng.sample(range(MEMBERS), rng.choice([1, 2, 3]))
        for number in failing:
            cluster.members[number].kill()
        if switches:
            switches.stop()
        for number in failing:
            assert disks[number].say(f"crash {rng.randrange(1 << 32)}") == "ok"
        start([cluster.members[number] for number in failing])
    writer.stop()
    assert_everywhere(cluster, writer)


@pytest.mark.parametrize("damage", ["missing", "torn"])
def test_a_member_with_a_damaged_promise_asks_etcd_before_it_takes_part(cluster, disks, damage):
    writer = Writer(cluster)
    wait_for("rows", lambda: len(writer.committed) > 20)
    member = cluster.others()[0]
    member.kill()
    promise = member.datadir / PROMISE
    if damage == "missing":
        promise.unlink()
    else:
        promise.write_bytes(promise.read_bytes()[:12])
    cluster.etcd.close()
    member.spawn()
    wait_for("the reason", lambda: "the file of the promise is damaged" in member.said())
    stays("it does not answer", lambda: not member.answers(), seconds=1)
    cluster.etcd.start()
    member.wait_until_ready()
    writer.stop()
    assert_everywhere(cluster, writer)


def test_a_new_primary_lets_nobody_in_before_its_tables_have_what_was_reported(tmp_path, seed):
    """A full disk stops the tables of a member, while its log goes on and is acknowledged."""
    disk = CrashFs(tmp_path / "disk")
    small = ["--paceline_log_block_size=1048576", "--paceline_memtable_size=1048576", "--paceline_checkpoint_log_bytes=1048576", "--max_binlog_size=33554432"]
    cluster = Cluster(tmp_path, MEMBERS, [disk.mount_point / "data", None, None], small)
    try:
        full = cluster.members[0]
        if cluster.primary() is full:
            cluster.command("switch")
        cluster.primary().query("create database t", "create table t.n (i int primary key auto_increment, pad varchar(1000))")
        cluster.wait_for_rows("select count(*) from t.n", ((0,),))

        def count(server):
            return server.query("select count(*) from t.n")[0][0]

        rng = random.Random(seed)
        room = int(disk.say("used")) + 2_500_000
        assert disk.say(f"capacity {room}") == "ok"

        def has_stopped():
            """Inserts rows. Returns whether they come to the log of the full member and not to its tables."""
            nonlocal room
            rows = ", ".join(f"('{rng.randbytes(500).hex()}')" for _ in range(20))
            cluster.primary().query(f"insert into t.n (pad) values {rows}")
            reported, refused = count(cluster.primary()), full.said().count("for the binary log")
            try:
                stays("behind", lambda: count(full) < reported, 1)
            except AssertionError:
                return False
            if full.said().count("for the binary log") == refused:
                return True
            room += 600_000
            assert disk.say(f"capacity {room}") == "ok"
            return False

        wait_for("the tables of the full member to stop", has_stopped)
        reported = count(cluster.primary())
        switch = threading.Thread(target=cluster.try_command, args=("switch", f"--to={full.directory.name}"))
        switch.start()
        wait_for("the full member to become the primary",
                 lambda: "clients wait until the tables" in full.said() or full.query("select @@read_only") == ((0,),))

        def lets_in():
            with full.connect() as connection, connection.cursor() as cursor:
                cursor.execute("select @@read_only, (select count(*) from t.n)")
                [(is_read_only, count)] = cursor.fetchall()
                assert is_read_only or count >= reported, (count, reported)
                return not is_read_only

        if not lets_in():
            state = full.cluster_status()[full.directory.name]
            assert state["Part"] != "primary" or state["Waits"].startswith("for its tables to have what was committed"), state
        stays("closed to clients", lambda: not lets_in(), 1)
        assert disk.say(f"capacity {1 << 40}") == "ok"
        wait_for("the new primary to let its clients in", lets_in)
        switch.join()
    finally:
        cluster.close()
        disk.close()
