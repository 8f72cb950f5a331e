"""The archive between a primary and its replicas: it keeps the primary's bytes and order, and loses nothing."""

import random
import subprocess
import threading

import pymysql
import pytest

from conftest import fill
from support import workload
from support.archive import Archive, group_events, gtids
from support.real_replicas import ACCOUNT, PASSWORD, allow_replicas, catch_up, change_master, check_same_tables, wait_for_io_error
from support.servers import ROOT, MariaDb, Paceline
from support.waiting import let_run, wait_for

SCRIPT = (ROOT / "tests/log/every_type.sql").read_text()


def make(kind, directory, server_id):
    server = kind(directory, f"--server-id={server_id}")
    server.start()
    return server


@pytest.fixture(params=[MariaDb, Paceline], ids=["of-mariadb", "of-paceline"])
def primary(request, tmp_path):
    server = make(request.param, tmp_path / "primary", 1)
    allow_replicas(server)
    yield server
    server.close()


@pytest.fixture
def archive(primary, tmp_path):
    # The test compares its files directly.
    server = Archive(tmp_path / "archive", primary, options=("--compression=none",))
    server.start()
    yield server
    server.close()


@pytest.fixture(params=[MariaDb, Paceline], ids=["to-mariadb", "to-paceline"])
def replica(request, tmp_path):
    server = make(request.param, tmp_path / "replica", 200)
    server.query("reset master")
    yield server
    server.close()


def log_files(server):
    if isinstance(server, MariaDb):
        return sorted((server.directory / "data").glob("bin.0*"))
    return sorted(server.datadir.glob("binlog.0*[0-9]"))


def fill(server, rows=20):
    server.query("create database if not exists t", "create table if not exists t.a (id int primary key auto_increment, v varchar(200))")
    for number in range(rows):
        server.query(f"insert into t.a (v) values ('row {number}')")


def follow(replica, archive):
    change_master(replica, archive)
    replica.query("start slave")


def test_a_replica_of_the_archive_has_what_the_primary_has(primary, archive, replica):
    primary.client("--default-character-set=utf8mb4", text=SCRIPT)
    fill(primary)
    follow(replica, archive)
    catch_up(replica, primary)
    assert check_same_tables(primary, replica) > 20
    fill(primary)
    primary.query("flush binary logs")
    fill(primary)
    catch_up(replica, primary)
    check_same_tables(primary, replica)
    # Byte for byte: every event of every transaction, except for its position.
    assert archive.stop() == 0
    primary.query("flush binary logs")
    assert group_events(archive.files()) == group_events(log_files(primary))
    assert len(gtids(archive.files())) > 60
    # MariaDB's own tool can read it.
    text = "".join(replica.client("-v", "--verify-binlog-checksum", file, program="mariadb-binlog") for file in archive.files())
    assert text.count("GTID 0-1-") == len(gtids(archive.files()))


def test_kill_9_loses_nothing_and_repeats_nothing(primary, archive, replica, seed, effort):
    random.seed(seed)
    workload.create(primary)
    follow(replica, archive)
    stop = threading.Event()

    def write(worker):
        with primary.connect() as session, session.cursor() as cursor:
            number = 0
            while not stop.is_set():
                number += 1
                cursor.execute(f"insert into load_test.history (worker, number, payload) values ({worker}, {number}, "
                               f"'{workload.payload(worker, number)}')")

    writers = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for writer in writers:
        writer.start()
    for _ in range(int(4 * effort)):
        let_run(random.uniform(0.1, 0.6))
        archive.kill()
        archive.start()
    stop.set()
    for writer in writers:
        writer.join()
    archive.wait_for(primary)
    catch_up(replica, primary)
    check_same_tables(primary, replica)
    archive.stop()
    primary.query("flush binary logs")
    assert group_events(archive.files()) == group_events(log_files(primary))


def test_what_the_primary_has_purged_is_kept(primary, archive, tmp_path):
    fill(primary)
    archive.wait_for(primary)
    archive.query("flush binary logs")
    primary.query("flush binary logs")
    fill(primary, 3)
    archive.wait_for(primary)
    newest = primary.query("show master status")[0][0]

    def purged():
        primary.query(f"purge binary logs to '{newest}'")
        return len(primary.query("show binary logs")) == 1

    wait_for("the purge", purged)
    late = make(Paceline, tmp_path / "late", 300)
    try:
        follow(late, archive)
        catch_up(late, primary)
        check_same_tables(primary, late)
    finally:
        late.close()
    # A new archive starts where the primary's log starts, and reports everything before that as purged.
    second = Archive(tmp_path / "second", primary)
    late = make(MariaDb, tmp_path / "later", 301)
    try:
        second.start()
        fill(primary, 2)
        second.wait_for(primary)
        late.query("reset master")
        follow(late, second)
        number, text = wait_for_io_error(late)
        assert number == 1236 and "have been purged" in text
        assert second.status("Paceline_archive_oldest").startswith("0-1-")
    finally:
        second.close()
        late.close()


