"""The log of a workload with every column type, compared line by line with that of a real MariaDB."""

import re

import pytest

from support.servers import ROOT

SCRIPT = (ROOT / "tests/log/every_type.sql").read_text()


def decoded(server, files):
    """Returns the row changes as `mariadb-binlog -vv` shows them, with checksums verified."""
    text = server.client("-vv", "--base64-output=decode-rows", "--verify-binlog-checksum", *files, program="mariadb-binlog")
    return [line for line in text.splitlines() if line.startswith("###")]


@pytest.fixture
def files(paceline, mariadb):
    for server in (paceline, mariadb):
        server.client("--default-character-set=utf8mb4", text=SCRIPT)
        server.query("flush binary logs")
    return paceline.log_files()[:-1], sorted((mariadb.directory / "data").glob("bin.0*"))[:-1]


def test_row_events_are_those_of_mariadb(paceline, mariadb, files):
    ours, theirs = decoded(paceline, files[0]), decoded(mariadb, files[1])
    assert len(ours) > 500
    assert ours == theirs


def test_tables_are_those_of_mariadb(paceline, mariadb, files):
    for (table,) in mariadb.query("show tables in every_type"):
        statement = f"select * from every_type.{table} order by 1"
        assert paceline.client("-N", "-e", statement) == mariadb.client("-N", "-e", statement), table
        create = f"show create table every_type.{table}"
        assert paceline.query(create) == mariadb.query(create)


def test_mariadb_accepts_the_whole_log(paceline, mariadb, files):
    mariadb.query("drop database every_type")
    text = paceline.client(*files[0], program="mariadb-binlog")
    mariadb.client(text=text)
    for (table,) in paceline.query("show tables in every_type"):
        statement = f"select * from every_type.{table} order by 1"
        assert paceline.client("-N", "-e", statement) == mariadb.client("-N", "-e", statement), table
    # The GTIDs were preserved.
    assert re.search(r"0-1-\d+", mariadb.query("select @@gtid_binlog_state")[0][0])
