"""Views: indexes of their tables are used, and plans and sessions that use a view notice its changes."""

import pymysql
import pytest

from support.servers import Paceline


@pytest.fixture
def server(tmp_path):
    server = Paceline(tmp_path / "paceline", "--server-id=1").start()
    yield server
    server.close()


@pytest.fixture
def tables(server):
    server.query("create database d", "use d", "create table t (id int primary key, k int, v varchar(20), key (k))",
                 "create table u (id int primary key, t int, key (t))",
                 "insert into t values " + ",".join(f"({n}, {n % 50}, 'v{n}')" for n in range(1000)),
                 "insert into u values " + ",".join(f"({n}, {n * 7 % 1000})" for n in range(300)),
                 "create view plain as select * from t where k > 10", "create view renamed (a, b, c) as select id, k + 1, v from plain",
                 "create view sorted as select * from t order by v", "create view joined as select t.id, t.k, u.id as uid from t join u on u.t = t.id",
                 "create view counted as select k, count(*) as n from t group by k")
    return server


def explained(server, query):
    """Returns table, type and key of each step."""
    return [(row[1], row[2], row[3], row[5]) for row in server.query(f"explain {query}", database="d")]


@pytest.mark.parametrize("query, steps", [
    ("select * from plain where id = 5", [("SIMPLE", "t", "const", "PRIMARY")]),
    ("select c from renamed where a = 5", [("SIMPLE", "t", "const", "PRIMARY")]),
    ("select id from sorted where id = 5", [("SIMPLE", "t", "const", "PRIMARY")]),
    ("select v from plain where k = 20", [("SIMPLE", "t", "ref", "k")]),
    ("select uid from joined where id = 5", [("SIMPLE", "t", "const", "PRIMARY"), ("SIMPLE", "u", "ref", "t")]),
    ("select u.id, p.v from u left join plain p on p.id = u.t where u.id = 3", [("SIMPLE", "u", "const", "PRIMARY"),
                                                                               ("SIMPLE", "t", "eq_ref", "PRIMARY")]),
])
def test_an_index_of_the_table_serves(tables, query, steps):
    assert explained(tables, query) == steps


def test_a_view_that_cannot_be_merged_is_materialized(tables):
    assert [step[:2] for step in explained(tables, "select * from counted where k = 5")] == [("PRIMARY", "<derived2>"), ("DERIVED", "t")]


def test_merged_or_not_the_rows_are_the_same(tables):
    """A view with ALGORITHM=TEMPTABLE is never merged."""
    tables.query("create algorithm=temptable view t_plain as select * from plain", "create algorithm=temptable view t_renamed as select * from renamed",
                 "create algorithm=temptable view t_joined as select * from joined", database="d")
    for query in ("select * from {}plain order by id", "select b, count(*), max(c) from {}renamed group by b order by 1",
                  "select x.a, (select count(*) from u where u.t = x.a) from {}renamed x order by 1",
                  "select a from {}renamed x where exists (select 1 from u where u.t = x.b) order by 1",
                  "select u.id, x.b from u left join {}renamed x on x.a = u.t order by 1", "select x.id, y.uid from {}plain x join {}joined y on x.id = y.k order by 1, 2",
                  "select u.id, x.b from {}renamed x right join u on x.a = u.t order by 1", "select distinct k from {}joined order by 1",
                  "select b from {}renamed where b in (select k from {}joined) order by 1", "select sum(uid) from {}joined where k between 3 and 9",
                  "select a from {}renamed where b = 12 union select id from {}plain where k = 12 order by 1"):
        merged, made = (tables.query(query.format(*[prefix] * query.count("{}")), database="d") for prefix in ("", "t_"))
        assert merged == made, query
        assert merged


def test_a_changed_view_is_noticed(tables):
    with tables.connect(database="d") as session, session.cursor() as cursor:
        cursor.execute("prepare s from 'select count(*) from plain'")
        for definition, expected in (("select * from t where k < 5", 100), ("select * from counted", 50), ("select 1 as one", 1)):
            tables.query(f"alter view plain as {definition}", database="d")
            cursor.execute("execute s")
            assert cursor.fetchall() == ((expected,),)
        tables.query("rename table plain to other", database="d")
        with pytest.raises(pymysql.err.ProgrammingError) as error:
            cursor.execute("execute s")
        assert error.value.args == (1146, "Table 'd.plain' doesn't exist")


def test_a_reader_blocks_definitions(tables):
    with tables.connect(database="d", autocommit=False) as reader, reader.cursor() as cursor:
        cursor.execute("select count(*) from plain")
        with pytest.raises(pymysql.err.OperationalError) as error:
            tables.query("set lock_wait_timeout=1", "drop view plain", database="d")
        assert error.value.args[0] == 1205
    tables.query("drop view plain", database="d")


def test_a_change_through_a_view_finds_its_row_by_the_key(tables):
    assert explained(tables, "update plain set v = 'x' where id = 11") == [("SIMPLE", "t", "const", "PRIMARY")]
    assert explained(tables, "delete from plain where k = 12") == [("SIMPLE", "t", "ref", "k")]


def test_a_change_through_a_view_locks_rows_of_the_table(tables):
    with tables.connect(database="d", autocommit=False) as writer, writer.cursor() as cursor:
        cursor.execute("update plain set v = 'x' where id = 11")
        with pytest.raises(pymysql.err.OperationalError) as error:
            tables.query("set innodb_lock_wait_timeout=1", "update t set v = 'y' where id = 11", database="d")
        assert error.value.args[0] == 1205
        tables.query("set innodb_lock_wait_timeout=1", "update renamed set c = 'y' where a = 12", database="d")
        writer.commit()
    assert tables.query("select v from t where id in (11, 12)", database="d") == (("x",), ("y",))


def test_a_table_joined_with_a_view_is_changed(tables):
    tables.query("update t join counted c on c.k = t.k set t.v = c.n where t.id = 7", "delete u from u join plain p on p.id = u.t where p.id = 21", database="d")
    assert tables.query("select v, (select count(*) from u) from t where id = 7", database="d") == (("20", 299),)


def test_a_prepared_change_notices_a_changed_view(tables):
    with tables.connect(database="d") as session, session.cursor() as cursor:
        cursor.execute("prepare s from 'update plain set v = ? where id = 20'")
        cursor.execute("set @v = 'new'")
        cursor.execute("execute s using @v")
        assert tables.query("select v from t where id = 20", database="d") == (("new",),)
        tables.query("alter view plain as select k, count(*) as v, 1 as id from t group by k", database="d")
        with pytest.raises(pymysql.err.MySQLError) as error:
            cursor.execute("execute s using @v")
        assert error.value.args[0] == 1288
