"""Required privileges of each statement: Paceline and a real MariaDB allow and refuse the same."""

import mysql.connector
import pymysql
import pytest

from support.servers import MariaDb, Paceline


@pytest.fixture(params=[Paceline, MariaDb], ids=["paceline", "mariadb"])
def server(request, tmp_path):
    server = request.param(tmp_path / "server")
    server.start()
    server.query("create database mine", "create database victim", "create table victim.t (a int primary key, b int)",
                 "insert into victim.t values (1, 2)", "create user me@localhost")
    yield server
    server.close()


def answer(cursor, statement):
    """Returns a statement's rows, or its error's number."""
    try:
        cursor.execute(statement)
    except pymysql.MySQLError as error:
        return error.args[0]
    return cursor.fetchall()


def refused(server, expected, *statements, **options):
    with server.connect(user="me", **options) as session, session.cursor() as cursor:
        for statement in statements:
            assert answer(cursor, statement) == expected, statement


def allowed(server, *statements, **options):
    with server.connect(user="me", **options) as session, session.cursor() as cursor:
        for statement in statements:
            assert not isinstance(answer(cursor, statement), int), statement


def test_grant_option_changes_no_account(server):
    server.query("create user other@localhost identified by 'o'", "grant all on mine.* to me@localhost with grant option")
    before = server.query("show create user root@localhost"), server.query("show create user other@localhost")
    refused(server, 1044, "grant usage on mine.* to root@localhost identified by 'x'", "grant select on mine.* to other@localhost identified by 'x'",
            "grant usage on mine.* to root@localhost identified via mysql_native_password using password('x')",
            "grant usage on mine.* to other@localhost require ssl", "grant usage on mine.* to other@localhost require none",
            "grant usage on mine.* to other@localhost with max_user_connections 1",
            "grant usage on mine.* to me@localhost, other@localhost identified by 'x'")
    refused(server, 1410, "grant usage on mine.* to new@localhost identified by 'x'")
    refused(server, 1133, "grant usage on mine.* to new@localhost")
    assert (server.query("show create user root@localhost"), server.query("show create user other@localhost")) == before
    server.query("select 1", user="other", password="o")
    # Granting privileges that the account itself has, and changing its own password.
    allowed(server, "grant select on mine.* to other@localhost", "grant usage on mine.* to me@localhost identified by 'p'")
    server.query("select 1", user="me", password="p")


def test_locking_an_account_needs_more_than_grant_option(paceline):
    paceline.query("create database mine", "create user me@localhost", "create user other@localhost",
                   "grant all on mine.* to me@localhost with grant option")
    refused(paceline, 1044, "grant usage on mine.* to other@localhost account lock", "grant usage on mine.* to root@localhost account lock")
    # Its own limits too.
    refused(paceline, 1044, "grant usage on mine.* to me@localhost require none")


def test_privileges_that_let_a_grant_change_accounts(server):
    server.query("create user other@localhost", "grant all on mine.* to me@localhost with grant option", "grant update on mysql.* to me@localhost")
    allowed(server, "grant select on mine.* to other@localhost identified by 'x' require none with max_user_connections 3")
    server.query("select 1", user="other", password="x")
    refused(server, 1410, "grant usage on mine.* to new@localhost identified by 'x'")
    server.query("grant insert on mysql.* to me@localhost")
    allowed(server, "grant usage on mine.* to new@localhost identified by 'x'")
    server.query("revoke insert on mysql.* from me@localhost", "grant create user on *.* to me@localhost")
    allowed(server, "grant usage on mine.* to newer@localhost identified by 'x'")
    server.query("select 1", user="newer", password="x")


def test_alter_table_rename_needs_what_rename_needs(server):
    rename = "alter table victim.t rename to mine.t"
    server.query("grant create, insert on mine.* to me@localhost", "grant alter on victim.* to me@localhost")
    refused(server, 1142, rename, "alter table victim.t add c int, rename to mine.t")
    allowed(server, "alter table victim.t add d int")
    server.query("grant drop on victim.* to me@localhost", "revoke insert on mine.* from me@localhost")
    refused(server, 1142, rename)
    server.query("grant insert on mine.* to me@localhost", "revoke create on mine.* from me@localhost")
    refused(server, 1142, rename)
    server.query("grant create on mine.* to me@localhost")
    allowed(server, rename)
    assert server.query("select a, b from mine.t") == ((1, 2),)


