"""Scripts that two servers must answer alike: rows, column names, warnings, errors with their numbers and words."""

import contextlib

import pymysql


def statements_of(script):
    """The statements of a script: each ends with a semicolon at the end of a line; lines that begin with `--` are comments."""
    lines = [line for line in script.splitlines() if not line.startswith("--")]
    return [text.strip() for text in "\n".join(lines).split(";\n") if text.strip(" ;\n")]


class Session:
    """A session that keeps what it is told."""

    def __init__(self, server, **options):
        self.connection = server.connect(**options)

    def answer(self, statement):
        """What the server says to a statement."""
        with self.connection.cursor() as cursor:
            try:
                cursor.execute(statement)
            except pymysql.MySQLError as error:
                return "error", error.args
            names = [column[0] for column in cursor.description or ()]
            rows = cursor.fetchall()
            affected = cursor.rowcount
            warnings = ()
            if cursor._result.warning_count:
                cursor.execute("show warnings")
                warnings = cursor.fetchall()
            return names, rows, affected, warnings

    def close(self):
        with contextlib.suppress(pymysql.MySQLError):
            self.connection.close()


def differences(server, model, script, **options):
    """Where `server` answers a script otherwise than `model` does: a text, empty if nowhere."""
    sessions = [Session(server, **options), Session(model, **options)]
    found = []
    try:
        for statement in statements_of(script):
            ours, theirs = (session.answer(statement) for session in sessions)
            if ours != theirs:
                found.append(f"{statement}\n  answer:   {ours}\n  expected: {theirs}")
    finally:
        for session in sessions:
            session.close()
    return "\n".join(found)
