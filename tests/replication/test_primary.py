"""Paceline as the primary of a real MariaDB."""

import glob
import re
import signal
import struct
import threading
import time

import pymysql
import pytest

from support import workload
from support.real_replicas import (ACCOUNT, allow_replicas, catch_up, change_master, check_runs, check_same_tables, replica_status,
                                   start_replica, wait_for_io_error, without_places)
from support.servers import ROOT, MariaDb, Paceline
from support.waiting import let_run, stays, wait_for

SCRIPT = (ROOT / "tests/log/every_type.sql").read_text()


@pytest.fixture
def replica(tmp_path):
    """A MariaDB that is not a replica yet, with an empty log of its own."""
    server = MariaDb(tmp_path / "replica", "--server-id=200", "--log-warnings=4")
    server.start()
    server.query("reset master")
    yield server
    server.close()


def gtid_pos(server, name="gtid_binlog_pos"):
    return server.query(f"select @@global.{name}")[0][0]


def fill(primary, rows=20):
    primary.query("create database t", "create table t.a (id int primary key auto_increment, v varchar(200))")
    for number in range(rows):
        primary.query(f"insert into t.a (v) values ('row {number}')")


def status_number(server, name):
    return int(server.query(f"show global status like '{name}'")[0][1])


def test_every_type_by_gtid(paceline, replica):
    start_replica(replica, paceline)
    paceline.client("--default-character-set=utf8mb4", text=SCRIPT)
    position = catch_up(replica, paceline)
    assert check_same_tables(paceline, replica) > 20
    assert gtid_pos(replica, "gtid_slave_pos") == position
    assert gtid_pos(replica, "gtid_binlog_state") == gtid_pos(paceline, "gtid_binlog_state")
    # The replica's own log has the same GTIDs, with the requested annotations.
    text = "".join(replica.client("-vv", "--base64-output=decode-rows", file, program="mariadb-binlog")
                   for file in sorted((replica.directory / "data").glob("bin.0*")))
    assert "#Q> update integers set a=a+1, g=g+1 where id in (1,4)" in text


def test_a_plain_timestamp_gets_no_defaults_of_its_own(paceline, replica):
    start_replica(replica, paceline)
    paceline.query("create database t", "create table t.a (id int primary key, ts timestamp, t2 timestamp null)",
                   "insert into t.a (id) values (1)")
    catch_up(replica, paceline)
    columns = ("select column_name, column_default, is_nullable, extra from information_schema.columns "
               "where table_schema = 't' order by ordinal_position")
    assert replica.query(columns) == paceline.query(columns)


def test_a_row_deleted_under_two_names_is_logged_once(paceline, replica):
    start_replica(replica, paceline)
    paceline.query("create database t", "create table t.a (id int primary key)", "insert into t.a values (1), (2), (3), (4), (9)",
                   "use t", "delete x, y from t.a x join t.a y on x.id = y.id + 1")
    catch_up(replica, paceline)
    assert replica.query("select * from t.a") == paceline.query("select * from t.a") == ((9,),)


def test_file_and_position_and_then_gtids(paceline, replica):
    fill(paceline)
    [(file, position, *_)] = paceline.query("show master status")
    before = gtid_pos(paceline)
    replica.query("create database t", "create table t.a (id int primary key auto_increment, v varchar(200))")
    replica.query("set session sql_log_bin=0", *[f"insert into t.a (v) values ('row {number}')" for number in range(20)])
    replica.query("reset master")
    start_replica(replica, paceline, "no", f"master_log_file='{file}', master_log_pos={position}")
    wait_for("the connection", lambda: check_runs(replica)["Slave_IO_Running"] == "Yes")
    # It was told the last GTID of every domain at its start.
    wait_for("the GTID position", lambda: gtid_pos(replica, "gtid_slave_pos") == before)
    paceline.query("set session gtid_domain_id=3", "insert into t.a (v) values ('other domain')")
    paceline.query("flush binary logs", "insert into t.a (v) values ('next file')")
    catch_up(replica, paceline)
    assert check_same_tables(paceline, replica) == 22
    status = check_runs(replica)
    [(file, position, *_)] = paceline.query("show master status")
    wait_for("the place", lambda: (replica_status(replica)["Master_Log_File"], int(replica_status(replica)["Read_Master_Log_Pos"]))
             == (file, position))
    assert status["Using_Gtid"] == "No"
    replica.query("stop slave", "change master to master_use_gtid=slave_pos", "start slave")
    paceline.query("insert into t.a (v) values ('by gtid')")
    catch_up(replica, paceline)
    assert check_same_tables(paceline, replica) == 23


