"""Applications behind HAProxy, which asks the probes, notice a change of the primary as a pause, and nothing else."""

import random
import signal
import time

import pymysql
import pytest
from support.balancer import CHECK_SECONDS, USER, Balancer, Sysbench
from support.clusters import Cluster, Member, Writer
from support.waiting import wait_for

# Changes with an effort of 1. --effort=2.5 makes ten.
CHANGES = 4
# Time after which a line of sysbench's report has been read, and an error of the pause counted.
LATE_SECONDS = 0.5 + CHECK_SECONDS


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path, 3)
    cluster.primary().query(f"create user {USER}", f"grant all on *.* to {USER}", "create database t", "create table t.n (i int primary key)",
                            "create database sbtest")
    yield cluster
    cluster.close()


def change(cluster, is_planned):
    """Changes the primary. Returns the member that has to be started again."""
    old = cluster.primary()
    if is_planned:
        cluster.command("switch")
        return None
    old.kill()
    return old


def test_sysbench_goes_on_through_changes_of_the_primary_with_errors_only_in_the_pause(cluster, tmp_path, seed, effort):
    rng = random.Random(seed)
    planned = [number % 2 == 0 for number in range(round(CHANGES * effort))]
    rng.shuffle(planned)
    balancer = Balancer(tmp_path, cluster.members)
    sysbench = Sysbench(balancer.primary.number)
    pauses, writer = [], Writer(cluster, [balancer])
    try:
        balancer.start()
        sysbench.prepare()
        sysbench.start()
        for is_planned in planned:
            wait_for("sysbench to run without an error", lambda: sysbench.intervals[-1:] and not sysbench.intervals[-1].had_errors())
            begin, before, old = time.monotonic(), len(writer.committed), cluster.primary()
            dead = change(cluster, is_planned)
            wait_for("another primary", lambda old=old: cluster.primary() is not old)
            wait_for("the primary behind HAProxy", balancer.finds_the_primary)
            wait_for("rows after the change", lambda before=before: len(writer.committed) > before)
            pauses.append((begin, time.monotonic() + LATE_SECONDS))
            if dead:
                dead.start()
            wait_for("sysbench to report after the change",
                     lambda: any(line.begin > pauses[-1][1] and line.transactions > 0 for line in sysbench.intervals))
        sysbench.stop()
    finally:
        writer.stop()
        sysbench.close()
        balancer.close()
    for line in sysbench.intervals:
        is_in_a_pause = any(line.begin < end and begin < line.end for begin, end in pauses)
        assert is_in_a_pause or not line.had_errors(), (line, pauses, "".join(sysbench.output))
    rows = cluster.primary().query("select i from t.n order by i")
    assert set(writer.committed) <= {number for (number,) in rows}
    cluster.wait_for_rows("select i from t.n order by i", rows)


def test_the_probes_tell_the_primary_from_replicas_also_to_haproxy(cluster, tmp_path):
    primary, others = cluster.primary(), cluster.others()
    assert primary.probe("/primary") == (200, "primary\n")
    assert primary.probe("/replica")[0] == 503
    for member in others:
        assert member.probe("/primary")[0] == 503
        wait_for("the replica's probe", lambda member=member: member.probe("/replica?max_lag=5") == (200, "replica\n"))
    balancer = Balancer(tmp_path, cluster.members)
    try:
        balancer.start()
        # HAProxy takes every server for good until it has asked.
        readers = {(1, member.port) for member in others}
        wait_for("readers on both replicas only", lambda: {reader(balancer) for _ in range(10)} == readers)
        # A replica that does not follow is no place for readers.
        primary.kill()
        wait_for("another primary", lambda: cluster.primary() is not primary)
        [left] = [member for member in others if not member.is_primary()]
        wait_for("readers on the replica that is left", lambda: {reader(balancer) for _ in range(10)} == {(1, left.port)})
    finally:
        balancer.close()


def test_a_member_that_copies_or_waits_for_a_quorum_is_starting_and_not_dead(tmp_path):
    cluster = Cluster(tmp_path, 1)
    try:
        [primary] = cluster.members
        # The copy cannot begin before the primary answers.
        primary.process.send_signal(signal.SIGSTOP)
        member = Member(tmp_path / "b", cluster.etcd, tmp_path / "secret")
        cluster.members.append(member)
        member.spawn()
        assert_starting(member)
        primary.process.send_signal(signal.SIGCONT)
        member.wait_until_ready()
        wait_for("the probes", lambda: (member.probe("/health"), member.probe("/ready")) == ((200, "running\n"), (200, "ready\n")))
        wait_for("two log holders", lambda: cluster.holders() == 2)
        primary.kill()
        member.kill()
        member.spawn()
        assert_starting(member)
        primary.start()
        member.wait_until_ready()
        wait_for("the probe", lambda: member.probe("/ready") == (200, "ready\n"))
    finally:
        cluster.close()


def assert_starting(member):
    wait_for("the probe", lambda: member.probe("/health") == (200, "starting\n"))
    for path in ("/ready", "/primary", "/replica", "/replica?max_lag=9"):
        assert member.probe(path) == (503, "starting\n")


def reader(balancer):
    try:
        with balancer.connect(balancer.replicas.number) as connection, connection.cursor() as cursor:
            cursor.execute("select @@read_only, @@port")
            return cursor.fetchone()
    except pymysql.err.OperationalError:
        return None
