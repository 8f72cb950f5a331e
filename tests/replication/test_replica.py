"""Paceline as a replica: of a real MariaDB, of several, by GTID and by file and position, through crashes and broken
connections."""

import random
import subprocess
import threading
import time

import pymysql
import pytest
from support.line import Line, Slow
from support.replication import assert_same, change_master, gtid_position, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import let_run, wait_for


@pytest.fixture
def pair(servers):
    """A MariaDB, and a Paceline that is not yet its replica."""
    primary = servers(MariaDb, 100)
    replication_user(primary)
    return primary, servers(Paceline, 2)


def running(replica, connection=""):
    status = slave_status(replica, connection)
    return status["Slave_IO_Running"] == "Yes" and status["Slave_SQL_Running"] == "Yes"


def start_slave(replica, connection=""):
    name = f"'{connection}'" if connection else ""
    replica.query(f"start slave {name}")
    wait_for(f"the connection to run: {slave_status(replica, connection)}", lambda: running(replica, connection))


def test_a_replica_follows_by_gtid_and_continues_after_restarts(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key, b varchar(100), c decimal(10,2), d datetime(6), key (b))",
                  "insert into d.t values (1,'one',1.5,'2026-01-02 03:04:05.678901'),(2,NULL,-2,NULL)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    assert slave_status(replica)["Using_Gtid"] == "Slave_Pos"
    start_slave(replica)
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    primary.query("update d.t set b='two' where a=2", "delete from d.t where a=1", "alter table d.t add e int default 7",
                  "insert into d.t (a, b) values (3, repeat('x', 50))")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    assert replica.query("select @@gtid_slave_pos") == ((gtid_position(primary),),)
    threads = replica.query("select user, command from information_schema.processlist where user='system user' order by 2")
    assert threads == (("system user", "Slave_IO"), ("system user", "Slave_SQL"))
    [row] = replica.query("select domain_id, server_id, seq_no from mysql.gtid_slave_pos")
    assert "-".join(map(str, row)) == gtid_position(primary)

    # A clean shutdown, a kill, and a stopped connection that starts with the server.
    replica.stop()
    primary.query("insert into d.t (a) values (4)")
    replica.start()
    wait_for_replica(replica, primary)
    replica.kill()
    primary.query("insert into d.t (a) values (5)")
    replica.start()
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    replica.stop()
    replica.start("--skip-slave-start")
    status = slave_status(replica)
    assert (status["Slave_IO_Running"], status["Slave_SQL_Running"]) == ("No", "No")
    assert status["Master_User"] == "repl"


def test_a_start_by_file_and_position_learns_the_gtids(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    [(file, offset, *_)] = primary.query("show master status")
    position = gtid_position(primary)
    replica.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)", "reset master")
    change_master(replica, primary, master_log_file=f"'{file}'", master_log_pos=offset)
    assert slave_status(replica)["Using_Gtid"] == "No"
    start_slave(replica)
    wait_for("the position to be learned", lambda: replica.query("select @@gtid_slave_pos") == ((position,),))
    primary.query("insert into d.t values (2)", "create table d.u (a int)", "insert into d.u values (1)")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    status = slave_status(replica)
    [(file, offset, *_)] = primary.query("show master status")
    wait_for(f"{offset}: {status}", lambda: slave_status(replica)["Exec_Master_Log_Pos"] == offset)

    # Its position is in its log: after a crash it continues from there and repeats nothing.
    replica.kill()
    primary.query("insert into d.u values (2)", "flush binary logs", "insert into d.u values (3)")
    replica.start()
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    # From here on by GTID.
    replica.query("stop slave", "change master to master_use_gtid=slave_pos")
    primary.query("insert into d.u values (4)")
    start_slave(replica)
    wait_for_replica(replica, primary)
    assert_same(primary, replica)