def test_from_the_first_file_without_a_position(paceline, replica):
    fill(paceline)
    paceline.query("flush binary logs", "insert into t.a (v) values ('second file')")
    start_replica(replica, paceline, "no")
    catch_up(replica, paceline)
    assert check_same_tables(paceline, replica) == 21


def test_local_changes_stay_here(paceline, replica):
    fill(paceline, 2)
    start_replica(replica, paceline)
    for number in range(5):
        paceline.query("set session sql_log_bin=0", f"insert into t.a values ({1000 + number}, 'local')")
        paceline.query(f"insert into t.a values ({100 + number}, 'sent')")
    catch_up(replica, paceline)
    assert replica.query("select count(*) from t.a where v='local'") == ((0,),)
    assert replica.query("select count(*) from t.a where v='sent'") == ((5,),)
    # By file and position as well, from a place before all of them.
    replica.query("stop slave", "reset slave all", "drop database t", "reset master", "set global gtid_slave_pos=''")
    start_replica(replica, paceline, "no")
    catch_up(replica, paceline)
    assert replica.query("select v, count(*) from t.a where id>=100 group by v") == (("sent", 5),)


def test_each_domain_starts_at_its_own_position(paceline, replica):
    fill(paceline, 3)
    start_replica(replica, paceline)
    catch_up(replica, paceline)
    replica.query("stop slave")
    for number in range(5):
        paceline.query(f"set session gtid_domain_id={number % 3}", f"insert into t.a (v) values ('{number}')")
        if number == 2:
            paceline.query("flush binary logs")
    replica.query("start slave")
    catch_up(replica, paceline)
    # The replica has transactions of one domain and lacks some of another, both before and after the same positions
    # of the log.
    replica.query("stop slave")
    everything = gtid_pos(paceline)
    older = re.sub(r"1-(\d+)-2\b", r"1-\1-1", everything)
    assert older != everything
    replica.query("delete from t.a where v='4'", "reset master", f"set global gtid_slave_pos='{older}'", "start slave")
    catch_up(replica, paceline)
    assert check_same_tables(paceline, replica) == 8


def test_large_transactions_and_packets(paceline, replica):
    paceline.query("create database t", "create table t.big (id int primary key, v longblob)")
    start_replica(replica, paceline)
    paceline.query("set session max_statement_time=0", *[f"insert into t.big values ({n}, repeat('{n}', 3000000))" for n in range(3)])
    with paceline.connect(autocommit=False) as connection, connection.cursor() as cursor:
        for block in range(20):
            cursor.execute("insert into t.big values " + ",".join(f"({1000 + block * 500 + n}, repeat('x', 400))" for n in range(500)))
        connection.commit()
    # An event beyond 16 MiB is sent in several packets.
    paceline.query("set global max_allowed_packet=67108864")
    paceline.query("insert into t.big values (100, repeat('0123456789', 1900000))")
    catch_up(replica, paceline)
    assert check_same_tables(paceline, replica) == 10_004


def test_a_replica_reconnects_under_load_without_loss(paceline, replica, seed):
    workload.create(paceline)
    start_replica(replica, paceline)
    load = workload.Load(paceline, 4, seed).start()
    for round in range(6):
        let_run(0.3)
        if round % 3 == 0:
            replica.query("stop slave io_thread", "start slave io_thread")
        elif round % 3 == 1:
            paceline.query("flush binary logs")
        else:
            [stream] = wait_for("a stream", lambda: [row[0] for row in paceline.query("show processlist") if row[4] == "Binlog Dump"])
            paceline.query(f"kill {'query' if round % 2 else ''} {stream}")
    load.stop()
    catch_up(replica, paceline)
    workload.check(replica, load)
    check_same_tables(paceline, replica)


def test_replica_survives_the_primarys_restarts(paceline, replica, seed):
    workload.create(paceline)
    start_replica(replica, paceline)
    for kill in (True, False, True):
        load = workload.Load(paceline, 3, seed).start()
        let_run(0.7)
        if kill:
            paceline.kill()
        else:
            assert paceline.stop() == 0
        load.join()
        paceline.start()
    catch_up(replica, paceline)
    check_same_tables(paceline, replica)
    assert gtid_pos(replica, "gtid_slave_pos") == gtid_pos(paceline)


