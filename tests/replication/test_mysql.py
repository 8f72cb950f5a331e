"""A primary that is MySQL 9.7: its recorded binary logs, played back by a server that speaks its protocol (see
mysql/README.md).

If a real server is available, `PACELINE_TEST_MYSQL=user:password@host:port` runs the same with it. It must have no
other use (its logs are reset) and gtid_mode=ON; the user needs all privileges.
"""

import os
import random
import ssl
import struct
import uuid
import zlib
from pathlib import Path

import pymysql
import pytest
from support.fake_mysql import FakeMySql, events_of, numbers_of
from support.replication import assert_same, change_master, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import let_run, wait_for

RECORDED = Path(__file__).resolve().parent / "mysql"


def recorded(name):
    return {file.name: file.read_bytes() for file in sorted(RECORDED.glob(f"{name}.0*"))}


def recorded_content(name="content"):
    return (RECORDED / f"{name}.txt").read_bytes()


@pytest.fixture
def replica(tmp_path):
    server = Paceline(tmp_path / "replica", "--server-id=2", "--gtid-domain-id=7").start()
    yield server
    server.close()


@pytest.fixture
def mysql():
    """Starts servers that play back logs."""
    started = []

    def start(name="bin", **options):
        started.append(FakeMySql(recorded(name), **options))
        return started[-1]

    yield start
    for server in started:
        server.close()


def follow(replica, primary, file="bin.000001", **settings):
    change_master(replica, primary, master_log_file=f"'{file}'", master_log_pos=4, **settings)
    replica.query("start slave")


def place(replica):
    status = slave_status(replica)
    assert not status["Last_SQL_Error"] and not status["Last_IO_Error"], status
    return status["Relay_Master_Log_File"], status["Exec_Master_Log_Pos"]


def assert_content(replica, content=None):
    """Checks that every table has MySQL's contents."""
    content = content or recorded_content()
    for table in content.split(b"== ")[1:]:
        query, *rows = table.split(b"\n")[:-1]
        told = replica.client("-N", "-B", "--default-character-set=utf8mb4", "--init-command=set time_zone='+00:00'", "-e", query.decode())
        found = sorted(told.encode("utf-8", "surrogateescape").split(b"\n")[:-1])
        assert found == rows, query.decode()


def end_of(logs):
    """Returns the end of the last event, other than a Rotate, in the last file."""
    name, log = list(logs.items())[-1]
    return name, len(log) if [*events_of(log)][-1][1] != 4 else [*events_of(log)][-2][0]


def transactions(logs):
    return sum(kind in (33, 42) for log in logs.values() for _, kind, _ in events_of(log))


def gtids(logs):
    """Returns the set of all GTIDs in logs of a single server, and a tagged one."""
    [*heads] = (data for log in logs.values() for _, kind, data in events_of(log) if kind == 33)
    source = uuid.UUID(bytes=heads[0][20:36])
    numbers = [int.from_bytes(head[36:44], "little") for head in heads]
    assert numbers == list(range(1, len(numbers) + 1))
    return f"{source}:1-{len(numbers)},{source}:tagged:1"


def wait_for_end(replica, primary):
    end = end_of(primary.logs)
    wait_for(f"{end} to be reached", lambda: place(replica) == end)


