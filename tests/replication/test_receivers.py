"""Receivers that end and start while the applier runs: what they acknowledge, and what they are told to skip."""

import itertools
import subprocess
import threading
import time

import pymysql
import pytest
from support.replication import assert_same, change_master, gtid_position, replication_user, slave_status, wait_for_replica, waiting_commits
from support.servers import MariaDb, Paceline
from support.waiting import let_run, stays, wait_for


@pytest.fixture
def ours(servers):
    """Two Pacelines; the second is not yet a replica of the first."""
    primary = servers(Paceline, 1)
    replication_user(primary)
    return primary, servers(Paceline, 2)


@pytest.fixture
def pair(servers):
    """A MariaDB, and a Paceline that is not yet its replica."""
    primary = servers(MariaDb, 100)
    replication_user(primary)
    return primary, servers(Paceline, 2)


def start_slave(replica):
    replica.query("start slave")
    wait_for("the connection to run", lambda: slave_status(replica)["Slave_IO_Running"] == slave_status(replica)["Slave_SQL_Running"] == "Yes")


def stopped(replica):
    return slave_status(replica)["Slave_SQL_Running"] == "No"


@pytest.mark.parametrize("use_gtid", ["slave_pos", "no"])
def test_a_new_receiver_repeats_nothing_that_is_still_queued(pair, use_gtid):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int)", "insert into d.t values (1)")
    [(file, *_)] = primary.query("show binary logs")[:1]
    change_master(replica, primary, master_use_gtid=use_gtid, **({} if use_gtid != "no" else {"master_log_file": f"'{file}'", "master_log_pos": 4}))
    start_slave(replica)
    wait_for_replica(replica, primary)
    with replica.connect() as holder, holder.cursor() as cursor:
        cursor.execute("flush tables with read lock")
        primary.query("insert into d.t values (2)", "insert into d.t values (3)")
        [(_, end, *_)] = primary.query("show master status")
        wait_for("the transactions to be received", lambda: slave_status(replica)["Read_Master_Log_Pos"] == end)
        replica.query("stop slave io_thread", "start slave io_thread")
        wait_for("the receiver to wait for what its applier has", lambda: "advance position" in slave_status(replica)["Slave_IO_State"])
        cursor.execute("unlock tables")
    wait_for_replica(replica, primary)
    primary.query("insert into d.t values (4)")
    wait_for_replica(replica, primary)
    assert replica.query("select a from d.t order by a") == ((1,), (2,), (3,), (4,))


def test_an_acknowledgement_is_for_every_domain(ours):
    primary, replica = ours
    primary.query("create database d", "create table d.t (a int primary key)", "create table d.u (a int primary key)",
                  "set global rpl_semi_sync_master_timeout=60000, global rpl_semi_sync_master_wait_no_slave=on, "
                  "global rpl_semi_sync_master_enabled=on")
    replica.query("set global rpl_semi_sync_slave_enabled=on, global slave_parallel_threads=2")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    replica.query("stop slave")
    told = []

    def write(domain, table):
        primary.query(f"set gtid_domain_id={domain}", f"insert into d.{table} values (1)")
        told.append(table)

    writers = [threading.Thread(target=write, args=pair) for pair in ((1, "t"), (0, "u"))]
    for number, writer in enumerate(writers, 1):
        writer.start()
        wait_for("the commit to wait for its acknowledgement", lambda: waiting_commits(primary) == number)
    with replica.connect() as holder, holder.cursor() as cursor:
        cursor.execute("lock tables d.t read")
        start_slave(replica)
        wait_for("the other domain to be applied", lambda: replica.query("select count(*) from d.u") == ((1,),))
        stays("no commit is told durable on a replica that cannot have it", lambda: told == [], 1)
        cursor.execute("unlock tables")
    for writer in writers:
        writer.join(30)
    assert sorted(told) == ["t", "u"]


def test_what_the_primary_filters_out_is_acknowledged(ours):
    primary, replica = ours
    primary.query("create database d", "create table d.t (a int primary key)",
                  "set global rpl_semi_sync_master_timeout=20000, global rpl_semi_sync_master_enabled=on")
    replica.query("set global rpl_semi_sync_slave_enabled=on", "set global replicate_events_marked_for_skip=filter_on_master")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    for number in range(3):
        began = time.monotonic()
        primary.query("set skip_replication=1", f"insert into d.t values ({number})")
        primary.query(f"insert into d.t values ({number + 100})")
        assert time.monotonic() - began < 15
    assert primary.query("show status like 'rpl_semi_sync_master_status'") == (("Rpl_semi_sync_master_status", "ON"),)
    assert primary.query("show status like 'rpl_semi_sync_master_no_times'") == (("Rpl_semi_sync_master_no_times", "0"),)


