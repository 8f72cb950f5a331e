"""Temporary tables and their surroundings: the session's end, privileges, a read-only server, the log, limits.
Everything that a script can express is in temporary_tables.sql. Tests that a MariaDB can run are run against one too."""


import mysql.connector
import pymysql
import pytest

from support.replication import gtid_position
from support.servers import MariaDb, Paceline
from support.waiting import wait_for


@pytest.fixture(scope="module", params=[Paceline, MariaDb], ids=["paceline", "mariadb"])
def server(request, tmp_path_factory):
    options = ["--log-bin", "--binlog-format=ROW"] if request.param is MariaDb else []
    server = request.param(tmp_path_factory.mktemp("server"), "--server-id=1", *options)
    server.start()
    server.query("create database t")
    yield server
    server.close()


@pytest.fixture(scope="module")
def paceline(tmp_path_factory):
    server = Paceline(tmp_path_factory.mktemp("server"), "--server-id=1")
    server.start()
    server.query("create database t")
    yield server
    server.close()


def answer(cursor, statement):
    """Returns a statement's rows, or its error's number."""
    try:
        cursor.execute(statement)
    except pymysql.MySQLError as error:
        return error.args[0]
    return cursor.fetchall()


def end_of_log(server):
    return server.query("show master status")[0][:2] + (gtid_position(server),)


def test_it_belongs_to_the_session_and_ends_with_it(server):
    with server.connect(database="t", autocommit=True) as one, server.connect(database="t", autocommit=True) as other:
        mine, theirs = one.cursor(), other.cursor()
        for cursor, value in ((mine, 1), (theirs, 2)):
            cursor.execute("create temporary table s (a int primary key)")
            cursor.execute(f"insert into s values ({value})")
        assert answer(mine, "select * from s") == ((1,),) and answer(theirs, "select * from s") == ((2,),)
        theirs.execute("drop temporary table s")
        assert answer(theirs, "select * from s") == 1146 and answer(mine, "select * from s") == ((1,),)


@pytest.mark.parametrize("how", ["reset", "kill"])
def test_a_reset_session_has_none(server, how):
    with server.connect(database="t", autocommit=True) as session:
        cursor = session.cursor()
        cursor.execute("create temporary table s (a int)")
        cursor.execute("begin")
        cursor.execute("insert into s values (1)")
        if how == "kill":
            number = session.thread_id()
            server.query(f"kill {number}")
            listed = f"select 1 from information_schema.processlist where id = {number}"
            wait_for("the session to end", lambda: server.query(listed) == ())
            session.connect()
            cursor = session.cursor()
        else:
            session._execute_command(0x1F, b"")
            session._read_ok_packet()
        assert answer(cursor, "select * from t.s") == 1146
        cursor.execute("create temporary table t.s (b int)")
        assert answer(cursor, "select * from t.s") == ()


def test_another_user_has_none(server):
    session = mysql.connector.connect(user="root", unix_socket=str(server.socket), database="t", use_pure=True, charset="utf8mb4",
                                      collation="utf8mb4_general_ci")
    cursor = session.cursor()
    cursor.execute("create temporary table s (a int)")
    session.cmd_change_user("root", "", "t")
    with pytest.raises(mysql.connector.Error, match="1146"):
        cursor.execute("select * from s")
    session.close()


