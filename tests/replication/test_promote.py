"""`paceline promote`: even if no replica is ahead in every domain, no transaction of any of them is lost."""

import signal
import subprocess

import pytest

from support.real_replicas import ACCOUNT, PASSWORD, allow_replicas, catch_up, change_master, check_same_tables, replica_status
from support.servers import BINARY, MariaDb, Paceline
from support.waiting import wait_for


def promote(candidate, *others, old_primary=None, fails=False, replication_password=PASSWORD, timeout=30, more=()):
    command = [BINARY, "promote", f"127.0.0.1:{candidate.port}", *[f"127.0.0.1:{other.port}" for other in others],
               "--user=admin", "--password=adm'in", f"--replication-user={ACCOUNT}", f"--replication-password={replication_password}",
               f"--timeout={timeout}", *more]
    if old_primary is not None:
        command.append(f"--old-primary=127.0.0.1:{old_primary.port}")
    result = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert (result.returncode != 0) == fails, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture
def servers(tmp_path):
    """A primary with two replicas, one of each kind."""
    primary = Paceline(tmp_path / "primary", "--server-id=1").start()
    ours = Paceline(tmp_path / "ours", "--server-id=2").start()
    theirs = MariaDb(tmp_path / "theirs", "--server-id=3").start()
    theirs.query("reset master")
    for server in (primary, ours, theirs):
        allow_replicas(server)
        for host in ("localhost", "127.0.0.1"):
            server.query("set session sql_log_bin=0", f"create user admin@'{host}' identified by 'adm''in'",
                         f"grant all on *.* to admin@'{host}'")
    for replica in (ours, theirs):
        change_master(replica, primary)
        replica.query("start slave", "set global read_only=1")
    primary.query("create database t", "create table t.a (id int primary key, v varchar(20))", "insert into t.a values (1, 'all')")
    yield primary, ours, theirs
    for server in (primary, ours, theirs):
        server.close()


@pytest.mark.parametrize("candidate_is_ours", [True, False])
def test_the_union_of_what_the_replicas_have(servers, candidate_is_ours):
    primary, ours, theirs = servers
    for replica in (ours, theirs):
        catch_up(replica, primary)
    # One replica gets transactions that the other lacks in one domain, and vice versa in another.
    ours.query("stop slave")
    primary.query("insert into t.a values (2, 'theirs')", "insert into t.a values (3, 'theirs')")
    catch_up(theirs, primary)
    theirs.query("stop slave")
    primary.kill()
    ours.query("set session gtid_domain_id=5", "insert into t.a values (4, 'ours')")
    candidate, other = (ours, theirs) if candidate_is_ours else (theirs, ours)
    said = promote(candidate, other)
    assert "fetches up to" in said and "is the primary" in said
    assert candidate.query("select @@read_only") == ((0,),)
    assert replica_status(candidate) == {}
    assert candidate.query("select id from t.a order by id") == ((1,), (2,), (3,), (4,))
    candidate.query("insert into t.a values (5, 'new')")
    wait_for("the other", lambda: other.query("select count(*) from t.a") == ((5,),))
    assert check_same_tables(candidate, other) == 5
    # Repeating it changes nothing.
    promote(candidate, other)
    wait_for("the other", lambda: replica_status(other)["Slave_IO_Running"] == "Yes")


def test_switch_over_and_back(servers):
    primary, ours, theirs = servers
    # Keeping clients from writing on a replica is the promotion's task.
    theirs.query("set global read_only=0")
    promote(ours, theirs, old_primary=primary)
    assert [server.query("select @@read_only")[0][0] for server in (ours, primary, theirs)] == [0, 1, 1]
    ours.query("insert into t.a values (2, 'new primary')")
    for replica in (primary, theirs):
        catch_up(replica, ours)
        assert check_same_tables(ours, replica) == 2
    promote(primary, theirs, old_primary=ours)
    primary.query("insert into t.a values (3, 'old primary')")
    for replica in (ours, theirs):
        catch_up(replica, primary)
        assert check_same_tables(primary, replica) == 3


@pytest.mark.parametrize("candidate_is_ours", [True, False])
def test_switch_over_and_back_at_once(servers, candidate_is_ours):
    """A server does not wait for its own transactions: nothing else was written in between."""
    primary, ours, theirs = servers
    candidate, other = (ours, theirs) if candidate_is_ours else (theirs, ours)
    promote(candidate, other, old_primary=primary)
    promote(primary, other, old_primary=candidate, timeout=5)
    assert [server.query("select @@read_only")[0][0] for server in (primary, candidate)] == [0, 1]
    primary.query("insert into t.a values (2, 'old primary')")
    for replica in (candidate, other):
        catch_up(replica, primary)
        assert check_same_tables(primary, replica) == 2
    # With transactions of the candidate's own in between.
    promote(candidate, other, old_primary=primary)
    candidate.query("insert into t.a values (3, 'new primary')")
    promote(primary, other, old_primary=candidate)
    promote(candidate, other, old_primary=primary, timeout=5)
    candidate.query("insert into t.a values (4, 'new primary')")
    for replica in (primary, other):
        catch_up(replica, candidate)
        assert check_same_tables(candidate, replica) == 4


