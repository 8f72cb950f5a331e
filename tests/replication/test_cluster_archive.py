"""An archive as a log holder of a cluster: two servers and an archive survive the loss of any of them."""

import struct
import subprocess
import threading

import pymysql
import pytest
from pymysql.constants import COMMAND
from support.archive import Archive
from support.clusters import NAME, ArchiveMember, Cluster, Writer
from support.real_replicas import ACCOUNT, PASSWORD
from support.servers import BINARY, MariaDb, Paceline
from support.waiting import let_run, stays, wait_for


@pytest.fixture
def others(tmp_path):
    """Ends other servers after the test."""
    made = []
    yield made
    for server in made:
        server.close()


def position(member):
    return member.query("select @@global.gtid_binlog_pos")[0][0]


def assert_same_everywhere(cluster, writer):
    """Each member has each number that was reported as committed, and all have the same log."""
    rows = cluster.primary().query("select i from t.n order by i")
    assert len(writer.committed) > 10
    assert set(writer.committed) <= {number for (number,) in rows}
    cluster.wait_for_rows("select i from t.n order by i", rows)
    for archive in cluster.archives:
        wait_for(f"{archive} to have all", lambda archive=archive: position(archive) == position(cluster.primary()))


def test_two_servers_and_an_archive_survive_the_loss_of_each(clusters):
    cluster = clusters(2, archives=1)
    [archive] = cluster.archives
    assert [line.split()[3] for line in cluster.command("status").splitlines()[1:4]].count("archive") == 1
    writer = Writer(cluster)
    writer.wait_for_more()
    # The primary; then the one that has replaced it; an archive; and the server that is no primary.
    for choose in (cluster.primary, cluster.primary, lambda: archive, lambda: cluster.others()[0]):
        lost = choose()
        lost.kill()
        writer.wait_for_more()
        lost.start()
        wait_for(f"{lost} to have all of the log", lambda lost=lost: has_caught_up(cluster, lost))
    writer.stop()
    assert_same_everywhere(cluster, writer)
    assert writer.errors <= {1053, 1290, 2003, 2006, 2013}, writer.errors


def has_caught_up(cluster, member):
    """Returns whether a member has what the primary has by now."""
    wanted = sequence(cluster.primary())
    try:
        return wait_for("the log", lambda: sequence(member) >= wanted, seconds=5)
    except (pymysql.err.Error, AssertionError):
        return False


def sequence(member):
    """Returns the number of the last transaction of domain 0."""
    return int(position(member).split(",")[0].split("-")[2])


def test_a_candidate_fetches_from_the_archive_what_only_that_has(clusters):
    cluster = clusters(2, archives=1)
    primary, [other] = cluster.primary(), cluster.others()
    other.kill()
    # Acknowledged by the primary and the archive.
    primary.query("insert into t.n values (1), (2)", "insert into t.n values (3)")
    primary.kill()
    other.start()
    assert cluster.primary() is other
    assert other.query("select i from t.n order by i") == ((1,), (2,), (3,))
    other.query("insert into t.n values (4)")
    primary.start()
    cluster.wait_for_rows("select i from t.n order by i", ((1,), (2,), (3,), (4,)))


def test_an_archive_cuts_what_was_not_acknowledged(clusters):
    cluster = clusters(2, archives=1)
    [archive] = cluster.archives
    # Three copies: the archive has a row that nobody else has, and that is not acknowledged.
    cluster.command("copies", "3")
    primary, [other] = cluster.primary(), cluster.others()
    other.kill()
    # Nothing else is written that the archive could still lack.
    wait_for("the archive to have all", lambda: position(archive) == position(primary))
    before = position(archive)
    waiting = threading.Thread(target=insert_in_vain, args=(primary,))
    waiting.start()
    wait_for("the row in the archive", lambda: position(archive) != before)
    # Not to replicas that are no members.
    with archive.connect(user="paceline.cluster", password=cluster.secret) as connection:
        connection.cursor().execute("set @master_binlog_checksum='CRC32'")
        connection._execute_command(COMMAND.COM_BINLOG_DUMP, struct.pack("<IHI", 4, 1, 77))
        assert b"values (2)" not in b"".join(packets(connection))
    archive.kill()
    primary.kill()
    waiting.join()
    # The two others are forced to go on without it.
    other.spawn()
    cluster.command("restore-quorum", "--yes", "--primary", other.directory.name, "--holders", other.directory.name)
    other.wait_until_ready()
    wait_for("the other to be open", other.is_primary)
    other.query("insert into t.n values (3)")
    archive.start()
    cluster.command("add", archive.directory.name)
    wait_for("the archive to have all", lambda: position(archive) == position(other))
    assert "were cut off" in archive.said()


