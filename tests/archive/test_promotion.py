"""`paceline promote` with an archive: transactions that only the archive has acknowledged reach the new primary."""

import subprocess

import pymysql
import pytest

from conftest import fill, follow
from support.archive import Archive, Serving
from support.real_replicas import ACCOUNT, PASSWORD, catch_up, replica_status
from support.servers import BINARY, MariaDb, Paceline
from support.waiting import wait_for


def promote(candidate, *others, archives=(), more=(), fails=False):
    command = [BINARY, "promote", f"127.0.0.1:{candidate.port}", *[f"127.0.0.1:{other.port}" for other in others],
               *[f"--archive=127.0.0.1:{archive.port}" for archive in archives], "--user=admin", "--password=adm", f"--replication-user={ACCOUNT}",
               f"--replication-password={PASSWORD}", "--timeout=30", *more]
    result = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert (result.returncode != 0) == fails, result.stdout + result.stderr
    return result.stdout + result.stderr


def allow_promotions(*servers):
    for server in servers:
        for host in ("localhost", "127.0.0.1"):
            server.query("set session sql_log_bin=0", f"create user admin@'{host}' identified by 'adm'", f"grant all on *.* to admin@'{host}'")


def acknowledged_by(archive, primary, value):
    """Commits a transaction that is acknowledged to its client because the archive, and no other server, has it."""
    primary.query("set global rpl_semi_sync_master_timeout=60000, global rpl_semi_sync_master_enabled=on")
    wait_for("the archive to acknowledge", lambda: primary.query("show status like 'Rpl_semi_sync_master_clients'")[0][1] == "1")
    primary.query(f"insert into t.a (v) values ('{value}')")
    assert primary.query("show status like 'Rpl_semi_sync_master_yes_tx'")[0][1] != "0"
    return archive.wait_for(primary)


def followed(archive):
    with archive.connect(cursorclass=pymysql.cursors.DictCursor) as session, session.cursor() as cursor:
        cursor.execute("show slave status")
        row = cursor.fetchone()
    return row["Master_Port"] if row["Slave_IO_Running"] == "Yes" else None


@pytest.mark.parametrize("candidate_kind", [Paceline, MariaDb], ids=["to a paceline", "to a mariadb"])
def test_what_only_the_archive_has(start, kind, candidate_kind):
    primary, replica = start(kind, 1), start(candidate_kind, 2)
    allow_promotions(primary, replica)
    follow(replica, primary)
    fill(primary, 3)
    catch_up(replica, primary)
    replica.query("stop slave")
    archive = start(Archive, primary)
    position = acknowledged_by(archive, primary, "acknowledged")
    primary.kill()
    lacking = "select count(*) from t.a where v = 'acknowledged'"
    # An archive has no administrator account, and says so.
    assert "it accepts only the account with which it follows its primary" in promote(replica, archive, fails=True)
    # An archive that does not answer may have the missing transactions.
    archive.kill()
    said = promote(replica, archives=[archive], fails=True)
    assert "It is unknown which transactions it has, so nothing was changed" in said
    assert replica.query(lacking) == ((0,),)
    archive.start()
    said = promote(replica, archives=[archive])
    assert f"fetches up to {position} from 127.0.0.1:{archive.port}" in said
    assert f"127.0.0.1:{archive.port} follows it until it is restarted" in said
    assert replica.query(lacking) == ((1,),) and replica.query("select @@read_only") == ((0,),)
    assert replica_status(replica) == {}
    fill(replica, 3)
    archive.wait_for(replica)
    assert followed(archive) == replica.port
    # Repeating it changes nothing.
    assert "is the primary" in promote(replica, archives=[archive])
    assert followed(archive) == replica.port


