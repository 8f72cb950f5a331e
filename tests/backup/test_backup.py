"""`paceline backup` and `paceline restore`: a restored server is in the primary's state at that GTID, whatever ran
meanwhile."""

import random
import shutil
import signal
import subprocess
import time

import pymysql
import pytest

from support import backups, workload
from support.backups import backup, binlog_position, checksums, on, refused, restore, state_at
from support.definitions import Definitions
from support.real_replicas import allow_replicas, catch_up, change_master, check_same_tables, start_replica
from support.servers import BINARY, ROOT, Paceline
from support.waiting import let_run, wait_for

EVERY_TYPE = (ROOT / "tests/log/every_type.sql").read_text()


def test_under_load_with_definitions(paceline, tmp_path, seed):
    """Makes a full backup and increments under load. Each one, restored, is in the primary's state at its GTID."""
    workload.create(paceline)
    paceline.query("create table load_test.in_memory (id int primary key) engine=memory", "insert into load_test.in_memory values (1), (2)")
    load = workload.Load(paceline, 4, seed).start()
    definitions = Definitions(paceline, seed)
    definitions.start()
    place = tmp_path / "backup"
    let_run(1)
    positions = []
    for options in ([], ["--incremental"], ["--incremental"]):
        # Everything acknowledged before the backup began is in it.
        acknowledged = dict(load.acknowledged)
        said = backup(paceline, place, *options)
        assert "It can be restored to every transaction from '" in said
        positions.append(acknowledged)
        let_run(0.7)
    load.stop()
    definitions.stop()
    reached = restore(place, tmp_path / "restored")
    restored = on(tmp_path / "restored", tmp_path / "server").start()
    memory = ("load_test", "in_memory")
    try:
        workload.check(restored, load, loses_acknowledged=True)
        for worker, value in positions[-1].items():
            assert restored.query(f"select value from load_test.counter where worker={worker}")[0][0] >= value
        # A restart empties tables in memory. It is not a transaction of its own, which would make the GTIDs diverge.
        assert restored.query("select count(*) from load_test.in_memory") == ((0,),)
        assert binlog_position(restored) == reached
        assert checksums(restored, memory) == state_at(paceline, tmp_path / "replica", reached, memory)
        accounts = "select user, host, password from mysql.user where user<>'repl' order by 1, 2"
        assert len(restored.query(accounts)) > 1
        # It can follow the server that was backed up.
        start_replica(restored, paceline)
        catch_up(restored, paceline)
        assert checksums(restored, memory) == checksums(paceline, memory)
        assert restored.query(accounts) == paceline.query(accounts)
        workload.check(restored, load)
    finally:
        restored.close()


def numbered(server, count, database="d"):
    """Runs transactions whose GTIDs, states and times are known: after transaction n, table t has n rows. There is a
    pause in the middle."""
    server.query(f"create database {database}", f"create table {database}.t (id int primary key auto_increment, b varchar(50))")
    known = []
    for n in range(1, count + 1):
        if n == count // 2:
            # Their times differ by whole seconds.
            let_run(2.1)
        server.query(f"insert into {database}.t (b) values ('row {n}')")
        known.append((n, server.query("select @@global.gtid_binlog_pos")[0][0], server.query("select unix_timestamp()")[0][0]))
    return known


def rows_in(datadir, directory, table="d.t"):
    server = on(datadir, directory).start()
    try:
        return server.query(f"select count(*), max(id) from {table}")[0]
    finally:
        server.close()


