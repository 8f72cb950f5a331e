"""Logs of a real MariaDB in every format, applied by both servers: tables and positions are the same, whatever is
killed meanwhile."""

import random
import subprocess
import threading
import time

import pymysql
import pytest

from support import workload
from support.replication import assert_same, change_master, content, replication_user, slave_status, wait_for_replica
from support.servers import BINARY, ROOT, MariaDb, Paceline
from support.waiting import let_run, wait_for

SCRIPT = (ROOT / "tests/log/every_type.sql").read_text()

# Statements whose result depends on their session, and definitions among rows.
STATEMENTS = """
create database s; use s;
create table a (id int primary key auto_increment, n int, t varchar(100), at timestamp(6) default current_timestamp(6), key (n));
insert into a (n, t) values (1, 'one'), (2, connection_id()), (3, now(6)), (4, database());
set @x = 'user ünï', @n = 12345678901234, @d = 12.345, @f = 1.5e10, @z = null;
insert into a (n, t) values (@n % 1000, @x), (5, @d), (6, @f), (7, @z);
insert into a (n, t) select n + 10, concat(t, '!') from a where n < 4;
set rand_seed1 = 11, rand_seed2 = 22;
insert into a (n, t) values (floor(rand() * 1000), rand());
insert into a (n) values (100); insert into a (n, t) values (last_insert_id(), 'last');
set insert_id = 500; insert into a (n) values (101);
insert into a (id, n) values (900, 105); set insert_id = 600; insert into a (n) values (106), (107), (108);
set time_zone = '+05:30'; insert into a (n, t) values (102, now());
set sql_mode = ''; insert into a (n, t) values (103, repeat('y', 200));
set timestamp = 1234567890.123456; insert into a (n, t) values (104, now(6)); set timestamp = default;
update a set t = concat(t, n) where n between 1 and 20 order by id limit 3;
delete from a where n = 2 limit 1;
replace into a (id, n, t) values (1, 77, 'replaced');
insert into a (id, n) values (1, 1) on duplicate key update n = n + 1;
start transaction; insert into a (n) values (200); savepoint p; insert into a (n) values (201); rollback to p;
insert into a (n) values (202); commit;
create table b like a; insert into b select * from a; alter table b add column extra int default 5, drop key n;
create table if not exists b (id int); rename table b to c; truncate table c; insert into c (n) values (1), (2);
create temporary table temp (id int); insert into temp values (1), (2); insert into a (n) select id from temp; drop temporary table temp;
create table gone (id int); drop table gone; drop table if exists gone, never;
create table selected (id int primary key) as select id, n, t from a where n < 100;
create table keyless (x int, y varchar(20)); insert into keyless values (1, 'a'), (1, 'a'), (2, 'b'); update keyless set y = 'c' where x = 1 limit 1;
delete from keyless where x = 1 limit 1;
create table m (id int primary key, v int) engine=memory; insert into m values (1, 1), (2, 2); update m set v = 3 where id = 2;
create user u@localhost identified by 'secret'; grant select on s.* to u@localhost; drop user u@localhost;
analyze table a; flush tables; optimize table a;
set statement max_statement_time=100 for insert into a (n) values (300);
create index by_t on a (t(10)); drop index by_t on a;
create table dated (id int); insert into dated values (1), (2); alter table dated add column made datetime(6) not null default current_timestamp(6);
update dated set id = id + 10;
set explicit_defaults_for_timestamp = 0; create table stamped (id int primary key, first timestamp, second timestamp, third timestamp null);
insert into stamped (id) values (1); alter table dated add column stamp timestamp; update dated set id = id + 1;
set explicit_defaults_for_timestamp = 1; create table unstamped (id int primary key, first timestamp); insert into unstamped (id) values (1);
create table checked (id int primary key, n int, check (n > 0)); set check_constraint_checks = 0; insert into checked values (1, -1);
alter table checked add constraint small check (n > 100); alter table checked modify n bigint; set check_constraint_checks = 1;
create database gone; create table gone.t (id int); drop database gone;
"""

FORMATS = {
    "row": ["--binlog-format=ROW"],
    "minimal": ["--binlog-format=ROW", "--binlog-row-image=MINIMAL"],
    "noblob": ["--binlog-format=ROW", "--binlog-row-image=NOBLOB", "--log-bin-compress", "--log-bin-compress-min-len=10"],
    "mixed": ["--binlog-format=MIXED", "--binlog-checksum=NONE"],
    "statement": ["--binlog-format=STATEMENT", "--log-bin-compress", "--log-bin-compress-min-len=10"],
}


def start_replica(replica, primary):
    replication_user(primary)
    primary.query("reset master")
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")


@pytest.fixture
def servers(tmp_path):
    started = []

    def start(server):
        started.append(server)
        return server.start()

    yield lambda kind, name, *options: start(kind(tmp_path / name, *options))
    for server in started:
        server.close()