def test_or_replace_needs_drop(server):
    server.query("create table victim.v (a int)", "grant create, insert, select, create view on victim.* to me@localhost")
    refused(server, 1142, "create or replace table victim.t (a int)", "create or replace table victim.t like victim.v",
            "create or replace table victim.t select 1 as x", "create or replace table victim.absent (a int)")
    refused(server, 1142, "create or replace view victim.w as select 1")
    refused(server, 1044, "create or replace database victim")
    assert server.query("select * from victim.t") == ((1, 2),)
    allowed(server, "create table if not exists victim.t (a int)", "create table victim.u (a int)", "create view victim.w as select 1 as one")
    server.query("grant drop on victim.* to me@localhost")
    allowed(server, "create or replace table victim.t (z int)", "create or replace view victim.w as select 2 as two",
            "create or replace database victim")
    assert server.query("show tables from victim") == ()


def test_create_select_needs_its_privileges_before_it_makes_anything(server):
    server.query("grant create, drop on mine.* to me@localhost", "create table mine.t (a int)", "insert into mine.t values (7)")
    refused(server, 1142, "create table mine.s select * from victim.t", "create or replace table mine.t select 1 as x")
    server.query("grant insert on mine.* to me@localhost")
    refused(server, 1142, "create or replace table mine.t select * from victim.t")
    assert server.query("select * from mine.t") == ((7,),)
    allowed(server, "create table mine.s select 1 as x")


def test_a_foreign_key_needs_a_privilege_on_its_parent(server):
    server.query("grant create, alter, index, insert, references on mine.* to me@localhost")
    keys = ("create table mine.c (a int, foreign key (a) references victim.t (a))", "create table mine.c (a int references victim.t (a))",
            "create table mine.c (a int, foreign key (a) references victim.absent (a))")
    allowed(server, "create table mine.d (a int)")
    refused(server, 1142, *keys, "alter table mine.d add foreign key (a) references victim.t (a)")
    if isinstance(server, Paceline):
        refused(server, 1142, "alter table mine.d add c int references victim.t (a)", "alter table mine.d modify a int references victim.t (a)")
    server.query("grant references on victim.* to me@localhost")
    allowed(server, keys[0], "alter table mine.d add foreign key (a) references victim.t (a)", database="mine")
    server.query("drop table mine.c", "revoke references on victim.* from me@localhost", "grant select on victim.* to me@localhost")
    # MariaDB accepts any of the privileges on rows.
    allowed(server, keys[0], "create table mine.p (a int primary key, b int, foreign key (b) references mine.p (a))", database="mine")


def test_pairs_of_rename_are_judged_as_they_are_executed(paceline):
    paceline.query("create database mine", "create database victim", "create table victim.a (v int)", "insert into victim.a values (7)",
                   "create user me@localhost", "grant create temporary tables on victim.* to me@localhost", "grant all on mine.* to me@localhost")
    renames = ("rename table victim.a to victim.x, victim.a to mine.a", "rename table victim.a to mine.x, victim.a to victim.y",
               "rename table victim.a to victim.x, victim.x to victim.z, victim.a to mine.a")
    for rename in renames:
        with paceline.connect(user="me") as session, session.cursor() as cursor:
            cursor.execute("create temporary table victim.a (t int)")
            assert answer(cursor, rename) == 1142, rename
    assert paceline.query("select v from victim.a") == ((7,),) and paceline.query("show tables from mine") == ()
    # Only temporary tables, also by names that earlier pairs have assigned.
    allowed(paceline, "create temporary table victim.a (t int)", "rename table victim.a to victim.x, victim.x to mine.y", "select t from mine.y")


def test_a_rename_that_uncovers_an_ordinary_table_takes_its_locks(paceline):
    paceline.query("create database d", "create table d.a (v int)", "insert into d.a values (7)")
    with paceline.connect() as reader, paceline.connect() as session, reader.cursor() as reading, session.cursor() as cursor:
        reading.execute("begin")
        reading.execute("select * from d.a")
        cursor.execute("set lock_wait_timeout = 1")
        cursor.execute("create temporary table d.a (t int)")
        assert answer(cursor, "rename table d.a to d.x, d.a to d.y") == 1205
        reading.execute("commit")
        cursor.execute("rename table d.a to d.x, d.a to d.y")
        assert answer(cursor, "select v from d.y") == ((7,),) and answer(cursor, "select t from d.x") == ()
    paceline.kill()
    paceline.start()
    assert paceline.query("show tables from d") == (("y",),)


def test_a_pattern_can_be_granted_by_a_holder_of_all_that_it_matches(server):
    server.query("create database team_a", "create database team1a", "grant all on `team_a`.* to me@localhost with grant option",
                 r"grant all on `my\_db`.* to me@localhost with grant option", "grant all on `x%`.* to me@localhost with grant option")
    refused(server, 1044, "grant all on `team%a`.* to me@localhost", "grant all on `team%`.* to me@localhost", "grant select on `%`.* to me@localhost",
            "grant all on `my_db`.* to me@localhost", "grant all on `my%db`.* to me@localhost", "revoke select on `team%a`.* from me@localhost",
            "grant select on `_%`.* to me@localhost")
    allowed(server, "grant select on `team_a`.* to me@localhost", "grant select on `team1a`.* to me@localhost",
            r"grant select on `team\_a`.* to me@localhost", r"grant select on `my\_db`.* to me@localhost", "grant select on `x_y%`.* to me@localhost",
            "grant select on `x%y`.* to me@localhost", "grant select on `x%`.* to me@localhost")
    assert all("%a" not in grant for [grant] in server.query("show grants for me@localhost"))


