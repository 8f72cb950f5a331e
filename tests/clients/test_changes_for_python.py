"""Change data capture by the Python package mysql-replication: it reads the same from Paceline as from MariaDB."""

import pytest

from support.servers import MariaDb, Paceline

replication = pytest.importorskip("pymysqlreplication", reason="needs the package mysql-replication")

ACCOUNT = {"user": "repl", "passwd": "secret"}
STATEMENTS = [
    "create database t", "use t",
    "create table a (id int primary key auto_increment, v varchar(40), d decimal(10, 2), t timestamp(3) null, j json, e enum('x', 'y'), b blob, n bit(9), "
    "m mediumint unsigned, y year, h time(2))",
    "insert into a (v, d, t, j, e, b, n, m, y, h) values ('größe', -1.5, '2026-01-01 00:00:00.125', '{\"a\": 1}', 'y', x'00ff', b'101', 16000000, 2026, '-10:11:12.5')",
    "begin", "update a set v = 'z' where id = 1", "insert into a (v) values ('q'), (null)", "commit", "delete from a where id = 1",
    "set session binlog_format = 'STATEMENT'", "insert into a (v) values ('as text')", "set session binlog_format = 'ROW'", "update a set d = id",
]


def changes(server, **start):
    """Returns what the package makes of the log."""
    stream = replication.BinLogStreamReader(connection_settings={"host": "127.0.0.1", "port": server.port, **ACCOUNT}, server_id=99, blocking=False,
                                            is_mariadb=True, annotate_rows_event=True, **start)
    try:
        found = []
        for event in stream:
            name = type(event).__name__
            if hasattr(event, "rows"):
                found.append((name, event.schema, event.table, event.rows))
            elif name == "QueryEvent":
                found.append((name, event.query))
            elif name in ("MariadbGtidEvent", "XidEvent"):
                found.append((name, getattr(event, "gtid", None)))
        return found
    finally:
        stream.close()


def test_changes_are_read_as_from_mariadb(tmp_path):
    by_position, by_gtid = [], []
    for kind in (MariaDb, Paceline):
        server = kind(tmp_path / kind.__name__, "--server-id=1", "--binlog-row-metadata=FULL").start()
        try:
            for host in ("%", "localhost"):
                server.query(f"create user repl@'{host}' identified by 'secret'", f"grant all on *.* to repl@'{host}'")
            server.query("reset master")
            server.query(*STATEMENTS)
            [(file, *_)] = server.query("show binary logs")
            by_position.append(changes(server, resume_stream=True, log_file=file, log_pos=4))
            by_gtid.append(changes(server, auto_position=""))
        finally:
            server.close()
    assert by_position[0] == by_position[1] and by_gtid[0] == by_gtid[1] == by_position[0]
    assert len(by_gtid[0]) >= 20
