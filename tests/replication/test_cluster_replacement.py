"""Members whose data directory was emptied: they join anew, beside or in the place of what they were."""

import re
import shutil

from support.clusters import Member
from support.waiting import stays, wait_for


def lose_directory(member):
    member.kill()
    shutil.rmtree(member.datadir)


def members_named(cluster, name):
    members, _ = cluster.command("status").split("\nepoch ")
    return [line.split()[1] for line in members.splitlines()[1:] if line.split()[0] == name]


def test_a_member_that_lost_its_directory_joins_anew_and_senders_to_the_old_one_are_reported_once(clusters):
    cluster = clusters(3)
    lost = cluster.others()[0]
    name = lost.directory.name
    lose_directory(lost)
    lost.start()
    # The old one is still a log holder: nobody has said that it will not come back.
    wait_for("a fourth log holder", lambda: cluster.holders() == 4)
    wait_for("a message to the old one", lambda: "the sender looks for member" in lost.said())
    stays("it is reported once", lambda: lost.said().count("the sender looks for member") == 1, 3)
    refused = cluster.try_command("remove", name)
    numbers = re.search(rf"several members have the name {name}: use the number, (\d+) \(holder\) or (\d+) \(holder\)", refused.stderr)
    assert refused.returncode == 1 and numbers, refused
    # The established configuration has them in the order in which they came.
    cluster.command("remove", numbers[1])
    assert cluster.holders() == 3
    cluster.primary().query("insert into t.n values (1)")
    cluster.wait_for_rows("select i from t.n", ((1,),))


def test_a_dead_member_that_is_added_again_gives_its_place_to_the_one_that_replaces_it(clusters):
    cluster = clusters(3)
    dead = cluster.others()[0]
    name = dead.directory.name
    dead.kill()
    cluster.command("remove", name)
    added = cluster.try_command("add", name, "--timeout=1")
    assert added.returncode == 1 and re.search(rf"It waits until these run and have its log: {name} \(\d+\)", added.stderr), added
    assert members_named(cluster, name) == ["joining"]
    lose_directory(dead)
    dead.start()
    wait_for("the new member to be a log holder", lambda: members_named(cluster, name) == ["holder"])
    assert cluster.holders() == 3
    assert "a change of the log holders is under way" not in cluster.command("status")


def newcomer(cluster, clusters, name="newcomer"):
    member = Member(cluster.etcd.directory / name, cluster.etcd, cluster.secret_file)
    clusters.ends(member)
    return member


def test_a_new_member_waits_for_another_primary_if_the_one_it_copies_is_lost(clusters):
    cluster = clusters(3)
    dead = cluster.primary()
    dead.query("insert into t.n values (1)")
    cluster.wait_for_rows("select i from t.n", ((1,),))
    # etcd goes on to name the dead one.
    cluster.command("pause")
    dead.kill()
    member = newcomer(cluster, clusters)
    member.spawn()
    wait_for("an attempt to copy", lambda: "the copy begins anew when the primary, or another one, is there" in member.said())
    # It can be stopped meanwhile.
    assert member.stop() == 0, member.said()
    member.spawn()
    cluster.command("resume")
    member.wait_until_ready()
    assert cluster.primary() is not dead
    cluster.wait_for_rows("select i from t.n", ((1,),), [member])
    wait_for("the newcomer to be a log holder", lambda: cluster.holders() == 4)
    # Two attempts at most per start, however often it has tried.
    assert member.said().count("copying ") <= 4 and member.said().count("the copy begins anew") <= 2


def test_a_member_that_was_killed_while_it_copied_copies_anew(clusters):
    """The marker says that a copy had begun; half a file is left."""
    cluster = clusters(2)
    member = newcomer(cluster, clusters)
    datadir = member.directory / "data"
    datadir.mkdir()
    (datadir / "paceline.unfinished").write_text("paceline join\n")
    (datadir / "binlog.000001").write_bytes(b"\xfebin")
    member.start()
    wait_for("the newcomer to be a log holder", lambda: cluster.holders() == 3)
    # What another command has begun is not touched.
    other = newcomer(cluster, clusters, "other")
    datadir = other.directory / "data"
    datadir.mkdir()
    (datadir / "paceline.unfinished").write_text("paceline restore\n")
    other.spawn()
    assert other.process.wait(60) == 1
    assert "'paceline restore' has not finished" in other.said()
