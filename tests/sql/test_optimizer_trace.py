"""information_schema.OPTIMIZER_TRACE: what the planner has considered for the session's latest statement."""

import json

import pymysql
import pytest

from support.servers import MariaDb, Paceline

TRACE = "select query, trace, missing_bytes_beyond_max_mem_size, insufficient_privileges from information_schema.optimizer_trace"


@pytest.fixture(params=[Paceline, MariaDb], ids=["paceline", "mariadb"])
def server(request, tmp_path):
    server = request.param(tmp_path / "server").start()
    server.query("create database t", "create table t.a (id int primary key, b int, c varchar(20), key (b))",
                 "insert into t.a select seq, seq % 10, concat('text ', seq) from t.seq_1_to_200",
                 "create table t.d (id int primary key, x int)", "insert into t.d select seq, seq % 7 from t.seq_1_to_20", "analyze table t.a, t.d")
    yield server
    server.close()


def steps(value):
    """Returns the names of all steps of a trace, outermost first."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from steps(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from steps(inner)


class Session:
    def __init__(self, server, **options):
        self.cursor = server.connect(database="t", **options).cursor()

    def run(self, statement):
        self.cursor.execute(statement)
        return self.cursor.fetchall()

    def trace(self):
        [row] = self.run(TRACE)
        return row


def test_a_trace_has_mariadbs_outline(server):
    session = Session(server)
    session.run("set optimizer_trace = 'enabled=on'")
    statement = "select * from d join a on a.id = d.x where a.b = 3 and d.id < 10 order by a.c"
    session.run(statement)
    query, text, missing, denied = session.trace()
    assert (query, missing, denied) == (statement, 0, 0)
    trace = json.loads(text)
    assert [next(iter(step)) for step in trace["steps"]] == ["join_preparation", "join_optimization"]
    optimization = trace["steps"][1]["join_optimization"]
    assert optimization["select_id"] == 1
    names = [next(iter(step)) for step in optimization["steps"]]
    expected = ["condition_processing", "table_dependencies", "rows_estimation", "considered_execution_plans", "best_join_order",
                "attaching_conditions_to_tables"]
    assert [name for name in names if name in expected] == expected
    assert {"original_condition", "range_analysis", "table_scan", "range_scan_alternatives", "plan_prefix", "best_access_path",
            "considered_access_paths", "chosen_access_method", "rows_for_plan", "cost_for_plan",
            "attached_conditions_summary"} <= set(steps(trace))
    [order] = [step["best_join_order"] for step in optimization["steps"] if "best_join_order" in step]
    assert sorted(order) == ["a", "d"]


def test_a_trace_says_which_index_was_considered(server):
    session = Session(server)
    session.run("set optimizer_trace = 'enabled=on'")
    session.run("explain select c from a where b between 2 and 3")
    trace = json.loads(session.trace()[1])
    [analysis] = [step for step in trace["steps"][1]["join_optimization"]["steps"] if "rows_estimation" in step]
    first = analysis["rows_estimation"][0]
    assert first["table"] == "a"
    ranges = first["range_analysis"]["analyzing_range_alternatives"]["range_scan_alternatives"]
    assert [one["index"] for one in ranges] == ["b"]
    assert "b" in ranges[0]["ranges"][0] and ranges[0]["rows"] > 10 and ranges[0]["cost"] > 1
    potential = first["range_analysis"]["potential_range_indexes"]
    assert [(one["index"], one["usable"]) for one in potential] == [("PRIMARY", False), ("b", True)]


def test_statements_that_are_not_planned_leave_the_trace(server):
    session = Session(server)
    assert session.run(TRACE) == ()
    session.run("select * from a where b = 1")
    assert session.run(TRACE) == ()
    session.run("set optimizer_trace = 'enabled=on'")
    session.run("update a set c = 'new' where b = 1")
    assert session.trace()[0].startswith("update a")
    for statement in ("set @a = 1", "show tables", "show warnings", TRACE):
        session.run(statement)
        assert session.trace()[0].startswith("update a")
    session.run("set optimizer_trace = 'enabled=off'")
    session.run("select * from a where b = 2")
    assert session.trace()[0].startswith("update a")
    assert Session(server).run(TRACE) == ()


def test_a_statement_that_fails_is_traced(server):
    session = Session(server)
    session.run("set optimizer_trace = 'enabled=on'")
    with pytest.raises(pymysql.MySQLError):
        session.run("select nosuch from a")
    query, text, _, _ = session.trace()
    assert query == "select nosuch from a"
    assert "steps" in json.loads(text)


def test_a_trace_has_a_limit(server):
    session = Session(server)
    session.run("set optimizer_trace = 'enabled=on'")
    session.run("select * from a where b = 1")
    _, whole, _, _ = session.trace()
    session.run("set optimizer_trace_max_mem_size = 300")
    session.run("select * from a where b = 1")
    _, cut, missing, _ = session.trace()
    assert cut == whole[:len(cut)] and len(cut) <= 300
    if isinstance(server, Paceline):
        assert len(cut) + missing == len(whole)
    session.run("set optimizer_trace_max_mem_size = 0")
    session.run("select * from a where b = 1")
    assert session.trace()[1] == ""
    assert session.trace()[2] > 300


def test_the_variable_has_mariadbs_values(server):
    session = Session(server)
    assert session.run("select @@optimizer_trace, @@optimizer_trace_max_mem_size") == (("enabled=off", 1048576),)
    for value in ("foo=on", "enabled=2", "enabled=on,enabled=off"):
        with pytest.raises(pymysql.MySQLError) as error:
            session.run(f"set optimizer_trace = '{value}'")
        assert error.value.args[0] == 1231
    session.run("set optimizer_trace = 1")
    assert session.run("select @@optimizer_trace") == (("enabled=on",),)
    session.run("set optimizer_trace = 'default'")
    assert session.run("select @@optimizer_trace") == (("enabled=off",),)


def test_a_view_is_traced_only_for_those_that_may_see_it(paceline):
    paceline.query("create database t", "create table t.secret (id int primary key, name varchar(20))", "insert into t.secret values (1, 'hidden')",
                   "create view t.v as select id from t.secret where name <> 'hidden'", "create user low", "grant select on t.v to low")
    session = Session(paceline, user="low")
    session.run("set optimizer_trace = 'enabled=on'")
    session.run("select * from v")
    query, text, _, denied = session.trace()
    assert (query, text, denied) == ("select * from v", "", 1)
    owner = Session(paceline)
    owner.run("set optimizer_trace = 'enabled=on'")
    owner.run("select * from v")
    assert "hidden" in owner.trace()[1]
    with pytest.raises(pymysql.MySQLError):
        session.run("select * from secret")
    assert "hidden" not in session.trace()[1]


def test_many_tables_have_a_bounded_trace(paceline):
    tables = [f"a{number}" for number in range(12)]
    paceline.query("create database t", "create table t.a (id int primary key, b int, key (b))")
    session = Session(paceline)
    session.run("set optimizer_trace = 'enabled=on', optimizer_trace_max_mem_size = 100000000")
    for count in (8, 10, 12):
        joined = " and ".join(f"a0.id = {name}.b" for name in tables[1:count])
        session.run(f"explain select * from {', '.join('a ' + name for name in tables[:count])} where {joined}")
        _, text, missing, _ = session.trace()
        assert missing == 0
        [plans] = [step["considered_execution_plans"] for step in json.loads(text)["steps"][1]["join_optimization"]["steps"]
                   if "considered_execution_plans" in step]
        assert count <= len(plans) <= 1001