def test_nothing_of_them_is_logged(server):
    with server.connect(database="t", autocommit=True) as session:
        cursor = session.cursor()
        cursor.execute("create table ordinary (a int primary key, b int)")
        before = end_of_log(server)
        for statement in ("create temporary table s (a int primary key, b int, key (b))", "insert into s values (1,1),(2,2)", "begin",
                          "update s set b = 3", "savepoint x", "delete from s where a = 1", "rollback to x", "commit",
                          "alter table s add c int", "create index i on s (c)", "rename table s to s2", "create temporary table s3 like s2",
                          "create temporary table s4 select * from s2", "truncate table s3", "drop table s3", "drop temporary table s4",
                          "begin", "insert into s2 values (9,9,9)", "rollback"):
            cursor.execute(statement)
        # MariaDB also logs the end of transactions whose rows it does not log.
        if isinstance(server, Paceline):
            assert end_of_log(server) == before
        assert answer(cursor, "select a, b from s2 order by a") == ((1, 3), (2, 3))
        # Rows read from one are logged; a table created like one is logged by its definition.
        cursor.execute("begin")
        cursor.execute("insert into ordinary select a, b from s2")
        cursor.execute("insert into s2 values (7,7,7)")
        cursor.execute("commit")
        cursor.execute("create table liked like s2")
        cursor.execute("create table selected select * from s2")
        cursor.execute("drop table s2, liked")
        events = [row[5] for row in server.query(f"show binlog events in '{before[0]}' from {before[1]}")]
    text = "\n".join(events)
    if isinstance(server, Paceline):
        assert "TEMPORARY" not in text.upper() and "like s2" not in text and "`s2`" not in text, text
    definitions = [line for line in events if "CREATE TABLE `" in line]
    assert len(definitions) == 2 and all("`a` int(11) NOT NULL" in line for line in definitions), definitions
    [dropped] = [line for line in events if "DROP TABLE" in line.upper()]
    assert "liked" in dropped
    assert server.query("select * from t.ordinary order by a") == ((1, 3), (2, 3))
    assert server.query("select a, b, c from t.selected order by a") == ((1, 3, None), (2, 3, None), (7, 7, 7))
    server.query("drop table t.ordinary, t.selected")


def test_what_is_logged_restores(paceline, tmp_path):
    """A restart replays the log: rows copied from temporary tables are there, the temporary tables are not."""
    with paceline.connect(database="t", autocommit=True) as session:
        cursor = session.cursor()
        for statement in ("create temporary table k (a int, b varchar(20))", "insert into k values (1,'one'),(1,'one'),(2,'two')",
                          "create table kept (a int, b varchar(20))", "begin", "insert into k values (3,'three')",
                          "insert into kept select * from k", "delete from k where a = 1 limit 1", "insert into kept values (4,'four')", "commit",
                          "create table kept2 like k", "insert into kept2 select * from k"):
            cursor.execute(statement)
        tables = {name: sorted(paceline.query(f"select * from t.{name}")) for name in ("kept", "kept2")}
        assert len(tables["kept"]) == 5 and len(tables["kept2"]) == 3
        paceline.kill()
    paceline.start()
    assert {name: sorted(paceline.query(f"select * from t.{name}")) for name in tables} == tables
    with paceline.connect(database="t") as session:
        assert answer(session.cursor(), "select * from k") == 1146
    paceline.query("drop table t.kept, t.kept2")


def test_a_temporary_table_needs_no_privilege_but_the_one_to_create_it(server):
    server.query("create table t.base (a int)", "create user maker@localhost", "create user reader@localhost",
                 "grant create temporary tables on t.* to maker@localhost", "grant select on t.* to reader@localhost")
    try:
        with server.connect(user="maker", database="t", autocommit=True) as session:
            cursor = session.cursor()
            for statement in ("create temporary table m (a int)", "insert into m values (1)", "update m set a = 2", "alter table m add b int",
                              "create index x on m (a)", "show create table m", "rename table m to m2", "delete from m2", "truncate table m2",
                              "create temporary table m3 like m2", "create temporary table base (a int)", "select * from base", "drop table base",
                              "drop table m2"):
                assert not isinstance(answer(cursor, statement), int), statement
            assert answer(cursor, "show columns from m3") == (("a", "int(11)", "YES", "MUL", None, ""), ("b", "int(11)", "YES", "", None, ""))
            for statement in ("drop table m2", "create temporary table m like base", "create temporary table m select * from base",
                              "select * from base", "drop table base", "create table ordinary (a int)"):
                assert answer(cursor, statement) == 1142, statement
            assert answer(cursor, "drop temporary table m2") == 1051
        with server.connect(user="reader", database="t", autocommit=True) as session:
            cursor = session.cursor()
            for statement in ("create temporary table m (a int)", "create temporary table m like base", "create temporary table m select * from base"):
                assert answer(cursor, statement) == 1044, statement
            assert answer(cursor, "drop temporary table m") == 1051
    finally:
        server.query("drop user maker@localhost", "drop user reader@localhost", "drop table t.base")


