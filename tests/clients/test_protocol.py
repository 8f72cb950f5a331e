"""Malformed packets, half-open connections and slow clients end only their own connection."""

import datetime
import hashlib
import os
import random
import signal
import socket
import struct
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pymysql
import pytest
from support.raw_protocol import RawClient
from support.servers import Paceline
from support.waiting import let_run, wait_for

LONG, BLOB, TIME, VAR_STRING = 0x03, 0xFC, 0x0B, 0xFD
END = 0xFE
MORE_RESULTS, CURSOR_EXISTS, LAST_ROW_SENT, OUT_PARAMETERS = 0x8, 0x40, 0x80, 0x1000
LOCAL_FILES, MULTI_RESULTS, PS_MULTI_RESULTS = 0x80, 0x20000, 0x40000


def dial(server):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    return connection


def read_packet(connection):
    header = b""
    while len(header) < 4:
        more = connection.recv(4 - len(header))
        if not more:
            return None
        header += more
    length = int.from_bytes(header[:3], "little")
    payload = b""
    while len(payload) < length:
        more = connection.recv(length - len(payload))
        if not more:
            return None
        payload += more
    return payload


def packet(payload, sequence=0):
    return struct.pack("<I", len(payload))[:3] + bytes([sequence]) + payload


def log_in(server, more_capabilities=0):
    connection = dial(server)
    assert read_packet(connection)[0] == 10
    capabilities = 0x0001 | 0x0200 | 0x8000 | 0x80000 | 0x2 | more_capabilities
    connection.sendall(packet(struct.pack("<IIB23x", capabilities, 1 << 24, 45) + b"root\0\0" + b"mysql_native_password\0", 1))
    answer = read_packet(connection)
    if answer and answer[0] == 0xFE:
        connection.sendall(packet(b"", 3))
        answer = read_packet(connection)
    assert answer[0] == 0, answer
    return connection


def command(connection, payload):
    """Sends a command and returns the first packet of the answer."""
    connection.sendall(packet(payload))
    return read_packet(connection)


def prepare(connection, text):
    """Prepares a statement and returns its id in the encoding of packets."""
    answer = command(connection, b"\x16" + text)
    assert answer[0] == 0, answer
    for count in struct.unpack_from("<HH", answer, 5):
        for _ in range(count + 1 if count else 0):
            read_packet(connection)
    return answer[1:5]