def test_semi_sync_acknowledges_what_is_durable(primary, archive):
    fill(primary, 1)
    primary.query("set global rpl_semi_sync_master_enabled=1", "set global rpl_semi_sync_master_timeout=20000")
    archive.stop()
    archive.start()

    def number(name):
        return primary.query(f"show status like 'Rpl_semi_sync_master_{name}'")[0][1]

    wait_for("the archive as a semi-sync replica", lambda: number("clients") == "1")
    before = int(number("yes_tx"))
    fill(primary, 30)
    assert int(number("yes_tx")) - before >= 30 and number("status") == "ON" and int(number("no_tx")) == 0
    # Everything acknowledged to a client is in the archive at once, without waiting.
    archive.kill()
    last = primary.query("select @@global.gtid_binlog_pos")[0][0]
    assert last in gtids(archive.files())
    assert int(number("no_times")) == 0


def test_what_it_shows(primary, archive):
    fill(primary, 3)
    position = archive.wait_for(primary)
    assert archive.query("select @@gtid_binlog_pos") == ((position,),)
    status = dict(zip([column[0] for column in describe(archive, "show slave status")], archive.query("show slave status")[0]))
    assert status["Slave_IO_Running"] == "Yes" and status["Master_Port"] == primary.port and status["Gtid_IO_Pos"] == position
    assert status["Seconds_Behind_Master"] == 0 and status["Last_IO_Errno"] == 0
    [(file, offset, *_)] = archive.query("show master status")
    assert (file, offset) in [row[:2] for row in archive.query("show binary logs")]
    assert archive.query(f"select binlog_gtid_pos('{file}', {offset})") == ((position,),)
    assert archive.query("show variables like 'log\\_bin'") == (("log_bin", "ON"),)
    assert int(archive.status("Paceline_archive_written_transactions")) == len(gtids(archive.files()))
    refused = {"select * from t.a": 1235, "create table t.b (a int)": 1235, "set global gtid_slave_pos=''": 1235, "selec 1": 1064,
               "set @@nothing=1": 1193}
    for statement, number in refused.items():
        with pytest.raises(pymysql.err.MySQLError) as error:
            archive.query(statement)
        assert error.value.args[0] == number, statement
    with pytest.raises(pymysql.err.OperationalError) as error:
        archive.connect(password="wrong")
    assert error.value.args[0] == 1045
    second = Archive(archive.directory, primary)
    second.spawn()
    assert second.process.wait(timeout=20) == 1 and "is in use by another archive" in second.said()
    archive.query("stop slave")
    wait_for("the end", lambda: archive.query("show slave status")[0][6] == "No")
    fill(primary, 1)
    archive.query("start slave")
    archive.wait_for(primary)


def describe(server, statement):
    with server.connect() as session, session.cursor() as cursor:
        cursor.execute(statement)
        return cursor.description


def test_mariadbs_tools(primary, archive):
    fill(primary, 5)
    archive.wait_for(primary)
    command = ["mariadb-binlog", "--no-defaults", "--read-from-remote-server", "--host=127.0.0.1", f"--port={archive.port}",
               f"--user={ACCOUNT}", f"--password={PASSWORD}", "--to-last-log", archive.files()[0].name]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert text.count("GTID 0-1-") == len(gtids(archive.files()))


def test_a_directory_of_another_log_is_refused(start, tmp_path):
    primary = start(Paceline, 1)
    archive = start(Archive, primary)
    fill(primary, 2)
    archive.wait_for(primary)
    archive.kill()
    primary.kill()
    there = sorted(archive.datadir.iterdir())
    begun = Paceline(tmp_path / "server", datadir=archive.datadir)
    begun.spawn()
    assert begun.process.wait(timeout=60) == 1 and "it is an archive's" in begun.said()
    assert sorted(archive.datadir.iterdir()) == there
    other = Archive(tmp_path / "other", primary)
    other.datadir = primary.datadir
    other.spawn()
    assert other.process.wait(timeout=60) == 1 and "is the data directory of a Paceline server" in other.said()
    assert not list(primary.datadir.glob("archive.*"))
    archive.start()