@pytest.mark.parametrize("format", FORMATS)
def test_every_format(servers, format):
    primary = servers(MariaDb, "primary", "--server-id=1", *FORMATS[format])
    replica = servers(Paceline, "replica", "--server-id=2", "--slave-parallel-threads=4")
    start_replica(replica, primary)
    primary.client("--default-character-set=utf8mb4", text=SCRIPT)
    primary.client("--default-character-set=utf8mb4", text=STATEMENTS)
    workload.create(primary)
    load = workload.Load(primary, 6, 1).start()
    let_run(3)
    load.stop()
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    assert sum(map(len, content(primary).values())) > 100
    assert replica.query("select @@gtid_binlog_state")[0][0] == primary.query("select @@gtid_binlog_state")[0][0]
    # Recovery too computes the same values for rows filled by definitions, and empties MEMORY tables.
    primary.query("truncate table s.m")
    wait_for_replica(replica, primary)
    replica.kill()
    replica.start()
    assert_same(primary, replica)


def test_killed_again_and_again(servers):
    primary = servers(MariaDb, "primary", "--server-id=1")
    replica = servers(Paceline, "replica", "--server-id=2", "--slave-parallel-threads=4")
    start_replica(replica, primary)
    workload.create(primary)
    load = workload.Load(primary, 8, 2).start()
    rng = random.Random(3)
    for number in range(10):
        let_run(rng.random())
        if number % 3 == 1:
            primary.query(f"create table load_test.t{number} (id int primary key)", f"insert into load_test.t{number} values (1)")
        replica.kill()
        replica.start()
    load.stop()
    wait_for_replica(replica, primary)
    assert_same(primary, replica)


def test_readers_see_only_states_that_the_primary_had(servers):
    primary = servers(MariaDb, "primary", "--server-id=1")
    replica = servers(Paceline, "replica", "--server-id=2", "--slave-parallel-threads=4")
    start_replica(replica, primary)
    workload.create(primary)
    wait_for_replica(replica, primary)
    load = workload.Load(primary, 8, 4).start()
    end = time.monotonic() + 4
    looks = 0
    with replica.connect() as connection, connection.cursor() as cursor:
        while time.monotonic() < end:
            cursor.execute("select sum(amount) from load_test.account")
            assert cursor.fetchone()[0] == workload.ACCOUNTS * workload.AMOUNT_EACH
            looks += 1
    load.stop()
    assert looks > 10
    wait_for_replica(replica, primary)
    assert_same(primary, replica)


def test_local_transactions_give_way(servers):
    primary = servers(MariaDb, "primary", "--server-id=1")
    replica = servers(Paceline, "replica", "--server-id=2", "--slave-parallel-threads=2")
    start_replica(replica, primary)
    primary.query("create database t", "create table t.a (id int primary key, v int)", "insert into t.a values (1, 1)")
    wait_for_replica(replica, primary)
    with replica.connect(autocommit=False) as connection, connection.cursor() as cursor:
        cursor.execute("select v from t.a where id=1 for update")
        primary.query("update t.a set v=2")
        wait_for_replica(replica, primary)
        with pytest.raises(pymysql.err.OperationalError) as error:
            cursor.execute("update t.a set v=3")
        assert error.value.args[0] == 1213
        cursor.execute("select v from t.a")
        assert cursor.fetchall() == ((2,),)
        connection.rollback()


@pytest.mark.parametrize("statement", ["set global read_only=1", "flush tables with read lock", "alter table t.rowwise force", "lock tables t.rowwise write"])
def test_rows_among_statements_block_nobody(servers, statement):
    primary = servers(MariaDb, "primary", "--server-id=1", "--binlog-format=MIXED")
    replica = servers(Paceline, "replica", "--server-id=2")
    start_replica(replica, primary)
    primary.query("create database t", "create table t.rowwise (a varchar(40))", "create table t.held (a int)", "create table t.later (a varchar(40))")
    wait_for_replica(replica, primary)
    with replica.connect() as holder, holder.cursor() as cursor:
        cursor.execute("lock tables t.held read")
        primary.query("begin", "insert into t.rowwise values (uuid())", "insert into t.held values (1)", "insert into t.later values (uuid())", "commit")
        [(_, end, *_)] = primary.query("show master status")
        wait_for("the transaction to be received", lambda: slave_status(replica)["Read_Master_Log_Pos"] == end)
        # Its second statement comes to the lock of the other session.
        let_run(0.5)
        # Tables changed after the waiting statement are not locked yet.
        replica.query("set lock_wait_timeout=5", "lock tables t.later write")
        stopping = threading.Thread(target=replica.query, args=[statement], daemon=True)
        stopping.start()
        # It waits, or is through already.
        let_run(0.5)
        cursor.execute("unlock tables")
    stopping.join(20)
    assert not stopping.is_alive()
    wait_for_replica(replica, primary)
    assert_same(primary, replica)


