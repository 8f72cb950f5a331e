"""SERIALIZABLE where a range lock could be bypassed."""

import threading

import pymysql
import pytest

from support.servers import MariaDb, Paceline


@pytest.fixture(params=[Paceline, MariaDb], ids=["paceline", "mariadb"])
def sessions(request, tmp_path):
    """Two sessions at SERIALIZABLE, and the server."""
    server = request.param(tmp_path / "server", "--server-id=1").start()
    server.query("create database t")
    with server.connect(autocommit=False, database="t") as one, server.connect(autocommit=False, database="t") as other:
        for session in (one, other):
            session.cursor().execute("set session transaction isolation level serializable")
            session.cursor().execute("set innodb_lock_wait_timeout = 1")
        yield one, other, server
    server.close()


def test_columns_outside_of_an_index_are_locked_in_the_rows(sessions):
    one, other, server = sessions
    server.query("create table t.a (id int primary key, a int, b int, key (a))", "insert into t.a values (1, 1, 0), (2, 1, 0)")
    select = "select * from a force index (a) where a = 1 and b = 2 for update"
    one.cursor().execute(select)
    told = []

    def second():
        try:
            other.cursor().execute(select)
            other.cursor().execute("update a set b = 2 where id = 2")
            other.commit()
            told.append(0)
        except pymysql.MySQLError as error:
            other.rollback()
            told.append(error.args[0])

    thread = threading.Thread(target=second)
    thread.start()
    thread.join(0.3)
    one.cursor().execute("update a set b = 2 where id = 1")
    thread.join(30)
    one.commit()
    assert told in ([1205], [1213])
    assert server.query("select count(*) from t.a where b = 2") == ((1,),)


def test_a_repeated_write_waits_again(sessions):
    one, other, server = sessions
    server.query("create table t.s (id int primary key)", "insert into t.s values (1), (20)")
    reader, writer = one.cursor(), other.cursor()
    reader.execute("select id from s where id between 1 and 10")
    for _ in range(3):
        with pytest.raises(pymysql.MySQLError) as error:
            writer.execute("insert into s values (5)")
        assert error.value.args[0] == 1205
    reader.execute("select id from s where id between 1 and 10")
    assert reader.fetchall() == ((1,),)
    one.commit()
    writer.execute("insert into s values (5)")
    other.commit()
    assert server.query("select count(*) from t.s") == ((3,),)