def test_an_archive_that_feeds_the_candidate_is_to_be_named(start):
    """It may have received more than it has sent."""
    primary, replica = start(Paceline, 1), start(Paceline, 2)
    allow_promotions(primary, replica)
    archive = start(Archive, f"127.0.0.1:{primary.port},127.0.0.1:{replica.port}")
    replica.query("set global read_only=1")
    follow(replica, archive)
    fill(primary, 3)
    catch_up(replica, primary)
    replica.query("stop slave")
    position = acknowledged_by(archive, primary, "acknowledged")
    primary.kill()
    said = promote(replica, fails=True)
    assert f"127.0.0.1:{archive.port}, which was not given and is alive" in said and f"--archive=127.0.0.1:{archive.port} fetches them" in said
    said = promote(replica, archives=[archive])
    assert f"127.0.0.1:{archive.port} follows it\n" in said, "its --from names the new primary"
    assert replica.query("select @@gtid_binlog_pos") == ((position,),)


def test_a_switch_over_takes_the_archive_along(start, kind):
    primary, replica = start(kind, 1), start(Paceline, 2)
    allow_promotions(primary, replica)
    archive = start(Archive, primary)
    follow(replica, primary)
    fill(primary, 3)
    catch_up(replica, primary)
    promote(replica, archives=[archive], more=[f"--old-primary=127.0.0.1:{primary.port}"])
    fill(replica, 3)
    archive.wait_for(replica)
    assert followed(archive) == replica.port
    catch_up(primary, replica)
    # And back.
    promote(primary, archives=[archive], more=[f"--old-primary=127.0.0.1:{replica.port}"])
    fill(primary, 3)
    archive.wait_for(primary)


def test_an_archive_with_an_account_of_its_own(start, tmp_path):
    primary, replica = start(Paceline, 1), start(Paceline, 2)
    allow_promotions(primary, replica)
    for host in ("%", "localhost"):
        primary.query(f"create user keeper@'{host}' identified by 'k'", f"grant replication slave, binlog monitor on *.* to keeper@'{host}'")
    archive = Archive(tmp_path / "keeper", primary, account=("keeper", "k"))
    archive.start()
    try:
        follow(replica, primary)
        fill(primary, 2)
        catch_up(replica, primary)
        replica.query("stop slave")
        fill(primary, 2)
        archive.wait_for(primary)
        primary.kill()
        assert "error 1045" in promote(replica, archives=[archive], fails=True)
        assert "is the primary" in promote(replica, archives=[archive], more=["--archive-user=keeper", "--archive-password=k"])
        assert replica.query("select count(*) from t.a") == ((4,),)
    finally:
        archive.close()


def test_an_archive_of_several_primaries(start):
    """Only the connection and the domains of the promotion are affected."""
    primary, other = start(Paceline, 1), start(Paceline, 3, options=["--gtid-domain-id=7"])
    replica = start(Paceline, 2)
    allow_promotions(primary, replica)
    archive = start(Archive, primary, other)
    other.query("create database o")
    follow(replica, primary)
    fill(primary, 2)
    catch_up(replica, primary)
    replica.query("stop slave")
    fill(primary, 2)
    archive.wait_for(primary)
    archive.wait_for(other)
    primary.kill()
    promote(replica, archives=[archive])
    assert replica.query("select count(*) from t.a") == ((4,),)
    assert replica.query("show databases like 'o'") == ()
    fill(replica, 1)
    archive.wait_for(replica)
    other.query("create database p")
    archive.wait_for(other)


def test_the_files_of_the_dead_primary(start, tmp_path):
    """`--serve`: transactions that the dead primary had not sent to any server are included."""
    primary, replica = start(Paceline, 1), start(Paceline, 2)
    allow_promotions(primary, replica)
    follow(replica, primary)
    fill(primary, 2)
    catch_up(replica, primary)
    replica.query("stop slave")
    fill(primary, 2)
    primary.kill()
    served = Serving(tmp_path / "serving", primary.datadir)
    served.start()
    try:
        assert "is the primary" in promote(replica, archives=[served])
    finally:
        served.close()
    assert replica.query("select count(*) from t.a") == ((4,),)
