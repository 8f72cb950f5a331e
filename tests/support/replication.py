"""Helpers for tests of replication: connections to a primary by their settings, waiting for a replica, comparing two
servers through PyMySQL."""

from support import real_replicas
from support.real_replicas import user_tables
from support.waiting import wait_for


def replication_user(primary):
    """Creates the account for replicas."""
    # A newly installed MariaDB has an anonymous account for localhost, which would win over '%'.
    for host in ("%", "localhost"):
        primary.query(f"create user if not exists repl@'{host}' identified by 'secret'",
                      f"grant replication slave, binlog monitor on *.* to repl@'{host}'")


def change_master(replica, primary, connection="", port=None, **settings):
    """Runs CHANGE MASTER to a primary. Settings are by name; numbers and bare words are used as they are, strings are
    quoted by the caller."""
    options = {"master_host": "'127.0.0.1'", "master_port": port or primary.port, "master_user": "'repl'", "master_password": "'secret'",
               "master_connect_retry": 1, **settings}
    name = f"'{connection}'" if connection else ""
    replica.query(f"change master {name} to " + ", ".join(f"{key}={value}" for key, value in options.items()))


def slave_status(replica, connection=""):
    """Returns SHOW SLAVE STATUS as a dictionary; None if there is no such connection."""
    return real_replicas.replica_status(replica, f"'{connection}'" if connection else "") or None


def waiting_commits(primary):
    """Returns the number of commits that wait for an acknowledgement."""
    [(_, number)] = primary.query("show status like 'rpl_semi_sync_master_wait_sessions'")
    return int(number)


def gtid_position(server):
    [(position,)] = server.query("select @@gtid_binlog_pos")
    return position


def wait_for_replica(replica, primary, connection=""):
    """Waits until the replica has everything that the primary has logged by now."""
    position = gtid_position(primary)

    def has_it():
        if replica.query(f"select master_gtid_wait('{position}', 1)") == ((0,),):
            return True
        status = slave_status(replica, connection)
        assert not status["Last_SQL_Error"], status["Last_SQL_Error"]
        return False

    try:
        wait_for(f"{position} to be reached", has_it)
    except AssertionError as error:
        raise AssertionError(f"{error}: {slave_status(replica, connection)}\n{replica.said()[-4000:]}") from None


def content(server):
    """Returns all rows of all user tables, in an order that does not depend on the server."""
    rows = {}
    for database, table in user_tables(server):
        found = server.query(f"select * from `{database}`.`{table}`")
        rows[f"{database}.{table}"] = sorted(found, key=repr)
    return rows


def assert_same(one, other):
    expected, found = content(one), content(other)
    assert expected.keys() == found.keys()
    for table, rows in expected.items():
        assert rows == found[table], f"{table} differs: {sorted(set(rows) ^ set(found[table]), key=repr)[:10]}"
