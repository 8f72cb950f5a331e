"""PyMySQL and mysql-connector-python, unmodified: types in both directions, both protocols, large packets, errors."""

import datetime
import decimal
import threading
import time

import mysql.connector
import pymysql
import pytest

from support.waiting import let_run, wait_for

COLUMNS = {
    "a": ("tinyint", -128), "b": ("bigint unsigned", 2**64 - 1), "c": ("decimal(30,10)", decimal.Decimal("-12345678901234567890.0123456789")),
    "d": ("double", 1.25e-300), "e": ("varchar(100)", "ünïcödé 😀 'quoted' \\ \n\0"), "f": ("longblob", bytes(range(256)) * 10),
    "g": ("date", datetime.date(2024, 2, 29)), "h": ("datetime(6)", datetime.datetime(2026, 11, 20, 1, 2, 3, 456789)),
    "i": ("time(6)", datetime.timedelta(days=-1, seconds=3600, microseconds=5)), "j": ("year", 2026), "k": ("float", 0.5),
    "l": ("mediumtext", "t" * 70000), "m": ("varbinary(10)", b"\x00\xff"), "n": ("int", None), "o": ("mediumint", -8388608),
}


def connector(server, **options):
    return mysql.connector.connect(user="root", unix_socket=str(server.socket), charset="utf8mb4", collation="utf8mb4_general_ci", use_pure=True,
                                   autocommit=True, **options)


def create_all_types(server):
    server.query("create table t.all_types (id int primary key, " + ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items()) + ")")
    return [1, *(value for _, value in COLUMNS.values())]


def test_pymysql_types(database):
    row = create_all_types(database)
    with database.connect(database="t") as connection, connection.cursor() as cursor:
        assert cursor.execute(f"insert into all_types values ({', '.join(['%s'] * len(row))})", row) == 1
        cursor.execute("select * from all_types")
        assert list(cursor.fetchone()) == row
        assert [column[0] for column in cursor.description] == ["id", *COLUMNS]


@pytest.mark.parametrize("prepared", [False, True], ids=["text", "prepared"])
def test_connector_types(database, prepared):
    row = create_all_types(database)
    if prepared:
        row[10] = None  # This driver misreads a YEAR of the binary protocol, from any server.
    connection = connector(database, database="t")
    cursor = connection.cursor(prepared=prepared)
    cursor.execute(f"insert into all_types values ({', '.join(['%s'] * len(row))})", row)
    cursor.execute("select * from all_types where id=%s", (1,))
    found = list(cursor.fetchone())
    found[6] = bytes(found[6])
    found[13] = bytes(found[13])
    assert found == row
    connection.close()


def test_prepared_statements_are_reused_and_typed(database):
    database.query("create table t.p (id int primary key, v varchar(20), n bigint)")
    connection = connector(database, database="t")
    cursor = connection.cursor(prepared=True)
    for id in range(50):
        cursor.execute("insert into p values (%s, %s, %s)", (id, f"v{id}", id if id % 2 else None))
    cursor.execute("select v, n from p where id between %s and %s order by id", (10, 12))
    assert cursor.fetchall() == [("v10", None), ("v11", 11), ("v12", None)]
    cursor.execute("select v from p where v like %s and id > %s order by id desc limit %s", ("v4%", 4, 3))
    assert cursor.fetchall() == [("v49",), ("v48",), ("v47",)]
    cursor.execute("select %s + 1, %s", (41, "x"))
    assert cursor.fetchone()[1] == "x"
    connection.close()


def test_many_results_and_multi_statements(database):
    connection = database.connect(database="t", client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS)
    with connection.cursor() as cursor:
        cursor.execute("create table m (a int); insert into m values (1),(2); select a from m order by a; select count(*) from m")
        results = []
        while True:
            results.append(cursor.fetchall())
            if not cursor.nextset():
                break
    assert [tuple(rows) for rows in results] == [(), (), ((1,), (2,)), ((2,),)]
    # An error in the middle ends the batch.
    with connection.cursor() as cursor:
        cursor.execute("insert into m values (3); insert into nowhere values (1); insert into m values (4)")
        with pytest.raises(pymysql.err.ProgrammingError) as error:
            cursor.nextset()
    assert error.value.args[0] == 1146
    assert database.query("select max(a) from t.m") == ((3,),)


