"""Busy_time, Cpu_time and Query_time in SHOW STATUS, beside MariaDB."""

import pytest
from support.servers import MariaDb, Paceline


@pytest.fixture(params=[Paceline, MariaDb])
def server(request, tmp_path):
    server = request.param(tmp_path / "server").start()
    yield server
    server.close()


def times(cursor):
    cursor.execute("show session status where variable_name in ('Busy_time', 'Cpu_time', 'Query_time')")
    return {name: float(value) for name, value in cursor.fetchall()}


def test_times_of_a_session(server):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("select sleep(0.2)")
        before = times(cursor)
        assert before["Busy_time"] == before["Cpu_time"] == 0 and before["Query_time"] >= 0.2
        cursor.execute("set global userstat = on")
        cursor.execute("select sleep(0.2)")
        asleep = times(cursor)
        assert asleep["Busy_time"] >= 0.2 and asleep["Cpu_time"] < 0.1 and asleep["Query_time"] >= 0.4
        cursor.execute("select benchmark(300000, sha2(rand(), 512))")
        busy = times(cursor)
        assert busy["Cpu_time"] > asleep["Cpu_time"] and busy["Busy_time"] > asleep["Busy_time"]
        cursor.execute("show global status like 'Busy_time'")
        assert float(cursor.fetchone()[1]) >= busy["Busy_time"]
        cursor.execute("show session status like 'Busy_time'")
        text = cursor.fetchone()[1]
        assert len(text.split(".")[1]) == 6
        cursor.execute("flush status")
        assert times(cursor)["Busy_time"] < 0.2


def test_constants_are_those_of_the_document(server):
    """Tables are not opened, and have no locks of MariaDB's kind."""
    if not isinstance(server, Paceline):
        pytest.skip("of this server")
    server.query("create database d", "create table d.t (a int)", "insert into d.t values (1)", "lock tables d.t write", "unlock tables")
    status = dict(server.query("show global status where variable_name rlike '^(Opened|Open_(files|tables)|Table_(locks|open))'"))
    assert len(status) == 13 and set(status.values()) == {"0"}, status
    assert server.query("select timed from performance_schema.setup_instruments where name = 'wait/io/table/sql/handler'") == (("NO",),)
