"""Reads that could be old are refused or marked: on a primary without a quorum, and on one that is none any more."""

import signal
import threading

import pymysql
import pytest
from support.waiting import wait_for

LOST = "This server has lost the quorum of its cluster: what is read here may be old"
REPLACED = "This server is not the primary of its cluster any more: what is read here may be old"


@pytest.fixture
def clusters(clusters):
    """Makes clusters with a row on all members."""

    def make(size):
        cluster = clusters(size)
        cluster.primary().query("insert into t.n values (1)")
        cluster.wait_for_rows("select i from t.n", ((1,),))
        return cluster

    return make


def send(members, number):
    for member in members:
        member.process.send_signal(number)


def rows(connection, statement="select i from t.n order by i"):
    """Returns the rows of a statement and its warnings."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        found = cursor.fetchall()
        cursor.execute("show warnings")
        return found, cursor.fetchall()


def refusal(connection, statement="select i from t.n"):
    """Returns the arguments of the error."""
    with pytest.raises(pymysql.err.Error) as refused:
        rows(connection, statement)
    return refused.value.args


def test_a_primary_without_a_quorum_refuses_reads_or_marks_them(clusters):
    cluster = clusters(3)
    primary, others = cluster.primary(), cluster.others()
    with primary.connect() as connection:
        assert primary.query("select @@global.paceline_cluster_stale_reads") == (("REFUSE",),)
        send(others, signal.SIGSTOP)
        for statement in ("select i from t.n", "select i from t.n for update", "start transaction with consistent snapshot"):
            wait_for("the lease to end", lambda: primary.query("show status like 'Paceline_cluster_lease_usec'")[0][1] == "0")
            assert refusal(connection, statement) == (1047, LOST), statement
        # What reads no table tells nothing that could be old.
        assert rows(connection, "select 1")[0] == ((1,),)
        rows(connection, "set paceline_cluster_stale_reads = warn")
        assert rows(connection) == (((1,),), (("Warning", 1047, LOST),))
        rows(connection, "set paceline_cluster_stale_reads = 'ALLOW'")
        assert rows(connection) == (((1,),), ())
        send(others, signal.SIGCONT)
        wait_for("new reads", lambda: is_new(cluster))


def test_what_changes_nothing_on_a_primary_without_a_quorum_is_refused_like_a_read(clusters):
    """"There is no such table" and "no row was found" may be as old as any answer. What has changes waits."""
    cluster = clusters(3)
    primary, others = cluster.primary(), cluster.others()
    primary.query("create table t.k (i int primary key)")
    primary.query("insert into t.k values (1)")
    primary.query("create table t.own (i int primary key)")
    answers_from_what_is_there = [
        "drop table t.missing",
        "alter table t.n drop column missing",
        "select i from t.missing",
        "select missing from t.k",
        "insert into t.k values (1)",
        "insert ignore into t.k values (1)",
        "update t.k set i = 3 where i = 2",
        "delete from t.k where i = 2",
        "drop user missing",
    ]
    with primary.connect() as connection, primary.connect() as transaction:
        rows(transaction, "begin")
        rows(transaction, "update t.own set i = 3 where i = 2")
        send(others, signal.SIGSTOP)
        for statement in answers_from_what_is_there:
            wait_for("the lease to end", lambda: primary.query("show status like 'Paceline_cluster_lease_usec'")[0][1] == "0")
            assert refusal(connection, statement) == (1047, LOST), statement
        assert refusal(transaction, "commit") == (1047, LOST)
        assert refusal(connection, "a syntax error")[0] == 1064
        writing = threading.Thread(target=primary.query, args=("insert into t.k values (2)",))
        writing.start()
        wait_for("the commit to wait", lambda: primary.query("show status like 'Paceline_cluster_waiting_commits'")[0][1] == "1")
        send(others, signal.SIGCONT)
        writing.join(60)
        assert not writing.is_alive()
    wait_for("new reads", lambda: is_new(cluster))
    assert cluster.primary().query("select i from t.k order by i") == ((1,), (2,))


def is_new(cluster):
    try:
        return cluster.primary().query("select i from t.n") == ((1,),)
    except pymysql.err.OperationalError as error:
        assert error.args[0] in (1047, 1290), error
        return False


def test_a_suspended_primary_shows_nothing_old_when_it_wakes_up(clusters):
    cluster = clusters(3)
    old = cluster.primary()
    with old.connect() as connection, old.connect() as marking:
        assert rows(connection) == (((1,),), ())
        rows(marking, "set paceline_cluster_stale_reads = warn")
        send([old], signal.SIGSTOP)
        others = [member for member in cluster.members if member is not old]
        new = wait_for("another primary", lambda: next((member for member in others if member.is_primary()), None))
        new.query("insert into t.n values (2)")
        send([old], signal.SIGCONT)
        # Whatever the old primary has noticed by now: the first read does not show the old state without a word.
        assert refusal(connection)[0] == 1047
        assert rows(marking)[1][0][:2] == ("Warning", 1047)
        wait_for("it follows", lambda: old.query("select i from t.n order by i") == ((1,), (2,)))
        # A session that has been told reads as on any replica, and so does a new one.
        wait_for("the session to be told", lambda: is_told(connection))
        assert rows(connection) == (((1,), (2,)), ())


def is_told(connection):
    """Returns whether a read succeeds. Of two reasons the session is told one after the other."""
    try:
        return rows(connection)[0]
    except pymysql.err.OperationalError as error:
        assert error.args == (1047, REPLACED)
        return False


def test_a_session_is_told_once_that_the_primary_has_changed(clusters):
    cluster = clusters(3)
    old, (new, _) = cluster.primary(), cluster.others()
    with old.connect() as connection, new.connect() as other:
        assert rows(other) == (((1,),), ())
        cluster.command("switch", "--to", new.directory.name)
        assert refusal(connection) == (1047, REPLACED)
        assert rows(connection) == (((1,),), ())
        assert rows(other) == (((1,),), ())
    assert old.query("select i from t.n") == ((1,),)


def test_the_probe_for_the_primary_fails_without_a_quorum(clusters):
    cluster = clusters(3)
    primary, others = cluster.primary(), cluster.others()
    wait_for("the primary", lambda: primary.probe("/primary") == (200, "primary\n"))
    send(others, signal.SIGSTOP)
    wait_for("the probe to fail", lambda: primary.probe("/primary") == (503, "it has lost the quorum of its cluster\n"))
    send(others, signal.SIGCONT)
    wait_for("the probe of the primary", lambda: cluster.primary().probe("/primary")[0] == 200)


def test_commits_that_wait_are_shown(clusters):
    cluster = clusters(3)
    primary, others = cluster.primary(), cluster.others()
    said = "commits wait for acknowledgements: 1 transactions, the oldest for"
    before = primary.said().count(said)
    send(others, signal.SIGSTOP)
    writing = threading.Thread(target=primary.query, args=("insert into t.n values (2)",))
    writing.start()

    def status(name):
        return primary.query(f"show status like 'Paceline_cluster_{name}'")[0][1]

    wait_for("a wait", lambda: int(status("oldest_wait_usec")) > 1_000_000)
    assert status("waiting_commits") == "1"
    shown = primary.query("select state from information_schema.processlist where info like 'insert%'")
    assert shown == (("Waiting for the cluster to acknowledge the commit",),)
    names = ", ".join(sorted(member.directory.name for member in others))
    wait_for("the log to say so", lambda: primary.said().count(said) > before)
    assert f"; not heard: {names}" in primary.said()
    send(others, signal.SIGCONT)
    writing.join()
    wait_for("the end", lambda: "commits no longer wait for acknowledgements" in primary.said())
    assert primary.said().count(said) == before + 1


def test_status_variables_of_a_cluster(clusters, paceline):
    cluster = clusters(3)
    primary = cluster.primary()
    for member in cluster.members:
        shown = dict(member.query("show status like 'Paceline_cluster%'"))
        is_primary = member is primary
        assert shown["Paceline_cluster_is_primary"] == ("ON" if is_primary else "OFF")
        assert (shown["Paceline_cluster_holders"], shown["Paceline_cluster_copies_required"]) == ("3", "2")
        assert shown["Paceline_cluster_etcd_answers"] == "ON"
        assert (shown["Paceline_cluster_waiting_commits"], shown["Paceline_cluster_oldest_wait_usec"]) == ("0", "0")
        assert (int(shown["Paceline_cluster_lease_usec"]) > 0) == is_primary
        assert shown["Paceline_cluster_acknowledged_index"] == shown["Paceline_cluster_log_index"] != "0"
        assert int(shown["Paceline_cluster_epoch"]) >= 3
    cluster.etcd.close()
    wait_for("etcd to be missed", lambda: primary.query("show status like 'Paceline_cluster_etcd_answers'")[0][1] == "OFF")
    assert {value for _, value in paceline.query("show status like 'Paceline_cluster%'")} == {"0", "OFF"}