def test_a_large_result_is_streamed(database):
    database.query("create table t.big (id int primary key, pad char(200))")
    with database.connect(database="t") as connection, connection.cursor() as cursor:
        cursor.executemany("insert into big values (%s, %s)", [(id, "x" * 200) for id in range(20000)])
    with database.connect(database="t", cursorclass=pymysql.cursors.SSCursor) as connection, connection.cursor() as cursor:
        cursor.execute("select a.id, b.pad from big a join big b on b.id=a.id")
        rows = 0
        for _ in cursor:
            rows += 1
            if rows == 10:
                let_run(0.5)  # A slow reader blocks no other session.
                assert database.query("select count(*) from t.big") == ((20000,),)
    assert rows == 20000


def test_packets_past_16_mib_and_the_limit(database):
    database.query("create table t.blobs (id int primary key, b longblob)", "set global max_allowed_packet=1073741824")
    for size in [2**24 - 100, 2**24 - 1, 2**24, 2**24 + 1, 40_000_000]:
        with database.connect(database="t", max_allowed_packet=1 << 30) as connection, connection.cursor() as cursor:
            data = b"0123456789abcdef" * (size // 16) + b"x" * (size % 16)
            cursor.execute("replace into blobs values (1, _binary %s)", (data,))
            cursor.execute("select b, length(b) from blobs")
            assert cursor.fetchone() == (data, size)
    database.query("set global max_allowed_packet=16777216")
    with database.connect(database="t", max_allowed_packet=1 << 30) as connection, connection.cursor() as cursor:
        with pytest.raises(pymysql.err.OperationalError) as error:
            cursor.execute("replace into blobs values (1, %s)", ("y" * 20_000_000,))
        assert error.value.args[0] in (1153, 2006, 2013)
    assert database.query("select length(b) from t.blobs") == ((40_000_000,),)


def test_errors_have_mariadbs_numbers(database):
    database.query("create table t.e (id int primary key, v varchar(3) not null, u int unsigned, unique key u (u))", "insert into t.e values (1, 'a', 1)")
    cases = [
        ("select * from t.nowhere", 1146, "Table 't.nowhere' doesn't exist"),
        ("select nope from t.e", 1054, "Unknown column 'nope' in 'SELECT'"),
        ("select * from t.e where nope=1", 1054, "Unknown column 'nope' in 'WHERE'"),
        ("insert into t.e values (1, 'b', 2)", 1062, "Duplicate entry '1' for key 'PRIMARY'"),
        ("insert into t.e values (2, 'b', 1)", 1062, "Duplicate entry '1' for key 'u'"),
        ("insert into t.e values (2, null, 1)", 1048, "Column 'v' cannot be null"),
        ("insert into t.e (id) values (2)", 1364, "Field 'v' doesn't have a default value"),
        ("insert into t.e values (2, 'long', 2)", 1406, "Data too long for column 'v' at row 1"),
        ("insert into t.e values (2, 'b', -1)", 1264, "Out of range value for column 'u' at row 1"),
        ("insert into t.e values (2, 'b', 'x')", 1366, "Incorrect integer value: 'x' for column `t`.`e`.`u` at row 1"),
        ("insert into t.e values (2, 'b')", 1136, "Column count doesn't match value count at row 1"),
        ("create table t.e (a int)", 1050, "Table 'e' already exists"),
        ("create database t", 1007, "Can't create database 't'; database exists"),
        ("drop table t.nowhere", 1051, "Unknown table 't.nowhere'"),
        ("select * from nodb.t", 1146, "Table 'nodb.t' doesn't exist"),
        ("use nodb", 1049, "Unknown database 'nodb'"),
        ("select 9223372036854775807 + 1", 1690, "BIGINT value is out of range in '9223372036854775807 + 1'"),
        ("select nofunc(1)", 1305, None),
        ("select count(*), (select id, v from t.e)", 1241, "Operand should contain 1 column(s)"),
        ("select id from t.e group by id having nope", 1054, None),
        ("set global nope=1", 1193, "Unknown system variable 'nope'"),
        ("set sql_mode='nope'", 1231, "Variable 'sql_mode' can't be set to the value of 'nope'"),
        ("set version='x'", 1238, "Variable 'version' is a read only variable"),
        ("set binlog_format='nope'", 1231, "Variable 'binlog_format' can't be set to the value of 'nope'"),
        ("", 1065, "Query was empty"),
    ]
    for statement, number, message in cases:
        with pytest.raises(pymysql.err.MySQLError) as error:
            database.query(statement)
            pytest.fail(f"no error: {statement}")
        if number is not None:
            assert error.value.args[0] == number, (statement, error.value.args)
        if message is not None:
            assert error.value.args[1] == message, statement
    assert database.query("select * from t.e") == ((1, "a", 1),)


def test_unsupported_statements_say_so(database, request):
    if request.config.getoption("--server") == "mariadb":
        pytest.skip("MariaDB supports these")
    for statement in ["xa start 'a'", "create table t.partitioned (a int) partition by hash (a)",
                      "load index into cache t.e"]:
        with pytest.raises(pymysql.err.MySQLError) as error:
            database.query(statement)
            pytest.fail(f"no error: {statement}")
        assert error.value.args[0] in (1235, 1064), (statement, error.value.args)


def test_statements_with_other_results_on_replicas_are_refused(database, request):
    if request.config.getoption("--server") == "mariadb":
        pytest.skip("MariaDB supports these")
    database.query("create table t.r (a int)", "create table t.empty (a int)", "insert into t.r values (1)")
    for statement in ["alter table t.r add c double default (rand())"]:
        with pytest.raises(pymysql.err.MySQLError) as error:
            database.query(statement)
            pytest.fail(f"no error: {statement}")
        assert error.value.args[0] == 1235, (statement, error.value.args)
    database.query("alter table t.empty add c double default (rand())", "insert into t.empty (a) values (1)")
    assert database.query("select c between 0 and 1 from t.empty") == ((1,),)
    assert database.query("select * from t.r") == ((1,),)


def test_a_statements_time_is_limited_whatever_it_waits_for(database):
    database.query("create table t (a int primary key) engine=innodb", "insert into t values (1)", database="t")
    other = database.connect(database="t")
    with other.cursor() as holder, database.connect(database="t") as session, session.cursor() as cursor:
        holder.execute("select get_lock('a lock', 0)")
        holder.execute("begin")
        holder.execute("update t set a=2")
        cursor.execute("set innodb_lock_wait_timeout=60")
        for statement in ("select sleep(60)", "select sleep(60) from t", "update t set a=3", "alter table t add b int",
                          "select master_gtid_wait('77-1-1')", "select a from t where sleep(0.01) + sleep(60)"):
            for limited in ((f"set statement max_statement_time=0.2 for {statement}",), ("set max_statement_time=0.2", statement)):
                start = time.monotonic()
                with pytest.raises(pymysql.err.MySQLError) as error:
                    for each in limited:
                        cursor.execute(each)
                assert error.value.args[0] == 1969, statement
                assert 0.15 < time.monotonic() - start < 10
            cursor.execute("set statement max_statement_time=0.2 for select get_lock('a lock', 60)")
            assert cursor.fetchall() == ((None,),)
            # The limit ends with the statement.
            cursor.execute("set max_statement_time=0")
            cursor.execute("select sleep(0.3)")
            assert cursor.fetchall() == ((0,),)
    other.close()
    assert database.query("select a from t", database="t") == ((1,),)


def test_kill_and_processlist(database):
    sleeper = database.connect()
    number = sleeper.thread_id()
    outcome = []

    def sleep():
        try:
            with sleeper.cursor() as cursor:
                cursor.execute("select sleep(60)")
                outcome.append(cursor.fetchall())
        except pymysql.err.MySQLError as error:
            outcome.append(error.args[0])

    for kill in ("kill query", "kill"):
        thread = threading.Thread(target=sleep)
        thread.start()
        wait_for("the statement to run", lambda: any(row[0] == number and row[4] == "Query" and row[7] == "select sleep(60)"
                                                     for row in database.query("show full processlist")), 10)
        start = time.monotonic()
        database.query(f"{kill} {number}")
        thread.join(10)
        assert time.monotonic() - start < 5
    assert outcome[0] in (((1,),), 1317)
    assert outcome[1] in (2013, 2006, 1317, 1927)
    with pytest.raises(pymysql.err.MySQLError) as error:
        database.query("kill 999999999")
    assert error.value.args[0] == 1094


def test_a_query_that_is_killed_while_none_runs(database):
    with database.connect() as idle, idle.cursor() as cursor:
        for statement in ("select 1 + sleep(0.1)", "select 1"):
            database.query(f"kill query {idle.thread_id()}")
            cursor.execute(statement)
            assert cursor.fetchall() == ((1,),)
    connection = connector(database, database="t")
    cursor = connection.cursor(prepared=True)
    statement = "select 1 + sleep(%s)"
    for _ in range(3):
        cursor.execute(statement, (0.1,))
        assert cursor.fetchall() == [(1,)]
        database.query(f"kill query {connection.connection_id}")
    connection.close()


def test_a_session_begins_with_the_global_values(database):
    database.query("create table t.checked (id int check (id > 0))", "set global check_constraint_checks = 0")
    try:
        database.query("insert into t.checked values (0)")
    finally:
        database.query("set global check_constraint_checks = 1")
    with pytest.raises(pymysql.err.MySQLError) as error:
        database.query("insert into t.checked values (0)")
    assert error.value.args[0] == 4025


def test_a_statement_is_prepared_again_in_its_database(database):
    database.query("create database other_t", "create table t.a (id int)", "create table other_t.a (id int)")
    try:
        connection = connector(database, database="t")
        cursor = connection.cursor(prepared=True)
        plain = connection.cursor()
        insert = "insert into a values (%s)"
        cursor.execute(insert, (1,))
        plain.execute("use other_t")
        cursor.execute(insert, (2,))
        database.query("alter table t.a add column b int default 5")
        with pytest.raises(mysql.connector.Error) as error:
            cursor.execute(insert, (3,))
        assert error.value.errno == 1136
        database.query("alter table t.a drop column b")
        cursor.execute(insert, (4,))
        plain.execute("select database()")
        assert plain.fetchall() == [("other_t",)]
        connection.close()
        assert database.query("select * from t.a order by id") == ((1,), (2,), (4,))
        assert database.query("select * from other_t.a") == ()
    finally:
        database.query("drop database other_t")


def test_max_connections(server):
    server.query("set global max_connections=10")
    server.query("create user app@localhost", "grant all on *.* to app@localhost")
    opened = []
    try:
        with pytest.raises(pymysql.err.OperationalError) as error:
            for _ in range(20):
                opened.append(server.connect())
        assert error.value.args[0] == 1040
        assert len(opened) in (10, 11)
    finally:
        for connection in opened:
            connection.close()
    deadline = time.monotonic() + 10
    while True:
        try:
            server.query("select 1")
            break
        except pymysql.err.OperationalError:
            assert time.monotonic() < deadline
            # The pause of a loop that waits.
            time.sleep(0.05)


def test_accounts_and_privileges(server):
    server.query("drop user if exists ''@localhost", "create database d", "create table d.t (a int)", "create database other", "create table other.t (a int)",
                 "create user reader@'%' identified by 'secret'", "grant select on d.* to reader@'%'",
                 "create user writer@localhost identified by 'w'", "grant select, insert, update, delete, create, drop on d.* to writer@localhost",
                 "create user nobody@localhost")

    def denied(statement, number, **login):
        with pytest.raises(pymysql.err.MySQLError) as error:
            server.query(statement, **login)
        assert error.value.args[0] == number, error.value.args

    reader, writer = {"user": "reader", "password": "secret"}, {"user": "writer", "password": "w"}
    assert server.query("select * from d.t", **reader) == ()
    tcp = {"unix_socket": None, "host": "127.0.0.1", "port": server.port}
    assert server.query("select current_user()", **reader, **tcp) == (("reader@%",),)
    denied("select 1", 1045, user="reader", password="wrong")
    denied("select 1", 1045, user="ghost", password="x")
    denied("insert into d.t values (1)", 1142, **reader)
    denied("select * from other.t", 1142, **reader)
    denied("create table d.u (a int)", 1142, **reader)
    denied("create user x@localhost", 1227, **writer)
    denied("set global max_connections=5", 1227, **writer)
    denied("grant select on other.* to writer@localhost", 1044, **writer)
    denied("use d", 1044, user="nobody")
    assert server.query("insert into d.t values (1)", "select * from d.t", **writer) == ((1,),)
    assert ("d",) in server.query("show databases", **writer) and ("other",) not in server.query("show databases", **writer)
    assert server.query("show grants for reader@'%'")[1] == ("GRANT SELECT ON `d`.* TO `reader`@`%`",)
    server.query("revoke insert on d.* from writer@localhost")
    denied("insert into d.t values (2)", 1142, **writer)
    server.query("alter user writer@localhost identified by 'new'")
    denied("select 1", 1045, **writer)
    server.query("drop user reader@'%'")
    denied("select 1", 1045, **reader)
    # They are in the log and survive a crash.
    server.kill()
    server.start()
    denied("insert into d.t values (2)", 1142, user="writer", password="new")
    assert server.query("select a from d.t", user="writer", password="new") == ((1,),)


def test_session_tracking_and_reset(database):
    connection = connector(database, database="t")
    cursor = connection.cursor()
    cursor.execute("set @a=1, autocommit=0")
    connection.cmd_reset_connection()
    cursor.execute("select @a, @@autocommit")
    assert cursor.fetchall() == [(None, 1)]
    connection.cmd_change_user("root", "", "t")
    cursor = connection.cursor()
    cursor.execute("select database()")
    assert cursor.fetchall() == [("t",)]
    connection.close()


def test_found_rows_are_counted(database):
    database.query("create table t.found_rows (k int primary key, v int unique)", "insert into t.found_rows values (1, 1)")
    steps = [("insert into found_rows values (1, 1) on duplicate key update v = 1", 1, b""),
             ("insert into found_rows values (1, 1), (2, 2) on duplicate key update v = values(v)", 2, b"Records: 2  Duplicates: 1  Warnings: 0"),
             ("insert into found_rows values (1, 5) on duplicate key update v = values(v)", 2, b""),
             ("insert into found_rows values (1, 6), (2, 2), (3, 3), (3, 4) on duplicate key update v = values(v)", 6, b"Records: 4  Duplicates: 3  Warnings: 0"),
             ("insert ignore into found_rows values (1, 6), (2, 6) on duplicate key update v = values(v)", 2, b"Records: 2  Duplicates: 2  Warnings: 1"),
             ("insert into found_rows select 1, 6 union select 2, 2 on duplicate key update v = values(v)", 2, b"Records: 2  Duplicates: 0  Warnings: 0"),
             ("update found_rows set v = 6 where k = 1", 1, b"Rows matched: 1  Changed: 0  Warnings: 0")]
    with database.connect(database="t", client_flag=pymysql.constants.CLIENT.FOUND_ROWS) as connection, connection.cursor() as cursor:
        for statement, affected, message in steps:
            assert cursor.execute(statement) == affected, statement
            assert cursor._result.message.endswith(message), statement
            cursor.execute("select row_count()")
            assert cursor.fetchone() == (affected,), statement
    with database.connect(database="t") as connection, connection.cursor() as cursor:
        assert cursor.execute("insert into found_rows values (1, 6), (2, 2) on duplicate key update v = values(v)") == 0
        assert cursor._result.message.endswith(b"Records: 2  Duplicates: 0  Warnings: 0")
