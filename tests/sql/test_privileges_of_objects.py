"""Privileges on tables, columns and routines, roles, and limits of accounts: each line of a script in `privileges/` is
executed by its user on Paceline and on a real MariaDB. The answers are the same.

A line is `user> statement`. `user!` closes the user's session, so that the next statement logs in again. A line that
begins with `unordered` after the user compares the rows without their order."""

from pathlib import Path

import pymysql
import pytest

from support.servers import MariaDb, Paceline

SCRIPTS = sorted((Path(__file__).parent / "privileges").glob("*.txt"))
SETUP = ["create database d1", "create table d1.t (a int primary key, b varchar(10), c int)", "insert into d1.t values (1, 'x', 1), (2, 'y', 2)",
         "create database d2", "create table d2.u (x int primary key)"]


class Users:
    """Sessions of one server, by user."""

    def __init__(self, server):
        self.server, self.sessions = server, {}

    def close(self, user):
        session = self.sessions.pop(user, None)
        if session:
            session.close()

    def answer(self, user, statement):
        try:
            if user not in self.sessions:
                self.sessions[user] = self.server.connect(user=user)
            with self.sessions[user].cursor() as cursor:
                cursor.execute(statement)
                return [column[0] for column in cursor.description or ()], cursor.fetchall()
        except pymysql.MySQLError as error:
            return error.args


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    found = [Paceline(tmp_path_factory.mktemp("paceline") / "s", "--server-id=100"), MariaDb(tmp_path_factory.mktemp("mariadb") / "s")]
    try:
        for server in found:
            server.start()
            # An anonymous account of the installation would win over '%'.
            server.query("drop user if exists ''@localhost", f"drop user if exists ''@'{server.query('select @@hostname')[0][0]}'", "set global sql_mode=default")
        # The installation of MariaDB lets everybody use `test`.
        server.query("grant usage on *.* to public", "revoke all, grant option from public", "drop database if exists test")
        yield found
    finally:
        for server in found:
            server.close()


def steps(script):
    for line in script.read_text().splitlines():
        if line and not line.startswith("#"):
            user, _, statement = line.partition(">")
            yield user.strip(), statement.strip()


def answers(server, script):
    server.query("drop database if exists d1", "drop database if exists d2", *SETUP)
    users, said = Users(server), []
    for user, statement in steps(script):
        if user.endswith("!"):
            users.close(user[:-1])
            continue
        unordered = statement.startswith("unordered ")
        answer = users.answer(user, statement.removeprefix("unordered "))
        if unordered and isinstance(answer[1], tuple):
            answer = answer[0], sorted(answer[1], key=repr)
        said.append((f"{user}> {statement}", answer))
    for user in list(users.sessions):
        users.close(user)
    return said


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_answers_are_those_of_mariadb(servers, script):
    ours, theirs = (answers(server, script) for server in servers)
    different = [f"{line}\n  ours    {mine}\n  mariadb {other}" for (line, mine), (_, other) in zip(ours, theirs) if mine != other]
    assert not different, "\n".join(different)
