"""Whoever is between the members of a cluster, and does not know its secret, learns nothing and can pretend nothing."""

import secrets
import signal

import pymysql
import pytest
from support.clusters import NAME, Member
from support.eavesdropping import ManInTheMiddle, Recorder, change_entry
from support.servers import ROOT
from support.waiting import stays, wait_for

COLUMNS = "i int primary key, s varchar(100)"
CERTIFICATES = ROOT / "tests/support/certificates"


def test_nothing_of_the_data_and_the_secret_can_be_read(clusters, tmp_path):
    cluster = clusters(2, archives=1, columns=COLUMNS)
    third = Member(tmp_path / "third", cluster.etcd, cluster.secret_file)
    everyone = [*cluster.members, *cluster.archives, third]
    try:
        recorder = Recorder(*(member.port for member in everyone), *(member.messages.number for member in everyone))
    except PermissionError:
        pytest.skip("the network cannot be read without a privilege")
    clusters.ends(recorder)
    texts = [secrets.token_hex(16) for _ in range(20)]
    primary = cluster.primary()
    for number, text in enumerate(texts):
        primary.query(f"insert into t.n values ({number}, '{text}')")
    # A new member copies all of it, and each of the others follows again.
    cluster.members.append(third)
    third.start()
    wait_for("a fourth holder", lambda: cluster.holders() == 4)
    for member in [*cluster.archives, *cluster.others()]:
        member.kill()
        member.start()
    primary.query("insert into t.n values (-1, 'the end')")
    cluster.wait_for_rows("select count(*) from t.n", ((len(texts) + 1,),))
    # A client in clear: so the recorder works.
    shown = secrets.token_hex(16)
    primary.query(f"select '{shown}'", host="127.0.0.1", port=primary.port, unix_socket=None)
    wait_for("the client's text", lambda: shown.encode() in recorder.seen)
    assert len(recorder.seen) > 100_000
    for text in [*texts, "the end", cluster.secret, "create table t.n", "START CLUSTER MESSAGES", "insert into", "COM_BINLOG", "gtid_"]:
        assert text.encode() not in recorder.seen, text


def test_a_man_in_the_middle_gets_nothing(clusters, tmp_path):
    cluster = clusters(3, columns=COLUMNS)
    primary, [victim, _] = cluster.primary(), cluster.others()
    shown = CERTIFICATES / "server.pem", CERTIFICATES / "server.key"
    of_clients, of_messages = ManInTheMiddle(primary.port, *shown), ManInTheMiddle(primary.messages.number, *shown)
    clusters.ends(of_clients)
    clusters.ends(of_messages)
    # The primary stands still and is not replaced. At its address is somebody with a certificate of his own.
    cluster.command("pause")
    primary.process.send_signal(signal.SIGSTOP)
    try:
        change_entry(cluster.etcd, NAME, primary.directory.name, port=of_clients.port, cluster_port=of_messages.port)
        victim.kill()
        victim.spawn()
        newcomer = Member(tmp_path / "newcomer", cluster.etcd, cluster.secret_file)
        clusters.ends(newcomer)
        newcomer.spawn()
        wait_for("attempts to send messages", lambda: of_messages.handshakes > 2)
        wait_for("an attempt to copy", lambda: of_clients.handshakes > 0)
        for member in (victim, newcomer):
            wait_for("the reason in the log", lambda member=member: "does not have the cluster's secret" in member.said())
        assert not of_messages.told and not of_clients.told
    finally:
        primary.process.send_signal(signal.SIGCONT)


def test_a_member_with_another_secret_is_refused(clusters):
    cluster = clusters(3, columns=COLUMNS)
    primary, [wrong, other] = cluster.primary(), cluster.others()
    wrong.kill()
    secret = cluster.secret_file.with_name("another_secret")
    secret.write_text(secrets.token_hex(16) + "\n")
    secret.chmod(0o600)
    wrong.options = [f"--cluster-secret-file={secret}" if "secret" in option else option for option in wrong.options]
    wrong.spawn()
    wait_for("the reason in its log", lambda: "does not have the cluster's secret" in wrong.said())
    wait_for("the reason in the primary's log", lambda: "does not have the cluster's secret" in primary.said())
    primary.query("insert into t.n values (1, 'x')")
    cluster.wait_for_rows("select i from t.n", ((1,),), members=[primary, other])
    stays("it is not served", lambda: not answers(wrong), seconds=1)


def answers(member):
    try:
        return member.query("select 1")
    except pymysql.err.Error:
        return False


def test_a_member_logs_in_only_inside_of_tls(clusters):
    cluster = clusters(1, archives=1, columns=COLUMNS)
    login = {"user": "paceline.cluster", "password": cluster.secret}
    for member in (cluster.primary(), *cluster.archives):
        with pytest.raises(pymysql.err.OperationalError) as refused:
            member.query("select 1", host="127.0.0.1", port=member.port, unix_socket=None, **login)
        assert refused.value.args[0] in (1045, 1698)
        assert member.query("select 1", **login) == ((1,),)


def test_a_cluster_needs_tls(clusters):
    cluster = clusters(2, columns=COLUMNS)
    [member] = cluster.others()
    member.kill()
    member.spawn("--skip-ssl")
    assert member.process.wait(timeout=60) != 0
    assert "--cluster needs TLS for the other members: not --skip-ssl" in member.said()