def test_every_point_in_time(paceline, tmp_path, seed):
    known = numbered(paceline, 5)
    place = tmp_path / "backup"
    backup(paceline, place)
    known_in_tables = known[-1]
    known = numbered(paceline, 20, "e")
    paceline.query("flush binary logs")
    paceline.query("alter table e.t add index (b), add c int default 7")
    backup(paceline, place, "--incremental")
    paceline.query("drop table e.t")
    [(dropped,)] = paceline.query("select @@global.gtid_binlog_pos")
    paceline.query("create table d.later (id int)")
    backup(paceline, place, "--incremental")

    chosen = random.Random(seed).sample(known, 4) + [known[0], known[-1]]
    for at, (n, gtid, _) in enumerate(chosen):
        datadir = tmp_path / f"until-{at}"
        assert restore(place, datadir, "--until", gtid) == gtid
        assert rows_in(datadir, tmp_path / f"server-{at}", "e.t") == (n, n)
    # A point in time within the pause has exactly one answer.
    n, gtid, seconds = known[len(known) // 2 - 2]
    zone = {"TZ": "UTC"}
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds + 1))
    assert restore(place, tmp_path / "time", "--until", at, environment=zone) == gtid
    assert rows_in(tmp_path / "time", tmp_path / "server-time", "e.t") == (n, n)
    # Just before the table was dropped, in the form that ALTER TABLE gave it.
    before = restore(place, tmp_path / "before", "--stop-before", dropped)
    assert before.split("-")[2] == str(int(dropped.split("-")[2]) - 1)
    server = on(tmp_path / "before", tmp_path / "server-before").start()
    try:
        assert server.query("select count(*), sum(c) from e.t force index (b) where b>''") == ((20, 140),)
        assert server.query("show tables in d") == (("t",),)
        # It accepts writes, and its history continues.
        server.query("insert into e.t (b) values ('new')")
        assert server.query("select @@global.gtid_binlog_pos") == ((f"0-50-{int(dropped.split('-')[2])}",),)
    finally:
        server.close()
    # The end of the log is a valid point; a point beyond it is not.
    assert restore(place, tmp_path / "end") == binlog_position(paceline)

    def no(*options):
        said = refused("restore", "--from", place, "--datadir", tmp_path / "no", *options)
        assert not (tmp_path / "no").exists() or list((tmp_path / "no").iterdir()) == []
        return said

    assert "'0-1-9999' is neither" not in no("--until", "0-1-9999")
    assert "0-1-9999 is not in this backup, which reaches from" in no("--until", "0-1-9999")
    assert f"The earliest point that it can be restored to is '{known_in_tables[1]}'" in no("--until", "0-1-2")
    assert "is before the tables of this backup" in no("--until", "2001-01-01 00:00:00")
    assert "is before the tables of this backup" in no("--stop-before", "0-1-3")
    assert "is neither a list of GTIDs" in no("--until", "yesterday")
    assert "two different points" in no("--until", "0-1-9", "--stop-before", "0-1-9")


def test_a_long_log_is_not_sent_whole(paceline, tmp_path):
    """The part of a long log file before the position of the tables is not copied, because the log is rotated first."""
    paceline.query("create database d", "create table d.t (id int primary key, b longblob)",
                   *[f"insert into d.t values ({n}, repeat(char(65 + {n}), 1000000))" for n in range(20)])
    [before] = paceline.log_files()
    place = tmp_path / "backup"
    backup(paceline, place)
    copied = sum(file.stat().st_size for file in (place / "log").iterdir())
    assert copied < 1_000_000 < 20_000_000 < before.stat().st_size
    assert len(paceline.log_files()) == 2
    # A short file is not rotated.
    paceline.query("insert into d.t values (100, 'x')")
    backup(paceline, tmp_path / "other")
    assert len(paceline.log_files()) == 2
    reached = restore(place, tmp_path / "first")
    assert rows_in(tmp_path / "first", tmp_path / "server-first", "d.t") == (20, 19)
    backup(paceline, place, "--incremental")
    assert restore(place, tmp_path / "second", "--until", binlog_position(paceline)) == binlog_position(paceline) != reached
    assert rows_in(tmp_path / "second", tmp_path / "server-second", "d.t") == (21, 100)


def test_several_domains(paceline, tmp_path):
    paceline.query("create database d", "create table d.t (id int primary key)")
    place = tmp_path / "backup"
    backup(paceline, place)
    positions = []
    for n in range(6):
        paceline.query(f"set session gtid_domain_id={n % 3}", f"insert into d.t values ({n})")
        positions.append(binlog_position(paceline))
    backup(paceline, place, "--incremental")
    for n, position in enumerate(positions):
        assert restore(place, tmp_path / f"r{n}", "--until", position) == position
        assert rows_in(tmp_path / f"r{n}", tmp_path / f"s{n}")[0] == n + 1
    # The newest transaction of one domain and an old one of another never existed together.
    newest = dict(gtid.split("-", 1) for gtid in positions[-1].split(","))
    oldest = dict(gtid.split("-", 1) for gtid in positions[1].split(","))
    said = refused("restore", "--from", place, "--datadir", tmp_path / "no", "--until", f"0-{oldest['0']},2-{newest['2']}")
    assert "was never a state of this server" in said


