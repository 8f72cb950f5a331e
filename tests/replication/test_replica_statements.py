"""A replica's answers to statements about its connection, and its treatment of the primary's statements, compared
with a MariaDB replica of the same primary."""

import pymysql
import pytest
from support.replication import change_master, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

COUNTERS = "show global status where variable_name in ('Com_insert', 'Com_update', 'Com_delete', 'Com_commit')"


@pytest.fixture
def both(servers):
    """A MariaDB with two replicas: another MariaDB and a Paceline."""
    primary = servers(MariaDb, 1)
    replication_user(primary)
    primary.query("create database d")
    replicas = [servers(MariaDb, 3), servers(Paceline, 2)]
    for replica in replicas:
        replica.query("reset master")
        change_master(replica, primary, master_use_gtid="slave_pos")
        replica.query("start slave")
        wait_for_replica(replica, primary)
    return primary, replicas


def error_of(server, statement):
    with pytest.raises(pymysql.err.MySQLError) as error:
        server.query(statement)
    return error.value.args[0]


def is_running(replica, part):
    return slave_status(replica)[f"Slave_{part}_Running"] == "Yes"


def test_statements_of_a_connection(both):
    _, replicas = both
    told = []
    for replica in replicas:
        answers = []
        told.append(answers)
        replica.query("stop slave", "set global sql_slave_skip_counter=0")
        # There is one counter, whatever the scope.
        replica.query("set sql_slave_skip_counter=5")
        answers.append(slave_status(replica)["Skip_Counter"])
        replica.query("set global sql_slave_skip_counter=0")
        for setting in ("master_host", "master_user", "master_password"):
            for length in (96, 97, 128, 129, 255, 256):
                statement = f"change master 'other' to {setting}='{'x' * length}', master_port=1"
                try:
                    replica.query(statement)
                    answers.append((setting, length))
                except pymysql.err.MySQLError as error:
                    answers.append((setting, length, *error.args))
        replica.query("reset slave 'other' all")
        replica.query("change master to do_domain_ids=(7)")
        answers.append(error_of(replica, "change master to master_use_gtid=no"))
        replica.query("change master to do_domain_ids=(), master_use_gtid=no")
        answers.append(error_of(replica, "change master to ignore_domain_ids=(7)"))
        answers.append(replica.query("reset slave", "show warnings"))
        answers.append(slave_status(replica)["Using_Gtid"])
        answers.append(replica.query("reset slave", "show warnings"))
        answers.append(replica.query("change master to master_log_file='bin.000001', master_log_pos=4", "show warnings"))
    assert told[0] == told[1]


def test_threads_of_a_connection_can_be_killed(both):
    _, replicas = both
    for replica in replicas:
        for part, kill in (("IO", "kill"), ("SQL", "kill query"), ("SQL", "kill")):
            [(number,)] = replica.query(f"select id from information_schema.processlist where command='Slave_{part}'")
            replica.query(f"{kill} {number}")
            wait_for(f"the {part} thread to end", lambda: not is_running(replica, part))  # noqa: B023
            status = slave_status(replica)
            assert (status["Last_IO_Errno"], status["Last_SQL_Errno"]) == (0, 0), status
            replica.query("start slave")
            wait_for("the connection to run", lambda: is_running(replica, "IO") and is_running(replica, "SQL"))
        assert error_of(replica, "kill 4000000") == 1094


def test_statements_of_a_primary_are_counted(both):
    primary, replicas = both
    before = [dict(replica.query(COUNTERS)) for replica in replicas]
    primary.query("create table d.t (a int primary key, b int)", "insert into d.t values (1, 1), (2, 2)", "insert into d.t values (3, 3)",
                  "update d.t set b=b+1", "begin", "delete from d.t where a=1", "delete from d.t where a=2", "commit")
    for replica in replicas:
        wait_for_replica(replica, primary)

    def counts():
        return [{name: int(value) - int(known[name]) for name, value in replica.query(COUNTERS)}
                for replica, known in zip(replicas, before)]

    # MariaDB's replica shows its position before it has counted the commit.
    wait_for("the same counts", lambda: counts()[0] == counts()[1])


def test_what_exists_already_or_is_missing(both):
    primary, replicas = both
    for replica in replicas:
        replica.query("set sql_log_bin=0", "create database here", "create table d.t (other int)", "insert into d.t values (7)",
                      "create table d.filled (other int)", "create table d.like_it (other int)")
    primary.query("create database here", "create table here.t (a int)", "create table d.t (a int, b int)", "insert into d.t values (1, 2)",
                  "create table d.filled select 1 as a", "create table d.like_it like d.t", "create database gone")
    for replica in replicas:
        wait_for_replica(replica, primary)
        replica.query("set sql_log_bin=0", "drop database gone", "drop table d.like_it")
    primary.query("drop database gone", "drop table d.like_it")
    for replica in replicas:
        wait_for_replica(replica, primary)
        assert replica.query("select * from d.t") == ((1, 2),) and replica.query("select * from d.filled") == ((1,),)
    # The replaced object is in the log: the server starts with it.
    ours = replicas[1]
    ours.kill()
    ours.start()
    assert ours.query("select * from d.t") == ((1, 2),) and ours.query("show tables from d") == (("filled",), ("t",))
    for replica in replicas:
        replica.query("set global slave_ddl_exec_mode=strict", "set sql_log_bin=0", "create database there")
    primary.query("create database there")
    for replica in replicas:
        wait_for("the error", lambda: slave_status(replica)["Last_SQL_Errno"] == 1007)  # noqa: B023
        # RESET SLAVE clears it.
        replica.query("stop slave", "reset slave")
        assert slave_status(replica)["Last_SQL_Errno"] == 0


def test_a_row_that_is_overwritten_keeps_columns_that_the_primary_lacks(both):
    primary, replicas = both
    primary.query("create table d.t (a int primary key, b int)")
    for replica in replicas:
        wait_for_replica(replica, primary)
        replica.query("stop slave", "set global slave_exec_mode=idempotent", "set sql_log_bin=0", "alter table d.t add c int default 42",
                      "insert into d.t values (1, 2, 3)")
        replica.query("start slave")
    primary.query("insert into d.t values (1, 5), (2, 6)")
    for replica in replicas:
        wait_for_replica(replica, primary)
        assert replica.query("select * from d.t order by a") == ((1, 5, 3), (2, 6, 42))


def test_a_reached_position_stops_the_applier_at_once(both):
    primary, replicas = both
    [(file, offset, *_)] = primary.query("show master status")
    for replica in replicas:
        replica.query("stop slave sql_thread", f"start slave sql_thread until master_log_file='{file}', master_log_pos={offset}")
        wait_for("the end", lambda: not is_running(replica, "SQL"))  # noqa: B023
        wait_for("the receiver, which connects anew", lambda: is_running(replica, "IO"))  # noqa: B023


def test_the_position_of_all_connections_counts_what_was_written_here(both):
    _, replicas = both
    for replica in replicas:
        replica.query("create table d.own (a int)")
        with replica.connect(cursorclass=pymysql.cursors.DictCursor) as session, session.cursor() as cursor:
            cursor.execute("show all slaves status")
            shown = cursor.fetchone()["Gtid_Slave_Pos"]
        assert ((shown,),) == replica.query("select @@gtid_current_pos") != replica.query("select @@gtid_slave_pos")
