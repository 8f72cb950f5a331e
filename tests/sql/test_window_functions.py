"""Tests of window functions that a script cannot express: an interrupted statement, a partition that is too large,
prepared statements."""

import time

import mysql.connector
import pymysql
import pytest

from support.servers import Paceline


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Paceline(tmp_path_factory.mktemp("server"), "--server-id=1")
    server.start()
    server.query("create database t", "create table t.n (id int primary key, v int)",
                 "insert into t.n with recursive s as (select 1 as i union all select i + 1 from s where i < 1000) select i, i % 7 from s")
    yield server
    server.close()


# Variances are computed again for every row: this takes minutes.
LONG = ("select max(x) from (select variance(q.v) over (order by q.i rows between current row and unbounded following) as x"
        " from (select a.id * 1000 + b.id as i, b.v from n a join n b where a.id <= 200) q) r")


def test_max_statement_time_ends_it(server):
    with server.connect(database="t") as session:
        begun = time.monotonic()
        with pytest.raises(pymysql.MySQLError) as error:
            session.cursor().execute(f"set statement max_statement_time=1 for {LONG}")
        assert error.value.args[0] == 1969 and time.monotonic() - begun < 20


def test_prepared_statements_compute_with_their_parameters(server):
    session = mysql.connector.connect(user="root", unix_socket=str(server.socket), database="t", use_pure=True, charset="utf8mb4",
                                      collation="utf8mb4_general_ci")
    cursor = session.cursor(prepared=True)
    statement = "select id, sum(v + ?) over (order by id rows 1 preceding), lag(id, ?) over (order by id) from n where id <= ? order by id"
    for more, distance in ((0, 1), (10, 2)):
        cursor.execute(statement, (more, distance, 3))
        rows = [(number, int(total), before) for number, total, before in cursor.fetchall()]
        assert rows == [(1, 1 + more, None), (2, 3 + 2 * more, 1 if distance == 1 else None), (3, 5 + 2 * more, 2 if distance == 1 else 1)]
    session.close()
