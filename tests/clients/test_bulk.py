"""COM_STMT_BULK_EXECUTE: packet by packet as MariaDB answers it."""

import struct

import pytest
from support.raw_protocol import (BULK, CACHE_METADATA, DEFAULT, DEPRECATE_EOF, END, FOUND_ROWS, IGNORE, IS_NULL, LONG, USUAL, VAR_STRING, RawClient,
                                  lenenc)
from support.servers import MariaDb, Paceline

TABLES = ["create or replace table t (a int auto_increment primary key, b varchar(10) default 'given', c int not null default 7)",
          "create or replace table u (a int primary key, b int not null)"]


def number(value):
    return struct.pack("<i", value)


def text(value):
    return lenenc(value.encode())


def without_flag(packets):
    """Clears the status flag NO_INDEX_USED of an OK packet, which Paceline never sets."""
    return [packet.replace(b"\0\0\0\x22\0", b"\0\0\0\2\0") for packet in packets]


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    started = [kind(tmp_path_factory.mktemp("bulk")).start() for kind in (Paceline, MariaDb)]
    for server in started:
        server.query("create database d")
    yield started
    for server in started:
        server.close()


DATE = 10


def day(year, month, day_of_month):
    return b"\4" + struct.pack("<HBB", year, month, day_of_month)


# Statement, types of its parameters, rows of them.
EXECUTIONS = [
    ("insert into t (b) values (?)", [VAR_STRING], [[text("x")], [text("y")], [IS_NULL], [DEFAULT], [IGNORE]]),
    ("insert into t (b, c) values (?, ?)", [VAR_STRING, LONG], [[text("x"), number(1)], [text("y"), DEFAULT], [DEFAULT, IGNORE]]),
    # NULL in a column that is NOT NULL: nothing is inserted.
    ("insert into t (b, c) values (?, ?)", [VAR_STRING, LONG], [[text("x"), number(1)], [DEFAULT, IS_NULL]]),
    ("insert into t (a, b, c) values (?, concat(?, 'q'), 9), (?, 'z', 3)", [LONG, VAR_STRING, LONG],
     [[number(20), text("x"), number(21)], [number(30), text("y"), IS_NULL]]),
    ("insert into t (a, b) values (?, concat(?, 'q'))", [LONG, VAR_STRING], [[number(70), DEFAULT]]),
    ("insert into t (a, b) values (?, ?) on duplicate key update b = ?", [LONG, VAR_STRING, VAR_STRING],
     [[number(20), text("x"), text("dup")], [number(80), text("y"), IS_NULL], [number(80), text("y"), DEFAULT]]),
    ("insert into t (a, b) values (?, ?)", [LONG, VAR_STRING], [[number(100), text("x")], [number(20), text("y")], [number(101), text("y")]]),
    ("insert ignore into t (a, b) values (?, ?)", [LONG, VAR_STRING],
     [[number(100), text("x")], [number(20), text("y")], [number(101), text("y" * 20)]]),
    ("replace into t (a, b) values (?, ?)", [LONG, VAR_STRING], [[number(100), text("r")], [number(20), text("r")], [number(102), text("r")]]),
    ("insert into t (b) values (?) returning a, b", [VAR_STRING], [[text("x")], [text("y")], [IS_NULL], [DEFAULT], [IGNORE]]),
    ("insert into t set b = ?", [VAR_STRING], [[text("one")]]),
    # Dates that do not exist.
    ("insert into t (b) values (?)", [DATE], [[day(2024, 13, 45)], [day(2024, 2, 29)]]),
    ("insert into t (b) values (?)", [DATE], [[day(2024, 2, 29)], [day(2024, 13, 45)]]),
    ("insert ignore into t (b) values (?)", [DATE], [[day(2024, 2, 29)], [day(2024, 13, 45)], [day(2023, 0, 0)]]),
    ("update t set b = ?, c = ? where a = ?", [VAR_STRING, LONG, LONG],
     [[text("u"), number(4), number(1)], [DEFAULT, IGNORE, number(2)], [IS_NULL, DEFAULT, number(3)], [text("n"), number(4), number(999)]]),
    # The first set stays changed.
    ("update t set b = ?, c = ? where a = ?", [VAR_STRING, LONG, LONG],
     [[text("u1"), number(4), number(1)], [text("much too long"), number(4), number(2)], [text("after"), number(4), number(3)]]),
    ("update t, u set t.b = ? where t.a = u.a", [VAR_STRING], [[text("p")]]),
    ("delete from t where a = ?", [LONG], [[number(1)], [number(2)], [number(999)]]),
    ("delete from t where a = ? returning a, b", [LONG], [[number(3)], [number(4)], [number(999)]]),
    ("select ?", [LONG], [[number(3)], [number(4)]]),
    ("insert into t (b) values ('none')", [], [[]]),
    ("insert into u select ?, ?", [LONG, LONG], [[number(1), number(1)]]),
    ("set @a = ?", [LONG], [[number(1)]]),
    ("delete t from t, u where t.a = ? and t.a = u.a", [LONG], [[number(1)]]),
    ("insert into t (b) values (?)", [VAR_STRING], []),
    ("insert into t (b) values (?)", [VAR_STRING], [[9]]),
    ("insert into t (b) values (?)", [VAR_STRING], [[text("ok")], [b"\x20cut"]]),
]