def test_an_alter_table_in_two_phases_is_done_once(servers):
    primary = servers(MariaDb, "primary", "--server-id=1", "--binlog-alter-two-phase=ON")
    replica = servers(Paceline, "replica", "--server-id=2", "--gtid-strict-mode=ON")
    start_replica(replica, primary)
    primary.query("create database t", "create table t.a (v int)", "insert into t.a values (1), (1)", "alter table t.a add b int default 5")
    with pytest.raises(pymysql.err.IntegrityError):
        primary.query("alter table t.a add unique (v)")
    primary.query("insert into t.a (v) values (2)", "alter table t.a drop b", "alter table t.a rename to t.c")
    phases = " ".join(event[5] for event in primary.query("show binlog events"))
    assert all(phase in phases for phase in ("START ALTER", "COMMIT ALTER", "ROLLBACK ALTER"))
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    assert replica.query("select @@gtid_binlog_state") == primary.query("select @@gtid_binlog_state")
    # A printed one too.
    restored = servers(Paceline, "restored", "--server-id=3")
    [file] = (primary.directory / "data").glob("bin.0*1")
    restored.client(text=subprocess.run([BINARY, "binlog", file], capture_output=True, text=True, check=True).stdout)
    assert_same(primary, restored)


def sql_error(replica):
    def error():
        status = slave_status(replica)
        return int(status["Last_SQL_Errno"]) and (int(status["Last_SQL_Errno"]), status["Last_SQL_Error"])

    return wait_for("an error of the applier", error)


def test_an_error_is_reported_and_can_be_repaired(servers):
    primary = servers(MariaDb, "primary", "--server-id=1")
    replica = servers(Paceline, "replica", "--server-id=2", "--slave-parallel-threads=4")
    beside = servers(MariaDb, "beside", "--server-id=3", "--gtid-domain-id=9")
    start_replica(replica, primary)
    beside.query("reset master")
    change_master(beside, primary, master_use_gtid="slave_pos")
    beside.query("start slave")
    primary.query("create database t", "create table t.a (id int primary key, v int)", "insert into t.a values (1, 1), (2, 2)")
    for server in (replica, beside):
        wait_for_replica(server, primary)
        server.query("set sql_log_bin=0", "insert into t.a values (5, 5)")
    for number in range(3, 8):
        primary.query(f"insert into t.a values ({number}, {number})")
    told = [sql_error(server) for server in (replica, beside)]
    assert told[0] == told[1]
    assert replica.query("select max(id) from t.a where id < 5")[0][0] == 4
    replica.query("set sql_log_bin=0", "delete from t.a where id=5")
    replica.query("start slave")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    # A missing row, and a missing table.
    replica.query("set sql_log_bin=0", "delete from t.a where id=1")
    beside.query("set sql_log_bin=0", "delete from t.a where id in (1, 5)")
    beside.query("start slave")
    wait_for_replica(beside, primary)
    primary.query("update t.a set v=10 where id=1")
    told = [sql_error(server) for server in (replica, beside)]
    assert told[0] == told[1]
    assert told[0][0] == 1032


def test_reads_that_are_never_stale(servers):
    primary = servers(MariaDb, "primary", "--server-id=1")
    replica = servers(Paceline, "replica", "--server-id=2", "--slave-parallel-threads=2")
    start_replica(replica, primary)
    primary.query("create database t", "create table t.a (id int primary key, v int)", "insert into t.a values (1, 0)")
    wait_for_replica(replica, primary)
    with replica.connect() as connection, connection.cursor() as cursor, primary.connect() as writing, writing.cursor() as writer:
        for number in range(1, 50):
            writer.execute(f"update t.a set v={number}")
            writer.execute("select @@last_gtid")
            cursor.execute(f"set wait_for_gtid='{writer.fetchone()[0]}'")
            cursor.execute("select v from t.a")
            assert cursor.fetchone()[0] >= number
        cursor.execute("set wait_for_gtid='0-1-1000000', wait_for_gtid_timeout=0.2")
        with pytest.raises(pymysql.err.OperationalError) as error:
            cursor.execute("select v from t.a")
        assert error.value.args[0] == 1205
        with pytest.raises(pymysql.err.OperationalError) as error:
            cursor.execute("start transaction with consistent snapshot")
        assert error.value.args[0] == 1205
        with pytest.raises(pymysql.err.MySQLError) as error:
            cursor.execute("set wait_for_gtid='0-1'")
        assert error.value.args[0] == 1941
        cursor.execute("set wait_for_gtid=''")
        cursor.execute("select v from t.a")
        assert cursor.fetchone()[0] == 49