def test_every_type(paceline, tmp_path):
    """Covers all column types, in table files and in the log after them."""
    paceline.client(text=EVERY_TYPE)
    place = tmp_path / "backup"
    backup(paceline, place)
    paceline.client(text=EVERY_TYPE.replace("every_type", "every_type_again"))
    backup(paceline, place, "--incremental")
    restore(place, tmp_path / "restored")
    restored = on(tmp_path / "restored", tmp_path / "server").start()
    try:
        assert check_same_tables(paceline, restored) > 50
        assert checksums(paceline) == checksums(restored)
        values = "select table_schema, table_name, auto_increment from information_schema.tables where auto_increment is not null"
        assert paceline.query(values) == restored.query(values)
    finally:
        restored.close()


def test_nothing_that_is_not_durable(paceline, tmp_path, seed):
    """Also with sync_binlog=0: everything acknowledged before is in the backup, and a crash of the server loses
    nothing that a backup has."""
    paceline.query("set global sync_binlog=0")
    workload.create(paceline)
    load = workload.Load(paceline, 3, seed).start()
    let_run(0.5)
    acknowledged = dict(load.acknowledged)
    backup(paceline, tmp_path / "backup")
    paceline.kill()
    load.join()
    reached = restore(tmp_path / "backup", tmp_path / "restored")
    paceline.start()
    had, has = [int(position.split("-")[2]) for position in (reached, binlog_position(paceline))]
    assert had <= has
    restored = on(tmp_path / "restored", tmp_path / "server").start()
    try:
        workload.check(restored, load, loses_acknowledged=True)
        for worker, value in acknowledged.items():
            assert restored.query(f"select value from load_test.counter where worker={worker}")[0][0] >= value
        start_replica(restored, paceline)
        catch_up(restored, paceline)
        assert checksums(restored) == checksums(paceline)
    finally:
        restored.close()