@pytest.mark.parametrize("authentication", ["fast", "full"])
def test_everything_that_mysql_logs(replica, mysql, authentication):
    primary = mysql(authentication=authentication)
    follow(replica, primary)
    wait_for_end(replica, primary)
    assert_content(replica)
    assert primary.refused == [], "what only MariaDB understands"
    assert primary.dumps == [("bin.000001", 4, 0)]
    status = slave_status(replica)
    assert (status["Using_Gtid"], status["Master_Server_Id"], status["Seconds_Behind_Master"]) == ("No", 3409, 0)
    # Transactions have GTIDs of the replica's domain and the primary's server, and their numbers have no gap.
    [(position,)] = replica.query("select @@gtid_slave_pos")
    assert position == f"7-3409-{transactions(primary.logs)}"
    # MySQL's collations are replaced by the nearest ones of ours, and annotations are kept.
    [(collations,)] = replica.query("select group_concat(distinct collation_name order by 1) from information_schema.columns "
                                    "where table_schema='workload' and table_name='keyed'")
    assert collations == "utf8mb4_nopad_bin,utf8mb4_unicode_520_nopad_ci"
    events = replica.query("show binlog events limit 1000")
    assert any(event[2] == "Annotate_rows" and "values (9,'q')" in event[5] for event in events)
    assert not any("somebody" in event[5] for event in events), "MySQL's accounts are its own"


def test_a_wrong_password_is_reported(replica, mysql):
    primary = mysql(password="another")
    follow(replica, primary)
    wait_for("the refusal", lambda: slave_status(replica)["Last_IO_Errno"] == 1045)


def test_mysqls_transactions_continue_to_mariadb(replica, mysql, tmp_path):
    primary = mysql(authentication="fast")
    behind = MariaDb(tmp_path / "behind", "--server-id=3").start()
    try:
        replica.query("create user repl@'%' identified by 'secret'", "grant replication slave, binlog monitor on *.* to repl@'%'")
        change_master(behind, replica, master_use_gtid="slave_pos")
        behind.query("start slave")
        follow(replica, primary)
        wait_for_end(replica, primary)
        wait_for_replica(behind, replica)
        assert_same(replica, behind)
    finally:
        behind.close()


