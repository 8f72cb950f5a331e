"""Both servers side by side: sends each the same statement and returns both answers."""

import contextlib
import re
from pathlib import Path
from typing import NamedTuple

import pymysql
from pymysql.converters import conversions
from support.servers import MariaDb, Paceline

# Rows as the server sent them: a client's conversions could hide a difference.
AS_SENT = {key: value for key, value in conversions.items() if not isinstance(key, int)}
CHANGED_TABLE = re.compile(r"(?:insert|replace|update|delete).*?(?:into|update|from|ignore)? ?(t\d) ")
# The order inside of GROUP_CONCAT does not order the rows.
ORDER_OF_ROWS = re.compile(r" order by (?!1 separator)")


def is_ordered(statement: str) -> bool:
    """Returns whether the rows have a defined order."""
    return bool(ORDER_OF_ROWS.search(statement))


def is_query(statement: str) -> bool:
    return statement.startswith(("select", "with", "("))


class Answer(NamedTuple):
    """A server's answer to a statement."""

    # ("rows", rows as their `repr`), ("changed", number, the table's rows after it) or ("error", number).
    result: tuple
    # Levels and numbers.
    warnings: tuple


class Side:
    """One of the two servers, and a session."""

    def __init__(self, server, with_warnings: bool):
        self.server, self.with_warnings = server, with_warnings
        self.connection = None
        self.connect()

    def connect(self):
        self.connection = self.server.connect(conv=AS_SENT, charset="utf8mb4", use_unicode=False, read_timeout=60)

    def rows(self, query: str) -> tuple:
        with self.connection.cursor() as reader:
            reader.execute(query)
            return reader.fetchall()

    def contents(self, statement: str) -> tuple:
        """Returns the contents of the table that a statement changes: a difference belongs to this statement, not to
        the next one that reads the table."""
        changed = CHANGED_TABLE.match(statement)
        if not changed:
            return ()
        return tuple(map(repr, self.rows(f"select * from {changed[1]} order by id")))

    def run(self, statement: str, with_warnings: bool | None = None) -> Answer:
        cursor = self.connection.cursor()
        with_warnings = self.with_warnings if with_warnings is None else with_warnings
        warnings = ()
        try:
            cursor.execute(statement)
            if with_warnings and cursor._result.warning_count:
                warnings = self.said()
            rows = cursor.fetchall()
            result = tuple(map(repr, rows)) if is_ordered(statement) else tuple(sorted(map(repr, rows)))
            result = ("rows", result) if cursor.description else ("changed", cursor.rowcount, self.contents(statement))
        except pymysql.MySQLError as error:
            if error.args[0] in (2006, 2013):
                self.connect()
                self.run("use d")
            return Answer(("error", error.args[0]), ())
        return Answer(result, warnings)

    def said(self) -> tuple:
        """Returns the levels and numbers of the warnings."""
        # One of each: the number of warnings depends on how often the plan evaluates a condition.
        return tuple(sorted({(level.decode(), int(code)) for level, code, _ in self.rows("show warnings")}))


class Pair:
    """Both servers, with equal contents."""

    def __init__(self, directory: Path, with_warnings: bool):
        self.ours = Side(Paceline(directory / "paceline", "--server-id=100").start(), with_warnings)
        self.theirs = Side(MariaDb(directory / "mariadb").start(), with_warnings)

    def run(self, *statements: str):
        for side in (self.ours, self.theirs):
            for statement in statements:
                side.run(statement)

    def reset(self, statements: list[str]):
        tables = [statement for statement in statements if statement.startswith("create table")]
        changes = [statement for statement in statements if not statement.startswith("create table")]
        begin = ("drop database if exists d", "create database d character set utf8mb4", "use d", "set sql_mode = default")
        self.run(*begin, *tables, "begin", *changes, "commit")

    def answers(self, statement: str) -> tuple[Answer, Answer]:
        """Returns both answers. The tables are not changed."""
        return self.answers_without([], statement)

    def answers_without(self, deletions: list[str], statement: str) -> tuple[Answer, Answer]:
        """Returns both answers after `deletions`. The tables are not changed."""
        if not deletions and is_query(statement):
            return self.ours.run(statement), self.theirs.run(statement)
        self.run("begin", *deletions)
        answers = self.ours.run(statement), self.theirs.run(statement)
        self.run("rollback")
        return answers

    def change(self, statement: str) -> tuple[Answer, Answer]:
        """Returns both answers. A change is kept if the answers are equal."""
        self.run("begin")
        ours, theirs = self.ours.run(statement), self.theirs.run(statement)
        self.run("commit" if ours == theirs else "rollback")
        return ours, theirs

    def close(self):
        for side in (self.ours, self.theirs):
            with contextlib.suppress(pymysql.MySQLError):
                side.connection.close()
            side.server.close()