@pytest.mark.parametrize("checksum", ["NONE", "CRC32"])
def test_a_replica_follows_with_and_without_checksums(paceline, replica, checksum):
    paceline.query(f"set global binlog_checksum={checksum}")
    fill(paceline)
    start_replica(replica, paceline)
    catch_up(replica, paceline)
    paceline.query("flush binary logs", "insert into t.a (v) values ('next')")
    catch_up(replica, paceline)
    assert check_same_tables(paceline, replica) == 21


def test_annotations_only_on_demand(paceline, replica):
    fill(paceline, 3)
    replica.stop()
    replica.options.append("--replicate-annotate-row-events=OFF")
    replica.start()
    start_replica(replica, paceline)
    catch_up(replica, paceline)
    text = "".join(replica.client("-vv", file, program="mariadb-binlog") for file in sorted((replica.directory / "data").glob("bin.0*")))
    assert "#Q> insert" not in text
    assert check_same_tables(paceline, replica) == 3


def test_a_replica_stops_at_its_until_position(paceline, replica):
    fill(paceline, 10)
    end = gtid_pos(paceline)
    domain, server, number = end.split("-")
    allow_replicas(paceline)
    change_master(replica, paceline)
    replica.query(f"start slave until master_gtid_pos='{domain}-{server}-{int(number) - 3}'")
    wait_for("the end", lambda: replica_status(replica)["Slave_SQL_Running"] == "No" and replica_status(replica)["Slave_IO_Running"] == "No")
    assert replica.query("select count(*) from t.a") == ((7,),)
    check_runs(replica)
    replica.query("start slave")
    catch_up(replica, paceline)
    assert check_same_tables(paceline, replica) == 10


@pytest.fixture
def both(paceline, mariadb):
    """Two primaries with the same GTIDs and a hole in them."""
    for primary in (paceline, mariadb):
        primary.query("reset master")
        allow_replicas(primary)
        primary.query("set session server_id=1", "create database t")
        primary.query("set session server_id=1", "create table t.a (id int primary key)")
        for number in (3, 4, 6, 7):
            primary.query("set session server_id=1", f"set session gtid_seq_no={number}", f"insert into t.a values ({number})")
        assert gtid_pos(primary) == "0-1-7"
    return paceline, mariadb


@pytest.mark.parametrize("position, strict", [
    ("0-1-100", 0),           # 1945: not in the log
    ("0-9-3", 0),             # 1955: diverged
    ("0-9-100", 0),
    ("0-1-5", 1),             # 1951: a hole
    ("0-1-7,0-1-8", None),    # no position
])
def test_wrong_starts_by_gtid(both, replica, position, strict):
    def last_error(primary):
        replica.query("stop slave", "reset slave all", "reset master")
        change_master(replica, primary)
        replica.query(f"set global gtid_strict_mode={strict}", f"set global gtid_slave_pos='{position}'", "start slave")
        error = wait_for_io_error(replica)
        replica.query("stop slave", "set global gtid_strict_mode=0")
        return error

    if strict is None:
        with pytest.raises(pymysql.err.MySQLError):
            last_error(both[0])
        return
    ours, theirs = last_error(both[0]), last_error(both[1])
    assert ours == theirs
    assert ours[0] == 1236


def test_a_hole_is_otherwise_no_error(both, replica):
    replica.query("create database t", "create table t.a (id int primary key)", "reset master", "set global gtid_slave_pos='0-1-5'")
    start_replica(replica, both[0])
    catch_up(replica, both[0])
    assert replica.query("select * from t.a") == ((6,), (7,))


def test_a_history_that_began_elsewhere(paceline, replica):
    """SET GLOBAL gtid_binlog_state: a replica that has this position continues here; one that has less gets an error
    that the rest is purged."""
    with pytest.raises(pymysql.err.OperationalError) as error:
        paceline.query("set global gtid_binlog_state='0-1'")
    assert error.value.args[0] == 1941
    paceline.query("set global gtid_binlog_state='0-3-90,0-7-100,5-7-2'")
    for _ in range(2):
        assert gtid_pos(paceline) == "0-7-100,5-7-2"
        assert gtid_pos(paceline, "gtid_binlog_state") == "0-3-90,0-7-100,5-7-2"
        paceline.kill()
        paceline.start()
    allow_replicas(paceline)
    change_master(replica, paceline)
    replica.query("set global gtid_slave_pos='0-3-90,5-7-2'", "start slave")
    number, text = wait_for_io_error(replica)
    assert number == 1236 and "purged" in text
    replica.query("stop slave", "set global gtid_slave_pos='0-7-100,5-7-2'", "start slave")
    fill(paceline)
    assert gtid_pos(paceline) == f"0-1-{100 + 22},5-7-2"
    catch_up(replica, paceline)
    assert check_same_tables(paceline, replica) == 20
    with pytest.raises(pymysql.err.OperationalError) as error:
        paceline.query("set global gtid_binlog_state=''")
    assert error.value.args[0] == 1956


