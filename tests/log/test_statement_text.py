"""Texts of statements in the log."""

import subprocess
from pathlib import Path

import pymysql
import pytest
from pymysql.constants import CLIENT

from support.side_by_side import Session, statements_of
from support.waiting import wait_for


def logged(server):
    return [row[5] for row in server.query("show binlog events") if row[2] == "Query"]


SECRET = "correct horse battery staple"
HASH = "*BB2CCD84AA8AA6C6B5AE7FCA4A4F6BD49C7F8B03"


def test_no_password_is_logged_in_clear(paceline, mariadb):
    [[hash_of_secret]] = mariadb.query(f"select password('{SECRET}')")
    paceline.query(
        "reset master",
        f"create user a@localhost identified by '{SECRET}', b identified via mysql_native_password using password('{SECRET}')",
        f"alter user a@localhost identified by '{SECRET}' account unlock -- '{HASH}'",
        f"grant select on *.* to c identified by '{SECRET}'",
        f"set password for b = password('{SECRET}')",
        f"prepare s from 'create user d identified by ''{SECRET}'''",
        "execute s",
        f"execute immediate 'create user e identified by ''{SECRET}'''",
        f"create or replace user f identified by password '{HASH}'",
        "create user 'o''b' identified by ''",
        f"set password for 'o''b' = '{HASH}'",
    )
    several = f"create user g identified by '{SECRET}'; create user h identified by '{SECRET}'"
    with paceline.connect(client_flag=CLIENT.MULTI_STATEMENTS) as connection, connection.cursor() as cursor:
        cursor.execute(several)
        while cursor.nextset():
            pass
    assert logged(paceline) == [
        f"create user a@localhost identified by PASSWORD '{hash_of_secret}', "
        f"b identified via mysql_native_password using '{hash_of_secret}'",
        f"alter user a@localhost identified by PASSWORD '{hash_of_secret}' account unlock -- '{HASH}'",
        f"grant select on *.* to c identified by PASSWORD '{hash_of_secret}'",
        f"SET PASSWORD FOR 'b'@'%'='{hash_of_secret}'",
        f"create user d identified by PASSWORD '{hash_of_secret}'",
        f"create user e identified by PASSWORD '{hash_of_secret}'",
        f"create or replace user f identified by password '{HASH}'",
        "create user 'o''b' identified by PASSWORD ''",
        f"SET PASSWORD FOR 'o''b'@'%'='{HASH}'",
        f"create user g identified by PASSWORD '{hash_of_secret}'",
        f"create user h identified by PASSWORD '{hash_of_secret}'",
    ]
    [log] = paceline.log_files()
    assert SECRET.encode() not in log.read_bytes()
    # The log has the meaning of the statements: for replay, and for MariaDB.
    mariadb.query("delete from mysql.global_priv where user = ''", "flush privileges")
    users = ("a", "b", "c", "d", "e", "g", "h")
    paceline.kill()
    paceline.start()
    assert paceline.stop() == 0
    script = subprocess.run(["mariadb-binlog", "--no-defaults", str(log)], check=True, capture_output=True, text=True).stdout
    paceline.start()
    mariadb.client(text=script)
    for server in (paceline, mariadb):
        for user in users:
            server.connect(user=user, password=SECRET).close()
        with pytest.raises(pymysql.err.OperationalError):
            server.connect(user="a", password="wrong")


def test_changed_rows_of_accounts_are_logged_as_mariadb_reads_them(paceline, mariadb):
    """The log has statements that the client did not write: they do not depend on its sql_mode and character set."""
    described = r"""{"access": 1, "ssl_type": 3, "x509_subject": "a\\b'c"}""".replace("'", "''")
    with paceline.connect(charset="latin1") as connection, connection.cursor() as cursor:
        cursor.execute("set sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'")
        cursor.execute("create user \"ö\"@localhost")
        cursor.execute(f"update mysql.global_priv set priv = '{described}' where user = 'ö'")
        cursor.execute("select @@sql_mode")
        assert cursor.fetchone() == ("ANSI_QUOTES,NO_BACKSLASH_ESCAPES",)
    [log] = paceline.log_files()
    script = subprocess.run(["mariadb-binlog", "--no-defaults", str(log)], check=True, capture_output=True, text=True).stdout
    mariadb.client(text=script)
    shown = [server.query("show create user `ö`@localhost", "show grants for `ö`@localhost") for server in (paceline, mariadb)]
    assert shown[0] == shown[1]


def test_sessions_are_not_shown_with_passwords(paceline):
    with paceline.connect() as holder, holder.cursor() as cursor, paceline.connect() as other:
        cursor.execute("create user a")
        cursor.execute("select get_lock('x', 5)")
        other._execute_command(3, f"set password for a = password('{SECRET}'), @a = get_lock('x', 20)")
        [text] = wait_for("the statement to be shown", lambda: [row[7] for row in paceline.query("show processlist")
                                                                if row[0] == other.thread_id() and row[7]])
        assert SECRET not in text and "set password for a = '*" in text
        cursor.execute("select release_lock('x')")
        other._read_query_result()


def test_comments_stay_whole(paceline, mariadb):
    """A text that ends in an executed comment can be parsed again."""
    statements = [
        "create database d /*!40100 default character set utf8mb4 */",
        "create table d.t (a int) /*!40100 comment='x' */",
        "alter table d.t add b int -- the end",
        "set statement max_statement_time = 100 for create table d.u (a int)",
    ]
    for server in (paceline, mariadb):
        server.query("reset master", *[statement + "\n;" for statement in statements])
        assert logged(server) == statements
    paceline.kill()
    paceline.start()
    assert paceline.query("show create table d.t")[0][1].endswith("COMMENT='x'")


def test_what_is_for_other_versions_is_a_comment_in_the_log(paceline, mariadb):
    """A replica of such a version must not execute what its primary has skipped."""
    for server in (paceline, mariadb):
        server.query("reset master", "create database d /*!999999 character set latin1 */",
                     "create /*M!999999 or replace */ table d.t (a int) /*!50701 comment='x' */")
        assert logged(server) == ["create database d /* 999999 character set latin1 */",
                                  "create /*M 999999 or replace */ table d.t (a int) /* 50701 comment='x' */"]


def test_savepoints_stand_between_the_rows(paceline, mariadb):
    """The log has MariaDB's events for savepoints, and replay skips them."""
    script = (Path(__file__).parent.parent / "sql/savepoints_in_the_log.sql").read_text()
    def shape(server):
        # Table numbers and transaction numbers differ between servers.
        [[file, *_]] = server.query("show master status")
        events = server.query(f"show binlog events in '{file}'")
        return [(row[2], row[5] if row[2] in ("Query", "Annotate_rows") else "") for row in events]

    shapes = []
    for server in (paceline, mariadb):
        server.query("create database t", "reset master")
        session = Session(server, database="t")
        for statement in statements_of(script)[:-1]:
            session.answer(statement)
        session.close()
        shapes.append([event for event in shape(server) if event[0] in ("Query", "Annotate_rows", "Table_map", "Xid", "Gtid")])
    assert shapes[0] == shapes[1]
    before = paceline.query("select * from t.t")
    paceline.kill()
    paceline.start()
    assert paceline.query("select * from t.t") == before
