"""LOAD DATA of a MariaDB primary that logs statements: the file arrives in blocks, and its rows are logged here."""

import contextlib
import subprocess
import threading

import pytest

from support.archive import Archive, group_events
from support.line import Tampering
from support.real_replicas import allow_replicas, catch_up, check_same_tables
from support.real_replicas import change_master as change_master_to_archive
from support.replication import assert_same, change_master, content, gtid_position, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

BLOCK = 128 * 1024
# Begin_load_query, Append_block, Execute_load_query, Delete_file.
KINDS = {17, 9, 18, 11}


@contextlib.contextmanager
def running(*servers):
    with contextlib.ExitStack() as stack:
        for server in servers:
            stack.callback(server.close)
            server.start()
        yield servers


def follow(replica, primary, port=None, **settings):
    change_master(replica, primary, port=port, **{"master_use_gtid": "slave_pos", **settings})
    replica.query("start slave")
    wait_for_replica(replica, primary)


def mariadb(directory, *options, number=100, format="STATEMENT"):
    return MariaDb(directory, f"--server-id={number}", f"--binlog-format={format}", "--local-infile=1", *options)


@pytest.fixture
def pair(tmp_path):
    """A MariaDB that logs statements, and a Paceline that follows it."""
    with running(mariadb(tmp_path / "primary"), Paceline(tmp_path / "replica", "--server-id=2")) as (primary, replica):
        primary.query("create database d", "create table d.t (a int primary key, b varchar(2000), c int default 0)")
        replication_user(primary)
        follow(replica, primary)
        yield primary, replica