def execute(connection, statement, types, values):
    nulls = bytes((len(types) + 7) // 8)
    kinds = b"".join(bytes([kind, 0]) for kind in types)
    return command(connection, b"\x17" + statement + b"\0" + struct.pack("<I", 1) + nulls + b"\1" + kinds + values)


def alive(server):
    assert server.query("select 1") == ((1,),)


def test_random_bytes_before_and_after_the_handshake(server, seed, effort):
    rng = random.Random(f"bytes-{seed}")
    for number in range(int(150 * effort)):
        connection = dial(server) if number % 2 else log_in(server)
        connection.sendall(rng.randbytes(rng.randrange(1, 300)))
        connection.close()
    alive(server)


def test_random_commands(server, seed, effort):
    rng = random.Random(f"commands-{seed}")
    texts = [b"select 1", b"select ?", b"show tables", b"insert into", b"\xff\xfe", b""]
    for _ in range(int(60 * effort)):
        connection = log_in(server)
        connection.settimeout(0.3)
        try:
            for _ in range(10):
                command = rng.choice([0x02, 0x03, 0x04, 0x0E, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1F, 0x50, 0xFF])
                body = rng.choice([rng.choice(texts), rng.randbytes(rng.randrange(40)), struct.pack("<IBI", 1, 0, 1) + rng.randbytes(20)])
                connection.sendall(packet(bytes([command]) + body))
                if read_packet(connection) is None:
                    break
        except (TimeoutError, ConnectionError, OSError):
            pass
        connection.close()
    alive(server)


def test_truncated_and_out_of_order_packets(server):
    connection = log_in(server)
    connection.sendall(packet(b"\x03select 1", sequence=7))
    answer = read_packet(connection)
    assert answer is None or answer[0] == 0xFF
    connection = log_in(server)
    connection.sendall(b"\xff\xff\xff\x00\x03")  # announces 16 MiB that never arrive
    connection.close()
    connection = log_in(server)
    connection.sendall(packet(b""))
    connection.close()
    alive(server)


def test_half_open_connections_are_dropped_in_time(server):
    server.query("set global connect_timeout=2")
    connections = [dial(server) for _ in range(20)]
    for connection in connections:
        read_packet(connection)
    alive(server)
    start = time.monotonic()
    connections[0].settimeout(15)
    try:
        while connections[0].recv(1000):
            pass
    except ConnectionResetError:
        pass
    assert time.monotonic() - start < 12


@pytest.mark.parametrize("collation, expected", [
    (8, ("latin1", "latin1_swedish_ci", "latin1")), (48, ("latin1", "latin1_general_ci", "latin1")),
    (63, ("binary", "binary", "binary")), (213, ("utf8mb3", "utf8mb3_croatian_mysql561_ci", "utf8mb3")),
    # Collations of MySQL 8, and numbers that do not exist.
    (255, ("utf8mb4", "utf8mb4_general_ci", "utf8mb4")), (0, ("utf8mb4", "utf8mb4_general_ci", "utf8mb4")),
    # A character set that this server does not have is refused, not replaced.
    (51, 1115), (28, 1115), (35, 1231), (54, 1231),
])
def test_the_collation_of_a_login(server, collation, expected):
    charset = SimpleNamespace(id=collation, encoding="latin1", name="latin1")
    with mock.patch("pymysql.connections.charset_by_name", lambda name: charset), \
            mock.patch("pymysql.connections.Connection.set_character_set", lambda *arguments, **options: None):
        try:
            got = server.query("select concat(@@character_set_client), concat(@@collation_connection), concat(@@character_set_results)")[0]
            got = tuple(name.decode() if isinstance(name, bytes) else name for name in got)
        except pymysql.err.MySQLError as error:
            got = error.args[0]
    assert got == expected


def test_a_server_that_stops_closes_logins_without_an_answer(server):
    silent = dial(server)
    assert read_packet(silent)[0] == 10
    server.process.send_signal(signal.SIGTERM)
    # An answer would have the number of a packet that the client may have sent meanwhile.
    assert silent.recv(1) == b""


def test_idle_sessions_end_after_wait_timeout(server):
    session = server.connect()
    with session.cursor() as cursor:
        cursor.execute("set session wait_timeout=1")
    wait_for("the idle session to end", lambda: not is_listed(server, session.thread_id()))
    with pytest.raises(Exception):
        with session.cursor() as cursor:
            cursor.execute("select 1")
    alive(server)


def test_idle_transactions_end_after_their_timeouts(server):
    """One timeout applies after writes, one after reads only, one to all; sessions without a transaction stay."""
    server.query("create database t", "create table t.a (id int primary key)", "insert into t.a values (1), (2), (3)")
    read, write = "select * from t.a", "update t.a set id = id + 10 where id = {}"
    cases = [
        (["idle_transaction_timeout=1"], [], True),
        (["idle_transaction_timeout=1"], ["begin", read], False),
        (["idle_readonly_transaction_timeout=1"], ["begin", read], False),
        (["idle_readonly_transaction_timeout=1"], ["begin", write.format(1)], True),
        (["idle_write_transaction_timeout=1"], ["begin", read], True),
        (["idle_write_transaction_timeout=1"], ["begin", write.format(2)], False),
        (["idle_transaction_timeout=1", "idle_write_transaction_timeout=100"], ["begin", write.format(3)], True),
    ]
    sessions = [server.connect() for _ in cases]
    for session, (settings, statements, _) in zip(sessions, cases):
        with session.cursor() as cursor:
            for statement in [f"set {setting}" for setting in settings] + statements:
                cursor.execute(statement)
    ending = [session.thread_id() for session, case in zip(sessions, cases) if not case[2]]
    wait_for("the idle transactions to end", lambda: not any(is_listed(server, number) for number in ending))
    # The others have been idle as long.
    let_run(0.5)
    for session, case in zip(sessions, cases):
        try:
            with session.cursor() as cursor:
                cursor.execute("select 1")
            lives = True
        except pymysql.err.MySQLError:
            lives = False
        assert lives == case[2], case
        if lives:
            session.close()
    assert server.query(read) == ((1,), (2,), (3,))


def test_a_session_that_vanishes_releases_its_locks(server):
    server.query("create database t", "create table t.a (id int primary key)", "insert into t.a values (1)")
    session = server.connect(autocommit=False)
    with session.cursor() as cursor:
        cursor.execute("update t.a set id=2")
    session._sock.shutdown(socket.SHUT_RDWR)
    start = time.monotonic()
    server.query("update t.a set id=3")
    assert time.monotonic() - start < 5
    assert server.query("select id from t.a") == ((3,),)


def test_many_connections(server):
    sessions = [server.connect() for _ in range(120)]
    for session in sessions:
        with session.cursor() as cursor:
            cursor.execute("select connection_id()")
            assert cursor.fetchall() == ((session.thread_id(),),)
    for session in sessions:
        session.close()
    alive(server)


def test_a_field_lists_pattern_may_be_of_any_length(server):
    server.query("create database t", f"create table t.a ({'a' * 64} int, b int)")
    connection = log_in(server)
    assert command(connection, b"\x02t")[0] == 0
    for pattern, expected in [(b"%" * 1_000_000, 2), (b"%a" * 32 + b"b", 0), (b"%a" * 500_000, 0), (b"_", 1), (b"%A%", 1)]:
        answer, columns = command(connection, b"\x04a\0" + pattern), 0
        while answer[0] != 0xFE:
            assert answer[0] != 0xFF, answer
            answer, columns = read_packet(connection), columns + 1
        assert columns == expected, pattern[:10]
    alive(server)


def test_a_time_parameter_of_many_days_is_cut(server):
    server.query("create database t", "create table t.a (id int primary key auto_increment, a time)")
    connection = log_in(server)
    statement = prepare(connection, b"insert into t.a (a) values (?)")
    for days, hours, negative in [(34, 22, 0), (34, 23, 0), (0xFFFFFFFF, 0, 0), (0xFFFFFFFF, 0, 1)]:
        answer = execute(connection, statement, [TIME], struct.pack("<BBIBBB", 8, negative, days, hours, 1, 2))
        assert answer and answer[0] == 0, answer
    most = datetime.timedelta(hours=838, minutes=59, seconds=59)
    assert server.query("select a from t.a order by id") == ((datetime.timedelta(hours=838, minutes=1, seconds=2),), (most,), (most,), (-most,))


def fetch(connection, statement, count):
    """Returns the next rows of an open cursor in the encoding of packets, and the status after them."""
    connection.sendall(packet(b"\x1c" + statement + struct.pack("<I", count)))
    rows = []
    while (answer := read_packet(connection))[0] != END:
        assert answer[0] == 0, answer
        rows.append(answer)
    return rows, struct.unpack_from("<H", answer, 3)[0]


def test_a_cursor_keeps_rows_in_a_file(server):
    """The cursor has more rows than are kept in memory. Later changes do not affect them."""
    def files():
        return sum("(deleted)" in os.readlink(file) for file in Path(f"/proc/{server.process.pid}/fd").iterdir())

    rows = 500
    values = ",".join(f"({number}, lpad({number}, 3000, '.'))" for number in range(rows))
    server.query("create database t", "create table t.a (id int primary key, v text)", f"insert into t.a values {values}")
    connection = log_in(server)
    statement = prepare(connection, b"select id, v from t.a order by id")
    before = files()
    answer = command(connection, b"\x17" + statement + b"\1" + struct.pack("<I", 1))
    assert answer == b"\2", answer
    while (answer := read_packet(connection))[0] != END:
        pass
    assert struct.unpack_from("<H", answer, 3)[0] & CURSOR_EXISTS
    if isinstance(server, Paceline):
        assert files() == before + 1
    server.query("delete from t.a")
    fetched, status = [], CURSOR_EXISTS
    while status & CURSOR_EXISTS:
        more, status = fetch(connection, statement, 70)
        fetched += more
    assert status & LAST_ROW_SENT and files() == before
    texts = [str(number).rjust(3000, ".").encode() for number in range(rows)]
    assert fetched == [b"\0\0" + struct.pack("<iBH", number, 0xFC, 3000) + text for number, text in enumerate(texts)]


def read_result(connection, count):
    """Returns the rows after a packet with this number of columns in the encoding of packets, and the status at the end."""
    for _ in range(count):
        read_packet(connection)
    assert read_packet(connection)[0] == END
    rows = []
    while (answer := read_packet(connection))[0] != END:
        rows.append(answer)
    return rows, struct.unpack_from("<H", answer, 3)[0]


@pytest.mark.parametrize("capabilities", [MULTI_RESULTS, MULTI_RESULTS | PS_MULTI_RESULTS], ids=["results", "out-parameters"])
def test_out_parameters_of_a_prepared_call(server, capabilities):
    """They are a result set of their own with a flag, for clients that ask for it."""
    server.query("create database t", "create procedure t.p(in a int, out b int, inout c varchar(10)) begin select a; set b = a * 2, c = concat(c, '!'); end")
    connection = log_in(server, capabilities)
    statement = prepare(connection, b"call t.p(?, ?, ?)")
    first = execute(connection, statement, [LONG, LONG, VAR_STRING], struct.pack("<ii", 21, 0) + b"\3hey")
    assert first == b"\1", first
    rows, status = read_result(connection, 1)
    assert rows == [b"\0\0" + struct.pack("<i", 21)] and status & MORE_RESULTS and not status & OUT_PARAMETERS
    answer = read_packet(connection)
    if capabilities & PS_MULTI_RESULTS:
        assert answer == b"\2", answer
        rows, status = read_result(connection, 2)
        assert rows == [b"\0\0" + struct.pack("<i", 42) + b"\4hey!"] and status & MORE_RESULTS and status & OUT_PARAMETERS
        answer = read_packet(connection)
    assert answer[0] == 0, answer
    assert command(connection, b"\x0e")[0] == 0


def test_prepared_statements_are_in_the_clients_character_set(server):
    server.query("create database t", "create table t.a (a varchar(10), b blob, c varchar(10), d varchar(10), e blob) character set utf8mb4")
    connection = log_in(server)
    assert command(connection, b"\x03set names latin1")[0] == 0
    statement = prepare(connection, b"insert into t.a values (?, ?, '\xc3\xa9', ?, ?)")
    for number in (2, 3):
        connection.sendall(packet(b"\x18" + statement + struct.pack("<H", number) + b"\xc3"))
        connection.sendall(packet(b"\x18" + statement + struct.pack("<H", number) + b"\xa9"))
    answer = execute(connection, statement, [VAR_STRING, BLOB, VAR_STRING, BLOB], b"\2\xc3\xa9\2\xc3\xa9")
    assert answer[0] == 0, answer
    assert server.query("select * from t.a") == (("Ã©", b"\xc3\xa9", "Ã©", "Ã©", b"\xc3\xa9"),)


def test_more_sessions_wait_than_could_connect_at_the_start(tmp_path):
    server = Paceline(tmp_path / "paceline", "--max-connections=10").start()
    try:
        server.query("set global max_connections=1000", "create database t", "create table t.a (id int primary key, v int)", "insert into t.a values (1, 0)")
        holder = server.connect(autocommit=False, read_timeout=20)
        sessions = [server.connect() for _ in range(120)]
        with holder.cursor() as cursor:
            cursor.execute("update t.a set v=v+1")
            threads = [threading.Thread(target=session.query, args=("update t.a set v=v+1",), daemon=True) for session in sessions]
            for thread in threads:
                thread.start()
            deadline, waiting = time.monotonic() + 30, 0
            while waiting < len(sessions):
                assert time.monotonic() < deadline, waiting
                cursor.execute("select count(*) from information_schema.processlist where info like 'update t.a%'")
                [(waiting,)] = cursor.fetchall()
        holder.commit()
        for thread in threads:
            thread.join(30)
        assert server.query("select v from t.a") == ((len(sessions) + 1,),)
    finally:
        server.close()


def value_of(connection, text):
    """Returns the value of a query with one row and one column."""
    assert command(connection, b"\x03" + text)[0] == 1
    for _ in range(2):
        read_packet(connection)
    row = read_packet(connection)
    assert read_packet(connection)[0] == 0xFE
    return row[1:].decode()


def ask_for_more_than_fits(server, connection):
    """Requests a result of 60 MB and reads nothing of it."""
    numbers = ", ".join(f"({number})" for number in range(245))
    server.query("create database t", "create table t.n (i int primary key)", f"insert into t.n values {numbers}")
    connection.sendall(packet(b"\x03select repeat('x', 1000) from t.n as a, t.n as b"))
    # Until the buffers of both ends are full.
    let_run(1)


def is_listed(server, number):
    return server.query(f"select count(*) from information_schema.processlist where id = {number}") == ((1,),)


def test_after_a_write_timeout_nothing_is_sent_again(server):
    connection = log_in(server)
    number = value_of(connection, b"select connection_id()")
    assert command(connection, b"\x03set net_write_timeout = 1")[0] == 0
    ask_for_more_than_fits(server, connection)
    wait_for("the session to end", lambda: not is_listed(server, number))
    received = bytearray()
    while more := connection.recv(1 << 20):
        received += more
    assert len(received) < 245 * 245 * 1000
    place, packets, row = 0, 0, b"\xfc" + struct.pack("<H", 1000) + b"x" * 1000
    while place + 4 <= len(received):
        length = int.from_bytes(received[place:place + 3], "little")
        assert received[place + 3] == (packets + 1) % 256
        payload = received[place + 4:place + 4 + length]
        # The number of columns, one column, the end of the columns; then rows, of which the last may be incomplete.
        assert packets < 3 or (length == len(row) and row.startswith(payload))
        place, packets = place + 4 + length, packets + 1
    alive(server)


def test_a_client_that_does_not_read_can_be_killed(server):
    connection = log_in(server)
    number = value_of(connection, b"select connection_id()")
    ask_for_more_than_fits(server, connection)
    assert is_listed(server, number)
    start = time.monotonic()
    server.query(f"kill {number}", "drop table t.n")
    wait_for("the session to end", lambda: not is_listed(server, number), 1)
    assert time.monotonic() - start < 1
    connection.close()
    alive(server)


def test_a_reset_brings_back_the_character_set_of_the_login(server):
    connection = log_in(server)
    names = b"select concat_ws(' ', @@character_set_client, @@collation_connection, @@character_set_results)"
    before = value_of(connection, names)
    assert before == "utf8mb4 utf8mb4_general_ci utf8mb4"
    assert command(connection, b"\x03set names latin1")[0] == 0
    assert command(connection, b"\x1f")[0] == 0
    assert value_of(connection, names) == before
    # COM_CHANGE_USER selects a character set of its own.
    answer = command(connection, b"\x11root\0\0\0" + struct.pack("<H", 8) + b"mysql_native_password\0")
    if answer[0] == 0xFE:
        connection.sendall(packet(b"", 2))
        answer = read_packet(connection)
    assert answer[0] == 0, answer
    assert value_of(connection, names) == "latin1 latin1_swedish_ci latin1"
    assert command(connection, b"\x03set names utf8mb4")[0] == 0
    assert command(connection, b"\x1f")[0] == 0
    assert value_of(connection, names) == "latin1 latin1_swedish_ci latin1"


def native_answer(password, scramble):
    once = hashlib.sha1(password).digest()
    mask = hashlib.sha1(scramble + hashlib.sha1(once).digest()).digest()
    return bytes(a ^ b for a, b in zip(once, mask))


def test_a_change_of_the_user_takes_the_scramble_of_the_greeting(server):
    """Clients of MariaDB's library answer with it, whatever scramble a request for the method brings. A connection whose
    change fails keeps its user, and has three of them."""
    server.query("create or replace user changed@localhost identified by 'secret'", "create database if not exists t")
    connection = RawClient(server)
    at = connection.greeting.index(b"\0", 1) + 5
    scramble = connection.greeting[at:at + 8] + connection.greeting[at + 27:at + 39]

    def change(password):
        answer = native_answer(password, scramble)
        name = b"\x11changed\0" + bytes([len(answer)]) + answer + b"\0" + struct.pack("<H", 45) + b"mysql_native_password\0"
        return connection.command(name)[0]

    def user():
        return connection.query("select current_user()")[-2][1:]

    assert change(b"secret")[0] == 0
    assert user() == b"changed@localhost"
    for code in (1045, 1045, 1045, 1047):
        answer = change(b"wrong")
        assert answer[0] == 0xFF and int.from_bytes(answer[1:3], "little") == code
        assert user() == b"changed@localhost"
    answer = change(b"secret")
    assert int.from_bytes(answer[1:3], "little") == 1047
    connection.close()
    server.query("drop user changed@localhost")


def test_a_client_that_does_not_send_its_file_is_not_waited_for(server):
    """`net_read_timeout` limits the wait for each piece of a file of LOAD DATA LOCAL."""
    server.query("create database t", "create table t.n (i int primary key)")
    connection = log_in(server, LOCAL_FILES)
    number = value_of(connection, b"select connection_id()")
    assert command(connection, b"\x03set net_read_timeout = 1")[0] == 0
    connection.sendall(packet(b"\x03load data local infile 'x' into table t.n"))
    assert read_packet(connection)[0] == 0xFB
    connection.sendall(packet(b"1\n2\n", 2))
    answer = read_packet(connection)
    assert answer[0] == 0xFF and int.from_bytes(answer[1:3], "little") == 1159
    wait_for("the session to end", lambda: not is_listed(server, number))
    assert server.query("select count(*) from t.n") == ((0,),)
