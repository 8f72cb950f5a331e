"""Statements that failed on a MariaDB primary in statement format after they had changed tables without transactions."""

import threading

import pymysql
import pytest
from support.replication import assert_same, change_master, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import let_run, wait_for


@pytest.fixture
def pair(request, tmp_path):
    options = getattr(request, "param", [])
    primary = MariaDb(tmp_path / "primary", "--server-id=1", "--log-bin=bin", "--binlog-format=statement").start()
    replica = Paceline(tmp_path / "replica", "--server-id=2", *options).start()
    replication_user(primary)
    primary.query("create database d", "create table d.t (a int primary key, b int, unique key (b)) engine=myisam")
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    wait_for_replica(replica, primary)
    yield primary, replica
    replica.close()
    primary.close()


def fails(server, number, *statements):
    with pytest.raises(pymysql.err.Error) as raised:
        server.query(*statements)
    assert raised.value.args[0] == number, raised.value


def stopped(replica):
    wait_for("the replica to stop", lambda: slave_status(replica)["Slave_SQL_Running"] == "No")
    status = slave_status(replica)
    return int(status["Last_SQL_Errno"]), status["Last_SQL_Error"]


def skip_one(replica):
    replica.query("set global sql_slave_skip_counter=1", "start slave")


def test_what_was_changed_before_the_error_stays(pair):
    primary, replica = pair
    primary.query("insert into d.t values (1, 1), (5, 5), (9, 9)")
    fails(primary, 1062, "insert into d.t values (3, 3), (4, 4), (5, 6), (7, 7)")
    fails(primary, 1062, "insert into d.t values (6, 6), (8, 9), (10, 10)")
    fails(primary, 1062, "update d.t set a=a+1 order by a")
    fails(primary, 1264, "update d.t set b=b+2147483640 order by a")
    fails(primary, 1051, "drop table d.t2, d.nothing")
    primary.query("insert into d.t values (100, 100)")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    assert not slave_status(replica)["Last_SQL_Error"]


def test_another_outcome_stops_the_replica(pair):
    primary, replica = pair
    primary.query("set sql_log_bin=0", "insert into d.t values (5, 5)")
    fails(primary, 1062, "insert into d.t values (3, 3), (4, 4), (5, 5)")
    number, text = stopped(replica)
    assert number == 3002
    assert text.startswith("Query caused different errors on master and slave.     Error on master: message (format)='Duplicate entry '%-.192T' for key "
                           "%d' error code=1062 ; Error on slave: actual message='no error', error code=0. Default database: ''. Query: 'insert into")
    assert replica.query("select * from d.t") == ()
    replica.query("set sql_log_bin=0", "insert into d.t values (5, 5)", "start slave")
    primary.query("insert into d.t values (7, 7)")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    # And another error.
    replica.query("set sql_log_bin=0", "drop table d.t")
    fails(primary, 1062, "insert into d.t values (20, 20), (5, 5)")
    number, text = stopped(replica)
    assert number == 3002 and "actual message='Table 'd.t' doesn't exist', error code=1146." in text, (number, text)


def test_an_interrupted_statement_is_not_executed(pair):
    primary, replica = pair
    primary.query("insert into d.t values " + ", ".join(f"({row}, {row})" for row in range(2000)))
    wait_for_replica(replica, primary)
    with primary.connect() as connection:
        failed = []

        def update():
            try:
                with connection.cursor() as cursor:
                    cursor.execute("update d.t set a=a+100000+sleep(0.01)")
            except pymysql.err.Error as error:
                failed.append(error.args[0])

        thread = threading.Thread(target=update)
        thread.start()
        wait_for("the update", lambda: primary.query("select count(*) from information_schema.processlist where info like 'update d.t%'") == ((1,),))
        # Some rows are changed by then.
        primary.query("do sleep(0.3)", f"kill query {connection.thread_id()}")
        thread.join()
    assert failed == [1317]
    number, text = stopped(replica)
    assert number == 1317 and text.startswith("Query partially completed on the master (error on master: 1317) and was aborted. There is a chance"), text
    assert replica.query("select count(*) from d.t where a > 100000") == ((0,),)
    skip_one(replica)
    primary.query("insert into d.t values (5000, 5000)")
    wait_for_replica(replica, primary)
    assert replica.query("select count(*) from d.t") == ((2001,),)


@pytest.mark.parametrize("pair", [["--slave-skip-errors=all"]], indirect=True, ids=["skip"])
def test_a_statement_that_stop_slave_interrupts_is_not_skipped(pair):
    primary, replica = pair
    with replica.connect() as holder, holder.cursor() as cursor:
        cursor.execute("lock tables d.t read")
        primary.query("insert into d.t values (1, 1)")
        [(_, end, *_)] = primary.query("show master status")
        wait_for("the statement to be received", lambda: int(slave_status(replica)["Read_Master_Log_Pos"]) == int(end))
        # The statement comes to the lock of another session.
        let_run(0.5)
        replica.query("stop slave")
        cursor.execute("unlock tables")
    assert replica.query("select * from d.t") == ()
    replica.query("start slave")
    wait_for_replica(replica, primary)
    assert replica.query("select * from d.t") == ((1, 1),)


def test_skipped_errors_are_counted_as_in_mariadb(pair, tmp_path):
    primary, _ = pair
    primary.query("create table d.u (a int primary key)")
    counts = {}
    for kind in (Paceline, MariaDb):
        replica = kind(tmp_path / kind.__name__, "--server-id=3", "--slave-skip-errors=1062,1032").start()
        try:
            change_master(replica, primary, master_use_gtid="slave_pos")
            replica.query("start slave")
            wait_for_replica(replica, primary)
            replica.query("set sql_log_bin=0", "insert into d.t values (1, 1)", "insert into d.u values (1), (4)")
            primary.query("insert into d.t values (1, 1)", "set binlog_format='row'", "insert into d.u values (1), (2), (3), (4)", "delete from d.u where a=3", "delete from d.u",
                          "delete from d.t")
            wait_for_replica(replica, primary)
            [(_, counts[kind])] = replica.query("show global status like 'Slave_skipped_errors'")
        finally:
            replica.close()
    assert counts[Paceline] == counts[MariaDb] != "0", counts


@pytest.mark.parametrize("change", [
    "insert into d.narrow values (1), (1000), (2)",
    "insert into d.narrow select n from d.wide",
])
def test_values_are_adjusted_as_in_a_table_without_transactions(pair, change):
    # There MariaDB's strict mode is for the first row of a statement, because it cannot undo it.
    primary, replica = pair
    primary.query("create table d.narrow (a tinyint not null) engine=myisam", "create table d.wide (n int) engine=myisam",
                  "insert into d.wide values (3), (5000), (-5000)")
    primary.query("set sql_mode='STRICT_TRANS_TABLES'", change)
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