def test_a_server_that_is_read_only(server):
    server.query("create table t.base (a int)", "create user writer@localhost", "grant all on t.* to writer@localhost", "set global read_only=1")
    try:
        with server.connect(user="writer", database="t", autocommit=True) as session:
            cursor = session.cursor()
            for statement in ("create temporary table m (a int)", "insert into m values (1)", "begin", "update m set a = 2", "commit",
                              "alter table m add b int", "create index i on m (a)", "insert into m select a, a from base", "truncate m",
                              "create temporary table m2 select * from m", "drop temporary table m2", "drop table m", "create temporary table base (a int)",
                              "insert into base values (1)", "drop table base"):
                assert not isinstance(answer(cursor, statement), int), statement
            cursor.execute("create temporary table m (a int)")
            for statement in ("insert into base values (1)", "rename table m to m2", "drop table base", "create table o (a int)",
                              "drop table if exists nosuch", "drop table m, base", "update m, base set base.a = 1"):
                assert answer(cursor, statement) == 1290, statement
    finally:
        server.query("set global read_only=0", "drop user writer@localhost", "drop table t.base")


def test_a_global_read_lock_of_another_session_does_not_matter(server):
    with server.connect(database="t", autocommit=True) as locker, server.connect(database="t", autocommit=True, read_timeout=10) as session:
        locker.cursor().execute("flush tables with read lock")
        cursor = session.cursor()
        for statement in ("create temporary table m (a int)", "insert into m values (1)", "begin", "update m set a = 2", "commit", "drop temporary table m"):
            cursor.execute(statement)


def test_a_prepared_statement_is_planned_again(paceline):
    with paceline.connect(database="t", autocommit=True) as session:
        cursor = session.cursor()
        for statement in ("create table p (a int)", "insert into p values (1)", "prepare q from 'select * from p'", "prepare i from 'insert into p values (?)'",
                          "set @x = 5", "execute i using @x"):
            cursor.execute(statement)
        assert answer(cursor, "execute q") == ((1,), (5,))
        cursor.execute("create temporary table p (b varchar(10))")
        cursor.execute("execute i using @x")
        assert answer(cursor, "execute q") == (("5",),)
        cursor.execute("drop temporary table p")
        cursor.execute("execute i using @x")
        assert answer(cursor, "execute q") == ((1,), (5,), (5,))
        cursor.execute("drop table p")


def used_bytes(server):
    [(_, value)] = server.query("show status like 'Paceline_temporary_tables_bytes'")
    return int(value)


def test_they_have_a_limit_and_release_their_memory(paceline):
    wait_for("earlier tables to go", lambda: used_bytes(paceline) == 0)
    paceline.query("set global paceline_temporary_tables_max = 1000000")
    try:
        with paceline.connect(database="t", autocommit=True) as session:
            cursor = session.cursor()
            cursor.execute("create temporary table f (a int auto_increment primary key, b varchar(1000))")
            cursor.execute("insert into f (b) values (repeat('x', 1000))")
            code = 0
            for _ in range(12):
                code = answer(cursor, "insert into f (b) select b from f")
                if code:
                    break
            assert code == 1114
            with pytest.raises(pymysql.MySQLError, match="The table 'f' is full"):
                cursor.execute("insert into f (b) select b from f")
            [(rows,)] = answer(cursor, "select count(*) from f")
            assert 100 <= rows <= 1000
            # Uncommitted rows count too.
            cursor.execute("delete from f where a > 10")
            [(few,)] = answer(cursor, "select count(*) from f")
            cursor.execute("begin")
            assert [answer(cursor, "insert into f (b) select b from f") for _ in range(12)][-1] == 1114
            cursor.execute("rollback")
            assert answer(cursor, "select count(*) from f") == ((few,),)
            cursor.execute("alter table f modify b varchar(1001)")
            cursor.execute("truncate table f")
            cursor.execute("insert into f (b) values ('room')")
        wait_for("the session's tables to go", lambda: used_bytes(paceline) == 0)
    finally:
        paceline.query("set global paceline_temporary_tables_max = default")


def test_whose_tables_they_are_is_said_by_pseudo_thread_id(server):
    """In the text of a log that comes from several sessions."""
    with server.connect(database="t", autocommit=True) as session:
        cursor = session.cursor()
        for thread in (11, 12):
            cursor.execute(f"set @@session.pseudo_thread_id={thread}")
            cursor.execute("create temporary table s (a int)")
            cursor.execute(f"insert into s values ({thread})")
        assert answer(cursor, "select * from s") == ((12,),)
        cursor.execute("set @@session.pseudo_thread_id=11")
        assert answer(cursor, "select * from s") == ((11,),)
        cursor.execute("set @@session.pseudo_thread_id=13")
        assert answer(cursor, "select * from s") == 1146
