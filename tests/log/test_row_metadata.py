"""`binlog_row_metadata`: names, signs, character sets, labels and keys in table maps are byte for byte those of
MariaDB."""

import struct
import subprocess
from pathlib import Path

import pytest
from support.servers import MariaDb, Paceline

TABLE_MAP = 19

# Each table: its definition, and the statements that alter it.
TABLES = [
    ("a int unsigned, b bigint, c decimal(5,2) unsigned, d float, e double unsigned, f tinyint, g mediumint unsigned, h smallint, i year, j bit(9)", []),
    ("a char(3) character set latin1, b varchar(9), c text character set latin1, d blob, e binary(4), f varbinary(5), g int primary key", []),
    ("a enum('a','ä','') character set latin1, b set('x','y','z'), c enum('ü'), d enum('q') collate utf8mb4_bin, e varchar(5)", []),
    ("a varchar(9) collate utf8mb4_bin, b varchar(9), c varchar(9) character set ascii, d varchar(9) character set utf8mb3, e json, f int", []),
    ("a int, b varchar(20), c varchar(30), primary key (b(3), a, c)", []),
    ("a int, b varchar(20), c varchar(30), primary key (c, a)", ["add column first_one int first", "drop primary key, add primary key (a)"]),
    ("a int not null, b varchar(20) not null, unique key k (b(5)), unique key l (a, b), key m (b)", ["modify a int null", "add unique key n (b)"]),
    ("a int not null, b int, unique key k (b), key l (a)", ["add primary key (b, a)"]),
    ("a timestamp(3) null, b datetime, c time(6), d date, e int as (f + 1) stored, f int unsigned, g int as (f + 2) virtual", []),
    ("a int, `ö b` int, `c``d` int", ["rename column `ö b` to `e`", "modify a enum('one','two') character set latin1",
                                       "modify a enum('one','two','three')", "convert to character set latin1", "add column x char(3) after a",
                                       "change `c``d` cd text"]),
    ("a int primary key, b char(10)", ["drop primary key", "modify b char(10) collate utf8mb4_bin"]),
    (", ".join(f"c{n} {'varchar(3)' if n % 3 else 'int unsigned'}" for n in range(300)), []),
]


def table_maps(path):
    """Returns the bodies of all table maps, after the table's number."""
    log = Path(path).read_bytes()
    at, found = 4, []
    while at + 19 <= len(log):
        event_type, length = log[at + 4], struct.unpack_from("<I", log, at + 9)[0]
        if length == 0:
            break
        if event_type == TABLE_MAP:
            found.append(log[at + 19 + 6:at + length - 4])
        at += length
    return found


def printed(path):
    done = subprocess.run(["mariadb-binlog", "--no-defaults", "--print-table-metadata", "--base64-output=decode-rows", path], capture_output=True, check=True,
                          encoding="utf-8", errors="surrogateescape")
    return [line for line in done.stdout.splitlines() if line.startswith(("# Columns(", "#         ", "# Primary Key("))]


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    ours = Paceline(tmp_path_factory.mktemp("paceline"))
    model = MariaDb(tmp_path_factory.mktemp("mariadb"))
    try:
        yield ours.start(), model.start()
    finally:
        ours.close()
        model.close()


def write(server, metadata):
    """Returns the log file of statements under this setting."""
    server.query("flush binary logs")
    [*_, [name, *_]] = server.query("show binary logs")
    with server.connect() as other, other.cursor() as before:
        # The setting also applies to a session that exists already.
        before.execute(f"set global binlog_row_metadata={metadata}")
        before.execute("set sql_mode=''")
        before.execute("create or replace database m")
        for number, (definition, changes) in enumerate(TABLES):
            table = f"t{number}"
            before.execute(f"create table m.{table} ({definition})")
            before.execute(f"insert ignore into m.{table} () values ()")
            for change in changes:
                before.execute(f"alter table m.{table} {change}")
                before.execute(f"insert ignore into m.{table} () values ()")
            before.execute(f"delete from m.{table}")
        before.execute("set global binlog_row_metadata=no_log")
        before.execute("insert into m.t0 () values ()")
    server.query("flush binary logs")
    directory = server.datadir if isinstance(server, Paceline) else server.directory / "data"
    return directory / name


@pytest.mark.parametrize("metadata", ["no_log", "minimal", "full"])
def test_table_maps_are_mariadbs(servers, metadata):
    ours, theirs = (write(server, metadata) for server in servers)
    assert printed(ours) == printed(theirs)
    found, expected = table_maps(ours), table_maps(theirs)
    assert len(found) == len(expected) > len(TABLES)
    for one, other in zip(found, expected):
        assert one == other, (one, other)


def test_the_default_is_mariadbs(servers):
    answers = [server.query("select @@global.binlog_row_metadata") for server in servers]
    assert answers == [(("NO_LOG",),)] * 2
