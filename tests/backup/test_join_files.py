"""`paceline join` from a Paceline: its files are streamed into an empty directory, which becomes its replica."""

import signal
import threading

import pytest

from support import workload
from support.backups import checksums, paceline as run
from support.definitions import Definitions
from support.joining import Joined, allow_readers
from support.line import Tampering
from support.real_replicas import ACCOUNT, allow_replicas, catch_up, change_master, check_same_tables, replica_status
from support.servers import ROOT
from support.waiting import wait_for

EVERY_TYPE = (ROOT / "tests/log/every_type.sql").read_text()
PRIVILEGES = "select, reload, replication slave"


@pytest.fixture
def joined(tmp_path, paceline):
    allow_readers(paceline, PRIVILEGES)
    server = Joined(tmp_path / "joined", paceline)
    yield server
    server.close()


def rows(server, count, database="d"):
    """Inserts rows of about 200 bytes that do not compress."""
    server.query(f"create database if not exists {database}", f"create table {database}.t (id int primary key auto_increment, k int, c varchar(200), key (k))")
    with server.connect() as connection, connection.cursor() as cursor:
        for begin in range(0, count, 2000):
            cursor.execute(f"insert into {database}.t (k, c) values " + ",".join(f"({k % 1000}, '{hash((k, 1)):x}{hash((k, 2)):x}{'y' * 150}')"
                                                                         for k in range(begin, min(begin + 2000, count))))


def test_every_type_under_load(tmp_path, paceline, joined, seed):
    """Copies under load, with DDL, two domains, accounts, a table in memory, and a log with another name; then
    replicates."""
    paceline.client("--default-character-set=utf8mb4", text=EVERY_TYPE)
    workload.create(paceline)
    paceline.query("create table load_test.in_memory (id int primary key, v int) engine=memory", "insert into load_test.in_memory values (1, 1), (2, 1)",
                   "create database other", "create table other.t (id int primary key)",
                   "create user app@localhost identified by 'secret'")
    stop = threading.Event()

    def write_elsewhere():
        with paceline.connect() as connection, connection.cursor() as cursor:
            cursor.execute("set session gtid_domain_id=5")
            number = 0
            while not stop.is_set():
                number += 1
                cursor.execute(f"insert into other.t values ({number})")

    elsewhere = threading.Thread(target=write_elsewhere)
    load = workload.Load(paceline, 3, seed).start()
    definitions = Definitions(paceline, seed)
    elsewhere.start()
    definitions.start()
    try:
        wait_for("some load", lambda: load.acknowledged[0] > 20)
        acknowledged = dict(load.acknowledged)
        status, said = joined.run("--prepare-only", "--log-bin=relayed")
        assert status == 0 and "no commit waits" in said and "accounts are those of the primary" in said, said
        assert "MEMORY tables are empty here" in said and "load_test.in_memory" in said
        assert sorted(path.name for path in joined.datadir.glob("*.0*") if path.suffix != ".idx")[0].startswith("relayed.")
        joined.complete = True
        joined.options = ["--log-bin=relayed"]
        joined.start("--skip-slave-start")
        for worker, value in acknowledged.items():
            assert joined.query(f"select value from load_test.counter where worker={worker}")[0][0] >= value
        workload.check(joined, load, loses_acknowledged=True)
        status = replica_status(joined)
        assert (status["Using_Gtid"], status["Master_Port"], status["Master_User"]) == ("Slave_Pos", paceline.port, ACCOUNT)
        assert joined.query("select @@gtid_slave_pos") == joined.query("select @@gtid_binlog_pos")
        joined.query("start slave")
        paceline.query("update load_test.in_memory set v = 2 where id = 1", "insert into load_test.in_memory values (3, 3)")
        # kill -9 of the replica under load.
        wait_for("more load", lambda: load.acknowledged[0] > acknowledged[0] + 50)
        joined.kill()
        joined.start()
    finally:
        stop.set()
        elsewhere.join()
        definitions.stop()
        load.stop()
    catch_up(joined, paceline)
    memory = ("load_test", "in_memory")
    assert checksums(joined, memory) == checksums(paceline, memory)
    workload.check(joined, load)
    assert joined.query("select @@gtid_binlog_state") == paceline.query("select @@gtid_binlog_state")
    assert joined.query("select @@gtid_domain_id, @@server_id") == ((0, 7),)
    assert joined.query("select 1", user="app", password="secret") == ((1,),)
    # Its log is complete, and serves a replica that starts at the position of the copy.
    assert run("binlog", "--verify", *joined.log_files())[0] == 0
    third = Joined(tmp_path / "third", joined)
    try:
        status, said = third.run("--prepare-only", "--server-id=9")
        assert status == 0, said
        third.complete = True
        third.options = ["--server-id=9"]
        third.start()
        # Its primary's own replication settings were not copied.
        assert replica_status(third)["Master_Port"] == joined.port
        paceline.query("insert into other.t values (0)")
        catch_up(joined, paceline)
        catch_up(third, joined)
        assert checksums(third, memory) == checksums(paceline, memory)
    finally:
        third.close()