def test_the_counter_skips_what_has_failed_and_not_what_is_filtered(pair):
    primary, replica = pair
    primary.query("create database d", "create database x", "create table d.t (a int primary key)", "use x", "create table t (a int primary key)")
    replica.query("set global replicate_ignore_db='x'")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    replica.query("set sql_log_bin=0", "insert into d.t values (1)")
    replica.query("stop slave")
    primary.query("insert into x.t values (1)", "insert into x.t values (2)", "insert into x.t values (3)", "insert into d.t values (1)",
                  "insert into d.t values (2)")
    replica.query("start slave")
    wait_for("the duplicate", lambda: slave_status(replica)["Last_SQL_Errno"] == 1062)
    replica.query("stop slave", "set global sql_slave_skip_counter=1")
    start_slave(replica)
    wait_for_replica(replica, primary)
    assert replica.query("select a from d.t order by a") == ((1,), (2,))


def test_the_counter_is_refused_where_domains_would_race(pair):
    primary, replica = pair
    primary.query("create database d", "set gtid_domain_id=7", "create database e")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    replica.query("stop slave", "set global sql_slave_skip_counter=1", "set global sql_slave_skip_counter=0", "set global slave_parallel_threads=4")
    with pytest.raises(pymysql.MySQLError) as error:
        replica.query("set global sql_slave_skip_counter=1")
    assert error.value.args[0] == 1966
    change_master(replica, primary, master_use_gtid="no")
    replica.query("set global sql_slave_skip_counter=1")


def test_domains_keep_the_primarys_order_without_threads(pair):
    """A table is created in one domain and filled in another. MASTER_POS_WAIT() returns when everything is applied."""
    primary, replica = pair
    change_master(replica, primary, master_use_gtid="slave_pos")
    for number in range(30):
        primary.query(f"set gtid_domain_id={2 * number}", "create database if not exists d", f"create table d.t{number} (a int primary key)",
                      f"set gtid_domain_id={2 * number + 1}", f"insert into d.t{number} values (1)")
    start_slave(replica)
    [(file, position, *_)] = primary.query("show master status")
    [(moves,)] = replica.query(f"select master_pos_wait('{file}', {position}, 30)")
    assert moves >= 0, slave_status(replica)
    assert replica.query("select count(*) from d.t29") == ((1,),)
    # Reached already; in another log; timed out; without an applier.
    assert replica.query(f"select master_pos_wait('{file}', 4), master_pos_wait('other.000001', 4), master_pos_wait('{file}', {position + 1}, 1)") == \
        ((0, None, -1),)
    replica.query("stop slave")
    assert replica.query(f"select master_pos_wait('{file}', 4)") == ((None,),)


def test_a_skipped_transaction_does_not_come_back(pair):
    """A filtered domain is before it."""
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key)")
    [(file, *_)] = primary.query("show binary logs")[:1]
    change_master(replica, primary, master_use_gtid="no", master_log_file=f"'{file}'", master_log_pos=4, ignore_server_ids="(9)")
    start_slave(replica)
    wait_for_replica(replica, primary)
    replica.query("set sql_log_bin=0", "insert into d.t values (1)")
    replica.query("stop slave")
    primary.query("set gtid_domain_id=9", "set server_id=9", "insert into d.t values (100)", "set gtid_domain_id=0", "set server_id=100",
                  "insert into d.t values (1)")
    replica.query("set global sql_slave_skip_counter=1")
    start_slave(replica)
    wait_for("it to be skipped", lambda: slave_status(replica)["Skip_Counter"] == 0)
    replica.query("stop slave")
    start_slave(replica)
    primary.query("insert into d.t values (2)")
    wait_for(f"the next one: {slave_status(replica)}", lambda: replica.query("select a from d.t order by a") == ((1,), (2,)))


