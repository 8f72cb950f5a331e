"""Plans that a user can see: the documents of ANALYZE FORMAT=JSON, and the plans of other sessions' statements."""

import json
import threading

import pymysql
import pytest

from support.servers import MariaDb, Paceline
from support.waiting import wait_for

TABLES = ["create database t", "create table t.a (id int primary key, b int, c varchar(20), key (b))",
          "insert into t.a select seq, seq % 10, concat('text ', seq) from t.seq_1_to_200",
          "create table t.d (x int, y varchar(50))", "insert into t.d select seq % 13, concat('v', seq) from t.seq_1_to_100",
          "analyze table t.a, t.d"]

# Members that only one of the servers has: MariaDB its engine's counters, Paceline the memory of all operations. Groups
# are sorted in their hash table here; MariaDB has no buffer for a priority queue.
OF_ONE = {"r_engine_stats", "r_memory", "r_buffer_size"}


def members(value, path=()):
    """Returns the paths of a document's members."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in OF_ONE:
                yield (*path, name)
                yield from members(inner, (*path, name))
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner, path)


def test_documents_have_mariadbs_members(paceline, mariadb):
    for server in (paceline, mariadb):
        server.query(*TABLES)
    differences = {}
    for statement in ["select * from a where b + 0 < 3", "select * from a order by c", "select c, count(*) from a group by c",
                      "select c, count(*) n from a group by c order by n", "select distinct y from d",
                      "select * from a order by c limit 3", "select 1",
                      "select * from a where 1 = 0", "select c from a where id between 3 and 9 and c like 't%'",
                      "select straight_join * from d join a force index (primary) on a.id = d.x where d.y like 'v%'",
                      "select b from a where b = 3", "select * from (select x from d limit 50) g where x > 3",
                      "select (select max(y) from d) from a", "select id, rank() over (order by c) from a",
                      "select 1 union select id from a", "update a set c = 'x' where id < 5", "delete from a where id between 3 and 4",
                      "insert into d select id, c from a where id < 10", "insert into d values (1, 'a')"]:
        documents = []
        for server in (paceline, mariadb):
            [(text,)] = server.query(f"analyze format=json {statement}", database="t")
            documents.append(set(members(json.loads(text))))
        ours, theirs = documents
        if ours != theirs:
            differences[statement] = (sorted(ours - theirs), sorted(theirs - ours))
    assert differences == {}, "\n".join(f"{statement}: {lists}" for statement, lists in differences.items())


@pytest.mark.parametrize("statement, operation", [
    ("select * from a order by c", "filesort"), ("select c, count(*) from a group by c", "temporary_table"),
    ("select distinct c from a", "temporary_table"), ("select * from a a1 join a a2 on a1.b + 0 = a2.b + 0", "block-nl-join"),
    ("select * from (select b from a limit 100) l", "materialized")])
def test_the_memory_of_an_operation_grows_with_its_rows(paceline, statement, operation):
    paceline.query(*TABLES)

    def memory():
        [(text,)] = paceline.query(f"analyze format=json {statement}", database="t")
        found = []

        def search(value):
            if isinstance(value, dict):
                if operation in value:
                    size = value[operation]
                    text = size.get("r_memory") or size.get("r_buffer_size") or size.get("buffer_size")
                    factor = {"K": 1024, "M": 1 << 20}
                    found.append(int(text.rstrip("KMiB")) * factor.get(text.rstrip("iB")[-1:], 1))
                for inner in value.values():
                    search(inner)
            elif isinstance(value, list):
                for inner in value:
                    search(inner)

        search(json.loads(text))
        return max(found)

    before = memory()
    assert before > 0
    paceline.query("insert into a select seq, seq % 10, concat('another row ', seq) from seq_1001_to_3000",
                   database="t")
    if operation != "materialized":
        assert memory() > 2 * before


@pytest.fixture(params=[Paceline, MariaDb], ids=["paceline", "mariadb"])
def server(request, tmp_path):
    server = request.param(tmp_path / "server").start()
    server.query(*TABLES)
    yield server
    server.close()


class Running:
    """A statement that runs in a session of its own until it is killed."""

    def __init__(self, server, statement, **options):
        self.server = server
        self.session = server.connect(database="t", **options)
        self.id = self.session.thread_id()
        self.statement = statement
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            with self.session.cursor() as cursor:
                cursor.execute(self.statement)
        except pymysql.MySQLError:
            pass

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.query(f"kill {self.id}")
        self.thread.join(30)


def plan_of(server, running, command="show explain for", **options):
    """Returns the rows of a running statement's plan, when it has one, and the warnings."""
    with server.connect(**options) as session, session.cursor() as cursor:
        def plan():
            try:
                cursor.execute(f"{command} {running.id}")
            except pymysql.MySQLError as error:
                assert error.args[0] == 1933
                return None
            return cursor.fetchall()

        rows = wait_for("a plan", plan)
        columns = [column[0] for column in cursor.description]
        cursor.execute("show warnings")
        return columns, rows, cursor.fetchall()