def test_a_broken_connection_is_resumed(pair, seed):
    primary, replica = pair
    line = Line(primary.port)
    primary.query("create database d", "create table d.t (a int auto_increment primary key, b int)")
    change_master(replica, primary, port=line.port, master_use_gtid="slave_pos")
    start_slave(replica)
    rng = random.Random(seed)
    stop = threading.Event()

    def write():
        with primary.connect() as session, session.cursor() as cursor:
            while not stop.is_set():
                cursor.execute("insert into d.t (b) values (1),(2)")
                cursor.execute("update d.t set b=b+1 where a % 7 = 0 order by a desc limit 3")

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(8):
        let_run(rng.uniform(0.05, 0.4))
        line.cut()
    stop.set()
    writer.join()
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    line.close()
    status = wait_for("the line to be missed", lambda: (status := slave_status(replica))["Slave_IO_Running"] == "Connecting" and status)
    assert status["Last_IO_Errno"] in (2003, 2013), status
    assert status["Slave_SQL_Running"] == "Yes"


def test_an_event_that_takes_longer_than_slave_net_timeout(pair):
    """The connection is not lost while data arrives, however long one event is."""
    primary, replica = pair
    primary.query("create database d", "create table d.t (id int primary key, b longblob)")
    replica.query("set global slave_net_timeout=2")
    line = Slow(primary.port, 1_000_000)
    change_master(replica, primary, port=line.port, master_use_gtid="slave_pos", master_heartbeat_period=1)
    replica.query("start slave")
    wait_for_replica(replica, primary)
    primary.query("insert into d.t values (1, repeat('x', 6000000))")
    wait_for_replica(replica, primary)
    assert replica.query("select length(b) from d.t") == ((6_000_000,),)
    assert slave_status(replica)["Last_IO_Errno"] == 0 and "Lost connection" not in replica.said()
    line.close()


def test_kills_lose_nothing_and_repeat_nothing(pair, seed, effort):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int auto_increment primary key, b int)",
                  "create table d.sum (id int primary key, amount int)", "insert into d.sum values (1, 500), (2, 500)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    rng = random.Random(seed)
    stop = threading.Event()

    def write():
        number = 0
        with primary.connect() as session, session.cursor() as cursor:
            while not stop.is_set():
                number += 1
                cursor.execute("begin")
                cursor.execute("insert into d.t (b) values (%s)", (number,))
                cursor.execute("update d.sum set amount=amount-1 where id=1")
                cursor.execute("update d.sum set amount=amount+1 where id=2")
                cursor.execute("commit")
                if number % 50 == 0:
                    cursor.execute(f"create table d.n{number} (a int)")
                    cursor.execute(f"drop table d.n{number}")

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(int(5 * effort)):
        let_run(rng.uniform(0.1, 0.6))
        replica.kill()
        replica.start()
        try:
            [(total,)] = replica.query("select sum(amount) from d.sum")
            assert total == 1000
        except pymysql.err.ProgrammingError:
            pass  # it has not got that far
    stop.set()
    writer.join()
    wait_for_replica(replica, primary)
    assert_same(primary, replica)


def test_two_primaries_in_one_replica(servers):
    east = servers(MariaDb, 101, "--gtid-domain-id=1")
    west = servers(MariaDb, 102, "--gtid-domain-id=2")
    replica = servers(Paceline, 3)
    for primary, name in ((east, "east"), (west, "west")):
        replication_user(primary)
        primary.query(f"create database {name}", f"create table {name}.t (a int primary key)", f"insert into {name}.t values (1),(2)")
        # The accounts are in both logs.
        change_master(replica, primary, name, master_use_gtid="slave_pos", do_domain_ids="(1,2)")
    replica.query("start all slaves")
    for primary, name in ((east, "east"), (west, "west")):
        wait_for_replica(replica, primary, name)
        assert replica.query(f"select a from {name}.t order by a") == ((1,), (2,))
    assert replica.query("select @@gtid_slave_pos") == ((f"{gtid_position(east)},{gtid_position(west)}",),)
    with replica.connect() as session, session.cursor() as cursor:
        cursor.execute("show all slaves status")
        assert [row[0] for row in cursor.fetchall()] == ["east", "west"]
        cursor.execute("stop all slaves")
        cursor.execute("show warnings")
        assert cursor.fetchall() == (("Note", 1938, "SLAVE 'east' stopped"), ("Note", 1938, "SLAVE 'west' stopped"))
    replica.query("reset slave 'east' all")
    assert slave_status(replica, "west")
    with pytest.raises(pymysql.err.MySQLError, match="There is no master connection 'east'"):
        slave_status(replica, "east")


