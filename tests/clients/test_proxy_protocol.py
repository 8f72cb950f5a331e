"""The PROXY protocol: clients behind a proxy, as in MariaDB."""

import socket
import struct

import pytest
from support.raw_protocol import END, OK, USUAL, Closed, RawClient
from support.servers import MariaDb, Paceline

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
FOUR = socket.inet_aton("10.1.2.3") + socket.inet_aton("10.9.9.9") + struct.pack(">HH", 4711, 3306)
SIX = socket.inet_pton(socket.AF_INET6, "2001:db8::1") * 2 + struct.pack(">HH", 4711, 3306)


def binary(command, family, data):
    return SIGNATURE + bytes([command, family]) + struct.pack(">H", len(data)) + data


LINE = b"PROXY TCP4 10.1.2.3 10.9.9.9 4711 3306\r\n"
HEADERS = [b"", LINE, b"PROXY TCP6 2001:db8::1 2001:db8::2 4711 3306\r\n", b"PROXY TCP6 ::ffff:10.1.2.3 2001:db8::2 4711 3306\r\n",
           b"PROXY UNKNOWN\r\n", b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", b"PROXY TCP4 10.1.2.3 10.9.9.9 70000 3306\r\n",
           b"PROXY TCP4 10.1.2.3 x 4711 3306\r\n", b"PROXY TCP4 127.0.0.1 10.9.9.9 4711 3306\r\n", b"PROXY TCP4 " + b"1" * 300 + b"\r\n",
           b"PROXX TCP4 10.1.2.3 10.9.9.9 4711 3306\r\n", binary(0x21, 0x11, FOUR), binary(0x21, 0x21, SIX), binary(0x20, 0, b""),
           binary(0x21, 0x31, bytes(216)), binary(0x21, 0x12, FOUR), binary(0x21, 0, b""), binary(0x21, 0x11, FOUR + b"\x03\0\4abcd"),
           binary(0x21, 0x11, FOUR[:8]), binary(0x31, 0x11, FOUR), binary(0x22, 0x11, FOUR)]


def attempt(server, header, user=b"root", unix=False):
    """Returns what the server says about a client that logs in after a header, or its error."""
    client = RawClient.__new__(RawClient)
    client.capabilities = USUAL
    client.socket = socket.socket(socket.AF_UNIX) if unix else socket.create_connection(("127.0.0.1", server.port))
    if unix:
        client.socket.connect(str(server.socket))
    client.socket.settimeout(20)
    try:
        client.receive()
        client.socket.sendall(header)
        client.send(struct.pack("<IIB19xI", USUAL, 1 << 24, 45, 0) + user + b"\0\0mysql_native_password\0", 1)
        answer = client.receive()
        if answer[0] == END:
            client.send(b"", client.sequence + 1)
            answer = client.receive()
        if answer[0] != OK:
            return answer
        row = client.query("select user(), current_user(), (select host from information_schema.processlist where id = connection_id())")[5]
        # The port of a connection without a proxy differs.
        return row if row.endswith(b":4711") else row.split(b":")[0]
    except (Closed, ConnectionError, BrokenPipeError):
        return "closed"
    finally:
        client.close()


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    started = [kind(tmp_path_factory.mktemp("proxy")).start() for kind in (Paceline, MariaDb)]
    for server in started:
        server.query("drop user if exists root@'127.0.0.1', ''@localhost", "create or replace user root@'%'", "grant all on *.* to root@'%'", "create user only@'10.1.%'")
    yield started
    for server in started:
        server.close()


def test_a_header_states_the_clients_address(servers):
    for networks in ("", "10.0.0.0/8", "127.0.0.1", "*"):
        answers = []
        for server in servers:
            server.query(f"set global proxy_protocol_networks = '{networks}'")
            answers.append([attempt(server, header) for header in HEADERS] + [attempt(server, LINE, b"only"), attempt(server, b"", b"only")])
        for header, ours, theirs in zip([*HEADERS, "only", "only"], *answers):
            assert ours == theirs or "closed" in (ours, theirs), (networks, header)


def test_networks_are_checked(servers):
    for value in ["'x'", "'127.0.0.1/33'", "'127.0.0.1/0'", "'10.0.0.0/8,::1, localhost'", "'::/0'", "' 127.0.0.1 '", "'1.2.3'", "'10.0.0.0/x'",
                  "'10.0.0.0/8 ::1'", "1", "''"]:
        answers = []
        for server in servers:
            try:
                answers.append(server.query(f"set global proxy_protocol_networks = {value}", "select @@proxy_protocol_networks"))
            except Exception as error:
                answers.append(error.args)
        assert answers[0] == answers[1], value


def test_a_proxy_on_the_unix_socket_is_not_its_client(servers):
    paceline = servers[0]
    paceline.query("set global proxy_protocol_networks = 'localhost'", "create user other@'%' identified via unix_socket")
    assert b"10.1.2.3:4711" in attempt(paceline, LINE, unix=True)
    assert attempt(paceline, LINE) == b"\xffj\x04#HY000Proxy header is not accepted from 127.0.0.1"
    # The operating system's user is the proxy's.
    paceline.query("create or replace user root@'10.1.%' identified via unix_socket")
    assert b"Access denied" in attempt(paceline, LINE, unix=True)
    # Neither is a client whose address the proxy does not tell.
    paceline.query("create or replace user root@localhost identified via unix_socket", "grant all on *.* to root@localhost with grant option")
    assert attempt(paceline, b"", unix=True) == attempt(paceline, b"", unix=True) != "closed"
    for header in (b"PROXY UNKNOWN\r\n", binary(0x20, 0, b""), binary(0x21, 0x31, bytes(216))):
        assert b"Access denied" in attempt(paceline, header, unix=True), header
    paceline.query("drop user root@localhost")
    # Only the proxy's own header counts: the client could send another one.
    paceline.query("drop user root@'10.1.%'")
    assert attempt(paceline, LINE + b"PROXY TCP4 127.0.0.1 10.9.9.9 4711 3306\r\n", unix=True) in ("closed", b"\xff\x84\x04#08S01Got packets out of order")
