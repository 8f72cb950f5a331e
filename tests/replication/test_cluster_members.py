"""Members that are no log holders, and what operators are told."""

import contextlib
import threading

import pymysql
from support.waiting import wait_for


def number(member, value):
    member.query(f"insert into t.n values ({value})")


def test_a_removed_member_is_an_ordinary_replica(clusters):
    cluster = clusters(3)
    primary, (removed, other) = cluster.primary(), cluster.others()
    rows = "select i from t.n order by i"
    cluster.command("remove", removed.directory.name)
    assert cluster.holders() == 2
    number(primary, 1)
    cluster.wait_for_rows(rows, ((1,),), [removed])
    # It goes on with the next primary.
    cluster.command("switch")
    assert cluster.primary() is other
    number(other, 2)
    cluster.wait_for_rows(rows, ((1,), (2,)), [removed])
    # And after a restart.
    removed.kill()
    number(other, 3)
    removed.start()
    number(other, 4)
    cluster.wait_for_rows(rows, ((1,), (2,), (3,), (4,)), [removed])
    assert removed.probe("/replica?max_lag=5")[0] == 200
    # Nobody waits for it, and it can become a holder again.
    removed.kill()
    number(other, 5)
    removed.start()
    cluster.command("add", removed.directory.name)
    wait_for("three log holders", lambda: cluster.holders() == 3)


def test_a_removed_member_that_missed_a_change_of_the_primary_follows(clusters):
    """Its log has a transaction of the old primary that nobody else has."""
    cluster = clusters(3)
    removed, (second, third) = cluster.primary(), cluster.others()
    second.kill()
    third.kill()
    waiting = threading.Thread(target=insert_in_vain, args=(removed, 1), daemon=True)
    waiting.start()
    wait_for("a commit that waits", lambda: removed.query("show status like 'Paceline_cluster_waiting_commits'")[0][1] == "1")
    removed.kill()
    waiting.join()
    for member in (second, third):
        member.spawn()
    wait_for("another primary", lambda: second.is_primary() or third.is_primary())
    cluster.command("remove", removed.directory.name)
    number(cluster.primary(), 2)
    removed.start()
    cluster.wait_for_rows("select i from t.n", ((2,),))


def insert_in_vain(member, value):
    with contextlib.suppress(pymysql.err.Error):
        number(member, value)


def test_the_status_says_that_commits_wait(clusters):
    cluster = clusters(3)
    primary, others = cluster.primary(), cluster.others()
    name = primary.directory.name

    def waits():
        return primary.cluster_status()[name]["Waits"]

    assert waits() is None
    for member in others:
        member.kill()
    waiting = threading.Thread(target=number, args=(primary, 1))
    waiting.start()
    said = wait_for("the reason", waits)
    assert said.startswith("for acknowledgements: 1 transactions, the oldest for "), said
    others[0].start()
    waiting.join(60)
    wait_for("the end of the wait", lambda: waits() is None)


def test_commands_that_change_nothing_fail(clusters):
    cluster = clusters(3)
    primary, (second, _) = cluster.primary(), cluster.others()
    own, other = primary.directory.name, second.directory.name
    for arguments, reason in [
        (("restore-quorum", "--primary", own, "--holders", own), "nothing was changed: there is no terminal to ask on"),
        (("restore-quorum", "--primary", own, "--holders", other, "--yes"), f"{own} is not one of the servers that are left"),
        (("switch", "--to", own), f"{own} is the primary already"),
        (("remove", own), f"{own} is the primary: switch to another server first"),
    ]:
        done = cluster.try_command(*arguments)
        assert done.returncode == 1 and reason in done.stderr, done
    assert "Given up" not in cluster.try_command("restore-quorum", "--primary", own, "--holders", other).stderr
    assert cluster.primary() is primary and cluster.holders() == 3


def test_a_new_member_is_told_nothing_that_is_for_other_servers(clusters):
    cluster = clusters(2)
    for member in cluster.members:
        said = member.said()
        assert "read_only" not in said and "was written by a version before" not in said, said