def test_a_replica_that_needs_a_purged_file_gets_mariadbs_error(both, replica):
    def last_error(primary):
        replica.query("stop slave", "reset slave all", "reset master", "set global gtid_slave_pos='0-1-3'")
        for _ in range(2):
            primary.query("flush binary logs", "set session server_id=1", "insert into t.a select max(id)+1 from t.a")
        last = primary.query("show binary logs")[-1][0]
        wait_for("the purge", lambda: len(primary.query(f"purge binary logs to '{last}'", "show binary logs")) == 1)
        change_master(replica, primary)
        replica.query("start slave")
        return wait_for_io_error(replica)

    ours, theirs = last_error(both[0]), last_error(both[1])
    assert ours == theirs
    assert "purged" in ours[1]


@pytest.mark.parametrize("file, position", [
    ("nowhere.000009", 4),
    (None, 100_000),
    (None, 5),
    (None, 300),
])
def test_wrong_starts_by_position(both, replica, file, position):
    def last_error(primary):
        name = file or primary.query("show binary logs")[0][0]
        replica.query("stop slave", "reset slave all", "reset master")
        change_master(replica, primary, "no", f"master_log_file='{name}', master_log_pos={position}")
        replica.query("start slave")
        number, text = wait_for_io_error(replica)
        return number, without_places(text)

    ours, theirs = last_error(both[0]), last_error(both[1])
    assert ours[0] == theirs[0] == 1236
    if position != 300:
        assert ours == theirs


def test_a_replica_without_the_privilege_is_refused(paceline, replica):
    paceline.query("create user nobody@'%' identified by 'pw'")
    replica.query(f"change master to master_host='127.0.0.1', master_port={paceline.port}, master_user='nobody', master_password='pw'",
                  "start slave")
    number, text = wait_for_io_error(replica)
    assert number in (1597, 1045, 1227, 1236), text
    assert "REPLICATION SLAVE" in text or "denied" in text.lower(), text


def test_an_idle_replica_receives_heartbeats(paceline, replica):
    fill(paceline, 1)
    start_replica(replica, paceline, more="master_heartbeat_period=0.5")
    catch_up(replica, paceline)
    before = int(replica.query("show global status like 'Slave_received_heartbeats'")[0][1])
    let_run(2.3)
    received = int(replica.query("show global status like 'Slave_received_heartbeats'")[0][1]) - before
    assert 3 <= received <= 5
    check_runs(replica)


def test_registered_replicas_are_shown(paceline, replica):
    replica.stop()
    replica.options += ["--report-host=replica.example", "--report-port=3399"]
    replica.start()
    fill(paceline, 1)
    start_replica(replica, paceline)
    catch_up(replica, paceline)
    assert paceline.query("show slave hosts") == ((200, "replica.example", 3399, 1),)
    assert paceline.query("show replica hosts") == ((200, "replica.example", 3399, 1),)
    assert status_number(paceline, "Slaves_connected") == 1
    state = "Master has sent all binlog to slave; waiting for more updates"
    line = wait_for("its line", lambda: [row for row in paceline.query("show processlist") if row[4] == "Binlog Dump" and row[6] == state])
    assert line[0][1] == ACCOUNT
    # A file that is being read is not purged, and the purge reports its reader.
    with paceline.connect() as connection, connection.cursor() as cursor:
        replica.query("stop slave sql_thread")
        cursor.execute("show binary logs")
        files = [row[0] for row in cursor.fetchall()]
        cursor.execute("create user without@'%'")
    with pytest.raises(pymysql.err.MySQLError) as error:
        paceline.query("show slave hosts", user="without")
    assert error.value.args[0] == 1227
    assert files
    replica.query("stop slave")
    wait_for("its end", lambda: paceline.query("show slave hosts") == ())


