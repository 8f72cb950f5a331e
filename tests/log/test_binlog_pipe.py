"""Logs that are printed and executed again: `mariadb-binlog … | mariadb` and `paceline binlog … | mariadb` preserve
rows and GTIDs, and BINLOG gives MariaDB's answers."""

import base64
import re
import struct
import subprocess

import pytest

from support.servers import BINARY, ROOT, MariaDb, Paceline
from support.side_by_side import Session

SCRIPT = (ROOT / "tests/log/every_type.sql").read_text()
TOOLS = {"paceline": [str(BINARY), "binlog"], "mariadb": ["mariadb-binlog", "--no-defaults"]}


def printed(kind, *arguments):
    done = subprocess.run([*TOOLS[kind], *map(str, arguments)], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def closed_files(server):
    server.query("flush binary logs")
    if isinstance(server, MariaDb):
        return sorted((server.directory / "data").glob("bin.0*"))[:-1]
    return server.log_files()[:-1]


def run(server, text, *arguments):
    """Runs a text with the command-line client."""
    done = subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", str(server.socket), *arguments], input=text, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()


def content(server, database):
    tables = [name for (name,) in server.query(f"show tables in {database}")]
    return {name: server.client("-N", "-e", f"select * from {database}.{name} order by 1") for name in tables}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A server of each kind, both after the same workload."""
    started = {}
    for name, kind in [("paceline", Paceline), ("mariadb", MariaDb)]:
        server = kind(tmp_path_factory.mktemp(name) / name)
        server.start()
        server.client("--default-character-set=utf8mb4", text=SCRIPT)
        # Another domain, another server id, and a hole.
        server.query("set session gtid_domain_id=7, server_id=55, gtid_seq_no=1000", "insert into every_type.wide (n1) values (7000)")
        server.query("create database d", "create table d.t (a int primary key, b varchar(20))", "insert into d.t values (1,'x'),(2,'y')")
        started[name] = server
    server = started["mariadb"]
    server.query("set session binlog_format=statement", "set @text='é', @exact=1.50", "update every_type.strings set c=@text, g=rand() where id=1",
                 "insert into every_type.wide (n1) values (5000)", "update every_type.temporals set o=now(6) where id=3",
                 "create table every_type.told (a int primary key, b varchar(40))", "set time_zone='+05:00'",
                 "insert into every_type.told values (1, connection_id()), (2, rand()), (3, now()), (4, @@pseudo_thread_id = connection_id())")
    server.query("set session binlog_row_image=minimal", "update every_type.wide set n3=1 where n1=5000")
    server.query("set session binlog_row_image=noblob", "update every_type.strings set a='noblob' where id=2")
    server.query("set global log_bin_compress=1")
    server.query("update every_type.strings set h=repeat('long', 1000)")
    server.query("set global log_bin_compress=0")
    yield started
    for server in started.values():
        server.close()


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("source", ["paceline", "mariadb"])
def test_a_log_restores_into_paceline(sources, source, tool, paceline):
    server = sources[source]
    run(paceline, printed(tool, *closed_files(server)), "--binary-mode")
    for database in ["every_type", "d"]:
        assert content(paceline, database) == content(server, database)
    assert sorted(paceline.query("select @@gtid_binlog_pos")[0][0].split(",")) == sorted(server.query("select @@gtid_binlog_pos")[0][0].split(","))
    # The log of the restored server has the same contents.
    rows = [re.sub(rb"mapped to number \d+|table id \d+", b"", line) for line in printed("paceline", "-v", *closed_files(paceline)).splitlines()
            if line.startswith(b"###")]
    if source == "paceline":
        assert rows == [line for line in printed("paceline", "-v", *closed_files(server)).splitlines() if line.startswith(b"###")]


def test_our_log_restores_into_mariadb(sources, mariadb):
    server = sources["paceline"]
    run(mariadb, printed("mariadb", *closed_files(server)), "--binary-mode")
    for database in ["every_type", "d"]:
        assert content(mariadb, database) == content(server, database)
    assert sorted(mariadb.query("select @@gtid_binlog_pos")[0][0].split(",")) == sorted(server.query("select @@gtid_binlog_pos")[0][0].split(","))


def events_of(file):
    """Returns the type and the bytes of each event."""
    content, offset = file.read_bytes(), 4
    while offset < len(content):
        length = struct.unpack_from("<I", content, offset + 9)[0]
        yield content[offset + 4], content[offset:offset + length]
        offset += length


def test_binlog_statements_answer_as_mariadb_does(sources, paceline, mariadb):
    first = closed_files(sources["mariadb"])[0]
    events = list(events_of(first))
    statement = lambda *parts: f"binlog '{base64.b64encode(b''.join(parts)).decode()}'"
    by_type = {kind: body for kind, body in reversed(events)}
    form = by_type[15]
    # The table map and the rows of the insert into d.t.
    at = next(number for number, (kind, body) in enumerate(events) if kind == 19 and b"\x01d\x00\x01t\x00" in body)
    table_map, rows = events[at][1], events[at + 1][1]
    checksum_wrong = bytes([*rows[:-2], rows[-2] ^ 1, rows[-1]])
    whole = base64.b64encode(form + table_map + rows).decode()
    script = [
        statement(table_map, rows),  # no format description yet
        statement(form),
        "create database d", "create table d.t (a int primary key, b varchar(20))",
        statement(table_map, rows), "select * from d.t",
        statement(table_map, rows),  # duplicate key, 1062
        "select * from d.t",
        "delete from d.t where a=1",
        "begin", "insert into d.t values (5,'five')", statement(table_map, rows), "commit", "select * from d.t",
        "delete from d.t", statement(table_map, checksum_wrong), "select count(*) from d.t",
        "delete from d.t", "begin", statement(table_map, rows), "rollback", "select count(*) from d.t",
        "binlog ''", "binlog 'abc!'", "binlog 'abcd'", "binlog 'Zg='", "binlog 5", "binlog", statement(form[:100]), statement(table_map, rows[:-5]),
        *(statement(by_type[kind]) for kind in [163, 161, 162, 160, 16]),
        f"set @a='{whole[:101]}', @B='{whole[101:]}'", "binlog @A, @b", "select @a, @b, (select count(*) from d.t)", "binlog @x, @y", "binlog @a",
        "set transaction read only", "start transaction", statement(table_map, rows), "commit",
        "delete from d.t", "set @@session.server_id=33, gtid_domain_id=9, gtid_seq_no=77", statement(table_map, rows), "select @@last_gtid",
        "flush tables with read lock", statement(table_map, rows), "unlock tables",
        "drop table d.t", statement(table_map, rows),
        "create user u@localhost", "create user v@localhost", "grant binlog replay on *.* to v@localhost",
    ]
    sessions = [Session(server) for server in (paceline, mariadb)]
    for text in script:
        ours, theirs = (session.answer(text) for session in sessions)
        if text.startswith("select") or ours[0] == "error" or theirs[0] == "error":
            assert ours == theirs, text[:200]
    for user, allowed in [("u", False), ("v", True)]:
        answers = [Session(server, user=user).answer(statement(form)) for server in (paceline, mariadb)]
        assert answers[0] == answers[1] and (answers[0][0] != "error") == allowed, answers