@pytest.mark.parametrize("capabilities", [USUAL | BULK, USUAL | BULK | DEPRECATE_EOF | CACHE_METADATA, USUAL | BULK | DEPRECATE_EOF | FOUND_ROWS])
def test_packets_of_bulk_executions(servers, capabilities):
    answers = []
    for server in servers:
        client = RawClient(server, capabilities)
        for statement in ["use d", *TABLES]:
            client.query(statement)
        answers.append(given := [])
        for statement, types, rows in EXECUTIONS:
            prepared, _ = client.prepare(statement)
            given.append((statement, without_flag(client.bulk(prepared, types, rows)), [row for row in client.query("select * from t") if row[0] != END],
                          client.query("select row_count()"),
                          # MariaDB adds "Unknown error" to some errors of single values.
                          [row for row in client.query("show warnings") if b"Unknown error" not in row and b"def" not in row[:5]]))
        client.close()
    for ours, theirs in zip(*answers):
        assert ours == theirs


def test_malformed_bulk_executions(servers):
    answers = []
    for server in servers:
        client = RawClient(server, USUAL | BULK)
        for statement in ["use d", *TABLES]:
            client.query(statement)
        client.query("create or replace table v (b varchar(10))")
        prepared, _ = client.prepare("insert into v (b) values (?)")
        answers.append(given := [client.bulk(prepared, [VAR_STRING], [[text("x")]], flags) for flags in (0, 64, 192, 128, 0, 0xFFFF)])
        for payload in [b"", b"\x80", b"\x80\0", b"\x80\0\xfd", b"\x80\0\xfd\0", b"\x80\0\xfd\0\0\xff"]:
            given.append(client.command(b"\xfa" + prepared + payload))
        given.append(client.command(b"\xfa\x77\0\0\0\x80\0\xfd\0\0\1x"))
        # The types of a bulk execution apply to a single one, and the reverse.
        given.append(client.command(b"\x17" + prepared + b"\0\1\0\0\0\0\0" + text("single")))
        given.append(client.bulk(prepared, [], [[text("again")]], 0))
        given.append([row for row in client.query("select b from v") if row[0] != END])
        client.close()
        # Only for clients that have announced it.
        client = RawClient(server, USUAL)
        prepared, _ = client.prepare("insert into d.v (b) values (?)")
        given.append(client.bulk(prepared, [VAR_STRING], [[text("x")]]))
        client.close()
    assert answers[0] == answers[1]


def test_parameters_in_a_subquery_belong_to_each_row(servers):
    """MariaDB takes the result for the first row."""
    client = RawClient(servers[0], USUAL | BULK)
    for statement in ["use d", *TABLES, "insert into u values (5, 5)"]:
        client.query(statement)
    prepared, _ = client.prepare("insert into t (a, b) values (?, (select concat(count(*), ?) from u where u.a < ?))")
    client.bulk(prepared, [LONG, VAR_STRING, LONG], [[number(1), text("m"), number(1)], [number(2), text("n"), number(9)]])
    client.close()
    assert servers[0].query("select a, b from d.t") == ((1, "0m"), (2, "1n"))


def test_an_insert_for_many_rows_is_one_transaction(servers):
    paceline = servers[0]
    client = RawClient(paceline, USUAL | BULK)
    for statement in ["use d", *TABLES]:
        client.query(statement)
    [(before,)] = paceline.query("select @@gtid_binlog_pos")
    prepared, _ = client.prepare("insert into t (b, c) values (?, ?)")
    [answer] = client.bulk(prepared, [VAR_STRING, LONG], [[text(f"row{n}"), number(n)] for n in range(20_000)])
    assert b"Records: 20000  Duplicates: 0  Warnings: 0" in answer
    [(after,)] = paceline.query("select @@gtid_binlog_pos")
    assert int(after.split("-")[2]) == int(before.split("-")[2]) + 1
    assert paceline.query("select count(*), sum(c), count(distinct b) from d.t") == ((20_000, sum(range(20_000)), 20_000),)
    client.close()