def test_filters_move_the_position_and_nothing_else(pair):
    primary, replica = pair
    primary.query("create database keep", "create database leave_out", "create table keep.t (a int primary key)",
                  "create table leave_out.t (a int primary key)", "create table keep.log (a int primary key)")
    replica.query("set global replicate_wild_ignore_table='leave_out.%'", "set global replicate_ignore_table='keep.log'")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    primary.query("insert into keep.t values (1)", "insert into leave_out.t values (1)")
    # One transaction that is replicated in part.
    primary.query("begin", "insert into keep.t values (2)", "insert into keep.log values (2)", "commit")
    wait_for_replica(replica, primary)
    assert replica.query("select a from keep.t order by a") == ((1,), (2,))
    assert replica.query("show databases like 'leave_out'") == ()
    assert replica.query("show tables from keep") == (("t",),)
    primary.query("insert into leave_out.t values (2)")
    wait_for_replica(replica, primary)
    replica.kill()
    replica.start("--replicate-wild-ignore-table=leave_out.%", "--replicate-ignore-table=keep.log")
    wait_for("the connection to run", lambda: running(replica))
    assert replica.query("select @@gtid_slave_pos") == ((gtid_position(primary),),)
    assert replica.query("show databases like 'leave_out'") == ()


def test_variables_of_one_connection(pair):
    primary, replica = pair
    primary.query("create database a", "create database b", "create table a.t (x int)", "use b", "create table t (x int)")
    change_master(replica, primary, "East", master_use_gtid="slave_pos")
    assert replica.query("set global east.replicate_ignore_db='b'", "select @@global.east.replicate_ignore_db, @@East.replicate_ignore_db, "
                         "@@global.replicate_ignore_db, @@west.replicate_ignore_db") == (("b", "b", "", None),)
    start_slave(replica, "east")
    primary.query("insert into b.t values (1)", "insert into a.t values (1)")
    wait_for_replica(replica, primary, "east")
    assert replica.query("show databases like '_'") == (("a",),) and replica.query("select x from a.t") == ((1,),)
    for number, statement in ((1210, "set global west.replicate_ignore_db='b'"), (1272, "set global east.max_connections=7"),
                              (1272, "select @@east.gtid_slave_pos"), (1229, "set east.replicate_ignore_db=''"),
                              (1238, "select @@session.east.replicate_ignore_db"), (1193, "select @@east.nothing"),
                              (1198, "set global east.replicate_ignore_db=''")):
        with pytest.raises(pymysql.err.MySQLError) as error:
            replica.query(statement)
        assert error.value.args[0] == number, (statement, error.value)


def test_transactions_are_counted_by_kind(pair, servers):
    primary, replica = pair
    model = servers(MariaDb, 3)
    columns = ("Slave_DDL_Groups", "Slave_Non_Transactional_Groups", "Slave_Transactional_Groups")
    for server in (replica, model):
        change_master(server, primary, master_use_gtid="slave_pos")
        start_slave(server)
    primary.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)", "update d.t set a=2")
    for server in (replica, model):
        wait_for_replica(server, primary)
        server.query("stop slave")
        start_slave(server)
    primary.query("create table d.m (a int) engine=myisam", "insert into d.m values (1)", "drop table d.t")
    for server in (replica, model):
        wait_for_replica(server, primary)
    counts = [[slave_status(server)[column] for column in columns] for server in (replica, model)]
    assert counts[0] == counts[1] and 0 not in counts[0]