def test_a_server_that_is_not_a_replica_is_named(servers):
    primary, ours, theirs = servers
    for replica in (ours, theirs):
        catch_up(replica, primary)
    said = promote(ours, theirs, old_primary=primary, fails=True, replication_password="wrong")
    assert "is the primary, but these servers do not replicate from it" in said and "replicates from it" not in said.split("these servers do not")[0]
    for server in (primary, theirs):
        assert f"  127.0.0.1:{server.port}: " in said
    assert said.count("Access denied") == 2
    # Again, with the password.
    promote(ours, theirs, old_primary=primary)
    ours.query("insert into t.a values (2, 'new primary')")
    for replica in (primary, theirs):
        catch_up(replica, ours)


def test_the_candidate_does_not_come(servers):
    """The old primary was made read-only, and the new one does not reach its end: the old one accepts writes again."""
    primary, ours, theirs = servers
    for replica in (ours, theirs):
        catch_up(replica, primary)
    ours.query("stop slave")
    primary.query("insert into t.a values (2, 'late')")
    said = promote(ours, theirs, old_primary=primary, fails=True, timeout=2)
    assert "it does not reach" in said
    assert f"Nothing was changed: 127.0.0.1:{primary.port} accepts writes again" in said
    assert [server.query("select @@read_only")[0][0] for server in (primary, ours)] == [0, 1]
    primary.query("insert into t.a values (3, 'later')")
    catch_up(theirs, primary)
    # Another command made it read-only: another server may be the primary.
    primary.query("set global read_only=1")
    said = promote(ours, theirs, old_primary=primary, fails=True, timeout=2)
    assert f"127.0.0.1:{primary.port} is read_only now, and no other server accepts writes" in said
    assert primary.query("select @@read_only") == ((1,),)
    ours.query("start slave")
    assert "is the primary" in promote(ours, theirs, old_primary=primary)
    assert check_same_tables(primary, ours) == 3


def test_a_number_that_another_has_used(servers):
    """The candidate has a higher number than the old primary, but not its transactions."""
    primary, ours, theirs = servers
    for replica in (ours, theirs):
        catch_up(replica, primary)
    ours.query("stop slave", *[f"insert into t.a values ({n}, 'ours')" for n in (10, 11)])
    primary.query("insert into t.a values (20, 'late')")
    said = promote(ours, theirs, old_primary=primary, fails=True, timeout=2)
    assert "it does not reach" in said
    assert [server.query("select @@read_only")[0][0] for server in (primary, ours)] == [0, 1]


def test_contradictions_are_refused(servers):
    primary, ours, theirs = servers
    for replica in (ours, theirs):
        catch_up(replica, primary)
        replica.query("stop slave")
    ours.query("insert into t.a values (10, 'ours')")
    theirs.query("insert into t.a values (20, 'theirs')")
    said = promote(ours, theirs, fails=True)
    assert "two servers have written the same domain" in said and "Nothing was changed" in said
    assert ours.query("select @@read_only") == ((1,),)


def test_what_a_replica_does_not_log(servers):
    """The replica has more transactions than the candidate, which cannot fetch them because the replica does not log
    them."""
    primary, ours, theirs = servers
    for replica in (ours, theirs):
        catch_up(replica, primary)
    theirs.stop()
    theirs.start("--skip-log-slave-updates")
    ours.query("stop slave")
    primary.query("insert into t.a values (2, 'late')")
    catch_up(theirs, primary)
    primary.kill()
    last = theirs.query("select @@gtid_slave_pos")[0][0]
    said = promote(ours, theirs, fails=True)
    assert f"127.0.0.1:{theirs.port} has {last}, which 127.0.0.1:{ours.port} lacks and cannot fetch" in said
    assert ours.query("select @@read_only") == ((1,),)
    # Without the replica they are lost, as the operator has decided.
    assert "is the primary" in promote(ours)
    assert ours.query("select @@read_only, count(*) from t.a") == ((0, 1),)