def test_the_same_server_id_twice(paceline, replica, tmp_path):
    fill(paceline, 1)
    start_replica(replica, paceline)
    catch_up(replica, paceline)
    twin = MariaDb(tmp_path / "twin", "--server-id=200").start()
    try:
        twin.query("reset master")
        start_replica(twin, paceline)
        # A MariaDB treats this as a broken connection and retries, so both continue.
        wait_for("the message", lambda: "A slave with the same server_uuid/server_id" in replica.said())
        assert "(server_errno=4052)" in replica.said()
    finally:
        twin.close()


def test_shutdown_does_not_wait_for_replicas(paceline, replica):
    fill(paceline, 1)
    start_replica(replica, paceline)
    catch_up(replica, paceline)
    start = time.monotonic()
    assert paceline.stop() == 0
    assert time.monotonic() - start < 5
    paceline.start()
    paceline.query("insert into t.a (v) values ('again')")
    catch_up(replica, paceline)


def test_log_tool_follows(paceline, tmp_path):
    fill(paceline, 3)
    [(file, *_)] = paceline.query("show master status")
    # Byte for byte, including events that are not sent to replicas.
    paceline.client("--read-from-remote-server", "--raw", f"--result-file={tmp_path}/copy-", file, program="mariadb-binlog")
    paceline.query("flush binary logs")
    original = paceline.log_files()[0].read_bytes()
    copy = (tmp_path / f"copy-{file}").read_bytes()
    assert original.startswith(copy[:4])
    assert len(copy) > 1000 and original[40:len(copy)] == copy[40:]


def dump(server, server_id, position, heartbeat_seconds=0, semi_sync=False):
    """Opens a connection that reads the log like a replica, from a GTID position on."""
    connection = server.connect()
    with connection.cursor() as cursor:
        cursor.execute("set @master_binlog_checksum=@@global.binlog_checksum, @mariadb_slave_capability=4, "
                       f"@master_heartbeat_period={int(heartbeat_seconds * 1e9)}, @slave_connect_state='{position}'")
        if semi_sync:
            cursor.execute("set @rpl_semi_sync_slave=1")
    connection._execute_command(21, struct.pack("<I", server_id) + bytes(3) + struct.pack("<HII", 3306, 0, 0))
    connection._read_ok_packet()
    connection._execute_command(18, struct.pack("<IHI", 4, 0, server_id))
    return connection


def events(connection, semi_sync=False):
    """Yields the received events: (type, end position, flags, body)."""
    while True:
        packet = connection._read_packet().get_all_data()
        if packet[0] == 0xFE and len(packet) < 9:
            return
        event = packet[3 if semi_sync else 1:]
        yield event[4], int.from_bytes(event[13:17], "little"), int.from_bytes(event[17:19], "little"), event[19:-4]


def memory_kilobytes(server):
    status = open(f"/proc/{server.process.pid}/status").read()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def cpu_ticks(server):
    fields = open(f"/proc/{server.process.pid}/stat").read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def wakeups(server):
    total = 0
    for status in glob.glob(f"/proc/{server.process.pid}/task/*/status"):
        total += int(re.search(r"voluntary_ctxt_switches:\s+(\d+)", open(status).read())[1])
    return total


def test_what_a_replica_is_sent_first(paceline):
    fill(paceline, 3)
    end = gtid_pos(paceline)
    domain, server, number = end.split("-")
    FORMAT, ROTATE, HEARTBEAT, GTID_LIST, GTID = 15, 4, 27, 163, 162
    ARTIFICIAL = 0x20
    connection = dump(paceline, 7, f"{domain}-{server}-{int(number) - 1}", heartbeat_seconds=0.1)
    stream = events(connection)
    kind, position, flags, body = next(stream)
    assert (kind, position, flags) == (ROTATE, 0, ARTIFICIAL) and body[:8] == struct.pack("<Q", 4)
    kind, position, flags, body = next(stream)
    assert (kind, flags & 1) == (FORMAT, 0) and body[52:56] == bytes(4)  # A replica that reconnects: not created now.
    assert next(stream)[0] == GTID_LIST
    kind, position, flags, body = next(stream)
    assert (kind, flags) == (GTID_LIST, ARTIFICIAL)
    assert body == struct.pack("<IIIQ", 1, int(domain), int(server), int(number) - 1)
    rest = [next(stream) for _ in range(4)]
    # Without annotations: they were not requested.
    assert [event[0] for event in rest] == [GTID, 19, 23, 16]
    kind, position, flags, body = next(stream)
    assert (kind, position, body.decode()) == (HEARTBEAT, rest[-1][1], paceline.query("show master status")[0][0])
    connection._force_close()
    # From the beginning, the first file's time of creation is sent.
    connection = dump(paceline, 7, "")
    stream = events(connection)
    next(stream)
    assert next(stream)[3][52:56] != bytes(4)
    connection._force_close()