def test_errors_stop_with_mariadbs_numbers_and_can_be_repaired(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key, b int)", "insert into d.t values (1, 1)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    replica.query("insert into d.t values (2, 2)")
    primary.query("insert into d.t values (2, 2)", "insert into d.t values (3, 3)")
    status = wait_for("the error", lambda: (status := slave_status(replica))["Slave_SQL_Running"] == "No" and status)
    assert status["Last_SQL_Errno"] == 1062, status
    assert status["Seconds_Behind_Master"] is None
    replica.query("delete from d.t where a=2")
    start_slave(replica)
    wait_for("the rows", lambda: replica.query("select count(*) from d.t") == ((3,),))
    # A position that the primary does not have.
    replica.query("stop slave", "set global gtid_slave_pos='0-100-999999'", "start slave")
    status = wait_for("the error", lambda: (status := slave_status(replica))["Slave_IO_Running"] == "No" and status)
    assert status["Last_IO_Errno"] == 1236, status
    assert status["Last_IO_Error"].startswith("Got fatal error 1236 from master when reading data from binary log: 'Error: connecting slave "
                                              "requested to start from GTID 0-100-999999, which is not in the master's binlog'")


def test_a_transaction_is_skipped_by_the_counter(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key)")
    [(file, offset, *_)] = primary.query("show master status")
    replica.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    change_master(replica, primary, master_log_file=f"'{file}'", master_log_pos=offset)
    primary.query("insert into d.t values (1)", "insert into d.t values (2)")
    replica.query("start slave")
    wait_for("the error", lambda: slave_status(replica)["Last_SQL_Errno"] == 1062)
    replica.query("stop slave", "set global sql_slave_skip_counter=1")
    assert slave_status(replica)["Skip_Counter"] == 1
    start_slave(replica)
    wait_for("the rows", lambda: replica.query("select a from d.t order by a") == ((1,), (2,)))
    assert slave_status(replica)["Skip_Counter"] == 0


