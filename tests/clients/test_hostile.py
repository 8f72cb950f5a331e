"""Clients that mean harm: they harm only themselves. Meanwhile a neighbour's statements take no longer than on a busy machine."""

import contextlib
import random
import socket
import statistics
import struct
import threading
import time
import zlib

import pytest
from support.raw_protocol import BULK, ERROR, USUAL, VAR_STRING, Closed, RawClient, framed, lenenc
from support.servers import Paceline
from support.waiting import let_run, wait_for

COMPRESS = 0x20
# Other work runs on the machine of the tests. Alone, a statement takes less than a millisecond.
MEDIAN_MAX, LONGEST_MAX = 0.25, 5.0
# Fewest statements of a neighbour that are timed.
SAMPLES_MIN = 4


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Paceline(tmp_path_factory.mktemp("hostile"), "--max-connections=600", "--connect-timeout=3").start()
    server.query("create database d", "create table d.t (a int primary key, b int)", "insert into d.t values (1, 0)",
                 "create user sha@'%' identified via caching_sha2_password using password('right')")
    yield server
    server.close()


@contextlib.contextmanager
def neighbour(server):
    """A client that works meanwhile, and whose statements are timed."""
    durations, ended, failures = [], threading.Event(), []

    def work():
        try:
            with server.connect() as session, session.cursor() as cursor:
                # A short load ends before there is enough to judge by: the last statements run just after it.
                while not ended.is_set() or len(durations) < SAMPLES_MIN:
                    began = time.monotonic()
                    cursor.execute("update d.t set b = b + 1 where a = 1")
                    cursor.execute("select b from d.t where a = 1")
                    durations.append(time.monotonic() - began)
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    assert not failures, failures
    assert statistics.median(durations) < MEDIAN_MAX and max(durations) < LONGEST_MAX, (statistics.median(durations), max(durations))


