"""A cluster says what its members do: SHOW CLUSTER STATUS, `paceline cluster status`, status variables."""

import subprocess

import pymysql
import pytest
from support.waiting import wait_for


def test_each_member_shows_all_members(clusters):
    cluster = clusters(3)
    primary = cluster.primary()
    primary.query("insert into t.n values (1)")
    cluster.wait_for_rows("select i from t.n", ((1,),))
    position = primary.query("select @@gtid_binlog_pos")[0][0]
    for asked in cluster.members:
        shown = asked.cluster_status()
        assert sorted(shown) == ["a", "b", "c"]
        for member in cluster.members:
            row = shown[member.directory.name]
            is_primary = member is primary
            assert (row["Part"], row["State"]) == (("primary", "primary") if is_primary else ("holder", "replica")), row
            assert row["Address"] == f"127.0.0.1:{member.port}"
            assert (row["Kind"], row["Zone"], row["Priority"], row["Waits"]) == ("server", 0, 0, None)
            assert row["Gtid_position"] == position
            assert (row["Lag_transactions"], row["Lag_bytes"], row["Lag_seconds"]) == (0, 0, 0)
            assert row["Log_index"] == shown[primary.directory.name]["Log_index"]
            assert row["Version"] and row["Epoch"] == shown[primary.directory.name]["Epoch"]
            assert (row["Heard_seconds_ago"] is None) == (member is asked) or not is_primary, row


def test_a_member_that_is_dead_is_shown_with_its_last_position_and_lag(clusters):
    cluster = clusters(3)
    primary, (dead, other) = cluster.primary(), cluster.others()
    primary.query("insert into t.n values (1)")
    cluster.wait_for_rows("select i from t.n", ((1,),))
    dead.kill()
    primary.query(*(f"insert into t.n values ({number})" for number in range(2, 22)))
    for asked in (primary, other):
        row = asked.cluster_status()[dead.directory.name]
        assert row["Part"] == "holder" and row["State"].startswith("no answer"), row
        # Its last messages may be lost with it: the few transactions before count then, too.
        assert 20 <= row["Lag_transactions"] <= 30, row
        assert row["Lag_bytes"] > 20 * 50 and row["Lag_seconds"] > 0, row
        assert row["Gtid_position"] is None
    dead.start()
    wait_for("it has caught up", lambda: primary.cluster_status()[dead.directory.name]["Lag_transactions"] == 0)


def test_the_status_needs_a_privilege_and_a_server_without_a_cluster_shows_nothing(clusters, paceline):
    cluster = clusters(1)
    primary = cluster.primary()
    for number, privilege in enumerate((None, "binlog monitor", "slave monitor", "super")):
        primary.query(f"create user u{number}@'%' identified by 'x'", *([f"grant {privilege} on *.* to u{number}@'%'"] if privilege else []))
        if privilege:
            assert list(primary.cluster_status(user=f"u{number}", password="x")) == ["a"]
        else:
            with pytest.raises(pymysql.err.OperationalError) as refused:
                primary.cluster_status(user=f"u{number}", password="x")
            assert refused.value.args == (
                1227, "Access denied; you need (at least one of) the SUPER, SLAVE MONITOR, BINLOG MONITOR privilege(s) for this operation")
    assert paceline.query("show cluster status") == ()


def test_the_command_shows_positions_when_it_has_the_secret(clusters, tmp_path):
    cluster = clusters(3)
    cluster.primary().query("insert into t.n values (1)")
    cluster.wait_for_rows("select i from t.n", ((1,),))
    position = cluster.primary().query("select @@gtid_binlog_pos")[0][0]
    lines = cluster.command("status", f"--cluster-secret-file={tmp_path / 'secret'}").splitlines()
    assert len(lines) == 5, lines
    for line in lines[1:4]:
        assert line.split()[5:8] == ["0", "0.0", position], line
    assert cluster.secret not in "".join(lines)
    wrong = tmp_path / "wrong"
    wrong.write_text("another secret\n")
    wrong.chmod(0o600)
    lines = cluster.command("status", f"--cluster-secret-file={wrong}").splitlines()
    assert all("does not have the cluster's secret" in line for line in lines[1:4]), lines


def test_the_port_for_messages_refuses_another_format(clusters):
    cluster = clusters(1)
    port = cluster.members[0].messages.number
    for statement, refusal in (("start cluster messages format 99", "ERROR 1105 (HY000)"), ("select 1", "ERROR 1064 (42000)")):
        done = subprocess.run(
            ["mariadb", "--protocol=tcp", "--host=127.0.0.1", f"--port={port}", "--user=paceline.cluster", "--execute", statement],
            env={"MYSQL_PWD": cluster.secret, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=30)
        assert refusal in done.stderr, done
        assert ("knows messages of format 1, the one that asks sends format 99" in done.stderr) == ("99" in statement), done
