"""Replicas and primaries of both kinds: connecting them, waiting, comparing."""

import re

import pymysql

from support.waiting import wait_for

ACCOUNT = "repl"
PASSWORD = "secret"
WAIT_SECONDS_MAX = 60


def allow_replicas(primary):
    """Creates the account for replicas without logging it: it does not concern the replica."""
    for host in ("%", "localhost", "127.0.0.1"):  # MariaDB's anonymous account for this host would win over '%'.
        primary.query("set session sql_log_bin=0", f"create user if not exists {ACCOUNT}@'{host}' identified by '{PASSWORD}'",
                      f"grant replication slave, binlog monitor on *.* to {ACCOUNT}@'{host}'")


def change_master(replica, primary, use_gtid="slave_pos", more="", name=""):
    """Runs CHANGE MASTER; by file and position if `more` contains them."""
    gtid = f", master_use_gtid={use_gtid}" if use_gtid else ""
    replica.query(f"change master {name} to master_host='127.0.0.1', master_port={primary.port}, master_user='{ACCOUNT}', "
                  f"master_password='{PASSWORD}', master_connect_retry=1{gtid}{', ' + more if more else ''}")


def start_replica(replica, primary, use_gtid="slave_pos", more=""):
    allow_replicas(primary)
    change_master(replica, primary, use_gtid, more)
    replica.query("start slave")


def replica_status(replica, name=""):
    """Returns SHOW SLAVE STATUS as a dictionary; empty if there is none."""
    with replica.connect(cursorclass=pymysql.cursors.DictCursor) as connection, connection.cursor() as cursor:
        cursor.execute(f"show slave {name} status")
        return cursor.fetchone() or {}


def check_runs(replica):
    """Fails if the replica has been stopped by an error other than a primary that is temporarily away."""
    status = replica_status(replica)
    for part in ("IO", "SQL"):
        number = int(status[f"Last_{part}_Errno"])
        assert number in (0, 2002, 2003, 2006, 2013), (number, status[f"Last_{part}_Error"], replica.said()[-2000:])
    return status


def catch_up(replica, primary, seconds=WAIT_SECONDS_MAX):
    """Waits until the replica has everything that the primary has logged by now."""
    wanted = primary.query("select @@global.gtid_binlog_pos")[0][0]

    def has_it():
        check_runs(replica)
        return replica.query(f"select master_gtid_wait('{wanted}', 0.2)")[0][0] == 0

    wait_for(f"the replica to come to {wanted}", has_it, seconds)
    return wanted


def wait_for_io_error(replica, seconds=WAIT_SECONDS_MAX):
    """Returns number and text of the error that stopped a replica's receiver."""
    def error():
        status = replica_status(replica)
        return int(status["Last_IO_Errno"]) and (int(status["Last_IO_Errno"]), status["Last_IO_Error"])

    return wait_for("an error of the receiver", error, seconds)


def user_tables(server):
    return [row for row in server.query(
        "select table_schema, table_name from information_schema.tables where table_type='BASE TABLE' and table_schema not in "
        "('mysql', 'information_schema', 'performance_schema', 'sys') order by 1, 2")]


def columns(server, database, table):
    return [row[0] for row in server.query(
        f"select column_name from information_schema.columns where table_schema='{database}' and table_name='{table}' "
        "order by ordinal_position")]


def content(server, database, table):
    """Returns all rows as hexadecimal text, sorted."""
    names = ", ".join(f"`{name}`" for name in columns(server, database, table))
    return sorted(server.client("-N", "--max-allowed-packet=67108864", "--binary-as-hex", "--default-character-set=utf8mb4", "-e",
                                f"select {names} from `{database}`.`{table}`").splitlines())


def check_same_tables(one, other):
    """Checks that both have the same tables with the same rows. Returns the number of rows."""
    tables = user_tables(one)
    assert tables == user_tables(other)
    total = 0
    for database, table in tables:
        ours, theirs = content(one, database, table), content(other, database, table)
        assert ours == theirs, f"{database}.{table}: {set(ours) ^ set(theirs)}"
        total += len(ours)
    return total


def without_places(text):
    """Returns an error's text without names and offsets of files."""
    return re.sub(r"'[^' ]*\.\d{6}' at \d+", "FILE at N", text)
