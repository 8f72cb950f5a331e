"""What tests of replication share: connections to a primary, waiting for a replica, comparing two servers, a line that can be cut."""

import select
import socket
import threading
import time

import pymysql

WAIT_SECONDS_MAX = 30


def replication_user(primary):
    """Makes the account that replicas use."""
    # A MariaDB that was just installed has an anonymous account for localhost, which would win over '%'.
    for host in ("%", "localhost"):
        primary.query(f"create user if not exists repl@'{host}' identified by 'secret'",
                      f"grant replication slave, binlog monitor on *.* to repl@'{host}'")


def change_master(replica, primary, connection="", port=None, **settings):
    """CHANGE MASTER to a primary; settings by their names, numbers and bare words as they are, strings quoted by the caller."""
    options = {"master_host": "'127.0.0.1'", "master_port": port or primary.port, "master_user": "'repl'", "master_password": "'secret'",
               "master_connect_retry": 1, **settings}
    name = f"'{connection}'" if connection else ""
    replica.query(f"change master {name} to " + ", ".join(f"{key}={value}" for key, value in options.items()))


def slave_status(replica, connection=""):
    """SHOW SLAVE STATUS as a dictionary; None if there is no such connection."""
    name = f"'{connection}'" if connection else ""
    with replica.connect(cursorclass=pymysql.cursors.DictCursor) as session, session.cursor() as cursor:
        cursor.execute(f"show slave {name} status")
        return cursor.fetchone()


def wait_for(condition, what, seconds=WAIT_SECONDS_MAX):
    """Waits until `condition` gives something true, and gives it."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.02)


def gtid_position(server):
    [(position,)] = server.query("select @@gtid_binlog_pos")
    return position


def wait_for_replica(replica, primary, connection=""):
    """Waits until the replica has everything that the primary has logged by now."""
    position = gtid_position(primary)
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while True:
        [(reached,)] = replica.query(f"select master_gtid_wait('{position}', 1)")
        if reached == 0:
            return
        status = slave_status(replica, connection)
        assert not status["Last_SQL_Error"], status["Last_SQL_Error"]
        assert time.monotonic() < deadline, f"{position} is not reached: {status}\n{replica.said()[-4000:]}"


def user_tables(server):
    return server.query("select table_schema, table_name from information_schema.tables where table_type='BASE TABLE' and table_schema "
                        "not in ('mysql', 'information_schema', 'performance_schema', 'sys') order by 1, 2")


def content(server):
    """All rows of all tables that users have made, in an order that does not depend on the server."""
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


class Line:
    """A TCP proxy in front of a server: cut it, and every connection through it is dropped."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open = True
        self.sockets = []
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                if not self.open:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    near.close()
                    continue
                self.sockets += [near, far]
            threading.Thread(target=self._pump, args=(near, far), daemon=True).start()

    def passed(self, data, from_server):
        """What is passed on of what has come."""
        return data

    def _pump(self, near, far):
        other = {near: far, far: near}
        try:
            while True:
                for ready in select.select([near, far], [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    other[ready].sendall(self.passed(data, ready is far))
        except (OSError, ValueError):
            pass
        finally:
            near.close()
            far.close()

    def cut(self):
        """Drops all connections; new ones are accepted."""
        with self.lock:
            for each in self.sockets:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.sockets = []

    def close(self):
        self.open = False
        self.listener.close()
        self.cut()
