"""Members whose data directory was emptied: they join anew, beside or in the place of what they were."""

import re
import shutil

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