def test_many_idle_replicas(paceline):
    count, wait = 500, 5
    paceline.query("set global max_connections=2000")
    fill(paceline, 3)
    position = gtid_pos(paceline)
    first = dump(paceline, 999, position, heartbeat_seconds=60)
    # The server is at rest before its memory is measured.
    let_run(2)
    before = memory_kilobytes(paceline)
    replicas = [dump(paceline, 1000 + number, position, heartbeat_seconds=60) for number in range(count)]
    streams = [events(connection) for connection in replicas]
    for stream in streams:
        while True:
            kind, _, flags, _ = next(stream)
            if kind == 163 and flags & 0x20:
                break
    # And again.
    let_run(2.5)
    each = (memory_kilobytes(paceline) - before) / count
    ticks, woken = cpu_ticks(paceline), wakeups(paceline)
    let_run(wait)
    ticks, woken = cpu_ticks(paceline) - ticks, wakeups(paceline) - woken
    start = time.monotonic()
    paceline.query("insert into t.a (v) values ('to all')")
    for stream in streams:
        assert [next(stream)[0] for _ in range(4)] == [162, 19, 23, 16]
    took = time.monotonic() - start
    print(f"an idle replica: {each:.1f} KiB; {count} of them: {ticks} ticks and {woken} wake-ups in {wait} s; "
          f"one transaction reached all in {took * 1000:.0f} ms")
    assert each < 40
    assert ticks < 25
    assert took < 3
    for connection in [first, *replicas]:
        connection._force_close()
    wait_for("their end", lambda: len(paceline.query("show slave hosts")) == 0)


@pytest.fixture
def semi_replica(replica):
    replica.query("set global rpl_semi_sync_slave_enabled=1")
    return replica


def semi_status(server, name):
    return server.query(f"show global status like 'Rpl_semi_sync_master_{name}'")[0][1]


def test_semi_sync_loses_nothing_that_was_acknowledged(paceline, semi_replica, seed):
    workload.create(paceline)
    start_replica(semi_replica, paceline)
    catch_up(semi_replica, paceline)
    paceline.query("set global rpl_semi_sync_master_timeout=60000, global rpl_semi_sync_master_enabled=1")
    wait_for("the client", lambda: semi_status(paceline, "clients") == "1" and semi_status(paceline, "status") == "ON")
    load = workload.Load(paceline, 6, seed).start()
    let_run(3)
    asked = int(semi_status(paceline, "request_ack"))
    assert asked > 50 and int(semi_status(paceline, "yes_tx")) > 50
    assert semi_status(paceline, "no_tx") == "0" and semi_status(paceline, "status") == "ON"
    paceline.kill()
    load.join()
    # The replica takes over with the transactions that it has received.
    wait_for("it to apply everything", lambda: "has read all relay log" in (replica_status(semi_replica)["Slave_SQL_Running_State"] or ""))
    semi_replica.query("stop slave")
    assert workload.check(semi_replica, load) > 50


def test_semi_sync_shutdown(paceline, semi_replica, seed):
    workload.create(paceline)
    start_replica(semi_replica, paceline)
    catch_up(semi_replica, paceline)
    paceline.query("set global rpl_semi_sync_master_timeout=60000, global rpl_semi_sync_master_enabled=1")
    wait_for("the client", lambda: semi_status(paceline, "clients") == "1" and semi_status(paceline, "status") == "ON")
    load = workload.Load(paceline, 6, seed).start()
    let_run(1)
    start = time.monotonic()
    assert paceline.stop() == 0
    assert time.monotonic() - start < 5
    load.join()
    wait_for("it to apply everything", lambda: "has read all relay log" in (replica_status(semi_replica)["Slave_SQL_Running_State"] or ""))
    semi_replica.query("stop slave")
    assert workload.check(semi_replica, load) > 20