@pytest.mark.parametrize("use_gtid", ["slave_pos", "no"])
def test_a_stop_at_any_moment_skips_a_transaction_or_keeps_the_counter(ours, use_gtid):
    primary, replica = ours
    primary.query("create database d", "create table d.t (a int primary key)")
    [(file, *_)] = primary.query("show binary logs")[:1]
    change_master(replica, primary, master_use_gtid=use_gtid, **({} if use_gtid != "no" else {"master_log_file": f"'{file}'", "master_log_pos": 4}))
    start_slave(replica)
    wait_for_replica(replica, primary)
    for number in range(10):
        replica.query("set sql_log_bin=0", f"insert into d.t values ({number})")
        replica.query("stop slave")
        primary.query(f"insert into d.t values ({number})")
        replica.query("set global sql_slave_skip_counter=1")
        moment = itertools.count()

        def is_skipped():
            replica.query("start slave")
            let_run(next(moment) % 40 / 4000)
            replica.query("stop slave")
            return slave_status(replica)["Skip_Counter"] == 0

        wait_for("it to be skipped", is_skipped)
        start_slave(replica)
    primary.query("insert into d.t values (100)")
    wait_for_replica(replica, primary)
    assert replica.query("select count(*) from d.t") == ((11,),)


def test_a_position_does_not_go_back_to_filtered_transactions(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int)")
    [(file, *_)] = primary.query("show binary logs")[:1]
    change_master(replica, primary, master_use_gtid="no", master_log_file=f"'{file}'", master_log_pos=4, ignore_server_ids="(9)")
    for number in range(3):
        primary.query("set gtid_domain_id=9", "set server_id=9", "insert into d.t values (100)", "set gtid_domain_id=0", "set server_id=100",
                      f"insert into d.t values ({number})")
        [(_, end, *_)] = primary.query("show master status")
        start_slave(replica)
        wait_for("the end", lambda: slave_status(replica)["Exec_Master_Log_Pos"] >= end)
        wait_for("the row", lambda: replica.query("select count(*) from d.t") == ((number + 1,),))
        # The position is logged a moment after the row.
        let_run(0.2)
        replica.query("stop slave")
    start_slave(replica)
    primary.query("insert into d.t values (3)")
    wait_for("each row once", lambda: replica.query("select a from d.t order by a") == ((0,), (1,), (2,), (3,)))


@pytest.mark.parametrize("image", ["minimal", "noblob", "full"])
def test_generated_columns_that_are_not_sent(pair, image):
    primary, replica = pair
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    primary.query(f"set binlog_row_image={image}", "create database d", "create table d.t (id int primary key, a int, v int as (a * 2) virtual, "
                  "s int as (a * 3) stored, w text as (concat(a, 'x')) virtual, x text, "
                  "l varchar(9) character set latin1 default 'é', b varbinary(9) as (l) virtual)", "create table d.u (id int primary key, a int)")
    wait_for_replica(replica, primary)
    replica.query("set sql_log_bin=0", "alter table d.u add column own int as (a + 1) stored")
    primary.query(f"set binlog_row_image={image}", "insert into d.t (id, a) values (1, 10), (2, 20), (3, null)", "insert into d.u values (1, 1)",
                  "update d.t set a = 11 where id = 1", "update d.t set x = 'y' where id = 2", "update d.u set a = 5")
    # With full images: a mismatch would stop here.
    primary.query("update d.t set a = a + 1", "delete from d.t where id = 3")
    wait_for_replica(replica, primary)
    assert replica.query("select * from d.t order by id") == primary.query("select * from d.t order by id")
    assert replica.query("select * from d.u") == ((1, 5, 6),)


def test_a_statement_ends_although_the_event_that_ends_it_is_left_out(servers):
    """The rows of a trigger end the statement. The next statement cascades, and the replica after this one must not
    repeat the cascade."""
    primary, middle, last = servers(MariaDb, 100), servers(Paceline, 2), servers(MariaDb, 3)
    replication_user(primary)
    primary.query("create database d", "create table d.audit (a int)", "create table d.t (a int primary key)", "create table d.p (a int primary key)",
                  "create table d.c (a int, foreign key (a) references d.p (a) on delete cascade)",
                  "insert into d.p values (1), (2)", "insert into d.c values (1), (2)")
    position = gtid_position(primary)
    middle.query("set global replicate_ignore_table='d.audit'")
    change_master(middle, primary, master_use_gtid="slave_pos")
    start_slave(middle)
    wait_for_replica(middle, primary)
    # The account was replicated from the primary. One created here would have a number of the same domain, for which
    # nobody may wait.
    change_master(last, middle, master_use_gtid="slave_pos")
    last.query("start slave")
    middle.query("stop slave", "set global paceline_replicate_leave_out='triggers'")
    start_slave(middle)
    primary.query("use d", "create trigger tr after insert on t for each row insert into audit values (new.a)")
    primary.query("use d", "begin", "insert into t values (1)", "delete from p where a = 1", "commit")
    wait_for_replica(middle, primary)
    wait_for_replica(last, middle)
    assert position != gtid_position(primary)
    for server in (middle, last):
        assert server.query("select a from d.c") == server.query("select a from d.p") == ((2,),)
        assert server.query("select a from d.t") == ((1,),)