@pytest.mark.parametrize("use_gtid", ["no", "slave_pos"])
def test_kills_lose_nothing_and_repeat_nothing(replica, mysql, seed, use_gtid):
    rng = random.Random(seed)
    primary = mysql(authentication="fast")
    events = sum(1 for log in primary.logs.values() for _ in events_of(log))
    primary.events_max = 0
    place_or_none = {"master_log_file": "'bin.000001'", "master_log_pos": 4} if use_gtid == "no" else {}
    change_master(replica, primary, master_use_gtid=use_gtid, **place_or_none)
    replica.query("start slave")
    for _ in range(5):
        primary.events_max = rng.randrange(5, events // 2)
        wait_for("the primary to have sent that", lambda: primary.events_max == 0 or place(replica) == end_of(primary.logs))
        let_run(rng.random() / 20)
        replica.kill()
        replica.start()
    primary.events_max = None
    wait_for_end(replica, primary)
    assert_content(replica)
    [(position,)] = replica.query("select @@gtid_slave_pos")
    assert position == f"7-3409-{transactions(primary.logs)}", "each transaction once"


def known_gtids(replica):
    return dict(replica.query("show status like 'Paceline_replica_mysql_gtids'"))["Paceline_replica_mysql_gtids"]


def test_mysqls_gtids(replica, mysql):
    primary = mysql(authentication="fast")
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    wait_for_end(replica, primary)
    assert_content(replica)
    assert numbers_of(primary.dumps[0]) == set(), "who has nothing gets everything"
    everything = gtids(primary.logs)
    assert slave_status(replica)["Gtid_IO_Pos"] == known_gtids(replica) == everything
    # It is in the log, also in the next file.
    replica.query("flush binary logs")
    replica.kill()
    replica.start()
    wait_for("another connection", lambda: len(primary.dumps) == 2)
    assert numbers_of(primary.dumps[1]) == set(range(1, transactions(primary.logs)))
    assert known_gtids(replica) == everything
    # Another server of the same group: nothing is requested twice.
    other = mysql(authentication="fast")
    replica.query("stop slave", f"change master to master_host='127.0.0.1', master_port={other.port}, master_use_gtid=slave_pos", "start slave")
    wait_for("a connection to it", lambda: other.dumps)
    assert numbers_of(other.dumps[0]) == numbers_of(primary.dumps[1])
    assert_content(replica)
    # Forgetting the connection forgets the set.
    replica.query("stop slave", "reset slave all")
    change_master(replica, other, master_use_gtid="slave_pos")
    assert known_gtids(replica) == ""


@pytest.mark.parametrize("use_gtid", ["slave_pos", "no"])
def test_its_transactions_are_numbered_among_those_of_sessions(replica, mysql, use_gtid):
    """Transactions that are numbered here share their domain with all sessions that write to it."""
    primary = mysql(authentication="fast")
    replica.query("set global gtid_strict_mode=1", "create database own", "create table own.t (a int auto_increment primary key)")
    if use_gtid == "no":
        follow(replica, primary)
    else:
        change_master(replica, primary, master_use_gtid=use_gtid)
        replica.query("start slave")
    with replica.connect() as connection, connection.cursor() as cursor:
        while place(replica) != end_of(primary.logs):
            cursor.execute("insert into own.t values ()")
    gtids_here = []
    for name, *_ in replica.query("show binary logs"):
        rows = replica.query(f"show binlog events in '{name}'")
        gtids_here += [row[5].split("GTID ")[1].split()[0].split("-") for row in rows if row[2] == "Gtid"]
    numbers = [int(number) for domain, _, number in gtids_here if domain == "7"]
    assert numbers == list(range(1, len(numbers) + 1))
    assert replica.query("select count(*) > 3 from own.t") == ((1,),)


def test_from_a_position_to_gtids(replica, mysql):
    primary = mysql(authentication="fast")
    follow(replica, primary)
    wait_for_end(replica, primary)
    assert known_gtids(replica) == gtids(primary.logs), "the head of a file says what is before it"
    replica.query("stop slave", "change master to master_use_gtid=slave_pos", "start slave")
    wait_for("another connection", lambda: len(primary.dumps) == 2)
    assert numbers_of(primary.dumps[1]) == set(range(1, transactions(primary.logs)))


def test_a_start_in_the_middle_of_a_file_knows_nothing_before_it(replica, mysql):
    primary = mysql(authentication="fast")
    replica.query("create database workload", "create table workload.heap (a int, b varchar(10))")
    offset = [end for end, kind, _ in events_of(primary.logs["bin.000002"]) if kind == 35][0]
    change_master(replica, primary, master_log_file="'bin.000002'", master_log_pos=offset)
    replica.query("start slave")
    wait_for_end(replica, primary)
    assert replica.query("select * from workload.heap") == ((99, "next file"),)
    assert known_gtids(replica) == ""
    replica.query("stop slave", "change master to master_use_gtid=slave_pos", "start slave")
    wait_for("the error", lambda: "not known" in slave_status(replica)["Last_IO_Error"])
    everything = gtids(primary.logs)
    replica.query("stop slave", f"change master to master_gtid_pos='{everything}'", "start slave")
    wait_for("another connection", lambda: len(primary.dumps) == 2)
    assert numbers_of(primary.dumps[1]) == set(range(1, transactions(primary.logs)))
    assert known_gtids(replica) == everything
    with pytest.raises(pymysql.err.OperationalError):
        replica.query("stop slave", "change master to master_gtid_pos='neither:1-2'")


def test_what_cannot_be_replicated_stops_the_connection(replica, mysql):
    primary = mysql("refused", authentication="fast")
    follow(replica, primary, "refused.000001")
    # The work of an XA transaction up to PREPARE, and its COMMIT, need an operator's decision.
    wait_for("the error about its beginning", lambda: "XA START" in slave_status(replica)["Last_SQL_Error"])
    assert slave_status(replica)["Last_SQL_Errno"] == 1235
    # They can be skipped one by one.
    replica.query("stop slave", "set global sql_slave_skip_counter=1", "start slave")
    wait_for("the error about its end", lambda: "XA COMMIT" in slave_status(replica)["Last_SQL_Error"])
    replica.query("stop slave", "set global sql_slave_skip_counter=1", "start slave")
    wait_for_end(replica, primary)
    assert replica.query("select * from refused.numbers") == ((2,),)


PARTIAL_UPDATE = 39


def test_changes_of_documents(replica, mysql, tmp_path):
    primary = mysql("partial", authentication="fast")
    assert sum(kind == PARTIAL_UPDATE for _, kind, _ in events_of(primary.logs["partial.000001"])) > 20
    follow(replica, primary, "partial.000001")
    wait_for_end(replica, primary)
    assert_content(replica, recorded_content("partial-content"))
    # Whole documents are logged here, also for changes that arrived without before images.
    replica.query("create user repl@'%' identified by 'secret'", "grant replication slave, binlog monitor on *.* to repl@'%'")
    behind = MariaDb(tmp_path / "behind", "--server-id=3").start()
    try:
        change_master(behind, replica, master_use_gtid="slave_pos")
        behind.query("start slave")
        wait_for_replica(behind, replica)
        assert_same(replica, behind)
    finally:
        behind.close()


def where_images_become_minimal(log):
    """Returns the end of the last transaction with whole images."""
    return next(end for end, kind, data in events_of(log) if b"minimal_from_here" in data)


def changed(log, old, new, after=0):
    """Replaces the document changes of the first update after `after`, with a valid checksum. Returns the log and the
    end of that update."""
    for end, kind, data in events_of(log):
        if kind == PARTIAL_UPDATE and end > after and old in data:
            body = data[:-4].replace(old, new, 1)
            assert len(body) == len(data) - 4
            made = body + struct.pack("<I", zlib.crc32(body))
            return log[:end - len(made)] + made + log[end:], end
    raise AssertionError(f"no update has {old}")


@pytest.mark.parametrize("new, number, text", [
    (b"\x09\x03$.a", 3649, "Corrupted JSON diff for table partial.documents, column @2."),
    (b"\x00\x03$a.", 3649, "Corrupted JSON diff for table partial.documents, column @2."),
    (b"\x00\x43$.a", 3649, "Corrupted JSON diff for table partial.documents, column @2."),
    (b"\x00\x03$.q", 3648, "Could not apply JSON diff in table partial.documents, column @2."),
])
def test_damaged_changes_stop_the_receiver(replica, mysql, new, number, text):
    primary = mysql("partial", authentication="fast")
    log = primary.logs["partial.000001"]
    primary.logs["partial.000001"], end = changed(log, b"\x00\x03$.a", new)
    follow(replica, primary, "partial.000001")
    wait_for("the error", lambda: slave_status(replica)["Last_IO_Errno"] == number)
    status = slave_status(replica)
    assert status["Last_IO_Error"] == f"{text} The event's end_log_pos is {end}"
    # It does not affect the transactions before it.
    tables = "select count(*) from information_schema.tables where table_schema='partial'"
    wait_for("the table", lambda: replica.query(tables) == ((1,),))
    wait_for("the rows before it", lambda: replica.query("select json_extract(v, '$.a') from partial.documents where id=1") == (("1",),))
    # After the repair it continues.
    primary.logs["partial.000001"] = log
    replica.query("stop slave", "start slave")
    wait_for_end(replica, primary)
    assert_content(replica, recorded_content("partial-content"))


def test_changes_of_another_document_stop_the_applier(replica, mysql):
    primary = mysql("partial", authentication="fast")
    log = primary.logs["partial.000001"]
    start = where_images_become_minimal(log)
    change_master(replica, primary, master_log_file="'partial.000001'", master_log_pos=4)
    replica.query(f"start slave until master_log_file='partial.000001', master_log_pos={start}")
    wait_for("the end", lambda: slave_status(replica)["Slave_SQL_Running"] == "No")
    [(document,)] = replica.query("select v from partial.documents where id=2")
    for other in ("'[1]'", "null"):
        replica.query(f"update partial.documents set v={other} where id=2", "start slave")
        wait_for("the error", lambda: slave_status(replica)["Last_SQL_Errno"] == 3648)
        error = slave_status(replica)["Last_SQL_Error"]
        assert "event on table partial.documents; Could not apply JSON diff in table documents, column v., Error_code: 3648; " in error
        assert "the event's master log partial.000001, end_log_pos " in error
        replica.query("stop slave")
    replica.query(f"update partial.documents set v='{document.replace(chr(92), chr(92) * 2)}' where id=2", "start slave")
    wait_for_end(replica, primary)
    assert_content(replica, recorded_content("partial-content"))


def test_damaged_changes_stop_the_applier(replica, mysql):
    primary = mysql("partial", authentication="fast")
    log = primary.logs["partial.000001"]
    damaged, end = changed(log, b"\x01\x09$.minimal", b"\x01\x09.$minimal", after=where_images_become_minimal(log))
    primary.logs["partial.000001"] = damaged
    follow(replica, primary, "partial.000001")
    wait_for("the error", lambda: slave_status(replica)["Last_SQL_Errno"] == 3649)
    error = slave_status(replica)["Last_SQL_Error"]
    assert "Corrupted JSON diff for table documents, column v., Error_code: 3649; " in error
    assert error.endswith(f"the event's master log partial.000001, end_log_pos {end}")
    # It can be skipped like any transaction. (A later change then finds an unexpected document, and reports that.)
    replica.query("stop slave", "set global sql_slave_skip_counter=1", "start slave")
    query = "select json_extract(v, '$.minimal') from partial.documents where id<3 order by id"
    wait_for("the next transaction", lambda: replica.query(query) == ((None,), ("2",)))


def follow_a_real_mysql(replica, real):
    account, address = real.rsplit("@", 1)
    (user, password), (host, port) = account.split(":", 1), address.rsplit(":", 1)

    encrypted = ssl.create_default_context()
    encrypted.check_hostname, encrypted.verify_mode = False, ssl.CERT_NONE

    def ask(*statements):
        with pymysql.connect(host=host, port=int(port), user=user, password=password, autocommit=True,
                             ssl=encrypted) as session, session.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall()

    ask("drop database if exists workload", "drop database if exists partial", "drop user if exists repl@'%'", "create user repl@'%' identified by 'secret'",
        "grant replication slave on *.* to repl@'%'", "reset binary logs and gtids")
    [(file, *_)] = ask("show binary log status")
    replica.query(f"change master to master_host='{host}', master_port={port}, master_user='repl', master_password='secret', "
                  f"master_log_file='{file}', master_log_pos=4", "start slave")
    def run(name):
        lines = (RECORDED / f"{name}.sql").read_text().split("\n")
        ask(*(statement for line in lines if not line.startswith("--") for statement in line.split("; ") if statement.strip()))
        [(file, offset, *_)] = ask("show binary log status")
        wait_for("the replica to have everything", lambda: place(replica) == (file, offset))

    run("partial")
    assert_content(replica, recorded_content("partial-content"))
    ask("drop database partial", "set global binlog_row_value_options=''")
    run("workload")
    assert_content(replica)
    # Then by GTIDs.
    def known_to_both():
        executed = ask("select replace(@@global.gtid_executed, '\\n', '')")[0][0]
        return known_gtids(replica).replace(",", ":").split(":")[:2] == executed.split(":")[:2]

    assert known_to_both()
    replica.query("stop slave", "change master to master_use_gtid=slave_pos", "start slave")
    ask("insert into workload.heap values (100, 'by GTID')")
    wait_for("a transaction by GTID", lambda: replica.query("select * from workload.heap where a=100"))
    assert known_to_both()


if real := os.environ.get("PACELINE_TEST_MYSQL"):

    def test_a_real_mysql(replica):
        follow_a_real_mysql(replica, real)