LONG = "select count(*) from a a1, a a2, a a3, a a4, a a5 where a1.c + a2.c + a3.c + a4.c + a5.c = 7"


@pytest.mark.parametrize("statement, table", [(LONG, "a1"), ("update a set c = sleep(0.1)", "a"), ("delete from d where sleep(0.1)", "d"),
                                              ("insert into d select id, sleep(0.1) from a", "a"), ("select sleep(0.1) from d", "d")])
def test_the_plan_of_another_session_is_shown(server, statement, table):
    with Running(server, statement) as running:
        for command in ("show explain for", "explain for connection"):
            columns, rows, warnings = plan_of(server, running, command)
            assert columns == ["id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref", "rows", "Extra"]
            assert rows[0][:3] == (1, "SIMPLE", table)
            assert warnings == (("Note", 1003, statement),)
        for command in ("show explain format=json for", "explain format=json for connection"):
            columns, [(text,)], _ = plan_of(server, running, command)
            assert columns == ["SHOW EXPLAIN"]
            assert json.loads(text)["query_block"]["select_id"] == 1


def test_a_prepared_statement_and_one_of_a_procedure_are_shown(server):
    server.query("create procedure t.p() select count(*) from t.d where sleep(0.1)")
    with Running(server, "call p()") as running:
        _, rows, _ = plan_of(server, running)
        assert rows[0][:3] == (1, "SIMPLE", "d")
    with Running(server, "execute immediate 'select count(*) from d where sleep(?)' using 0.1") as running:
        _, rows, _ = plan_of(server, running)
        assert rows[0][:3] == (1, "SIMPLE", "d")


def test_a_statement_that_waits_for_a_lock_is_shown(paceline):
    paceline.query(*TABLES)
    with paceline.connect(database="t", autocommit=False) as holder:
        holder.cursor().execute("update a set c = 'held' where id = 7")
        with Running(paceline, "update a set c = 'waits' where id = 7") as running:
            _, rows, warnings = plan_of(paceline, running)
            assert rows[0][2:6] == ("a", "const", "PRIMARY", "PRIMARY")
            assert warnings == (("Note", 1003, running.statement),)


def error_of(server, statement, **options):
    with pytest.raises(pymysql.MySQLError) as error:
        server.query(statement, **options)
    return error.value.args


