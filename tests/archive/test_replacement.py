"""The primary is replaced, or there are several; the archive's replicas are not affected."""

import shutil
import threading

import pymysql

from conftest import fill, follow
from support.archive import Archive, gtids
from support.real_replicas import catch_up, check_runs, check_same_tables
from support.servers import MariaDb, Paceline
from support.waiting import wait_for


def column(archive, name):
    with archive.connect(cursorclass=pymysql.cursors.DictCursor) as session, session.cursor() as cursor:
        cursor.execute("show slave status")
        return cursor.fetchone()[name]


def followed(archive):
    return column(archive, "Master_Port") if column(archive, "Slave_IO_Running") == "Yes" else None


def test_the_primary_is_killed_and_a_replica_takes_over(start, kind):
    primary, second = start(kind, 1), start(kind, 2)
    second.query("set global read_only=1")
    follow(second, primary)
    archive = start(Archive, f"127.0.0.1:{primary.port},127.0.0.1:{second.port}")
    replica = start(MariaDb, 9)
    follow(replica, archive)
    fill(primary)
    catch_up(second, primary)
    catch_up(replica, primary)
    assert followed(archive) == primary.port
    connections = int(replica.query("show global status like 'Slave_connections'")[0][1] or 0)
    primary.kill()
    second.query("stop slave", "reset slave all", "set global read_only=0")
    fill(second)
    archive.wait_for(second)
    assert followed(archive) == second.port
    catch_up(replica, second)
    check_same_tables(second, replica)
    # It has not even reconnected.
    assert int(replica.query("show global status like 'Slave_connections'")[0][1] or 0) == connections
    check_runs(replica)
    assert {gtid.split("-")[1] for gtid in gtids(archive.files())} == {"1", "2"}
    found = gtids(archive.files())
    assert len(found) == len(set(found))


def test_a_switch_over_while_both_live(start):
    primary, second = start(MariaDb, 1), start(Paceline, 2)
    second.query("set global read_only=1")
    follow(second, primary)
    archive = start(Archive, f"127.0.0.1:{second.port},127.0.0.1:{primary.port}")
    fill(primary)
    archive.wait_for(primary)
    assert followed(archive) == primary.port, "the one that takes writes, though it is named last"
    primary.query("set global read_only=1")
    catch_up(second, primary)
    second.query("stop slave", "reset slave all", "set global read_only=0")
    follow(primary, second, "current_pos")
    fill(second)
    archive.wait_for(second)
    wait_for("the archive to find the new primary", lambda: followed(archive) == second.port)
    fill(second, 3)
    archive.wait_for(second)
    # Manually, and at once.
    archive.query(f"change master to master_host='127.0.0.1', master_port={primary.port}")
    wait_for("the archive to do as it is told", lambda: column(archive, "Candidates").startswith(f"127.0.0.1:{primary.port}"))
    fill(second, 2)
    archive.wait_for(second)


def test_a_new_primary_that_lacks_transactions_is_not_followed(start):
    primary, second = start(Paceline, 1), start(MariaDb, 2)
    follow(second, primary)
    fill(primary, 5)
    catch_up(second, primary)
    second.query("stop slave")
    archive = start(Archive, f"127.0.0.1:{primary.port},127.0.0.1:{second.port}")
    fill(primary, 5)
    position = archive.wait_for(primary)
    primary.kill()
    fault = wait_for("an error", lambda: column(archive, "Last_IO_Errno") == 1236 and column(archive, "Last_IO_Error"))
    assert f"{position}, which is not in the master's binlog" in fault
    assert archive.query("select @@gtid_binlog_pos") == ((position,),)
    # The missing transactions are in the archive.
    follow(second, archive)
    wait_for("the second server to have it", lambda: second.query("select @@gtid_slave_pos") == ((position,),))
    second.query("stop slave", "reset slave all")
    fill(second, 4)
    archive.wait_for(second)


def test_several_primaries_each_with_its_domain(start):
    one, other = start(MariaDb, 1, options=["--gtid-domain-id=1"]), start(Paceline, 2, options=["--gtid-domain-id=2"])
    archive = start(Archive, one, other)
    replica = start(Paceline, 9)
    follow(replica, archive)
    writers = [threading.Thread(target=fill, args=(server, 100, table, domain))
               for server, table, domain in ((one, "one", 1), (other, "other", 2))]
    for server, domain in ((one, 1), (other, 2)):
        server.query(f"set session gtid_domain_id={domain}", "create database if not exists t")
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    for server in (one, other):
        archive.wait_for(server)
        wanted = server.query("select @@gtid_binlog_pos")[0][0]
        assert replica.query(f"select master_gtid_wait('{wanted}', 30)") == ((0,),)
    assert replica.query("select (select count(*) from t.one), (select count(*) from t.other)") == ((100, 100),)
    names = [row[0] for row in archive.query("show all slaves status")]
    assert names == ["1", "2"]
    archive.kill()
    archive.start()
    fill(one, 3, "one", 1)
    archive.wait_for(one)
    assert replica.query("select master_gtid_wait('" + one.query("select @@gtid_binlog_pos")[0][0] + "', 30)") == ((0,),)


def test_two_ways_to_one_domain(start):
    """The same transactions from the primary and from its replica are stored once."""
    primary, second = start(Paceline, 1), start(MariaDb, 2)
    follow(second, primary)
    archive = start(Archive, primary, second)
    fill(primary, 50)
    archive.wait_for(primary)
    catch_up(second, primary)
    wait_for("both", lambda: int(archive.status("Paceline_archive_duplicates")) > 20)
    found = gtids(archive.files())
    assert len(found) == len(set(found))
    # Either of the two can disappear.
    primary.kill()
    second.query("stop slave", "reset slave all")
    fill(second, 5)
    archive.wait_for(second)


def test_the_primarys_disk_is_lost_and_no_acknowledged_commit(start, kind):
    primary = start(kind, 1)
    archive = start(Archive, primary)
    primary.query("create database t", "create table t.a (id int primary key, v varchar(20))", "set global rpl_semi_sync_master_timeout=60000",
                  "set global rpl_semi_sync_master_enabled=1")
    archive.query("stop slave")
    archive.query("start slave")
    wait_for("semi-sync", lambda: primary.query("show status like 'Rpl_semi_sync_master_clients'")[0][1] == "1")
    told = [0, 0, 0]

    def write(worker):
        try:
            with primary.connect() as session, session.cursor() as cursor:
                for number in range(1, 100_000):
                    cursor.execute(f"insert into t.a values ({worker * 100_000 + number}, 'x')")
                    told[worker] = number
        except pymysql.err.MySQLError:
            pass  # The primary was killed.

    writers = [threading.Thread(target=write, args=(worker,)) for worker in range(3)]
    for writer in writers:
        writer.start()
    wait_for("a load", lambda: min(told) > 50)
    primary.kill()
    for writer in writers:
        writer.join()
    shutil.rmtree(primary.directory)
    fresh = start(kind, 2)
    follow(fresh, archive)
    position = archive.query("select @@gtid_binlog_pos")[0][0]
    wait_for("the new server to have everything", lambda: fresh.query("select @@gtid_slave_pos") == ((position,),))
    for worker, number in enumerate(told):
        [(rows,)] = fresh.query(f"select count(*) from t.a where id between {worker * 100_000 + 1} and {worker * 100_000 + number}")
        assert rows == number