@pytest.fixture
def between(paceline, joined):
    proxy = Tampering(paceline.port)
    joined.through = proxy.port
    yield proxy
    proxy.close()


def is_empty(directory):
    return not directory.exists() or list(directory.iterdir()) == []


def test_an_interrupted_join_looks_incomplete_and_can_be_repeated(paceline, joined, between):
    """Tests kill -9 of the command and of the primary, SIGTERM, and a changed byte: nothing looks complete, and a
    second run completes it."""
    rows(paceline, 40_000)
    between.holds_after = 1_000_000
    joined.spawn()
    assert between.holding.wait(60)
    wait_for("the first table file", lambda: list(joined.datadir.rglob("*.sst")))
    joined.kill_halfway()

    # The primary dies in the middle.
    between.released.set()
    between.holds_after, between.passed_bytes = 1_000_000, 0
    between.holding.clear()
    between.released.clear()
    joined.spawn()
    assert between.holding.wait(60)
    paceline.kill()
    between.released.set()
    assert joined.process.wait(60) == 1
    assert is_empty(joined.datadir)
    paceline.start()

    # The user interrupts the command.
    between.holds_after, between.passed_bytes = 1_000_000, 0
    between.holding.clear()
    between.released.clear()
    joined.spawn()
    assert between.holding.wait(60)
    joined.process.send_signal(signal.SIGINT)
    assert joined.process.wait(60) == 1 and joined.said().endswith("paceline join: interrupted\n")
    between.released.set()
    assert is_empty(joined.datadir)

    # A byte that changes on the way is noticed.
    between.holds_after, between.passed_bytes, between.flips_at = None, 0, 1_000_000
    assert "the server's stream is damaged" in joined.refuses("--prepare-only")
    assert is_empty(joined.datadir)
    between.flips_at = None

    joined.check_whole(40_000)


def test_a_primary_of_another_version(paceline, joined, between):
    """A primary that does not have this stream: its rows are copied instead."""
    rows(paceline, 1000)
    between.replaces = (b"BACKUP SERVER", b"BACKUP SHADOW")
    assert "it does not support BACKUP SERVER" in joined.refuses("--copy=files")
    assert is_empty(joined.datadir)
    assert "lacks privileges on *.*: TRIGGER." in joined.refuses()
    allow_readers(paceline, PRIVILEGES + ", trigger")
    joined.start()
    assert "rows are copied" in joined.said()
    catch_up(joined, paceline)
    assert check_same_tables(paceline, joined) == 1000


def test_a_filtered_copy_is_by_rows(paceline, joined):
    paceline.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)", "create table d.no (a int primary key)")
    assert "some are to be left out or filtered" in joined.refuses("--copy=files", "--replicate-ignore-table=d.no")
    allow_readers(paceline, PRIVILEGES + ", trigger")
    joined.join_options += ["--replicate-ignore-table=d.no"]
    joined.start()
    paceline.query("insert into d.t values (2)")
    catch_up(joined, paceline)
    assert joined.query("show tables in d") == (("t",),)
    assert joined.query("select * from d.t") == ((1,), (2,))


def test_required_privileges(paceline, joined):
    allow_readers(paceline, "select, reload")
    assert "user 'reader' lacks privileges on *.*: REPLICATION SLAVE." in joined.refuses()
    assert "its server_id is 1 too" in joined.refuses("--server-id=1")


def test_an_empty_primary_and_one_that_was_restored(tmp_path, paceline, joined):
    """The primary is empty; everything is replicated later."""
    joined.start()
    paceline.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    catch_up(joined, paceline)
    assert joined.query("select * from d.t") == ((1,),)
    # It takes over as primary.
    joined.query("stop slave", "reset slave all", "insert into d.t values (2)")
    allow_replicas(joined)
    change_master(paceline, joined, use_gtid="current_pos")
    paceline.query("start slave")
    catch_up(paceline, joined)
    assert paceline.query("select * from d.t") == ((1,), (2,))


@pytest.mark.parametrize("copied", ["files", "rows"])
def test_over_tls(paceline, joined, copied):
    """Accounts that require TLS; replication uses it too."""
    allow_readers(paceline, PRIVILEGES + ", trigger")
    paceline.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    for user in ("reader", ACCOUNT):
        paceline.query("set session sql_log_bin=0", *[f"alter user {user}@'{host}' require ssl" for host in ("%", "localhost", "127.0.0.1")])
    joined.join_options += [f"--copy={copied}"]
    assert "Access denied" in joined.refuses("--prepare-only")
    joined.join_options += ["--master-ssl"]
    joined.start()
    paceline.query("insert into d.t values (2)")
    catch_up(joined, paceline)
    status = replica_status(joined)
    assert status["Master_SSL_Allowed"] == "Yes"
    assert joined.query("select * from d.t") == ((1,), (2,))