def test_semi_sync_reports_a_timeout_and_recovers(paceline, semi_replica):
    fill(paceline, 1)
    paceline.query("set global rpl_semi_sync_master_timeout=300, global rpl_semi_sync_master_enabled=1")
    start = time.monotonic()
    paceline.query("insert into t.a (v) values ('nobody is there')")
    assert 0.25 < time.monotonic() - start < 5
    assert semi_status(paceline, "status") == "OFF" and semi_status(paceline, "no_times") == "1"
    assert re.search(r"ERROR.*Timeout waiting for reply of binlog.*switched OFF", paceline.said())
    start = time.monotonic()
    paceline.query("insert into t.a (v) values ('not waited for')")
    assert time.monotonic() - start < 0.25
    paceline.query("set global rpl_semi_sync_master_timeout=10000")
    start_replica(semi_replica, paceline)
    catch_up(semi_replica, paceline)
    paceline.query("insert into t.a (v) values ('caught up')")
    wait_for("it to be on", lambda: semi_status(paceline, "status") == "ON")
    assert "switched ON" in paceline.said()
    before = int(semi_status(paceline, "yes_tx"))
    paceline.query("insert into t.a (v) values ('waited for')")
    assert int(semi_status(paceline, "yes_tx")) == before + 1
    catch_up(semi_replica, paceline)
    assert check_same_tables(paceline, semi_replica) == 5


def test_semi_sync_without_fallback(paceline, semi_replica):
    """Stopped, continued, and without any replica: no commit is reported to its client unless a replica has it."""
    fill(paceline, 1)
    start_replica(semi_replica, paceline)
    catch_up(semi_replica, paceline)
    paceline.query("set global rpl_semi_sync_master_timeout=1, global rpl_semi_sync_master_wait_no_slave=off, "
                   "global paceline_semi_sync_fallback=off, global rpl_semi_sync_master_enabled=1")
    wait_for("the client", lambda: semi_status(paceline, "clients") == "1")
    paceline.query("insert into t.a (v) values ('acknowledged')")
    semi_replica.query("stop slave")
    wait_for("the client to go", lambda: semi_status(paceline, "clients") == "0")
    told = []

    def write(value):
        try:
            paceline.query(f"insert into t.a (v) values ('{value}')")
            told.append(value)
        except pymysql.err.MySQLError:
            pass

    writers = [threading.Thread(target=write, args=(value,)) for value in ("waits", "is killed")]
    for number, writer in enumerate(writers):
        writer.start()
        wait_for("the commit to wait", lambda: semi_status(paceline, "wait_sessions") == str(number + 1))
    paceline.process.send_signal(signal.SIGSTOP)
    # No time out comes of a server that stood still for a moment.
    let_run(0.1)
    paceline.process.send_signal(signal.SIGCONT)
    # A session that gives up cannot know the outcome; the commit is not visible yet.
    (killed,) = [row[0] for row in paceline.query("show processlist") if "is killed" in (row[7] or "")]
    paceline.query(f"kill {killed}")
    assert paceline.query("select count(*) from t.a") == ((2,),)
    status = {name: semi_status(paceline, name) for name in ("status", "no_times", "no_tx", "wait_sessions")}
    assert status == {"status": "ON", "no_times": "0", "no_tx": "0", "wait_sessions": "2"} and not told
    semi_replica.query("start slave")
    writers[0].join()
    catch_up(semi_replica, paceline)
    assert "waits" in told and check_same_tables(paceline, semi_replica) == 4
    writers[1].join()


def test_a_restart_waits_for_no_replica(tmp_path):
    """Events logged before replicas can connect must not wait for them: a primary's empty MEMORY tables."""
    server = Paceline(tmp_path / "primary", "--server-id=1", "--rpl-semi-sync-master-enabled", "--paceline-semi-sync-fallback=off")
    server.start("--skip-rpl-semi-sync-master-enabled")
    try:
        server.query("create database t", "create table t.m (id int primary key) engine=memory", "insert into t.m values (1)")
        server.kill()
        server.start()
        assert server.query("select count(*) from t.m") == ((0,),)
        assert semi_status(server, "status") == "ON"
    finally:
        server.close()