def packets(connection):
    """Returns the packets of a stream up to its end."""
    while True:
        packet = connection._read_packet()
        if packet.is_eof_packet():
            return
        yield packet.get_all_data()


def insert_in_vain(primary):
    with pytest.raises(pymysql.err.Error):
        primary.query("insert into t.n values (2)")


def test_a_new_archive_begins_where_the_primarys_log_begins(clusters, tmp_path):
    cluster = clusters(2)
    primary = cluster.primary()
    primary.query("insert into t.n values (1)", "flush binary logs", "insert into t.n values (2)")
    [*_, (last, *_)] = primary.query("show binary logs")
    primary.query(f"purge binary logs to '{last}'")
    archive = ArchiveMember(tmp_path / "z", cluster.etcd, cluster.secret_file)
    cluster.archives.append(archive)
    archive.start()
    wait_for("a third holder", lambda: cluster.holders() == 3)
    assert position(archive) == position(primary)
    assert archive.status("Paceline_archive_oldest") != ""
    # It counts: a server can be lost.
    cluster.others()[0].kill()
    primary.query("insert into t.n values (3)")
    # Also after a restart with nothing but the beginning.
    archive.kill()
    archive.start()
    primary.query("insert into t.n values (4)")
    primary.kill()
    [other] = [member for member in cluster.members if member is not primary]
    other.start()
    assert cluster.primary().query("select i from t.n order by i") == ((1,), (2,), (3,), (4,))


def test_a_planned_change_goes_to_servers_only(clusters):
    cluster = clusters(2, archives=1)
    [archive], [other] = cluster.archives, cluster.others()
    assert "is not a server of the present configuration" in cluster.try_command("switch", "--to", archive.directory.name).stderr
    writer = Writer(cluster)
    writer.wait_for_more()
    cluster.command("switch")
    assert cluster.primary() is other
    writer.wait_for_more()
    writer.stop()
    assert_same_everywhere(cluster, writer)
    cluster.command("remove", archive.directory.name)
    assert cluster.holders() == 2
    cluster.command("add", archive.directory.name)
    assert cluster.holders() == 3
    cluster.primary().query("insert into t.n values (-1)")
    assert_same_everywhere(cluster, writer)


def test_retention_keeps_what_a_server_could_have_to_fetch(clusters):
    cluster = clusters(2, archives=1)
    [archive] = cluster.archives
    archive.stop()
    archive.options += ["--binlog-expire-logs-seconds=0", "--max-binlog-size=4096"]
    archive.start()
    cluster.primary().query("insert into t.n values (1)")
    primary, [other] = cluster.primary(), cluster.others()
    other.kill()
    begin = position(primary)
    for number in range(100, 150):
        primary.query(f"insert into t.n values ({number})")
    wait_for("files", lambda: len(archive.query("show binary logs")) > 3)
    reached = position(primary)
    assert archive.query(f"select master_gtid_wait('{reached}', 60)") == ((0,),)
    files = archive.query("show binary logs")
    stays("no file is removed", lambda: has_all_after(archive, begin), seconds=12)
    with pytest.raises(pymysql.err.Error) as refused:
        archive.query(f"purge binary logs to '{files[-1][0]}'")
    assert refused.value.args[0] == 1378
    # The other fetches it, becomes the primary, and nobody needs it any more.
    primary.kill()
    other.start()
    assert cluster.primary() is other
    assert other.query("select count(*) from t.n") == ((51,),)
    primary.start()
    other.query("insert into t.n values (2)")
    wait_for("the oldest file to be removed", lambda: archive.query("show binary logs")[0] != files[0])


def has_all_after(archive, begin):
    """Returns whether the archive's log begins at or before a position of one domain."""
    oldest = archive.status("Paceline_archive_oldest")
    return not oldest or int(oldest.split("-")[2]) <= int(begin.split("-")[2])


def test_replicas_hang_below_an_archive_of_a_cluster(clusters, tmp_path, others):
    cluster = clusters(2, archives=1)
    [archive] = cluster.archives
    replica = MariaDb(tmp_path / "mariadb")
    others.append(replica)
    replica.start()
    [(oldest,)] = archive.query("select binlog_gtid_pos('archive.000001', 4)")
    assert oldest in ("", None)
    replica.query(f"change master to master_host='127.0.0.1', master_port={archive.port}, master_user='{ACCOUNT}', "
                  f"master_password='{PASSWORD}', master_use_gtid=slave_pos", "start slave")
    cluster.primary().query("insert into t.n values (1)")
    wait_for("the replica", lambda: rows_of(replica) == ((1,),))
    # Through a change of the primary.
    cluster.command("switch")
    cluster.primary().query("insert into t.n values (2)")
    wait_for("the replica", lambda: rows_of(replica) == ((1,), (2,)))
    for statement in ("stop slave", "start slave", "change master to master_port=1"):
        with pytest.raises(pymysql.err.Error) as refused:
            archive.query(statement)
        assert refused.value.args == (1290, "The MariaDB server is running with the --cluster option so it cannot execute this statement")


