"""Prepared statements of the binary protocol, as MariaDB answers them: dates that do not exist as parameters, the names
of OUT parameters, cursors, warnings of a preparation, bytes behind a statement."""

import struct

import pytest
from support.raw_protocol import DATETIME, ERROR, LONG, NULL, OK, RawClient, read_lenenc
from support.servers import MariaDb, Paceline

DATE, TIME, TIMESTAMP = 10, 11, 7
CURSOR = 1


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    both = (Paceline(tmp_path_factory.mktemp("paceline")), MariaDb(tmp_path_factory.mktemp("mariadb")))
    try:
        for server in both:
            server.start()
            server.query("create database t", "create table t.t (a datetime(6), b date, c time(6), d varchar(50))")
        yield both
    finally:
        for server in both:
            server.close()


def date(year, month, day, *time, micros=None):
    body = struct.pack("<HBB", year, month, day) + bytes(time)
    body += b"" if micros is None else struct.pack("<I", micros)
    return bytes([len(body)]) + body


def time_of(negative, days, hours, minutes, seconds, micros=None):
    body = bytes([negative]) + struct.pack("<I", days) + bytes([hours, minutes, seconds])
    body += b"" if micros is None else struct.pack("<I", micros)
    return bytes([len(body)]) + body


def execution(statement, parameters, cursor=0):
    """Returns COM_STMT_EXECUTE. A parameter is its type and its encoding."""
    body = b"\x17" + statement + struct.pack("<BI", cursor, 1)
    if parameters:
        nulls = sum(1 << n for n, (kind, _) in enumerate(parameters) if kind == NULL)
        body += nulls.to_bytes((len(parameters) + 7) // 8, "little") + b"\1"
        body += b"".join(struct.pack("<H", kind) for kind, _ in parameters) + b"".join(value for _, value in parameters)
    return body


def shown(packet):
    """Returns the number and the text of an error, or None."""
    return (struct.unpack_from("<H", packet, 1)[0], packet[9:].decode()) if packet[0] == ERROR else None


def rows(packets):
    """Returns the values of a text result."""
    found = []
    for packet in packets[1:]:
        values, at = [], 0
        if packet[0] in (0xFE, ERROR) or packet[:4] == b"\3def":
            continue
        while at < len(packet):
            if packet[at] == 0xFB:
                values.append(None)
                at += 1
                continue
            length, at = read_lenenc(packet, at)
            values.append(packet[at:at + length].decode())
            at += length
        found.append(tuple(values))
    return found


INVALID = [
    ("a", DATETIME, date(10000, 11, 10, 12, 30, 30)), ("a", DATETIME, date(2004, 13, 10, 12, 30, 30)), ("a", DATETIME, date(2004, 11, 32, 12, 30, 30)),
    ("a", DATETIME, date(2004, 11, 10, 24, 30, 30)), ("a", DATETIME, date(2004, 11, 10, 12, 60, 30)), ("a", DATETIME, date(2004, 11, 10, 12, 30, 60, micros=5)),
    ("a", DATETIME, date(2004, 11, 10, 12, 30, 30, micros=1_000_000)), ("b", DATE, date(10000, 1, 1)), ("b", DATE, date(2004, 13, 1)),
    ("b", DATETIME, date(2004, 13, 1)), ("b", DATE, date(2004, 2, 31)), ("a", DATETIME, date(2004, 2, 31)), ("c", TIME, time_of(0, 40, 0, 0, 0)),
    ("c", TIME, time_of(0, 34, 23, 0, 0)), ("c", TIME, time_of(0, 0, 255, 0, 0)), ("c", TIME, time_of(0, 0, 1, 60, 0)), ("c", TIME, time_of(1, 0, 1, 0, 60, 7)),
    ("c", TIME, time_of(0, 0, 1, 0, 0, 1_000_000)), ("d", DATETIME, date(2004, 13, 1, 1, 1, 1)), ("d", TIMESTAMP, date(2004, 13, 1, 1, 1, 1)),
    ("a", DATETIME, date(2004, 11, 10, 12, 30, 30)), ("c", TIME, time_of(1, 1, 2, 3, 4, 5)),
]


@pytest.mark.parametrize("mode", ["", "STRICT_TRANS_TABLES", "STRICT_TRANS_TABLES,NO_ZERO_DATE"])
def test_a_date_that_does_not_exist_is_zero(servers, mode):
    answers = []
    for server in servers:
        client = RawClient(server)
        client.query("use t")
        client.query(f"set sql_mode='{mode}'")
        answers.append([])
        for column, kind, value in INVALID:
            statement, _ = client.prepare(f"insert into t ({column}) values (?)")
            done = client.command(execution(statement, [(kind, value)]))
            answers[-1].append((column, kind, value.hex(), shown(done[0]), rows(client.query("show warnings")), rows(client.query(f"select {column} from t"))))
            client.query("delete from t")
        client.close()
    assert answers[0] == answers[1]


def test_columns_of_out_parameters_have_the_names_of_the_parameters(servers):
    answers = []
    for server in servers:
        server.query("drop procedure if exists p", "create procedure p(out o varchar(19), in i int, inout b int) begin set o='out', b=200; end", database="t")
        client = RawClient(server)
        client.query("use t")
        statement, _ = client.prepare("call p(?,?,?)")
        packets = client.command(execution(statement, [(NULL, b""), (LONG, b"\1\0\0\0"), (LONG, b"\2\0\0\0")]))
        names = []
        for packet in packets:
            if packet[:4] == b"\3def":
                at, parts = 0, []
                for _ in range(6):
                    length, at = read_lenenc(packet, at)
                    parts.append(packet[at:at + length])
                    at += length
                names.append(parts[4:])
        answers.append(names)
        client.close()
    assert answers[0] == answers[1] == [[b"o", b"o"], [b"b", b"b"]]


def test_a_query_that_stores_its_row_has_no_cursor(servers):
    for server in servers:
        client = RawClient(server)
        statement, _ = client.prepare("select 1 into @a")
        assert shown(client.command(execution(statement, [], CURSOR))[0]) == (1323, "Cursor SELECT must not have INTO")
        assert client.command(execution(statement, []))[0][0] == OK
        client.close()


def test_the_preparation_of_a_definition_forgets_earlier_warnings(servers):
    for server in servers:
        client = RawClient(server)
        counts = []
        for text in ("select 1", "drop table if exists t.missing"):
            client.query("drop table if exists t.missing")
            client.prepare(text)
            counts += rows(client.query("select @@warning_count"))
        assert counts == [("1",), ("0",)], server
        client.close()


def test_a_zero_byte_ends_no_statement(servers):
    answers = []
    for server in servers:
        client = RawClient(server)
        answers.append([])
        for text in ("show databases\0aaa", "select 1\0 from dual", "select\0 1", "select 1\0", "select 1;\0", "select 1\0;", "select 1 \0 ",
                     "select 1\0\0", "do 1\0\0\0", "show databases" + 85 * "\0"):
            answers[-1].append((text, client.query(text)[0][0] == ERROR))
            _, packets = client.prepare(text)
            answers[-1].append((text, packets[0][0] == ERROR))
        client.close()
    assert answers[0] == answers[1]


def test_the_character_set_of_a_client_can_be_ignored(tmp_path):
    options = ("--character-set-server=utf8mb4", "--collation-server=utf8mb4_unicode_ci", "--skip-character-set-client-handshake")
    asked = "select @@character_set_client, @@collation_connection, @@character_set_results"
    for number, kind in enumerate((Paceline, MariaDb)):
        server = kind(tmp_path / str(number), *options)
        try:
            server.start()
            client = RawClient(server)
            assert rows(client.query(asked)) == [("utf8mb4", "utf8mb4_unicode_ci", "utf8mb4")], kind
            client.close()
        finally:
            server.close()
