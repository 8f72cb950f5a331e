"""A cluster replaces its primary by itself, and loses nothing that was reported as committed."""

import struct
import subprocess
import threading

import pymysql
import pytest
from pymysql.constants import COMMAND
from support.clusters import Member, Writer
from support.servers import BINARY
from support.waiting import let_run, stays, wait_for


def assert_everywhere(cluster, writer):
    """Every member has every number that was reported as committed, and all have the same."""
    expected = set(writer.committed)
    assert len(expected) > 10
    rows = cluster.primary().query("select i from t.n order by i")
    assert expected <= {number for (number,) in rows}
    cluster.wait_for_rows("select i from t.n order by i", rows)


def test_a_server_founds_a_cluster_and_others_copy_it(clusters):
    cluster = clusters(3)
    cluster.primary().query("insert into t.n values (1)", "create user someone identified by 'secret'")
    cluster.wait_for_rows("select i from t.n", ((1,),))
    for member in cluster.others():
        # Nobody may write there, whatever his privileges.
        with pytest.raises(pymysql.err.OperationalError) as refused:
            member.query("insert into t.n values (2)")
        assert refused.value.args[0] == 1290
        with pytest.raises(pymysql.err.OperationalError) as refused:
            member.query("create table t.other (i int)")
        assert refused.value.args[0] == 1290
        wait_for("the account", lambda member=member: member.query("select user from mysql.user where user = 'someone'") == (("someone",),))


def test_statements_that_endanger_the_cluster_are_refused(clusters):
    cluster = clusters(1)
    for statement in ("reset master", "flush binary logs delete_domain_id=(3)", "set global gtid_binlog_state=''", "set global gtid_slave_pos=''",
                      "set global gtid_strict_mode=off", "change master to master_host='127.0.0.1'", "start slave", "stop slave", "reset slave"):
        with pytest.raises(pymysql.err.Error) as refused:
            cluster.primary().query(statement)
        assert refused.value.args == (1290, "The MariaDB server is running with the --cluster option so it cannot execute this statement")


def test_members_stop_cleanly_and_go_on(clusters):
    cluster = clusters(3)
    cluster.primary().query("insert into t.n values (1)")
    for member in [*cluster.others(), cluster.primary()]:
        assert member.stop() == 0
        assert "shutdown complete" in member.said()
        member.start()
        cluster.primary().query("insert into t.n select max(i) + 1 from t.n")
    cluster.wait_for_rows("select count(*) from t.n", ((4,),))


def test_members_restart_while_nothing_is_written(clusters):
    cluster = clusters(3)
    cluster.primary().query("insert into t.n values (1)")
    for member in cluster.others():
        # Its tables have the whole log.
        cluster.wait_for_rows("select i from t.n", ((1,),))
        assert member.stop() == 0
        member.start()
    cluster.wait_for_rows("select i from t.n", ((1,),))


def test_a_member_without_a_quorum_stops_and_reports_nothing_as_committed(clusters):
    cluster = clusters(3)
    primary, others = cluster.primary(), cluster.others()
    for member in others:
        member.kill()
    waiting = threading.Thread(target=insert_in_vain, args=(primary,))
    waiting.start()
    wait_for("the row in the log", lambda: in_log(primary))
    assert primary.stop() == 0
    waiting.join()
    assert "1 transactions are in the log and not acknowledged by the cluster" in primary.said()
    for member in cluster.members:
        member.spawn()
    for member in cluster.members:
        member.wait_until_ready()
    # The whole log is there again, so it may be acknowledged now, or replaced: but everywhere alike.
    rows = cluster.primary().query("select i from t.n")
    assert rows in ((), ((2,),))
    cluster.wait_for_rows("select i from t.n", rows)


def test_only_members_read_what_is_not_acknowledged(clusters):
    cluster = clusters(1)
    epoch = cluster.command("status").splitlines()[-1].split()[1]
    member = {"user": "paceline.cluster", "password": cluster.secret}
    # Format 0 of the log: a version before this one.
    for reader, log_format, code in (({}, 1, 1236), (member, 0, 1236), (member, 1, None), (member, 99, None)):
        with cluster.primary().connect(**reader) as connection:
            announced = (f"set @paceline_cluster_member=1, @paceline_cluster_epoch={epoch}, @paceline_log_format={log_format},"
                         f" @master_binlog_checksum='CRC32'")
            connection.cursor().execute(announced)
            # From the start of the first file, as server 77, up to the end of the log.
            connection._execute_command(COMMAND.COM_BINLOG_DUMP, struct.pack("<IHI", 4, 1, 77))
            if code is None:
                assert connection._read_packet().is_ok_packet()
            else:
                with pytest.raises(pymysql.err.Error) as refused:
                    connection._read_packet()
                assert refused.value.args[0] == code


def test_options_of_a_cluster_need_one(tmp_path):
    for option in ("--cluster-zone=3", "--cluster-priority=1", "--etcd=http://127.0.0.1:1", "--etcd-user=x"):
        refused = subprocess.run([BINARY, "server", f"--datadir={tmp_path / 'data'}", option], capture_output=True, text=True, timeout=30)
        assert refused.returncode == 1, refused
        assert f"{option.partition('=')[0]} has no effect without --cluster" in refused.stdout + refused.stderr
    assert not (tmp_path / "data").exists()


