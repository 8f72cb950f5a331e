"""Priorities and zones of members, and MariaDB replicas below a cluster's server."""

import pytest
from support.clusters import Writer
from support.real_replicas import ACCOUNT, PASSWORD, catch_up, change_master
from support.servers import MariaDb
from support.waiting import stays, wait_for


def establish(cluster, member, *options):
    """Restarts a member with options, and makes it a log holder with them."""
    name = member.directory.name
    member.stop()
    member.options += options
    member.start()
    cluster.command("remove", name)
    cluster.command("add", name)
    wait_for("all log holders", lambda: cluster.holders() == len(cluster.members))


def test_the_server_with_the_highest_priority_takes_over(clusters):
    cluster = clusters(3)
    old = cluster.primary()
    shown = old.cluster_status()
    _, last = sorted(cluster.others(), key=lambda member: shown[member.directory.name]["Member_id"])
    establish(cluster, last, "--cluster-priority=9")
    assert old.cluster_status()[last.directory.name]["Priority"] == 9
    writer = Writer(cluster)
    writer.wait_for_more()
    # Without a name it is the best one.
    cluster.command("switch")
    assert cluster.primary() is last
    writer.wait_for_more()
    writer.stop()


def test_copies_span_zones(clusters):
    cluster = clusters(3)
    primary, (near, far) = cluster.primary(), cluster.others()
    establish(cluster, far, "--cluster-zone=1")
    cluster.command("copies", "2", "--zones", "2")
    writer = Writer(cluster, [primary])
    writer.wait_for_more()
    # Two copies are left, in two zones.
    near.kill()
    writer.wait_for_more()
    near.start()
    # Two copies are left, in one zone.
    far.kill()
    stays("nothing is committed", lambda before=len(writer.committed): len(writer.committed) <= before + 1, 1)
    far.start()
    writer.wait_for_more()
    writer.stop()
    rows = primary.query("select i from t.n order by i")
    assert set(writer.committed) <= {number for (number,) in rows}
    cluster.wait_for_rows("select i from t.n order by i", rows)


@pytest.fixture
def below(tmp_path):
    replica = MariaDb(tmp_path / "mariadb").start()
    yield replica
    replica.close()


def test_a_mariadb_below_a_server_goes_on_through_changes_of_the_primary(clusters, below):
    cluster = clusters(3)
    first = cluster.primary()
    first.query(f"create user {ACCOUNT} identified by '{PASSWORD}'", f"grant replication slave, binlog monitor on *.* to {ACCOUNT}")
    change_master(below, first)
    below.query("start slave")
    writer = Writer(cluster)
    writer.wait_for_more()
    # The server above it is a replica from now on.
    cluster.command("switch")
    second = cluster.primary()
    assert second is not first
    writer.wait_for_more()
    catch_up(below, second)
    # Another one takes over, by an accident.
    second.kill()
    wait_for("another primary", lambda: any(member.is_primary() for member in cluster.members if member is not second))
    writer.wait_for_more()
    # The server above dies; the MariaDB is told of another one.
    first.kill()
    second.start()
    below.query("stop slave")
    change_master(below, second)
    below.query("start slave")
    writer.wait_for_more()
    writer.stop()
    first.start()
    rows = cluster.primary().query("select i from t.n order by i")
    assert set(writer.committed) <= {number for (number,) in rows}
    wait_for("all rows on the MariaDB", lambda: below.query("select i from t.n order by i") == rows)
