"""Aborted_connects, Aborted_clients, Access_denied_errors: connections that end otherwise than by COM_QUIT, beside MariaDB."""

import json
import socket
import urllib.error
import urllib.request

import pytest
from support.memcached import TextConnection
from support.servers import MariaDb, Paceline, ReservedPort
from support.waiting import stays, wait_for

NAMES = ("Aborted_clients", "Aborted_connects", "Access_denied_errors")


@pytest.fixture(params=[Paceline, MariaDb])
def server(request, tmp_path):
    server = request.param(tmp_path / "server").start()
    server.query("create user u@localhost identified by 'x'", "create database d", "create user locked@localhost identified by 'x' account lock")
    yield server
    server.close()


def counts(server):
    rows = dict(server.query(f"show global status where variable_name in {NAMES}"))
    return [int(rows[name]) for name in NAMES]


class Growth:
    """Compares the counters with those of the beginning."""

    def __init__(self, server):
        self.server = server
        self.before = counts(server)

    def now(self):
        return tuple(after - before for before, after in zip(self.before, counts(self.server)))

    def becomes(self, *expected):
        wait_for(f"{expected}, not {self.now()}", lambda: self.now() == expected)
        stays(f"{expected}", lambda: self.now() == expected, seconds=0.2)


def test_refused_logins(server):
    growth = Growth(server)
    server.refuses(1045, user="u", password="wrong")
    server.refuses(1045, user="nobody", password="wrong")
    growth.becomes(0, 2, 2)
    # No denial: the database is not there, the account is locked, there are too many connections.
    server.refuses(1049, database="nosuch")
    growth.becomes(0, 3, 2)
    server.refuses(4151, user="locked", password="x")
    growth.becomes(0, 4, 2)
    server.refuses(1044, user="u", password="x", database="d")
    growth.becomes(0, 5, 3)
    server.query("set global max_connections = 10")
    connections = [server.connect() for _ in range(10)]
    try:
        with connections[0].cursor() as cursor:
            # The last one is for those who look after the server.
            connections.append(server.connect())
            server.refuses(1040)
            cursor.execute("show global status like 'Aborted_connects'")
            assert int(cursor.fetchone()[1]) - growth.before[1] == 6
    finally:
        for connection in connections:
            connection.close()


def test_a_client_that_sends_nothing_readable_in_its_login(server):
    growth = Growth(server)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(server.socket))
        client.recv(1000)
    growth.becomes(0, 1, 0)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(server.socket))
        client.recv(1000)
        client.sendall(b"\x03\x00\x00\x01abc")
        client.recv(1000)
    growth.becomes(0, 2, 0)


def test_clients_that_vanish(server):
    growth = Growth(server)
    server.connect().close()
    growth.becomes(0, 0, 0)
    server.connect()._force_close()
    growth.becomes(1, 0, 0)
    client = server.connect()
    client._sock.sendall(b"\x10\x00\x00\x00\x03sel")
    client._force_close()
    growth.becomes(2, 0, 0)
    idle = server.connect(init_command="set wait_timeout = 1")
    growth.becomes(3, 0, 0)
    killed = server.connect()
    server.query(f"kill {killed.thread_id()}")
    growth.becomes(4, 0, 0)
    for connection in (idle, killed):
        connection._force_close()
    late = server.connect()
    statement = b"\x03select sleep(0.2)"
    late._sock.sendall(bytes((len(statement), 0, 0, 0)) + statement)
    late._force_close()
    growth.becomes(5, 0, 0)


def test_the_memcached_port_counts_alike(tmp_path):
    port = ReservedPort()
    server = Paceline(tmp_path / "server", f"--memcached-port={port.number}").start()
    try:
        wait_for("the tables", lambda: server.query("select count(*) from information_schema.tables where table_schema = 'paceline'") == ((2,),))
        server.query("create user app@localhost identified by 'x'")
        growth = Growth(server)
        for expected, password in enumerate(("wrong", "false"), start=1):
            assert TextConnection(port.number).log_in("app", password) == b"CLIENT_ERROR authentication failure\r\n"
            growth.becomes(0, expected, expected)
        client = TextConnection(port.number)
        client.send(b"get a\r\n")
        assert client.receive() == b"CLIENT_ERROR unauthenticated\r\n"
        growth.becomes(0, 3, 2)
        # A client may leave without `quit`.
        client = TextConnection(port.number)
        assert client.log_in("app", "x") == b"STORED\r\n"
        client.close()
        growth.becomes(0, 3, 2)
        client = TextConnection(port.number)
        assert client.log_in("app", "x") == b"STORED\r\n"
        [(connection,)] = wait_for("its session", lambda: server.query("select id from information_schema.processlist where user = 'app'"))
        server.query(f"kill {connection}")
        growth.becomes(1, 3, 2)
    finally:
        server.close()


def test_requests_of_the_page_count_alike(serve):
    server = serve()
    server.query("create user u@localhost identified by 'x'")
    growth = Growth(server)

    def ask(password):
        body = json.dumps({"user": "u", "password": password, "connection": 999_999}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{server.http_port}/api/kill", body, {"Content-Type": "application/json"})
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(request)

    ask("wrong")
    growth.becomes(0, 1, 1)
    # KILL fails, and its session ends by COM_QUIT.
    ask("x")
    growth.becomes(0, 1, 1)