def test_a_chain_of_restored_servers(paceline, mariadb, tmp_path):
    """A restored server becomes the primary of a MariaDB and of the server that it was restored from."""
    numbered(paceline, 3)
    backup(paceline, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored")
    restored = on(tmp_path / "restored", tmp_path / "server").start()
    try:
        allow_replicas(paceline)
        start_replica(mariadb, paceline)
        catch_up(mariadb, paceline)
        mariadb.query("stop slave")
        restored.query("insert into d.t (b) values ('on the restored one')")
        allow_replicas(restored)
        change_master(mariadb, restored)
        mariadb.query("start slave")
        catch_up(mariadb, restored)
        assert check_same_tables(mariadb, restored) == 4
        # The old primary has written nothing since, so it can follow.
        change_master(paceline, restored, "current_pos")
        paceline.query("start slave")
        catch_up(paceline, restored)
        assert checksums(paceline) == checksums(restored)
        # Its log continues the log that was backed up, so increments continue too. The old server's own log has
        # diverged.
        backup(restored, tmp_path / "backup", "--incremental")
        assert restore(tmp_path / "backup", tmp_path / "increment") == binlog_position(restored)
        assert rows_in(tmp_path / "increment", tmp_path / "fourth")[0] == 4
        assert "full backup" in refused("backup", "--from", paceline.socket, "--to", tmp_path / "backup", "--incremental")
        # A restored server can be backed up, and that backup restored.
        backup(restored, tmp_path / "second")
        assert restore(tmp_path / "second", tmp_path / "again") == binlog_position(restored)
        assert rows_in(tmp_path / "again", tmp_path / "third")[0] == 4
    finally:
        restored.close()


def test_a_replicas_backup_is_no_replica(paceline, tmp_path):
    """A restored replica does not continue replication beyond the backup on its own, but can be told to."""
    numbered(paceline, 3)
    replica = Paceline(tmp_path / "replica", "--server-id=2").start()
    try:
        start_replica(replica, paceline)
        catch_up(replica, paceline)
        backup(replica, tmp_path / "backup")
        paceline.query("insert into d.t (b) values ('later')")
        catch_up(replica, paceline)
    finally:
        replica.close()
    restore(tmp_path / "backup", tmp_path / "restored")
    restored = on(tmp_path / "restored", tmp_path / "server").start()
    try:
        assert restored.query("show all slaves status") == ()
        assert restored.query("select count(*) from d.t") == ((3,),)
        start_replica(restored, paceline)
        catch_up(restored, paceline)
        assert restored.query("select count(*) from d.t") == ((4,),)
    finally:
        restored.close()


def test_increments_of_another_log_are_refused(paceline, tmp_path):
    numbered(paceline, 3)
    place = tmp_path / "backup"
    assert "there is no backup to add to" in refused("backup", "--from", paceline.socket, "--to", place, "--incremental")
    backup(paceline, place)
    assert "it already contains a backup" in refused("backup", "--from", paceline.socket, "--to", place)
    assert "Nothing new since" in backup(paceline, place, "--incremental")
    # A restart and a new file do not matter.
    paceline.stop()
    paceline.start()
    paceline.query("insert into d.t (b) values ('x')", "flush binary logs", "insert into d.t (b) values ('y')")
    assert "Increment 1 of" in backup(paceline, place, "--incremental")
    expected = binlog_position(paceline)

    other = Paceline(tmp_path / "other").start()
    try:
        numbered(other, 8)
        said = refused("backup", "--from", other.socket, "--to", place, "--incremental")
        assert "another server" in said and "full backup" in said
        paceline.query("flush binary logs", "insert into d.t (b) values ('z')")
        paceline.query(f"purge binary logs to '{paceline.log_files()[-1].name}'")
        said = refused("backup", "--from", paceline.socket, "--to", place, "--incremental")
        assert "has been purged" in said and "full backup" in said
        paceline.query("reset master")
        said = refused("backup", "--from", paceline.socket, "--to", place, "--incremental")
        assert "RESET MASTER" in said and "full backup" in said
    finally:
        other.close()
    # The refused backups have not changed it.
    assert restore(place, tmp_path / "restored") == expected
    assert rows_in(tmp_path / "restored", tmp_path / "server")[0] == 5


def test_required_privileges(paceline, tmp_path):
    for privileges in ("reload", "reload, replication slave", "replication slave, select"):
        paceline.query("create or replace user b@localhost identified by 'it''s'", f"grant {privileges} on *.* to b@localhost")
        said = refused("backup", "--from", paceline.socket, "--to", tmp_path / "no", "--user", "b", environment={"MYSQL_PWD": "it's"})
        assert "1227" in said
    assert "1045" in refused("backup", "--from", paceline.socket, "--to", tmp_path / "no", "--user=b", "--password=wrong")
    paceline.query("grant reload, replication slave, select on *.* to b@localhost")
    options = tmp_path / "my.cnf"
    options.write_text("[client]\nuser=b\npassword=it's\n")
    backup(paceline, tmp_path / "backup", "--defaults-file", options)
    said = refused("backup", "--from", "127.0.0.1:1", "--to", tmp_path / "no")
    assert "127.0.0.1:1" in said
    # None of them has left any files.
    assert not (tmp_path / "no").exists()
    assert backup(Server(paceline.port), tmp_path / "tcp").startswith("Full backup of")


class Server:
    def __init__(self, port):
        self.socket = f"127.0.0.1:{port}"


def big_table(server, megabytes):
    """Creates a table whose rows do not compress."""
    server.query("create database if not exists big", "create table big.t (id int primary key auto_increment, b longblob)")
    with server.connect() as connection, connection.cursor() as cursor:
        rng = random.Random(7)
        for _ in range(megabytes * 2):
            cursor.execute("insert into big.t (b) values " + ",".join(["(%s)"] * 8), [rng.randbytes(65_536) for _ in range(8)])


def is_marked_by(place, process):
    try:
        return f'"process":{process.pid},' in (place / "unfinished.json").read_text()
    except FileNotFoundError:
        return False


def has_tables(place):
    """Returns whether the first table file has been started."""
    return (place / "tables" / "rocksdb").exists()


def held(server):
    directory = server.datadir / "tables" / "held"
    return sorted(path.name for path in directory.iterdir()) if directory.exists() else []


def test_an_interrupted_backup_or_restore_looks_incomplete_and_says_what_to_do(paceline, tmp_path):
    """Tests kill -9 of the backup, of the server and of the restore, and SIGINT: nothing looks complete, and each
    message says what to do."""
    big_table(paceline, 24)
    place = tmp_path / "backup"

    def interrupt(how):
        """Starts a backup and interrupts it in the middle. Returns its messages."""
        for _ in range(10):
            command = [BINARY, "backup", "--from", paceline.socket, "--to", place]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while process.poll() is None and not (is_marked_by(place, process) and has_tables(place)):
                pass
            how(process)
            _, said = process.communicate()
            if process.returncode != 0:
                return process.returncode, said
            shutil.rmtree(place)  # The backup was faster.
        raise AssertionError("it is always faster")

    assert interrupt(lambda process: process.kill())[0] == -signal.SIGKILL
    said = refused("restore", "--from", place, "--datadir", tmp_path / "no")
    assert "contains no complete backup" in said and not (tmp_path / "no").exists()
    # The next backup removes the remains. A backup that its user interrupts removes everything itself.
    status, said = interrupt(lambda process: process.send_signal(signal.SIGINT))
    assert status == 1 and "run the same command again" in said
    assert list(place.rglob("*.sst")) == [] and not (place / "backup.json").exists()

    def kill_server(_):
        paceline.kill()
        paceline.start()

    status, said = interrupt(kill_server)
    assert status == 1 and "run the same command again" in said, said
    assert held(paceline) == []
    # The remains of another host's backup, which may still be running.
    (place / "unfinished.json").write_text('{"hostname": "elsewhere", "process": 1, "begun": "2026-01-01T00:00:00Z"}')
    said = refused("backup", "--from", paceline.socket, "--to", place)
    assert "--replace-unfinished" in said and "elsewhere" in said
    backup(paceline, place, "--replace-unfinished")
    assert held(paceline) == []

    expected = binlog_position(paceline)
    datadir = tmp_path / "restored"
    for attempt in range(3):
        for _ in range(10):
            shutil.rmtree(datadir, ignore_errors=True)  # so that only the files of this run are seen
            process = subprocess.Popen([BINARY, "restore", "--from", place, "--datadir", datadir], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wanted = "tables/rocksdb" if attempt else "binlog.0*"
            while process.poll() is None and not any(datadir.glob(wanted)):
                pass
            process.send_signal(signal.SIGINT if attempt == 2 else signal.SIGKILL)
            _, said = process.communicate()
            if process.returncode != 0:
                break
        assert process.returncode != 0
        assert attempt < 2 or b"run the same command again" in said
        status, _, said = paceline_server(datadir)
        assert status == 1 and "'paceline restore' has not finished" in said
    assert restore(place, datadir) == expected
    assert rows_in(datadir, tmp_path / "server", "big.t")[0] == 24 * 16
    said = refused("restore", "--from", place, "--datadir", datadir)
    assert "is not empty" in said


def paceline_server(datadir):
    return backups.paceline("server", "--datadir", datadir, "--port", 0, "--socket", datadir / "s")


def test_a_slow_reader_stops_nobody(paceline, tmp_path):
    """While the client of a backup reads nothing, commits, DDL, purges of unneeded files and checkpoints continue.
    When it disconnects, everything is released."""
    big_table(paceline, 24)
    stopped = subprocess.Popen([BINARY, "backup", "--from", paceline.socket, "--to", tmp_path / "backup"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    while not has_tables(tmp_path / "backup"):
        assert stopped.poll() is None
    stopped.send_signal(signal.SIGSTOP)
    try:
        started = time.monotonic()
        paceline.query("create table big.other (id int primary key)", "insert into big.other values (1)", "flush binary logs",
                       "alter table big.other add b int, add index (b)", "drop table big.t", "truncate table big.other", "flush binary logs")
        assert time.monotonic() - started < 5
        assert held(paceline) != []
        newest = paceline.log_files()[-1].name
        with paceline.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"purge binary logs to '{newest}'")
            cursor.execute("show warnings")
            [(_, _, warning)] = cursor.fetchall()
        assert "being read by the backup of connection" in warning
        with pytest.raises(pymysql.err.MySQLError):
            paceline.query("reset master")
        states = [row for row in paceline.query("show processlist") if row[7] and "BACKUP SERVER" in row[7]]
        assert states and states[0][6] in ("Sending table files", "Sending binary log")
    finally:
        stopped.send_signal(signal.SIGCONT)
    _, said = stopped.communicate()
    assert stopped.returncode == 0, said
    # The backup is complete: the table that existed when the files were pinned, and its later changes.
    restore(tmp_path / "backup", tmp_path / "restored")
    restored = on(tmp_path / "restored", tmp_path / "server").start()
    try:
        assert checksums(restored) == checksums(paceline)
        assert restored.query("show tables in big") == (("other",),)
    finally:
        restored.close()
    # KILL ends a backup, and releases what it held.
    paceline.query("create table big.t2 (id int primary key)")
    big_table(paceline, 4)
    started = time.monotonic()
    backup(paceline, tmp_path / "slow", "--rate-max", 4)
    assert time.monotonic() - started > 0.8
    killed = subprocess.Popen([BINARY, "backup", "--from", paceline.socket, "--to", tmp_path / "killed"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    killed.send_signal(signal.SIGSTOP)
    # It has asked, or not: both are ended.
    let_run(0.2)
    for row in paceline.query("show processlist"):
        if row[7] and "BACKUP SERVER" in row[7]:
            paceline.query(f"kill {row[0]}")
    killed.send_signal(signal.SIGCONT)
    killed.communicate()
    wait_for("what it held to be free", lambda: not held(paceline), 20)
    paceline.query("reset master")


def test_damage_is_found(paceline, tmp_path, seed):
    """Flips a byte in any object, removes an object or truncates one: the restore reports which, and no server starts
    on the result."""
    numbered(paceline, 5)
    place = tmp_path / "backup"
    backup(paceline, place)
    paceline.query("insert into d.t (b) values ('x')")
    backup(paceline, place, "--incremental")
    rng = random.Random(seed)
    objects = sorted(path for path in place.rglob("*") if path.is_file())
    assert {"backup.json", "increment-000001.json", "CURRENT"} < {path.name for path in objects}
    status, printed, _ = backups.paceline("restore", "--from", place, "--check")
    assert status == 0 and "is undamaged" in printed
    for at, path in enumerate(objects):
        whole = path.read_bytes()
        damages = [lambda: path.write_bytes(flipped(whole, rng)), lambda: path.write_bytes(whole[:-2]), path.unlink]
        if not whole:
            del damages[:2]
        if path.name == "increment-000001.json":
            damages.pop()  # Without it the full backup remains.
        if path.suffix == ".json":
            damages[0] = lambda: path.write_bytes(whole.replace(b'"checksum": "', b'"checksum": "f', 1))
        for damage in damages:
            damage()
            said = refused("restore", "--from", place, "--datadir", tmp_path / f"r{at}")
            assert "damaged" in said or "no complete backup" in said, said
            assert path.name in said
            said = refused("restore", "--from", place, "--check")
            assert path.name in said
            if (tmp_path / f"r{at}").exists():
                assert paceline_server(tmp_path / f"r{at}")[0] == 1
        path.write_bytes(whole)
    assert restore(place, tmp_path / "restored") == binlog_position(paceline)


def flipped(content, rng):
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1:]


def test_the_dead_servers_own_log(paceline, tmp_path):
    """Applies the newest transactions, which are in the log files of the dead server, after the backup, up to any
    point."""
    known = numbered(paceline, 4)
    place = tmp_path / "backup"
    backup(paceline, place)
    late = []
    for n in range(5, 12):
        paceline.query(f"insert into d.t (b) values ('row {n}')", *(["flush binary logs"] if n % 3 == 0 else []))
        late.append((n, binlog_position(paceline)))
    paceline.kill()
    left = paceline.datadir
    assert restore(place, tmp_path / "all", "--apply-log", left) == late[-1][1]
    assert rows_in(tmp_path / "all", tmp_path / "server-all")[0] == 11
    n, gtid = late[3]
    assert restore(place, tmp_path / "some", "--apply-log", left, "--until", gtid) == gtid
    assert rows_in(tmp_path / "some", tmp_path / "server-some")[0] == n
    assert restore(place, tmp_path / "none") == known[-1][1]
    other = Paceline(tmp_path / "other").start()
    numbered(other, 9)
    other.close()
    said = refused("restore", "--from", place, "--datadir", tmp_path / "no", "--apply-log", other.datadir)
    assert "another server" in said
    # The torn tail of a crash is not part of it.
    newest = paceline.log_files()[-1]
    with open(newest, "r+b") as log:
        content = log.read().rstrip(b"\0")
        log.seek(len(content))
        log.write(b"torn")
    assert restore(place, tmp_path / "torn", "--apply-log", left) == late[-1][1]


def saved(left, directory, with_index):
    """Copies a dead server's log files to another directory."""
    directory.mkdir()
    for path in left.glob("binlog.*"):
        if with_index or path.suffix != ".index":
            shutil.copy(path, directory)
    return directory


@pytest.mark.parametrize("with_index", [True, False])
def test_a_gap_in_the_dead_servers_own_log(paceline, tmp_path, with_index):
    """If a file in the middle is missing or too short, nothing is restored without its contents."""
    numbered(paceline, 4)
    place = tmp_path / "backup"
    backup(paceline, place)
    paceline.query("flush binary logs")
    for n in range(5, 9):
        paceline.query(f"insert into d.t (b) values ('row {n}')")
    # Logged only for this server; not part of any GTID state.
    paceline.query("set sql_log_bin=0", "insert into d.t (b) values ('local')")
    paceline.query("flush binary logs", "insert into d.t (b) values ('row 10')")
    expected = binlog_position(paceline)
    middle, newest = paceline.log_files()[-2:]
    paceline.kill()
    left = saved(paceline.datadir, tmp_path / "whole", with_index)
    assert restore(place, tmp_path / "restored", "--apply-log", left) == expected
    assert rows_in(tmp_path / "restored", tmp_path / "server")[0] == 10

    whole = middle.read_bytes()
    last_insert = whole.rindex(b"local")
    damages = {"missing": None, "half": len(whole) // 2, "the last transaction": last_insert, "its end": len(whole) - 5}
    for name, length in damages.items():
        left = saved(paceline.datadir, tmp_path / name, with_index)
        if length is None:
            (left / middle.name).unlink()
        else:
            (left / middle.name).write_bytes(whole[:length])
        said = refused("restore", "--from", place, "--datadir", tmp_path / "no", "--apply-log", left)
        assert not (tmp_path / "no").exists()
        if length is None and with_index:
            assert f"'{middle.name}' is in the index, but does not exist" in said, said
        else:
            assert f"'{newest.name}' is damaged" in said and "what is between them is missing" in said, said


@pytest.mark.parametrize("with_index", [True, False])
def test_the_dead_servers_prepared_file(tmp_path, with_index):
    """After the active file there is a file of zeros, prepared for the next rotation."""
    server = Paceline(tmp_path / "dead", "--max_binlog_size=65536").start()
    try:
        numbered(server, 4)
        place = tmp_path / "backup"
        backup(server, place)
        server.query("flush binary logs")
        active = server.log_files()[-1]
        spare = active.with_suffix(f".{int(active.suffix[1:]) + 1:06}")
        rows = 4
        while server.query("show master status")[0][1] < 0.8 * 65536:
            server.query("insert into d.t (b) values (repeat('x', 50))")
            rows += 1
        wait_for("the next file to be prepared", lambda: spare.exists() and spare.stat().st_size, 20)
        assert server.log_files()[-1] == active
        expected = binlog_position(server)
    finally:
        server.kill()
    assert not spare.read_bytes().strip(b"\0")
    left = server.datadir if with_index else saved(server.datadir, tmp_path / "saved", with_index)
    assert restore(place, tmp_path / "restored", "--apply-log", left) == expected
    assert rows_in(tmp_path / "restored", tmp_path / "server")[0] == rows
    # A file whose head was torn, as the index shows.
    if with_index:
        spare.write_bytes(active.read_bytes()[:100] + bytes(1000))
        assert restore(place, tmp_path / "again", "--apply-log", left) == expected
