"""USER_STATISTICS and CLIENT_STATISTICS (userstat) beside MariaDB: refused logins, changes of the user, commands."""

import mysql.connector
import pymysql
import pytest
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

COMMANDS = "select_commands, update_commands, other_commands, rollback_transactions"


@pytest.fixture(params=[Paceline, MariaDb])
def server(request, tmp_path):
    # MariaDB's binary log takes part in its transactions, which then count twice.
    more = ["--skip-log-bin"] if request.param is MariaDb else []
    server = request.param(tmp_path / "server", "--userstat=ON", *more).start()
    server.query("create database d", "create table d.t (a int primary key)", "create user u@localhost identified by 'x'", "grant all on *.* to u@localhost",
                 "create procedure d.p() begin select 1; insert into d.t values (1); delete from d.t where a = 1; end",
                 "create function d.f() returns int deterministic begin insert into d.t values (2); delete from d.t where a = 2; return 1; end",
                 "create trigger d.before_insert before insert on d.t for each row set @inserted = 1")
    yield server
    server.close()


def of_user(server, user, columns):
    rows = server.query(f"select {columns} from information_schema.user_statistics where user = '{user}'")
    return rows[0] if rows else None


def test_refused_logins_count_where_there_is_an_entry(server):
    server.query("do 1", user="u", password="x")
    denied = "denied_connections, access_denied"
    for user in ("u", "u", "nobody", "root"):
        server.refuses(1045, user=user, password="wrong")
    server.refuses(1049, user="u", password="x", database="nosuch")
    wait_for("the user's", lambda: of_user(server, "u", denied) == (2, 2))
    assert of_user(server, "root", denied) == (1, 1)
    assert of_user(server, "nobody", denied) is None
    assert server.query(f"select client, {denied} from information_schema.client_statistics") == (("localhost", 4, 4),)
    # A user without an entry gets none.
    server.query("create user silent@localhost identified by 'x'")
    server.refuses(1045, user="silent", password="wrong")
    assert of_user(server, "silent", denied) is None


def test_a_change_of_the_user_is_no_connection(server):
    server.query("create user one@localhost identified by 'x'", "create user two@localhost identified by 'x'")
    connection = mysql.connector.connect(unix_socket=str(server.socket), user="one", password="x", ssl_disabled=True)
    try:
        for _ in range(3):
            connection.cmd_change_user("two", "x")
            connection.cmd_change_user("one", "x")
        wait_for("both entries", lambda: of_user(server, "one", "1") and of_user(server, "two", "1"))
        assert of_user(server, "one", "total_connections") == of_user(server, "two", "total_connections") == (1,)
        with pytest.raises(mysql.connector.Error):
            connection.cmd_change_user("two", "wrong")
        # The user before is the one that was denied.
        wait_for("the denial", lambda: of_user(server, "one", "denied_connections, access_denied") == (1, 1))
        assert of_user(server, "two", "denied_connections, access_denied") == (0, 0)
    finally:
        connection.close()


def test_clients_that_vanish_are_lost_connections(server):
    if isinstance(server, MariaDb):
        pytest.skip("MariaDB shows 0 whatever happens")
    server.query("do 1", user="u", password="x")
    server.connect(user="u", password="x")._force_close()
    wait_for("the lost connection", lambda: of_user(server, "u", "lost_connections") == (1,))
    server.connect(user="u", password="x").close()
    wait_for("the other one", lambda: of_user(server, "u", "total_connections") == (3,))
    assert of_user(server, "u", "lost_connections") == (1,)


CASES = {
    # Statements: SELECT, update and other commands, ROLLBACK_TRANSACTIONS.
    ("call d.p()",): (1, 2, 2, 0),
    ("prepare s from 'select 1'", "execute s", "execute s"): (2, 0, 3, 0),
    ("execute immediate 'delete from d.t'",): (0, 1, 1, 0),
    ("begin not atomic select 1; do 1; end",): (1, 0, 2, 0),
    ("select d.f()",): (1, 2, 1, 0),
    ("insert into d.t values (50), (51)",): (0, 1, 2, 0),
    ("select * from d.nosuch",): (1, 0, 0, 0),
    ("set statement max_statement_time = 9 for select 1",): (1, 0, 0, 0),
    ("analyze table d.t", "check table d.t", "repair table d.t"): (0, 0, 3, 0),
    ("optimize table d.t",): (0, 1, 0, None),
    ("explain delete from d.t", "explain select 1"): (1, 1, 0, 0),
    ("begin", "savepoint s", "insert into d.t values (7)", "rollback to savepoint s", "rollback"): (0, 1, 5, None),
    ("begin", "insert into d.t values (8)", "savepoint s", "insert into d.t values (9)", "rollback to savepoint s", "rollback"): (0, 2, 6, 2),
}


def test_commands_within_others_count(server):
    with server.connect(user="u", password="x") as connection, connection.cursor() as cursor:

        def run(statement):
            try:
                cursor.execute(statement)
                while cursor.nextset():
                    pass
            except pymysql.err.ProgrammingError:
                pass

        run("do 1")
        wait_for("the entry", lambda: of_user(server, "u", "1"))
        for statements, expected in CASES.items():
            before = of_user(server, "u", COMMANDS)
            for statement in statements:
                run(statement)
            total = sum(expected[:3])
            wait_for(f"{statements}", lambda: sum(of_user(server, "u", COMMANDS)[:3]) >= sum(before[:3]) + total)
            found = [now - earlier for earlier, now in zip(before, of_user(server, "u", COMMANDS))]
            assert [one if wanted is None else wanted for wanted, one in zip(expected, found)] == found, statements