def test_settings_that_cannot_work_are_refused_before_a_directory_is_made(clusters, tmp_path):
    cluster = clusters(1)
    [member] = cluster.members
    other = Member(tmp_path / "other", cluster.etcd, cluster.secret_file)
    short = tmp_path / "short"
    short.write_text("short\n")
    short.chmod(0o600)
    for options, problem in (
        ([f"--cluster-secret-file={short}"], "must have at least 12 characters"),
        (["--cluster-address=127.0.0.1"], "'127.0.0.1' has no port"),
        ([f"--cluster-address=127.0.0.1:{member.messages.number}"], "cannot listen on"),
        (["--cluster-address=192.0.2.1:3507"], "--bind-address=127.0.0.1: the other members cannot reach this server at 192.0.2.1"),
    ):
        data = tmp_path / "refused"
        refused = subprocess.run([BINARY, "server", f"--datadir={data}", f"--socket={tmp_path}/refused.sock", "--port=0", *other.options, *options],
                                 capture_output=True, text=True, timeout=60)
        assert refused.returncode == 1, options
        assert problem in refused.stdout + refused.stderr, (options, refused)
        assert not data.exists(), options


def test_the_secret_is_needed(clusters):
    cluster = clusters(1)
    for password in ("", "wrong"):
        with pytest.raises(pymysql.err.OperationalError) as refused:
            cluster.primary().query("select 1", user="paceline.cluster", password=password)
        assert refused.value.args[0] in (1045, 1698)
    assert cluster.primary().query("select current_user()", user="paceline.cluster", password=cluster.secret)
    assert cluster.secret not in cluster.primary().said()


def test_a_killed_primary_is_replaced_and_follows_when_it_is_back(clusters):
    cluster = clusters(3)
    writer = Writer(cluster)
    wait_for("some rows", lambda: len(writer.committed) > 50)
    old = cluster.primary()
    old.kill()
    before = len(writer.committed)
    wait_for("rows after the change", lambda: len(writer.committed) > before + 50)
    assert cluster.primary() is not old
    old.start()
    wait_for("more rows", lambda: len(writer.committed) > before + 100)
    writer.stop()
    assert_everywhere(cluster, writer)
    assert writer.errors <= {1053, 1290, 2003, 2006, 2013}, writer.errors


def test_planned_changes_of_the_primary_lose_nothing(clusters):
    cluster = clusters(3)
    writer = Writer(cluster)
    for _ in range(2):
        for member in cluster.others():
            cluster.command("switch", "--to", member.directory.name)
            assert cluster.primary() is member
            let_run(0.3)
    writer.stop()
    assert_everywhere(cluster, writer)
    assert writer.errors <= {1053, 1290, 2013}, writer.errors


def test_all_members_off_at_once(clusters):
    cluster = clusters(3)
    writer = Writer(cluster)
    wait_for("some rows", lambda: len(writer.committed) > 50)
    for member in cluster.members:
        member.kill()
    writer.stop()
    for member in cluster.members:
        member.spawn()
    for member in cluster.members:
        member.wait_until_ready()
    assert_everywhere(cluster, writer)


def test_without_a_quorum_nothing_is_visible_and_a_restart_changes_that_only_by_the_others(clusters):
    cluster = clusters(3)
    primary, others = cluster.primary(), cluster.others()
    primary.query("insert into t.n values (1)")
    cluster.wait_for_rows("select i from t.n", ((1,),))
    for member in others:
        member.kill()
    waiting = threading.Thread(target=insert_in_vain, args=(primary,))
    waiting.start()
    wait_for("the row in the log", lambda: in_log(primary))
    may_be_old = "set paceline_cluster_stale_reads = allow"
    stays("the row is invisible", lambda: primary.query(may_be_old, "select i from t.n") == ((1,),), seconds=1)
    primary.kill()
    waiting.join()
    # The others go on without it; when it is back, its log is cut.
    for member in others:
        member.spawn()
    for member in others:
        member.wait_until_ready()
    cluster.primary().query("insert into t.n values (3)")
    primary.start()
    cluster.wait_for_rows("select i from t.n order by i", ((1,), (3,)))
    assert "were cut off" in primary.said()


def test_a_server_without_a_quorum_tells_its_clients_to_try_another_one(clusters):
    cluster = clusters(3)
    for member in cluster.members:
        member.kill()
    member = cluster.members[0]
    member.spawn()
    for user in ("root", "nobody"):
        refused = wait_for("an answer", lambda user=user: refusal(member, user))
        assert refused == (1047, "This server opens its tables when its cluster has acknowledged all of its log")
    assert "Access denied" not in member.said()


def refusal(member, user):
    """Returns how a client over the network is refused; `None` if nobody listens."""
    with pytest.raises(pymysql.err.OperationalError) as refused:
        pymysql.connect(host="127.0.0.1", port=member.port, user=user)
    return None if refused.value.args[0] == 2003 else refused.value.args


def insert_in_vain(primary):
    with pytest.raises(pymysql.err.Error):
        primary.query("insert into t.n values (2)")


def in_log(primary):
    """Returns whether the transaction with the row 2 is in the log's newest file."""
    return b"insert into t.n values (2)" in primary.log_files()[-1].read_bytes()


def test_a_members_directory_is_refused_without_its_cluster(clusters):
    """What was written then would be acknowledged by nobody, and count as a copy of what others have at these places."""
    cluster = clusters(2)
    member = cluster.others()[0]
    member.kill()
    for program in (["server", f"--datadir={member.datadir}", f"--socket={member.directory}/alone.sock", "--port=0"],
                    ["archive", "--from=127.0.0.1:1", "--user=root", f"--datadir={member.datadir}", "--port=0"],
                    ["rewind", "127.0.0.1:1", f"--datadir={member.datadir}"]):
        done = subprocess.run([BINARY, *program], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1, program
        assert "belongs to a member of the cluster 'test'" in done.stdout + done.stderr, program
    member.start()
    cluster.wait_for_rows("select count(*) from t.n", ((0,),))


def test_of_servers_that_start_together_one_founds_the_cluster_and_the_others_copy_it(clusters):
    members = clusters(3, at_once=True).members
    assert sum("copying" in member.said() for member in members) == 2