def test_plans_are_refused_as_in_mariadb(server):
    process = "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation"
    no_plan = (1933, "Target is not executing an operation with a query plan")
    server.query("create user low@localhost", "grant select on *.* to low@localhost")
    assert error_of(server, "show explain for 99999") == (1094, "Unknown thread id: 99999")
    assert error_of(server, "explain for connection 99999", user="low") == (1094, "Unknown thread id: 99999")
    assert error_of(server, "show explain for 'x'") == (1094, "Unknown thread id: 0")
    assert error_of(server, "show analyze for -1") == (1094, "Unknown thread id: 18446744073709551615")
    for id in ("connection_id()", "1 + 1", "@a"):
        assert error_of(server, f"show explain for {id}") == (1204, "You may only use constant expressions in this statement")
    assert error_of(server, "explain format=tree for connection 9") == (1791, "Unknown EXPLAIN/ANALYZE format name: 'tree'")
    for statement in ("explain extended for connection 9", "explain for 9", "show explain for connection 9", "analyze for connection 9"):
        assert error_of(server, statement, database="t")[0] == 1064, statement
    with server.connect() as session, session.cursor() as cursor, pytest.raises(pymysql.MySQLError) as error:
        cursor.execute(f"show explain for {session.thread_id()}")
    assert error.value.args == no_plan
    with server.connect() as idle:
        assert error_of(server, f"show explain for {idle.thread_id()}") == no_plan
    with Running(server, "do sleep(20)") as running:
        wait_for("the statement", lambda: server.query(f"select 1 from information_schema.processlist where id = {running.id} and info like 'do%'"))
        assert error_of(server, f"show explain for {running.id}") == no_plan
    with Running(server, LONG) as running:
        plan_of(server, running)
        assert error_of(server, f"show explain for {running.id}", user="low") == (1227, process)
        assert error_of(server, f"show analyze for {running.id}", user="low") == (1227, process)
    with Running(server, LONG, user="low") as running:
        _, rows, _ = plan_of(server, running, user="low")
        assert len(rows) == 5


def test_a_running_analyze_shows_what_it_has_read(server):
    with Running(server, f"analyze {LONG}") as running:
        columns, rows, warnings = plan_of(server, running, "show analyze for")
        assert columns[8:] == ["rows", "r_rows", "filtered", "r_filtered", "Extra"]
        assert float(rows[0][9]) > 0
        assert warnings == (("Note", 1003, running.statement),)
        columns, [(text,)], _ = plan_of(server, running, "show analyze format=json for")
        assert columns == ["SHOW ANALYZE"]
        document = json.loads(text)
        assert next(iter(document)) == "r_query_time_in_progress_ms"
        [first, *_] = document["query_block"]["nested_loop"]
        assert first["table"]["r_rows"] > 0
        assert server.query(f"show explain for {running.id}")[0][2] == "a1"


def test_a_running_statement_that_is_long_shows_the_rows_that_it_has_read(server):
    with Running(server, LONG) as running:
        columns, rows, warnings = plan_of(server, running, "show analyze for")
        assert columns[8:] == ["rows", "r_rows", "filtered", "r_filtered", "Extra"]
        assert float(rows[0][9]) > 0
        assert warnings == (("Note", 1003, running.statement),)
        _, [(text,)], _ = plan_of(server, running, "show analyze format=json for")
        document = json.loads(text)
        block = document["query_block"]
        table = block["nested_loop"][0]["table"]
        assert table["r_rows"] > 0 and table["r_loops"] == 1
        # Only ANALYZE has times.
        assert "r_query_time_in_progress_ms" in document and "r_total_time_ms" not in block
        assert not {"r_table_time_ms", "r_other_time_ms"} & set(table)


def test_the_plan_of_a_view_needs_what_explain_needs(paceline):
    paceline.query(*TABLES, "create view t.v as select id from t.a where c <> 'hidden'", "create user low@localhost",
                   "grant select on t.v to low@localhost")
    with Running(paceline, "select sleep(0.1) from v", user="low") as running:
        refused = wait_for("a plan", lambda: next((args for args in [error_of(paceline, f"show explain for {running.id}", user="low")]
                                                   if args[0] != 1933), None))
        assert refused[0] == 1345
        assert plan_of(paceline, running)[1][0][2] == "a"


def test_many_sessions_may_ask_for_the_measurements_of_one(paceline):
    paceline.query(*TABLES)
    with Running(paceline, f"analyze {LONG}") as running:
        plan_of(paceline, running)
        found = []
        threads = [threading.Thread(target=lambda: found.append(plan_of(paceline, running, "show analyze for")[1][0][9])) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert len(found) == 8 and all(float(rows) > 0 for rows in found)