def test_until_stops_after_the_transaction(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    position = gtid_position(primary)
    primary.query("insert into d.t values (2)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query(f"start slave until master_gtid_pos='{position}'")
    wait_for("the end", lambda: slave_status(replica)["Slave_SQL_Running"] == "No")
    assert replica.query("select a from d.t") == ((1,),)
    assert replica.query("select @@gtid_slave_pos") == ((position,),)
    wait_for("the receiver's end", lambda: slave_status(replica)["Slave_IO_Running"] == "No")
    start_slave(replica)
    wait_for_replica(replica, primary)
    assert replica.query("select a from d.t order by a") == ((1,), (2,))


def test_a_delay_is_kept_and_shown(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    wait_for("to be up to date", lambda: slave_status(replica)["Seconds_Behind_Master"] == 0)
    replica.query("stop slave", "change master to master_delay=3")
    start_slave(replica)
    began = time.monotonic()
    primary.query("insert into d.t values (1)")
    status = wait_for("the delay", lambda: (status := slave_status(replica))["SQL_Remaining_Delay"] is not None and status)
    assert 0 <= status["SQL_Remaining_Delay"] <= 3 and status["Seconds_Behind_Master"] <= 3, status
    wait_for_replica(replica, primary)
    assert 1.5 < time.monotonic() - began < 10


def test_statements_answer_as_mariadbs(pair):
    primary, replica = pair
    replica_errors = [
        ("start slave", 1200),
        ("start slave 'nope'", 1617),
        ("stop slave 'nope'", 1617),
        ("reset slave 'nope'", 1617),
        ("show slave 'nope' status", 1617),
        ("change master to master_host=''", 1210),
        ("change master to master_heartbeat_period=-1", 1064),
        ("change master to master_use_gtid=bad", 1064),
        ("change master to master_retry_count=3", 1064),
        ("change master to master_delay=2147483648", 1729),
        ("change master to do_domain_ids=(1), ignore_domain_ids=(2)", 1201),
        ("set global gtid_slave_pos='0-1-1,0-2-2'", 1943),
        ("set global gtid_slave_pos='xx'", 1941),
        ("set gtid_slave_pos='0-1-1'", 1229),
        ("set global gtid_slave_pos=default", 1230),
        ("start slave until master_log_file='x'", None),
    ]
    for server in (primary, replica):
        for statement, number in replica_errors:
            if number is None:
                continue
            with pytest.raises(pymysql.err.MySQLError) as error:
                server.query(statement)
            assert error.value.args[0] == number, f"{statement}: {error.value} from {type(server).__name__}"
        assert server.query("show slave status") == ()
        assert server.query("stop slave", "show warnings") == (("Note", 1255, "Slave already has been stopped"),)
        server.query("start all slaves", "stop all slaves", "reset slave", "reset slave all")
    # The columns and their order.
    for server in (primary, replica):
        server.query("change master 'x' to master_host='127.0.0.1', master_port=1, master_user='u'")
    columns = []
    for server in (primary, replica):
        with server.connect(cursorclass=pymysql.cursors.DictCursor) as session, session.cursor() as cursor:
            cursor.execute("show all slaves status")
            columns.append(list(cursor.fetchone()))
    assert columns[0] == columns[1]
    # Warnings about a position that is behind the server's own log.
    for server in (primary, replica):
        server.query("reset slave 'x' all", "reset master", "create database w")
        [(own,)] = server.query("select @@gtid_binlog_pos")
        domain, server_id, sequence = own.split("-")
        warnings = server.query(f"set global gtid_slave_pos='0-{server_id}-0'", "show warnings")
        assert [row[:2] for row in warnings] == [("Warning", 1947)]
        warnings = server.query("set global gtid_slave_pos=''", "show warnings")
        assert [row[:2] for row in warnings] == [("Warning", 1948)]
        server.query("set global gtid_slave_pos='7-7-7'")
        assert server.query("select @@gtid_slave_pos, @@gtid_current_pos") == (("7-7-7", f"{own},7-7-7"),)


def test_waiting_for_a_gtid(pair):
    primary, replica = pair
    for server in (primary, replica):
        assert server.query("select master_gtid_wait('')") == ((0,),)
        assert server.query("select master_gtid_wait(NULL)") == ((None,),)
        assert server.query("select master_gtid_wait('9-9-9', 0)") == ((-1,),)
        assert server.query("select master_gtid_wait('9-9-9', 0.2)") == ((-1,),)
    primary.query("create database d", "create table d.t (a int primary key)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    with primary.connect() as session, session.cursor() as cursor:
        for number in range(20):
            cursor.execute("insert into d.t values (%s)", (number,))
            cursor.execute("select @@last_gtid")
            [(gtid,)] = cursor.fetchall()
            assert replica.query(f"do master_gtid_wait('{gtid}')", f"select count(*) from d.t where a={number}") == ((1,),)
    with replica.connect() as session, session.cursor() as cursor:
        cursor.execute("select master_gtid_wait('0-100-1', 5), master_gtid_wait('0-100-100000', 0.1)")
        assert cursor.fetchall() == ((0, -1),)
        cursor.execute("show status like 'Master_gtid_wait%'")
        status = {name: int(value) for name, value in cursor.fetchall()}
    assert (status["Master_gtid_wait_count"], status["Master_gtid_wait_timeouts"]) == (2, 1)
    assert 90_000 <= status["Master_gtid_wait_time"] < 5_000_000


def test_read_only_lets_the_replica_write(pair):
    primary, replica = pair
    replica.query("set global read_only=on", "create user someone@localhost identified by 'x'", "grant all on d.* to someone@localhost")
    primary.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    assert replica.query("select a from d.t", user="someone", password="x") == ((1,),)
    with pytest.raises(pymysql.err.MySQLError) as error:
        replica.query("insert into d.t values (2)", user="someone", password="x")
    assert error.value.args[0] == 1290


def test_passwords_of_a_primary_are_logged_as_hashes(pair):
    primary, replica = pair
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    # A primary may log any of these in clear. The replica's log contains none of them.
    primary.query("create user one identified by 'in the clear 1'", "create user two identified by 'x'",
                  "set password for two = password('in the clear 2')", "create user three", "grant usage on *.* to three identified by 'in the clear 3'")
    wait_for_replica(replica, primary)
    for user, number in (("one", 1), ("two", 2), ("three", 3)):
        assert replica.query("select current_user()", user=user, password=f"in the clear {number}") == ((f"{user}@%",),)
    replica.kill()
    replica.start()
    assert replica.query("select 1", user="one", password="in the clear 1") == ((1,),)
    assert all(b"in the clear" not in file.read_bytes() for file in replica.log_files())


def test_the_log_does_not_tell_the_primarys_password(pair):
    """Neither the data directory's files nor a copy of the log contain it. A restart can use it; without the key it
    must be set again."""
    primary, replica = pair
    replication_user(primary)
    password = "geheim-4711"
    primary.query(f"set password for repl@localhost = password('{password}')", f"set password for repl@'%' = password('{password}')")
    change_master(replica, primary, master_password=f"'{password}'", master_use_gtid="slave_pos")
    start_slave(replica)
    replica.query("flush binary logs")

    def check_files():
        key = replica.datadir / "paceline.key"
        assert key.stat().st_mode & 0o777 == 0o600
        for file in replica.datadir.rglob("*"):
            assert not file.is_file() or password.encode() not in file.read_bytes(), file
        for name in (file.name for file in replica.log_files()[:-1]):
            copied = subprocess.run(["mariadb-binlog", "-R", "--raw", "-uroot", "-S", replica.socket, f"--result-file={replica.directory}/raw-", name],
                                    capture_output=True)
            assert copied.returncode == 0, copied.stderr
            copy = (replica.directory / f"raw-{name}").read_bytes()
            assert password.encode() not in copy and key.read_bytes().strip() not in copy

    check_files()
    replica.stop()
    replica.start()
    wait_for("the connection to be started with the server", lambda: running(replica))
    check_files()

    replica.stop()
    (replica.datadir / "paceline.key").rename(replica.directory / "elsewhere")
    replica.start()
    assert "MASTER_PASSWORD" in replica.said()
    with pytest.raises(pymysql.err.MySQLError) as refused:
        replica.query("start slave")
    assert refused.value.args[0] == 1201 and "paceline.key" in refused.value.args[1]
    assert slave_status(replica)["Last_IO_Errno"] == 1201
    assert password not in replica.said()
    replica.query(f"change master to master_password='{password}'")
    start_slave(replica)


def test_a_semi_synchronous_primary_gets_acknowledgements(servers):
    primary = servers(MariaDb, 100, "--rpl-semi-sync-master-timeout=20000", "--rpl-semi-sync-master-wait-point=AFTER_SYNC")
    replication_user(primary)
    primary.query("set global rpl_semi_sync_master_enabled=1")
    replica = servers(Paceline, 2, "--rpl-semi-sync-slave-enabled=1")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)

    def count(server, name):
        [(_, value)] = server.query(f"show status like '{name}'")
        return value

    wait_for("the primary to know of the replica", lambda: count(primary, "Rpl_semi_sync_master_clients") == "1")
    assert count(replica, "Rpl_semi_sync_slave_status") == "ON"
    primary.query("create database d", "create table d.t (a int primary key)")
    # It is off until the replica has caught up.
    wait_for("the primary to wait for acknowledgements", lambda: count(primary, "Rpl_semi_sync_master_status") == "ON")
    began = time.monotonic()
    with primary.connect() as session, session.cursor() as cursor:
        for number in range(200):
            cursor.execute("insert into d.t values (%s)", (number,))
    assert time.monotonic() - began < 20, "the primary has waited in vain"
    # Everything that the primary has acknowledged is here, whatever happens to the primary.
    primary.kill()
    assert replica.query("select count(*) from d.t") == ((200,),)
    assert int(count(replica, "Rpl_semi_sync_slave_send_ack")) >= 200


def test_large_transactions_and_packets(pair):
    primary, replica = pair
    primary.query("set global max_allowed_packet=100000000")
    primary.query("create database d", "create table d.t (a int primary key, b longblob)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    # An event beyond 16 MiB is split into packets, and so is a transaction with many events.
    primary.query("insert into d.t values (1, repeat('x', 40000000))", max_allowed_packet=100000000)
    primary.query("insert into d.t select seq + 10, repeat('y', 10000) from seq_1_to_3000", database="d")
    wait_for_replica(replica, primary)
    sums = "select a, length(b), md5(b) from d.t order by a"
    assert primary.query(sums) == replica.query(sums)


def test_a_primary_that_was_killed_is_reconnected(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int auto_increment primary key)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    for _ in range(3):
        stop = threading.Event()

        def write():
            try:
                with primary.connect() as session, session.cursor() as cursor:
                    while not stop.is_set():
                        cursor.execute("insert into d.t values (),()")
            except pymysql.err.MySQLError:
                pass  # it was killed

        writer = threading.Thread(target=write)
        writer.start()
        let_run(0.4)
        primary.kill()
        stop.set()
        writer.join()
        primary.start()
        primary.query("insert into d.t values ()")
        wait_for_replica(replica, primary)
    assert_same(primary, replica)
    assert running(replica)


def test_positions_hold_through_kills_by_file_and_position_in_several_domains(pair, seed):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int auto_increment primary key, b int)")
    [(file, offset, *_)] = primary.query("show master status")
    replica.query("create database d", "create table d.t (a int auto_increment primary key, b int)")
    change_master(replica, primary, master_log_file=f"'{file}'", master_log_pos=offset, ignore_domain_ids="(9)")
    start_slave(replica)
    stop = threading.Event()

    def write():
        number = 0
        with primary.connect() as session, session.cursor() as cursor:
            while not stop.is_set():
                number += 1
                cursor.execute(f"set gtid_domain_id={number % 3}")
                cursor.execute("insert into d.t (b) values (1),(2)")
                if number % 20 == 0:
                    # Skipped transactions, and DDL.
                    cursor.execute("set gtid_domain_id=9")
                    cursor.execute("create table d.never (a int)")
                    cursor.execute("drop table d.never")
                    cursor.execute("set gtid_domain_id=0")
                    cursor.execute(f"create table d.n{number} (a int)")

    writer = threading.Thread(target=write)
    writer.start()
    rng = random.Random(seed)
    for _ in range(4):
        let_run(rng.uniform(0.1, 0.5))
        replica.kill()
        replica.start()
    stop.set()
    writer.join()
    wait_for_replica(replica, primary)
    assert_same(primary, replica)


def test_transactions_that_arrive_twice_are_applied_once(servers):
    source = servers(MariaDb, 100)
    replication_user(source)
    source.query("create database d", "create table d.t (a int auto_increment primary key)")
    between = [servers(MariaDb, 101), servers(MariaDb, 102)]
    for server in between:
        change_master(server, source, master_use_gtid="slave_pos")
        server.query("start slave")
    replica = servers(Paceline, 2, "--gtid-ignore-duplicates=1")
    for number, server in enumerate(between):
        wait_for_replica(server, source)
        change_master(replica, server, f"way{number}", master_use_gtid="slave_pos")
    replica.query("start all slaves")
    for _ in range(100):
        source.query("insert into d.t values (),()")
    wait_for_replica(replica, source, "way0")
    assert_same(source, replica)
    between[0].kill()
    source.query("insert into d.t values ()")
    wait_for_replica(replica, source, "way1")
    assert_same(source, replica)
    assert running(replica, "way1")


def test_until_a_position_stops_before_it(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    [(file, offset, *_)] = primary.query("show master status")
    primary.query("insert into d.t values (2)", "insert into d.t values (3)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query(f"start slave until master_log_file='{file}', master_log_pos={offset}")
    wait_for("the end", lambda: slave_status(replica)["Slave_SQL_Running"] == "No")
    assert replica.query("select a from d.t") == ((1,),)
    # The position concerns only the SQL thread: the receiver continues.
    [(file, offset, *_)] = primary.query("show master status")
    wait_for("the receiver", lambda: (slave_status(replica)["Master_Log_File"], slave_status(replica)["Read_Master_Log_Pos"]) == (file, offset))
    status = slave_status(replica)
    assert (status["Last_SQL_Errno"], status["Last_IO_Errno"], status["Slave_IO_Running"]) == (0, 0, "Yes"), status
    assert replica.query("select a from d.t") == ((1,),)
    start_slave(replica)
    wait_for_replica(replica, primary)
    assert_same(primary, replica)


def test_marked_transactions_are_filtered_on_request(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    left_out = []
    for number, wanted in enumerate(("replicate", "filter_on_slave", "filter_on_master")):
        replica.query(f"set global replicate_events_marked_for_skip={wanted}")
        start_slave(replica)
        primary.query("set skip_replication=1", f"insert into d.t values ({number})")
        primary.query(f"insert into d.t values ({number + 100})")
        wait_for_replica(replica, primary)
        replica.query("stop slave")
        left_out += [number] if number else []
    expected = [row for row in primary.query("select a from d.t order by a") if row[0] not in left_out]
    assert list(replica.query("select a from d.t order by a")) == expected


def test_memory_tables_of_a_replica_are_emptied_without_a_gtid(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.m (a int primary key) engine=memory", "insert into d.m values (1)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    position = gtid_position(replica)
    replica.query("set global gtid_strict_mode=1")
    replica.kill()
    replica.start("--gtid-strict-mode=1")
    wait_for("the connection to run", lambda: running(replica))
    assert gtid_position(replica) == position
    assert replica.query("select * from d.m") == ()
    primary.query("insert into d.m values (2)")
    wait_for_replica(replica, primary)
    assert replica.query("select * from d.m") == ((2,),)


def test_the_receiver_reads_while_the_applier_is_stopped(pair):
    """As in MariaDB, although nothing is stored. The reason for the replica's delay is shown."""
    primary, replica = pair
    replication_user(primary)
    primary.query("create database r", "create table r.t (id int primary key)", "insert into r.t values (1)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    replica.query("stop slave sql_thread")
    has = slave_status(replica)["Gtid_IO_Pos"]
    primary.query("insert into r.t values (2)")
    file, end = primary.query("show master status")[0][:2]
    read = wait_for("the place", lambda: (status := slave_status(replica))["Read_Master_Log_Pos"] == end and status)
    assert (read["Master_Log_File"], read["Slave_IO_Running"], read["Gtid_IO_Pos"]) == (file, "Yes", has)
    replica.query("start slave sql_thread")
    wait_for_replica(replica, primary)
    assert replica.query("select count(*) from r.t") == ((2,),)
    with replica.connect() as session, session.cursor() as cursor:
        cursor.execute("lock tables r.t write")
        primary.query("insert into r.t values (3)")
        wait_for("the lock to show", lambda: replica.query("show status like 'Paceline_replica_held_back_by'")[0][1] == "a lock")
        cursor.execute("unlock tables")
    wait_for_replica(replica, primary)
    assert replica.query("show status like 'Paceline_replica_held_back_by'")[0][1] == "nothing"
