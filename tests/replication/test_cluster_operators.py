"""What operators of a cluster do by hand: questions that are asked, pauses, option files, and directories that they change."""

import signal
import threading

import pexpect
import pytest
from support.clusters import NAME, Member, Writer
from support.servers import BINARY, Paceline
from support.waiting import stays, wait_for

CHANGE = "insert into t.n values ({})"
IDENTITY = "paceline.member"
BAR = r"\[[#-]{24}\] +\d+ %"


@pytest.fixture
def terminals():
    """Runs commands on a terminal, and ends them after the test."""
    started = []

    def run(command):
        started.append(pexpect.spawn(str(command[0]), [str(each) for each in command[1:]], dimensions=(24, 200), timeout=60, encoding="utf-8"))
        return started[-1]

    yield run
    for each in started:
        # A server ends only after a while when its terminal is closed.
        each.kill(signal.SIGKILL)
        each.wait()


@pytest.mark.parametrize("archives", [0, 1])
def test_a_quorum_is_restored_by_hand_after_a_question(clusters, terminals, archives):
    cluster = clusters(3 - archives, archives=archives)
    primary = cluster.primary()
    writer = Writer(cluster, [primary])
    writer.wait_for_more()
    writer.stop()
    [last] = cluster.others()[:1]
    name = last.directory.name
    lost = [member for member in [*cluster.members, *cluster.archives] if member is not last]
    for member in lost:
        member.kill()
    names = [member.directory.name for member in lost]
    command = [BINARY, "cluster", "restore-quorum", f"--cluster={NAME}", f"--etcd={cluster.etcd.url}", "--primary", name, "--holders", name]
    refused = terminals(command)
    refused.expect_exact(f"{name} becomes the primary. Given up: {', '.join(sorted(names))}. ")
    refused.expect_exact("Type YES to go on: ")
    refused.sendline("yes")
    refused.expect_exact("nothing was changed: the answer was not YES")
    refused.expect(pexpect.EOF)
    assert refused.wait() == 1
    assert not last.is_primary()
    agreed = terminals(command)
    agreed.expect_exact("Type YES to go on: ")
    agreed.sendline("YES")
    agreed.expect(r"epoch \d+ begins when all of them have promised it")
    agreed.expect(pexpect.EOF)
    assert agreed.wait() == 0
    wait_for("the last one to be the primary", last.is_primary)
    last.query(CHANGE.format(1_000_000))
    # Of what was acknowledged it has what it had received; that something may be missing it says.
    rows = {number for (number,) in last.query("select i from t.n")}
    assert rows <= {*writer.committed, len(writer.committed) + 1, 1_000_000}
    assert "the quorum was restored by hand; transactions after index" in last.said()


def test_while_paused_a_dead_primary_is_not_replaced(clusters):
    cluster = clusters(3)
    primary, others = cluster.primary(), cluster.others()
    cluster.command("pause")
    assert "paused: a dead primary is not replaced" in cluster.command("status")
    primary.kill()
    # Twice the time after which another one would be the primary.
    stays("nobody takes over", lambda: not any(member.is_primary() for member in others), 3)
    cluster.command("resume")
    wait_for("another primary", lambda: any(member.is_primary() for member in others))
    assert "paused" not in cluster.command("status")


def test_a_member_has_its_options_from_a_file(clusters, tmp_path):
    cluster = clusters(2)
    member = cluster.others()[0]
    member.stop()
    file = tmp_path / "member.cnf"
    lines = [option.removeprefix("--") for option in member.options]
    assert any(line.startswith("cluster-secret-file=") for line in lines)
    file.write_text("\n".join(["[mariadb]", "cluster=another", "[paceline]", *lines]) + "\n")
    file.chmod(0o600)
    member.options = [f"--config={file}"]
    member.start()
    cluster.primary().query(CHANGE.format(1))
    cluster.wait_for_rows("select i from t.n", ((1,),), [member])
    assert cluster.holders() == 2


def test_a_new_member_shows_on_a_terminal_how_far_its_copy_is(clusters, tmp_path, terminals):
    cluster = clusters(1)
    cluster.primary().query("use t", "create table large (i int primary key, pad varbinary(1000))",
                            "insert into large select seq, random_bytes(1000) from seq_1_to_150000")
    new = Member(tmp_path / "b", cluster.etcd, cluster.secret_file)
    shown = terminals([*new.command(), *new.options])
    shown.expect(BAR)
    shown.expect("ready for connections")
    wait_for("two log holders", lambda: cluster.holders() == 2)
    assert new.query("select count(*) from t.large") == ((150_000,),)


def change_without_cluster(member):
    """Writes transactions into the directory of a stopped member, as if it were not one. Programs refuse that as long as its
    identity is there."""
    identity = member.datadir / IDENTITY
    identity.rename(member.directory / IDENTITY)
    alone = Paceline(member.directory / "alone", datadir=member.datadir).start()
    alone.query("set global read_only = 0", CHANGE.format(8), CHANGE.format(9))
    assert alone.stop() == 0
    (member.directory / IDENTITY).rename(identity)


def test_a_log_that_was_changed_by_hand_acknowledges_nothing(clusters):
    """It is longer than the primary's, by transactions that the cluster does not have."""
    cluster = clusters(3)
    primary, (other, changed) = cluster.primary(), cluster.others()
    primary.query(CHANGE.format(1))
    cluster.wait_for_rows("select i from t.n", ((1,),))
    changed.stop()
    change_without_cluster(changed)
    # Nobody but the changed one could acknowledge.
    other.kill()
    changed.spawn()
    waiting = threading.Thread(target=primary.query, args=(CHANGE.format(2),), daemon=True)
    waiting.start()
    wait_for("the refusal", lambda: "which is not in the master's binlog" in (primary.cluster_status()[changed.directory.name]["Waits"] or ""))
    stays("nothing is acknowledged", waiting.is_alive, 1)
    assert primary.query("show status like 'Paceline_cluster_waiting_commits'")[0][1] == "1"
    changed.kill()
    other.start()
    waiting.join(60)
    assert not waiting.is_alive()
    assert cluster.primary().query("select i from t.n order by i") == ((1,), (2,))