def test_until_applies_to_a_running_receiver_too(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    replica.query("stop slave sql_thread")
    primary.query("insert into d.t values (1)")
    [(file, offset, *_)] = primary.query("show master status")
    primary.query("insert into d.t values (2)")
    replica.query(f"start slave sql_thread until master_log_file='{file}', master_log_pos={offset}")
    wait_for("the end", lambda: stopped(replica))
    assert replica.query("select a from d.t") == ((1,),)
    start_slave(replica)
    wait_for_replica(replica, primary)
    assert_same(primary, replica)


def test_until_a_reached_position_applies_nothing_more(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    [(file, offset, *_)] = primary.query("show master status")
    primary.query("insert into d.t values (2)")
    change_master(replica, primary, master_use_gtid="slave_pos")
    for _ in range(2):
        replica.query(f"start slave until master_log_file='{file}', master_log_pos={offset}")
        wait_for("the end", lambda: stopped(replica))
        assert replica.query("select a from d.t") == ((1,),)


def test_the_primarys_statements_have_precedence_over_local_transactions(pair):
    primary, replica = pair
    primary.query("set global binlog_format=statement", "create database d", "create table d.t (a int primary key, b int)",
                  "insert into d.t values (1, 1)")
    replica.query("set global innodb_lock_wait_timeout=1")
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    with replica.connect() as local, local.cursor() as cursor:
        cursor.execute("begin")
        cursor.execute("select * from d.t where a=1 for update")
        primary.query("update d.t set b=b+1")
        wait_for_replica(replica, primary)
        with pytest.raises(pymysql.MySQLError) as error:
            cursor.execute("update d.t set b=100")
        assert error.value.args[0] == 1213
    assert_same(primary, replica)


def test_definitions_are_logged_as_with_autocommit(pair):
    """As in MariaDB, whatever the session's setting. A MariaDB replica can stop after a definition logged without it."""
    primary, replica = pair
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    statements = ["set autocommit=0", "create table d.{0} (a int)", "insert into d.{0} values (1)", "savepoint s", "insert into d.{0} values (2)",
                  "commit", "rename table d.{0} to d.{0}{0}"]
    primary.query("create database d", *[statement.format("t") for statement in statements])
    wait_for_replica(replica, primary)
    replica.query(*[statement.format("u") for statement in statements], "flush binary logs")
    text = subprocess.run(["mariadb-binlog", "--no-defaults", str(replica.log_files()[0])], capture_output=True, text=True, check=True).stdout
    assert "rename table d.t to" in text and "rename table d.u to" in text
    assert "@@session.autocommit=1" in text and "autocommit=0" not in text


@pytest.mark.parametrize("kind", [MariaDb, Paceline])
def test_an_idle_connection_lives_on_heartbeats(servers, kind):
    primary, replica = servers(kind, 100), servers(Paceline, 2, "--slave-net-timeout=2")
    replication_user(primary)
    change_master(replica, primary, master_use_gtid="slave_pos")
    start_slave(replica)
    wait_for_replica(replica, primary)
    assert replica.query("show status like 'slave_heartbeat_period'") == (("Slave_heartbeat_period", "1.000"),)
    dumps = "select id from information_schema.processlist where command like 'Binlog Dump%'"
    [dump] = primary.query(dumps)
    stays("the connection of the replica", lambda: primary.query(dumps) == (dump,), 5)
    [(_, heartbeats)] = replica.query("show status like 'slave_received_heartbeats'")
    assert 3 <= int(heartbeats) <= 6
    change_master(replica, primary, connection="given", port=1, master_heartbeat_period=7)
    shown = replica.query("set default_master_connection='given'", "show status like 'slave_heartbeat_period'")
    assert shown == (("Slave_heartbeat_period", "7.000"),)


def test_the_end_of_the_log_is_told_also_where_nothing_is_sent_of_it(ours):
    """Events that are not replicated (sql_log_bin=0, Paceline's own records) can be the last ones in the log:
    MASTER_POS_WAIT() of its end returns."""
    primary, replica = ours
    primary.query("create database d", "create table d.t (a int primary key)")
    change_master(replica, primary, master_use_gtid="slave_pos", master_heartbeat_period=1000)
    start_slave(replica)
    wait_for_replica(replica, primary)
    for statements in (["set sql_log_bin=0", "create table d.here (a int)"], ["reset slave"], ["flush logs"],
                       ["set sql_log_bin=0", "insert into d.here values (1)", "set sql_log_bin=1", "insert into d.t values (1)",
                        "set sql_log_bin=0", "insert into d.here values (2)"]):
        primary.query(*statements)
        [(file, position, *_)] = primary.query("show master status")
        [(moves,)] = replica.query(f"select master_pos_wait('{file}', {position}, 30)")
        assert moves is not None and moves >= 0, (statements, file, position, slave_status(replica))
    assert replica.query("select * from d.t") == ((1,),)


def test_a_wait_for_a_position_can_begin_before_the_log_is_known(ours):
    primary, replica = ours
    primary.query("create database d")
    [(file, position, *_)] = primary.query("show master status")
    change_master(replica, primary, master_use_gtid="no", master_log_file="''", master_log_pos=4)
    replica.query("start slave sql_thread")
    moves = []
    waiter = threading.Thread(target=lambda: moves.extend(replica.query(f"select master_pos_wait('{file}', {position}, 30)")))
    waiter.start()
    waits = "select count(*) from information_schema.processlist where state like 'Waiting for the slave SQL thread to advance%'"
    wait_for("the wait to begin", lambda: moves or replica.query(waits) == ((1,),))
    replica.query("start slave io_thread")
    waiter.join()
    [(moves,)] = moves
    assert moves is not None and moves >= 0, slave_status(replica)
    replica.query("use d")


def test_reset_master_ends_streams(ours):
    """As in MariaDB, replicas do not prevent it. They reconnect and follow the new log."""
    primary, replica = ours
    change_master(replica, primary, master_use_gtid="slave_pos", master_connect_retry=1)
    start_slave(replica)
    primary.query("create database d")
    wait_for_replica(replica, primary)
    replica.query("stop slave sql_thread")
    primary.query("reset master")
    replica.query("stop slave", "reset master", "set global gtid_slave_pos=''")
    primary.query("create database e")
    start_slave(replica)
    wait_for_replica(replica, primary)
    replica.query("use e")


def test_the_table_of_positions_keeps_its_engine_and_columns(ours):
    _, replica = ours
    replica.query("alter table mysql.gtid_slave_pos engine=innodb")
    for change in ("engine=memory", "engine=innodb, add x int", "engine=innodb comment='c'", "drop column sub_id", "force"):
        with pytest.raises(pymysql.MySQLError) as error:
            replica.query(f"alter table mysql.gtid_slave_pos {change}")
        assert error.value.args[0] in (1036, 1235, 1286), (change, error.value)


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_writes_are_numbered_after_a_position_that_was_set(servers, kind):
    server = servers(kind, 2)
    server.query("create database d", "create table d.t (a int)", "reset master", "set global gtid_slave_pos='0-2-10,1-5-7'")
    shown = "select @@gtid_slave_pos, @@gtid_current_pos, @@gtid_binlog_pos"
    assert server.query("insert into d.t values (1)", shown) == (("0-2-10,1-5-7", "0-2-11,1-5-7", "0-2-11"),)
    assert server.query("set gtid_domain_id=1", "insert into d.t values (1)", shown) == (("0-2-10,1-5-7", "0-2-11,1-2-8", "0-2-11,1-2-8"),)
    # A new log starts from 1. A restart takes the position into account again.
    assert server.query("reset master", "insert into d.t values (1)", "select @@gtid_binlog_pos") == (("0-2-1",),)
    server.query("reset master")
    server.stop()
    server.start()
    assert server.query("insert into d.t values (1)", shown) == (("0-2-10,1-5-7", "0-2-11,1-5-7", "0-2-11"),)