def test_semi_sync_of_a_replica_without_replicas(paceline, tmp_path):
    """All servers of a group have the same settings: a replica without replicas of its own must not delay its
    primary's commits."""
    settings = ["set global rpl_semi_sync_master_timeout=60000, global rpl_semi_sync_slave_enabled=1, global paceline_semi_sync_fallback=off, "
                "global rpl_semi_sync_master_enabled=1"]
    fill(paceline, 1)
    replica = Paceline(tmp_path / "replica", "--server-id=200").start()
    try:
        replica.query(*settings)
        start_replica(replica, paceline)
        catch_up(replica, paceline)
        paceline.query(*settings)
        wait_for("the client", lambda: semi_status(paceline, "clients") == "1")
        began = time.monotonic()
        for number in range(3):
            paceline.query(f"insert into t.a (v) values ('{number}')")
        paceline.query("alter table t.a add column w int")
        # Otherwise it waits for a minute, or without limit.
        assert time.monotonic() - began < 20
        assert semi_status(paceline, "yes_tx") == "4" and semi_status(paceline, "no_tx") == "0"
        catch_up(replica, paceline)
        assert semi_status(replica, "wait_sessions") == "0" and semi_status(replica, "status") == "ON"
        assert check_same_tables(paceline, replica) == 4
    finally:
        replica.close()


def test_semi_sync_waits_before_anybody_sees_it(paceline):
    fill(paceline, 1)
    paceline.query("set global rpl_semi_sync_master_timeout=60000, global rpl_semi_sync_master_wait_for_slave_count=2, "
                   "global rpl_semi_sync_master_enabled=1")
    position = gtid_pos(paceline)
    replicas = [dump(paceline, 1000 + number, position, semi_sync=True) for number in range(2)]
    streams = [events(connection, semi_sync=True) for connection in replicas]
    writer = threading.Thread(target=paceline.query, args=("insert into t.a (v) values ('new')",))
    writer.start()
    ends = []
    for stream in streams:
        ends.append(next(end for kind, end, _, _ in stream if kind == 16))
    file = paceline.query("show master status")[0][0].encode()
    count = "select count(*) from t.a"
    assert paceline.query(count) == ((1,),)
    # Everything else continues: other statements, and syncs.
    assert semi_status(paceline, "wait_sessions") == "1"

    def acknowledge(number):
        payload = b"\xef" + struct.pack("<Q", ends[number]) + file
        replicas[number]._sock.sendall(struct.pack("<I", len(payload))[:3] + b"\0" + payload)

    acknowledge(0)
    stays("one acknowledgement is not enough", lambda: paceline.query(count) == ((1,),) and writer.is_alive(), 0.3)
    acknowledge(1)
    writer.join(10)
    assert not writer.is_alive() and paceline.query(count) == ((2,),)
    for connection in replicas:
        connection._force_close()


def test_semi_sync_without_replicas(paceline):
    fill(paceline, 1)
    paceline.query("set global rpl_semi_sync_master_wait_no_slave=0, global rpl_semi_sync_master_enabled=1, global sync_binlog=0")
    start = time.monotonic()
    paceline.query("insert into t.a (v) values ('goes on')")
    assert time.monotonic() - start < 2
    assert semi_status(paceline, "status") == "ON" and semi_status(paceline, "no_tx") == "1"
    paceline.query("create user u@localhost")
    with pytest.raises(pymysql.err.MySQLError) as error:
        paceline.query("set global rpl_semi_sync_master_enabled=0", user="u")
    assert error.value.args[0] == 1227


def test_a_shutdown_waits_for_no_replica_that_is_not_there(paceline):
    """A commit waits up to an hour for more replicas than are connected: a shutdown ends at once, the client gets no
    OK, and the transaction exists."""
    fill(paceline, 1)
    paceline.query("set global rpl_semi_sync_master_timeout=3600000, global rpl_semi_sync_master_enabled=1")
    told = []

    def write():
        try:
            told.append(paceline.query("insert into t.a (v) values ('waits')"))
        except pymysql.err.OperationalError as error:
            told.append(error.args[0])

    writer = threading.Thread(target=write)
    writer.start()
    deadline = time.monotonic() + 20
    while semi_status(paceline, "wait_sessions") != "1":
        assert time.monotonic() < deadline
    begun = time.monotonic()
    assert paceline.stop() == 0
    assert time.monotonic() - begun < 6, "it has waited"
    writer.join()
    assert told == [2013] and "1 transactions are in the log and not acknowledged" in paceline.said()
    paceline.start()
    assert paceline.query("select v from t.a where v='waits'") == (("waits",),)