def dial(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def resident_kib(server):
    [line] = [line for line in open(f"/proc/{server.process.pid}/status") if line.startswith("VmRSS")]
    return int(line.split()[1])


def connections(server):
    return server.query("select count(*) from information_schema.processlist where user = 'unauthenticated user'")[0][0]


def test_clients_that_never_log_in(server):
    with neighbour(server):
        silent = [dial(server) for _ in range(100)]
        # Slow ones: a byte now and then, which must not extend the time for the login.
        slow = [dial(server) for _ in range(100)]
        login = framed(struct.pack("<IIB19xI", USUAL, 1 << 24, 45, 0) + b"root\0\0mysql_native_password\0", 1)
        began = time.monotonic()
        for place in range(len(login)):
            for connection in slow:
                with contextlib.suppress(OSError):
                    connection.sendall(login[place:place + 1])
            if time.monotonic() - began > 4:
                break
            let_run(0.2)
        wait_for("their end", lambda: connections(server) == 0, seconds=20)
        for connection in silent + slow:
            connection.close()


def test_a_flood_of_connections(server):
    ended = threading.Event()

    def flood(number):
        rng = random.Random(number)
        while not ended.is_set():
            with contextlib.suppress(OSError):
                connection = dial(server)
                if rng.random() < 0.5:
                    connection.sendall(rng.randbytes(rng.randrange(1, 100)))
                connection.close()

    with neighbour(server):
        threads = [threading.Thread(target=flood, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        let_run(2)
        ended.set()
        for thread in threads:
            thread.join()
    wait_for("the end of all", lambda: connections(server) == 0)


# For each command that has arguments: payloads that end early or contradict themselves.
MALFORMED = [bytes([code]) + body for code in (2, 3, 4, 7, 12, 17, 18, 21, 22, 23, 26, 27, 28, 250, 29, 251, 255)
             for body in (b"", b"\xff" * 3, b"\0" * 9, b"\xff" * 40, b"\0\0\0\0\x80\0" + b"\xfd\0" * 20)]
# These have no answer.
UNANSWERED = [bytes([code]) + body for code in (24, 25) for body in (b"", b"\xff" * 3, b"\0" * 9, b"\xff" * 40)]


def test_malformed_commands_of_each_kind(server):
    with neighbour(server):
        for payload in MALFORMED:
            client = RawClient(server, USUAL | BULK)
            client.prepare("insert into d.t values (?, ?)")
            for unanswered in UNANSWERED:
                client.send(unanswered)
            with contextlib.suppress(Closed, OSError, TimeoutError):
                # A part of a command with more to come has no answer either.
                client.socket.settimeout(0.1)
                client.send(payload)
                client.receive()
            client.close()


def test_malformed_logins(server):
    good = struct.pack("<IIB19xI", USUAL, 1 << 24, 45, 0) + b"root\0\0mysql_native_password\0"
    variants = [good[:length] for length in range(0, len(good), 9)]
    # A password longer than the packet, attributes that end early, a name without end, TLS that never comes.
    variants += [good[:32] + b"root\0\xff" + b"x" * 10, struct.pack("<IIB19xI", USUAL | 1 << 20 | 1 << 21, 1 << 24, 45, 0) + b"root\0\xfe" + b"\xff" * 8,
                 good[:32] + b"x" * 500_000, struct.pack("<IIB19xI", USUAL | 0x800, 1 << 24, 45, 0)]
    with neighbour(server):
        for login in variants:
            for sequence in (1, 7):
                connection = dial(server)
                connection.settimeout(0.1)
                with contextlib.suppress(OSError, TimeoutError):
                    connection.sendall(framed(login, sequence))
                    while connection.recv(1000):
                        pass
                connection.close()
        # A packet before the login is short.
        connection = dial(server)
        with contextlib.suppress(OSError):
            connection.sendall(b"\xff\xff\xff\1" + b"x" * 3_000_000)
            while connection.recv(1000):
                pass
        connection.close()
        # Half of a PROXY header, and one that does not end.
        for header in (b"PROX", b"PROXY TCP4 " + b"1" * 100_000, b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff"):
            connection = dial(server)
            with contextlib.suppress(OSError):
                connection.sendall(header)
            connection.close()
    wait_for("the end of all", lambda: connections(server) == 0)


def test_wrong_passwords(server):
    """Each try costs the server milliseconds, by design of the method."""
    def guess(number):
        for attempt in range(8):
            with pytest.raises(Exception):
                server.query("select 1", user="sha", password=f"{number}-{attempt}")

    with neighbour(server):
        threads = [threading.Thread(target=guess, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def test_frames_that_decompress_to_much(server):
    """16 MiB of zeros are 16 KiB when compressed. The client may send as many as it likes, but the server keeps one."""
    # The head of a packet that is longer than max_allowed_packet, and a part of it.
    bomb = zlib.compress(b"\xff\xff\xff\0" + bytes(0xFFFFFF - 4), 9)
    before = resident_kib(server)
    with neighbour(server):
        clients = [RawClient(server, USUAL | COMPRESS) for _ in range(4)]
        for client in clients:
            client.socket.settimeout(5)
            with contextlib.suppress(OSError):
                for number in range(6):
                    head = struct.pack("<I", len(bomb))[:3] + bytes([number]) + b"\xff\xff\xff"
                    client.socket.sendall(head + bomb)
        # Frames that lie about their length, and that are no zlib streams.
        for content, plain in ((bomb, 100), (b"\0" * 100, 5000), (bomb[:100], 0xFFFFFF), (b"", 1)):
            client = RawClient(server, USUAL | COMPRESS)
            client.socket.settimeout(5)
            client.socket.sendall(struct.pack("<I", len(content))[:3] + b"\0" + struct.pack("<I", plain)[:3] + content)
            with contextlib.suppress(Closed, OSError):
                client.receive()
            client.close()
    assert resident_kib(server) - before < 4 * 100_000
    for client in clients:
        client.close()


def test_bulk_executions_that_need_much(server):
    """A parameter is a byte in the packet. The values of all rows must not be in memory at once."""
    client = RawClient(server, USUAL | BULK)
    columns = ", ".join(f"c{number} int" for number in range(100))
    server.query(f"create table d.wide ({columns})")
    prepared, _ = client.prepare(f"insert into d.wide values ({', '.join('?' * 100)})")
    before = resident_kib(server)
    with neighbour(server):
        # 1,000,000 NULLs, and then one that is malformed: everything is undone.
        payload = b"\xfa" + prepared + b"\x80\0" + b"\xfd\0" * 100 + b"\1" * 1_000_000 + b"\x09"
        [answer] = client.command(payload)
    assert answer[0] == ERROR and b"Incorrect arguments" in answer
    assert resident_kib(server) - before < 300_000
    assert server.query("select count(*) from d.wide") == ((0,),)
    # The session goes on.
    prepared, _ = client.prepare("select ?")
    assert client.bulk(prepared, [VAR_STRING], [[lenenc(b"x")]])[0][0] == ERROR
    client.close()