def rows_of(replica):
    try:
        return replica.query("select i from t.n order by i")
    except pymysql.err.Error:
        return ()


def test_all_members_off_at_once_with_an_archive(clusters):
    cluster = clusters(2, archives=1)
    writer = Writer(cluster)
    let_run(1)
    everyone = [*cluster.members, *cluster.archives]
    for member in everyone:
        member.kill()
    writer.stop()
    for member in everyone:
        member.spawn()
    for member in everyone:
        member.wait_until_ready()
    assert_same_everywhere(cluster, writer)


def test_options_of_an_archive_in_a_cluster_are_those_of_a_server(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("a secret of many letters\n")
    secret.chmod(0o600)
    whole = [f"--cluster={NAME}", "--etcd=http://127.0.0.1:1", "--cluster-address=127.0.0.1:1", f"--cluster-secret-file={secret}"]
    cases = [
        (["--from=127.0.0.1:1", "--cluster-zone=3"], "--cluster-zone has no effect without --cluster"),
        (["--from=127.0.0.1:1", "--etcd-user=x"], "--etcd-user has no effect without --cluster"),
        (["--from=127.0.0.1:1", *whole], "cannot be used with"),
        (whole[:1], "--cluster needs --etcd=URL"),
        (whole[:2], "--cluster needs --cluster-address=HOST:PORT"),
        (whole[:3], "--cluster needs --cluster-secret-file=FILE"),
        ([*whole, "--cluster-address=0.0.0.0:1"], "must name this host"),
        ([*whole, "--cluster-address=127.0.0.1"], "'127.0.0.1' has no port"),
        ([*whole, "--etcd-cert-file=x"], "--etcd-cert-file and --etcd-key-file need each other"),
        ([*whole, "--port=0"], "--cluster needs a port for the other members"),
        (["--cluster=a/b", *whole[1:]], "cannot be the name of a cluster"),
    ]
    for options, text in cases:
        words = {option.partition("=")[0]: option for option in options}.values()
        refused = subprocess.run([BINARY, "archive", f"--datadir={tmp_path / 'data'}", *words], capture_output=True, text=True, timeout=30)
        assert refused.returncode != 0, words
        assert text in refused.stdout + refused.stderr, (words, refused.stderr)
    assert not (tmp_path / "data").exists()


def test_an_archive_with_another_log_is_refused(tmp_path, others):
    primary = Paceline(tmp_path / "primary")
    others.append(primary)
    primary.start()
    primary.query(f"create user {ACCOUNT} identified by '{PASSWORD}'", f"grant all on *.* to {ACCOUNT}")
    before = Archive(tmp_path / "archive", primary)
    others.append(before)
    before.start()
    before.wait_for(primary)
    before.stop()
    (tmp_path / "cluster").mkdir()
    cluster = Cluster(tmp_path / "cluster", 1)
    others.append(cluster)
    archive = ArchiveMember(tmp_path / "archive", cluster.etcd, cluster.secret_file)
    archive.spawn()
    assert archive.process.wait(timeout=60) != 0
    assert "is not the cluster's: it has no epoch of it" in archive.said()


def test_an_archive_that_has_followed_the_cluster_becomes_a_member(clusters, tmp_path, others):
    cluster = clusters(2)
    cluster.primary().query(f"create user {ACCOUNT} identified by '{PASSWORD}'", f"grant all on *.* to {ACCOUNT}")
    before = Archive(tmp_path / "archive", cluster.primary())
    others.append(before)
    before.start()
    cluster.primary().query("insert into t.n values (1)")
    before.wait_for(cluster.primary())
    oldest = before.status("Paceline_archive_oldest")
    before.stop()
    cluster.primary().query("insert into t.n values (2)")
    archive = ArchiveMember(tmp_path / "archive", cluster.etcd, cluster.secret_file)
    cluster.archives.append(archive)
    archive.start()
    wait_for("a third holder", lambda: cluster.holders() == 3)
    assert archive.status("Paceline_archive_oldest") == oldest
    cluster.others()[0].kill()
    cluster.primary().query("insert into t.n values (3)")
    assert position(archive) == position(cluster.primary())