@pytest.fixture
def file(tmp_path):
    """Writes files for LOAD DATA and returns their quoted names."""
    def write(text, name="in.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return "'" + str(path).replace("'", "''") + "'"

    return write


def rows(first, last, text="x"):
    return "".join(f"{number}\t{text} {number}\n" for number in range(first, last))


def local(server, *statements):
    server.client("--local-infile=1", "--default-character-set=utf8mb4", "d", text=";\n".join(statements))


def kinds(files):
    """Counts the events of each kind of LOAD DATA in the files."""
    found = [event[0] for event in group_events(files) if event[0] in KINDS]
    return {kind: found.count(kind) for kind in set(found)}


def primary_files(primary):
    primary.query("flush binary logs")
    return sorted((primary.directory / "data").glob("bin.0*"))


@pytest.mark.parametrize("format", ["STATEMENT", "MIXED"])
def test_every_form_of_load_data(tmp_path, file, format):
    servers = (mariadb(tmp_path / "primary", "--log-bin-compress=1", "--log-bin-compress-min-len=10", format=format),
               Paceline(tmp_path / "replica", "--server-id=2"), mariadb(tmp_path / "behind", number=3, format="ROW"))
    with running(*servers) as (primary, replica, behind):
        replication_user(primary)
        follow(replica, primary)
        # With the account that the log has created.
        follow(behind, replica)
        primary.query("create database d character set latin1", "use d", "create table t (a int primary key, b varchar(200) character set utf8mb4, c int default 0)",
                      "create table n (a int auto_increment primary key, b varchar(200) character set utf8mb4, c datetime(6), unique (b))",
                      "create table k (b varchar(200), j int)")
        plain, twice, empty = file(rows(1, 6)), file("9\tnine\n1\tone again\n1\tone more\n", "twice.txt"), file("", "empty.txt")
        latin1, quoted = file("20\tgr\xfcn\n".encode("latin-1"), "latin1.txt"), file('#31;"a;b"\n#32;NULL\n#33;"it\\"s"\n', "quo'ted.txt")
        big = file(rows(1000, 4000, "y" * 100), "big.txt")
        primary.query("use d", f"load data infile {plain} into table t (a, b)", f"load data infile {twice} replace into table t (a, b) set c=a+1",
                      f"load data infile {twice} ignore into table t (a, b)", f"load data infile {empty} into table t",
                      # In the database's character set, and in one of its own.
                      f"load data infile {latin1} into table t (a, b)", f"load data low_priority infile {latin1} replace into table t character set latin1 (a, b) set c=1",
                      f"load data concurrent infile {quoted} into table t fields terminated by ';' optionally enclosed by '\"' lines starting by '#' (a, b)",
                      f"load data infile {plain} into table d.k fields terminated by '\\t' ignore 2 lines (j, b)", f"load data infile {plain} into table k (j, b)",
                      "set @v=5, @nothing=null", f"load data infile {plain} into table n (@x, b) set a=@x+100+@v, c=now(6)",
                      f"load data infile {twice} ignore into table n (@x, @y) set b=concat(@y, rand(), ifnull(@nothing, '-')), c=current_timestamp",
                      f"load data infile {big} into table t (a, b)", f"load data infile {big} replace into table t (a, b) set c=7")
        # From the client: LOCAL implies IGNORE. In a transaction with other statements; rolled back in part and as a
        # whole.
        local(primary, f"load data local infile {twice} into table t (a, b)", f"load data local infile {big} replace into table t (@a, b) set a=@a+5000")
        local(primary, "begin", f"load data local infile {plain} replace into table n (@a, b)", "insert into t (a, b) values (20000, 'between')",
              "savepoint s", f"load data infile {file(rows(28000, 28005), 'undone.txt')} into table t (a, b)", "rollback to s",
              f"load data infile {file(rows(29000, 29005), 'later.txt')} into table t (a, b)", "commit",
              "begin", f"load data infile {file(rows(29500, 29505), 'gone.txt')} into table t (a, b)", "rollback")
        # Into a temporary table, from which other statements read.
        bad, too_long = file("1\n2\n", "bad.txt"), file("100000\tlong\ttext\n", "long.txt")
        with primary.connect(database="d") as session, session.cursor() as cursor:
            cursor.execute("create temporary table tmp like t")
            with pytest.raises(Exception, match="1261"):
                cursor.execute(f"load data infile {bad} into table tmp")
            cursor.execute(f"load data infile {plain} into table tmp (a, b)")
            cursor.execute("insert into k (j, b) select a, b from tmp order by a")
            wait_for_replica(replica, primary)
        # Settings of the session: SQL mode, character set, time, time zone. (Letters beyond ASCII in SET would differ
        # on any replica: MariaDB logs them in UTF-8 and declares them as latin1.)
        primary.query("use d", "set sql_mode='', names latin1, time_zone='+03:00', timestamp=1700000000.25",
                      f"load data infile {too_long} into table n (a) set b='late', c=now(6)", charset="latin1")
        wait_for_replica(replica, primary)
        wait_for_replica(behind, replica)
        assert_same(primary, replica)
        assert_same(replica, behind)
        assert gtid_position(replica) == gtid_position(primary)
        assert len(replica.query("select * from d.t")) > 6000
        assert replica.query("select b from d.t where a=20") == (("grün",),)
        # The files are in the primary's log and not in ours, which has the primary's statement as annotation of the
        # rows.
        counted = kinds(primary_files(primary))
        if format == "STATEMENT":
            assert counted[17] == counted[18] == 18 and counted[9] > 20, counted
        replica.query("flush binary logs")
        assert kinds(replica.log_files()[:-1]) == {}
        text = replica.client("--base64-output=decode-rows", "-v", *replica.log_files()[:-1], program="mariadb-binlog").lower()
        assert f"#q> load data infile {plain} into table".lower() in text
        assert "sql_load" not in text


def test_a_file_of_any_length(pair, file):
    """Longer than an event group may be in memory, and longer than a packet."""
    primary, replica = pair
    name = file("".join(f"{number}\t{str(number) * (1900 // len(str(number)))}\n" for number in range(37_000)))
    primary.query("use d", f"load data infile {name} into table t (a, b)", f"load data infile {name} replace into table t (a, b) set c=1")
    wait_for_replica(replica, primary)
    sums = "select count(*), sum(c), sum(crc32(concat(a, b))) from d.t"
    assert primary.query(sums) == replica.query(sums) and replica.query(sums)[0][0] == 37_000
    assert kinds(primary_files(primary))[9] > 1000
    assert list(replica.datadir.rglob("spill*")) == []


def test_a_failure_here_stops_and_leaves_nothing(pair, file):
    primary, replica = pair
    wait_for_replica(replica, primary)
    replica.query("insert into d.t (a, b) values (2, 'in the way')")
    name = file(rows(1, 4))
    primary.query("use d", "begin", "insert into t (a, b) values (50, 'before')", f"load data infile {name} into table t (a, b)", "commit",
                  "insert into t (a, b) values (60, 'behind')")

    def stopped():
        status = slave_status(replica)
        return status if status["Slave_SQL_Running"] == "No" else None

    def start():
        replica.query("start slave")

    status = wait_for("an error", stopped)
    assert status["Last_SQL_Errno"] == 1062 and "Duplicate entry '2' for key 'PRIMARY'" in status["Last_SQL_Error"], status
    assert "Query: 'LOAD DATA INFILE" in status["Last_SQL_Error"] and "Default database: 'd'" in status["Last_SQL_Error"]
    assert content(replica)["d.t"] == [(2, "in the way", 0)]
    # The same again; then the cause is removed.
    start()
    wait_for("the error again", stopped)
    replica.query("delete from d.t")
    start()
    wait_for_replica(replica, primary)
    assert_same(primary, replica)

    # Skipped by its GTID, and by the counter.
    replica.query("insert into d.t (a, b) values (71, 'in the way')")
    primary.query("use d", f"load data infile {file(rows(70, 73))} into table t (a, b)")
    wait_for("another error", stopped)
    replica.query("set global sql_slave_skip_counter=1")
    start()
    wait_for_replica(replica, primary)
    assert len(replica.query("select * from d.t where a between 70 and 73")) == 1
    replica.query("delete from d.t where a=71", "stop slave")
    primary.query("delete from d.t where a between 70 and 73")
    replica.stop()
    replica.start("--slave_skip_errors=1062")
    replica.query("insert into d.t (a, b) values (81, 'in the way')", "start slave")
    # In a transaction the other statements are executed.
    primary.query("use d", "begin", f"load data infile {file(rows(80, 83))} into table t (a, b)", "insert into t (a, b) values (90, 'done')", "commit")
    wait_for_replica(replica, primary)
    assert [row[0] for row in replica.query("select a from d.t where a >= 80 order by a")] == [81, 90]


def test_what_has_failed_on_the_primary(pair, file):
    """Rows that a table without transactions has kept: the statement is logged with its error, fails here in the same
    way, and keeps the same rows."""
    primary, replica = pair
    primary.query("use d", "create table m (a int primary key, b varchar(30)) engine=myisam", "insert into m values (2, 'two')")
    with pytest.raises(Exception, match="1062"):
        primary.query("use d", f"load data infile {file(rows(1, 5))} into table m (a, b)")
    primary.query("insert into d.m values (10, 'ten')")
    wait_for_replica(replica, primary)
    assert content(replica)["d.m"] == content(primary)["d.m"] == [(1, "x 1"), (10, "ten"), (2, "two")]
    # It fails at its first row: the file is in the log, and is abandoned.
    with pytest.raises(Exception, match="1062"):
        primary.query("use d", f"load data infile {file(rows(2, 5))} into table m (a, b)")
    wait_for_replica(replica, primary)
    assert content(replica)["d.m"] == content(primary)["d.m"]
    assert kinds(primary_files(primary))[11] == 1
    # A statement that is not logged leaves no trace: the table has transactions.
    with pytest.raises(Exception, match="1062"):
        primary.query("use d", "insert into t (a, b) values (3, 'three')", f"load data infile {file(rows(1, 5))} into table t (a, b)")
    wait_for_replica(replica, primary)
    assert content(replica)["d.t"] == [(3, "three", 0)]


def test_load_data_obeys_the_replicas_filters(tmp_path, file):
    options = ["--server-id=2", "--replicate-ignore-table=d.ignored", "--replicate-wild-ignore-table=%.tmp%", "--replicate-rewrite-db=old->new",
               "--replicate-ignore-db=nothing"]
    with running(mariadb(tmp_path / "primary"), Paceline(tmp_path / "replica", *options)) as (primary, replica):
        primary.query("create database d", "create database old", "create database nothing")
        replication_user(primary)
        follow(replica, primary)
        replica.query("create database if not exists new")
        for database in ("d", "old", "nothing"):
            for table in ("t", "ignored", "tmp_t"):
                primary.query(f"use {database}", f"create table {table} (a int primary key, b varchar(30))")
        name = file(rows(1, 4))
        for database in ("d", "old", "nothing"):
            primary.query(f"use {database}", "begin", *[f"load data infile {name} into table {table}" for table in ("t", "ignored", "tmp_t")], "commit")
        primary.query("use d", f"load data infile {name} replace into table ignored")
        wait_for_replica(replica, primary)
        expected = sorted(primary.query("select * from d.t"), key=repr)
        assert content(replica) == {"d.t": expected, "new.t": expected, "new.ignored": expected}


def test_a_line_that_is_cut_between_blocks(tmp_path, file):
    with running(mariadb(tmp_path / "primary"), Paceline(tmp_path / "replica", "--server-id=2")) as (primary, replica):
        primary.query("create database d", "create table d.t (a int primary key, b varchar(200))")
        line = Tampering(primary.port)
        replication_user(primary)
        follow(replica, primary, port=line.port)
        line.holds_after = line.passed_bytes + 3 * BLOCK
        primary.query("use d", f"load data infile {file(rows(0, 20_000, 'z' * 40))} into table t")
        assert line.holding.wait(30)
        # In the middle of the file: none of it is visible. Then it starts again at the beginning of the transaction.
        assert replica.query("select count(*) from d.t") == ((0,),)
        line.holds_after = None
        line.cut()
        line.released.set()
        wait_for_replica(replica, primary)
        assert_same(primary, replica)
        # The same by file and position.
        replica.query("stop slave", "change master to master_use_gtid=no", "start slave")
        line.released.clear()
        line.holding.clear()
        wait_for("the connection", lambda: slave_status(replica)["Slave_IO_Running"] == "Yes")
        line.holds_after = line.passed_bytes + 2 * BLOCK
        primary.query("use d", f"load data infile {file(rows(0, 20_000, 'y' * 40))} replace into table t")
        assert line.holding.wait(30)
        line.holds_after = None
        replica.kill()
        line.cut()
        line.released.set()
        replica.start()
        wait_for_replica(replica, primary)
        assert_same(primary, replica)
        line.close()


def test_kills_apply_nothing_in_part(pair, file):
    primary, replica = pair
    names = [file(rows(number * 10_000, number * 10_000 + 4000, "k" * 60), f"{number}.txt") for number in range(12)]

    def write():
        with primary.connect(database="d", autocommit=True) as session, session.cursor() as cursor:
            for name in names:
                cursor.execute(f"load data infile {name} into table t (a, b)")

    writer = threading.Thread(target=write)
    writer.start()
    for number in range(4):
        wait_for("rows", lambda: replica.query("select count(*) from d.t")[0][0] >= 4000 * number)
        replica.kill()
        replica.start()
        assert replica.query("select count(*) from d.t")[0][0] % 4000 == 0
    writer.join()
    wait_for_replica(replica, primary)
    assert_same(primary, replica)


@pytest.mark.parametrize("kind", ["mariadb", "paceline"])
def test_through_an_archive(tmp_path, file, kind):
    """The archive passes it on byte for byte, and the replica after it applies it."""
    behind = mariadb(tmp_path / "behind", number=3, format="ROW") if kind == "mariadb" else Paceline(tmp_path / "behind", "--server-id=3")
    with running(mariadb(tmp_path / "primary"), behind) as (primary, behind):
        primary.query("reset master")
        behind.query("reset master")
        allow_replicas(primary)
        archive = Archive(tmp_path / "archive", primary)
        with contextlib.closing(archive):
            archive.start()
            allow_replicas(behind)
            change_master_to_archive(behind, archive)
            behind.query("start slave")
            primary.query("create database d", "use d", "create table t (a int primary key, b varchar(200), c int default 0)",
                          f"load data infile {file(rows(1, 6000, 'a' * 90))} into table t (a, b)",
                          f"load data infile {file(rows(5990, 6010), 'more.txt')} replace into table t (a, b) set c=1")
            local(primary, f"load data local infile {file(rows(6000, 6020), 'own.txt')} into table t (a, b)")
            catch_up(behind, primary)
            assert check_same_tables(primary, behind) == 6019
            assert archive.stop() == 0
            assert group_events(archive.files()) == group_events(primary_files(primary))
            assert kinds(archive.files()) == {17: 3, 9: 4, 18: 3}


@pytest.mark.parametrize("program", ["mariadb-binlog", "paceline binlog"])
def test_the_text_of_such_a_log_is_run_here(tmp_path, file, program):
    with running(mariadb(tmp_path / "primary"), Paceline(tmp_path / "target", "--local_infile=1")) as (primary, target):
        primary.query("create database d", "use d", "create table t (a int primary key, b varchar(200), c int default 0)",
                      "create table n (a int auto_increment primary key, b varchar(200))",
                      f"load data infile {file(rows(1, 6000, 'a' * 90))} into table t (a, b)",
                      f"load data infile {file(rows(5990, 6010), 'more.txt')} replace into table t (a, b) set c=1",
                      "set @v='é'", "begin", f"load data infile {file(rows(1, 9), 'some.txt')} into table n (@x, b) set b=concat(@x, @v)",
                      "insert into t (a, b) values (9000, 'last')", "commit")
        local(primary, f"load data local infile {file(rows(6000, 6020), 'own.txt')} into table t (a, b)")
        (tmp_path / "files").mkdir()
        command = ["mariadb-binlog", "--no-defaults"] if program == "mariadb-binlog" else [Paceline(tmp_path / "x").command()[0], "binlog"]
        printed = subprocess.run([*command, f"--local-load={tmp_path / 'files'}", *primary_files(primary)], capture_output=True, check=True)
        target.client("--local-infile=1", "--binary-mode", "--max-allowed-packet=67108864", text=printed.stdout.decode())
        assert_same(primary, target)
        assert gtid_position(target) == gtid_position(primary)