def test_servers_are_named_as_other_commands_name_them(servers):
    primary, ours, _ = servers

    def said(*addresses):
        return subprocess.run([BINARY, "promote", *addresses, "--replication-user=x"], capture_output=True, text=True).stderr

    assert "nowhere.invalid:3306: cannot connect" in said("nowhere.invalid")
    assert "[::1]:1: cannot connect" in said("[::1]:1")
    for wrong in ("nowhere:x", "nowhere:70000", ":3306"):
        assert f"'{wrong}': invalid address; expected HOST, HOST:PORT, [IPV6]:PORT or the path of a UNIX socket" in said(wrong)
    # Its socket is of no use to other servers.
    assert f"{ours.socket}: a replica must be able to connect to this server" in said(str(ours.socket))
    assert f"{primary.socket}: a replica must be able to connect to this server" in said(f"127.0.0.1:{ours.port}", f"--old-primary={primary.socket}")
    assert ours.query("select @@read_only") == ((1,),)


def test_a_restart_before_the_first_write(servers):
    """Tables in memory: the promoted server logs that they are empty, so that its replicas empty theirs."""
    primary, ours, theirs = servers
    primary.query("create table t.m (id int primary key) engine=memory", "insert into t.m values (1), (2)")
    for replica in (ours, theirs):
        catch_up(replica, primary)
    # A replica that restarts does not log it.
    ours.kill()
    ours.start()
    catch_up(ours, primary)
    assert ours.query("select @@gtid_binlog_pos") == primary.query("select @@gtid_binlog_pos")
    promote(ours, theirs, old_primary=primary)
    assert theirs.query("select count(*) from t.m") == ((2,),)
    ours.kill()
    ours.start()
    catch_up(theirs, ours)
    assert theirs.query("select count(*) from t.m") == ours.query("select count(*) from t.m") == ((0,),)


def test_a_primary_that_lives_is_not_passed_over(servers):
    """Without --old-primary two servers would accept writes."""
    primary, ours, theirs = servers
    address = f"127.0.0.1:{primary.port}"
    for replica in (ours, theirs):
        catch_up(replica, primary)

    def refused(sign):
        said = promote(ours, theirs, fails=True)
        assert f"the servers replicate from {address}, which was not given and is alive: {sign}" in said, said
        assert f"--old-primary={address} makes it a replica" in said and "--force" in said
        assert [server.query("select @@read_only")[0][0] for server in (ours, theirs)] == [1, 1]

    refused("it answers")
    primary.query("insert into t.a values (2, 'still the primary')")
    for replica in (ours, theirs):
        catch_up(replica, primary)
        # Nor if no replica is connected to it any more.
        replica.query("stop slave")
    refused("it answers")
    primary.process.send_signal(signal.SIGSTOP)
    try:
        refused("it accepts connections but sends nothing")
    finally:
        primary.process.send_signal(signal.SIGCONT)
    said = promote(ours, theirs, more=["--force"])
    assert f"warning: {address} is alive" in said and "are lost" in said
    assert f"127.0.0.1:{ours.port} is the primary" in said
    assert primary.query("select @@read_only") == ((0,),)


def test_one_server_under_two_names(servers):
    primary, ours, theirs = servers
    for replica in (ours, theirs):
        catch_up(replica, primary)
    port = ours.port
    for said in (promote(ours, theirs, old_primary=ours, fails=True), promote(ours, theirs, ours, fails=True),
                 promote(ours, theirs, fails=True, more=[f"--old-primary=localhost:{port}"])):
        assert f"127.0.0.1:{port} and " in said and "are the same server, or have the same server_id (2)" in said and "Nothing was changed" in said
    assert ours.query("select @@read_only") == ((1,),)
    assert replica_status(ours)["Slave_IO_Running"] == "Yes"


def test_a_server_that_does_not_answer_may_have_transactions(servers):
    primary, ours, theirs = servers
    for replica in (ours, theirs):
        catch_up(replica, primary)
    primary.kill()
    theirs.stop()
    said = promote(ours, theirs, fails=True)
    assert f"127.0.0.1:{theirs.port}: cannot connect" in said and "It is unknown which transactions it has, so nothing was changed" in said
    assert ours.query("select @@read_only") == ((1,),)
    said = promote(ours, theirs, more=["--force"])
    assert "it is left out, and transactions that only it has are lost" in said
    # None of them acknowledges commits.
    assert "rpl_semi_sync_slave_enabled is OFF" in said
    assert ours.query("select @@read_only") == ((0,),)


def test_replicas_that_are_not_named(servers):
    """They continue as replicas of a replica, and the operator is informed."""
    primary, ours, theirs = servers
    for replica in (ours, theirs):
        catch_up(replica, primary)
    said = promote(ours, old_primary=primary)
    assert "warning: server 3 (" in said and f"replicates from 127.0.0.1:{primary.port}, was not given" in said
    ours.query("insert into t.a values (2, 'new primary')")
    catch_up(theirs, ours)
