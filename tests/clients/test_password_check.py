"""Rules for passwords: `--simple-password-check` beside MariaDB's plugin of this name."""

import pymysql
import pytest
from support.servers import MariaDb, Paceline

HASH = "*0123456789012345678901234567890123456789"
# Everything that gives a password to an account, and what changes the rules. Both servers run it from top to bottom.
STATEMENTS = [
    "create user a@localhost identified by 'short'",
    "create user a@localhost identified by 'Sh0rt-er-er'",
    "create user a@localhost identified by 'x'",
    "create user if not exists a@localhost identified by 'x'",
    "create user b@localhost",
    "create user b@localhost identified by ''",
    f"create user b@localhost identified by password '{HASH}'",
    "create user b@localhost identified via unix_socket",
    "create user c@localhost identified via mysql_native_password",
    "create user c@localhost identified via mysql_native_password using password('aaa')",
    f"create user c@localhost identified via mysql_native_password as '{HASH}'",
    "create user c@localhost identified via unix_socket or mysql_native_password",
    "create user c@localhost identified via unix_socket or mysql_native_password using password('Sh0rt-er-er')",
    "create user `Aa.1aaaa`@localhost identified by 'Aa.1aaaa'",
    "create user `Aa.1aaaab`@localhost identified by 'Aa.1aaaa'",
    "create user d@localhost identified by 'aA1.aaa'",
    "create user d@localhost identified by 'aA1aaaaaa'",
    "create user d@localhost identified by 'aA.aaaaaa'",
    "create user d@localhost identified by 'aa1.aaaaaa'",
    "create user d@localhost identified by 'AAA1.AAAA'",
    "create user d@localhost identified by 'äÄ1.aaaaa'",
    "set password for a@localhost = 'x'",
    "set password for a@localhost = password('x')",
    "set password for a@localhost = password('Sh0rt-er-er')",
    f"set password for a@localhost = '{HASH}'",
    "set password for a@localhost = ''",
    "grant select on *.* to a@localhost identified by 'x'",
    "grant select on *.* to e@localhost identified by 'x'",
    "set sql_mode=''",
    "grant select on *.* to e@localhost",
    "grant select on *.* to a@localhost",
    "set sql_mode=default",
    "grant select on *.* to e@localhost",
    "alter user a@localhost identified by 'x'",
    f"alter user a@localhost identified by password '{HASH}'",
    "alter user a@localhost account lock",
    "create role r1",
    "grant select on *.* to r1",
    "set global simple_password_check_minimal_length=3",
    "select @@simple_password_check_minimal_length",
    "set global simple_password_check_letters_same_case=10",
    "select @@simple_password_check_minimal_length, @@simple_password_check_letters_same_case",
    "set global simple_password_check_minimal_length=3",
    "create user g@localhost identified by 'aaaaaaaaaaAAAAAAAAAA1'",
    "create user g@localhost identified by 'aaaaaaaaaaAAAAAAAAAA1-'",
    "set global simple_password_check_digits=1001",
    "set session simple_password_check_digits=3",
    "set global strict_password_validation=off",
    f"create user h@localhost identified by password '{HASH}'",
    "select user, host from mysql.user where user rlike '^.$' or user like 'A%' order by user",
]


def answers(server):
    """Returns what each statement gives: its rows or error, and its conditions."""
    seen = []
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in STATEMENTS:
            try:
                cursor.execute(statement)
                result = cursor.fetchall()
            except pymysql.err.Error as error:
                result = error.args
            cursor.execute("show warnings")
            seen.append((statement, result, cursor.fetchall()))
    return seen


def test_passwords_are_refused_as_by_the_plugin_of_mariadb(tmp_path):
    servers = [Paceline(tmp_path / "paceline", "--simple-password-check=ON"),
               MariaDb(tmp_path / "mariadb", "--plugin-load-add=simple_password_check")]
    try:
        ours, theirs = [answers(server.start()) for server in servers]
        assert [(our, their) for our, their in zip(ours, theirs) if our != their] == []
        # What is replayed was accepted before.
        servers[0].kill()
        servers[0].start()
        assert servers[0].query(STATEMENTS[-1]) == ours[-1][1]
    finally:
        for server in servers:
            server.close()


def test_a_refused_password_leaves_all_accounts_of_its_statement_as_they_were(tmp_path):
    server = Paceline(tmp_path / "paceline", "--simple-password-check=ON")
    try:
        server.start()
        server.query("create user f0@localhost identified by 'Sh0rt-er-er'")
        # MariaDB makes f1, and drops f0.
        for statement in ("create user f1@localhost identified by 'Sh0rt-er-er', f2@localhost identified by 'x'",
                          "create or replace user f0@localhost identified by 'x'"):
            with pytest.raises(pymysql.err.OperationalError, match="1819"):
                server.query(statement)
        assert server.query("select user from mysql.user where user like 'f_'") == (("f0",),)
    finally:
        server.close()


def test_without_the_option_every_password_is_good(paceline):
    paceline.query("create user a@localhost identified by 'x'", "create user b@localhost")