def test_preparing_reveals_nothing_that_may_not_be_read(server):
    server.query("grant select on mine.* to me@localhost", "create table mine.own (a int)")
    session = mysql.connector.connect(user="me", unix_socket=str(server.socket), use_pure=True, charset="utf8mb4", collation="utf8mb4_general_ci")
    try:
        cursor = session.cursor(prepared=True)
        for statement in ("select * from victim.t", "select b from victim.t where a = ?", "insert into victim.t values (?, ?)",
                          "update victim.t set b = ?", "delete from victim.t where a = ?"):
            with pytest.raises(mysql.connector.Error) as error:
                session.cmd_stmt_prepare(statement.encode())
            assert error.value.errno == 1142, statement
        cursor.execute("select a from mine.own where a = ?", (1,))
        assert cursor.fetchall() == []
    finally:
        session.close()
    refused(server, 1142, "prepare s from 'select * from victim.t'", "prepare s from 'delete from victim.t'")
    allowed(server, "prepare s from 'select * from mine.own'", "execute s")


def test_index_definitions_need_the_privilege_for_indexes(server):
    server.query("create table mine.indexed (a int, b int, key (b))", "grant alter on mine.* to me@localhost")
    refused(server, 1142, "create index i on mine.indexed (a)", "drop index b on mine.indexed")
    server.query("revoke alter on mine.* from me@localhost", "grant index on mine.* to me@localhost")
    allowed(server, "create index i on mine.indexed (a)", "drop index b on mine.indexed")
    refused(server, 1142, "alter table mine.indexed add key (b)")


def test_databases_whose_names_differ_by_case_are_two(server):
    server.query("create database dX", "create database Dx", "create table dX.t (a int)", "create table Dx.t (a int)",
                 "grant all on dX.* to me@localhost with grant option", "create user v@localhost")
    allowed(server, "insert into dX.t values (1)", "grant select on dX.* to v@localhost")
    refused(server, 1142, "select * from Dx.t")
    refused(server, 1044, "use Dx")
    refused(server, 1044, "create database DX")
    refused(server, 1044, "grant select on Dx.* to v@localhost")


def test_maintaining_a_table_needs_privileges_on_it(server):
    server.query("create database d", "create table d.t (a int)")
    for statement in ("check table d.t", "analyze table d.t", "optimize table d.t", "repair table d.t", "check table d.nowhere"):
        refused(server, 1142, statement)
    server.query("grant select on d.* to me@localhost")
    allowed(server, "check table d.t")
    refused(server, 1142, "analyze table d.t")
    server.query("grant insert on d.* to me@localhost")
    allowed(server, "analyze table d.t", "optimize table d.t", "repair table d.t")


def test_select_is_needed_for_what_reveals_rows(server):
    server.query("grant insert, update, delete on victim.* to me@localhost", "create table victim.u (a int primary key, b int)")
    # For a column that may not be read, MariaDB names the column (1143).
    told = ["insert into t values (1, 5) on duplicate key update b = 5 returning *", "insert into t values (1, 5) on duplicate key update b = 5",
            "insert into t select 1, 5 on duplicate key update b = values(b)", "insert into t values (2, 2) returning a",
            "update t set b = length(b)", "update t set b = 1 where a = 1", "update t set b = 1 order by a",
            "update t set b = (select max(x.b) from t x)", "update t set b = (select t.a)", "update t, u set t.b = 1", "update t, u set t.b = 1, u.b = 1 where t.a = u.a",
            "delete from t where a = 1", "delete from t order by a limit 1", "delete from t returning a", "delete from t using t", "delete t, u from t, u"]
    with server.connect(user="me", database="victim") as session, session.cursor() as cursor:
        for statement in told:
            assert answer(cursor, statement) in (1142, 1143), statement
    assert server.query("select * from victim.t") == ((1, 2),)
    allowed(server, "insert into t values (3, a + 1)", "replace into t values (3, 5)", "update t set b = 1", "update t set b = default", "update t set b = 1 where 1 = 1 limit 1",
            "update t set b = (select 1)", "update t, u set t.b = 1, u.b = 1", "delete from t returning 1", "delete from t limit 1", "delete from t", database="victim")
