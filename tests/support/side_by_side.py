"""Scripts that two servers must answer alike: rows, column names, warnings, errors with numbers and texts."""

import contextlib

import pymysql


def statements_of(script):
    """Returns the statements of a script: each ends with a semicolon at the end of a line; lines that begin with `--`
    are comments."""
    lines = [line for line in script.splitlines() if not line.startswith("--")]
    return [text.strip() for text in "\n".join(lines).split(";\n") if text.strip(" ;\n")]


def anonymous(answer, directory):
    """Replaces the directory's name in an answer."""
    if isinstance(answer, str):
        return answer.replace(directory, "{directory}") if directory else answer
    if isinstance(answer, (tuple, list)):
        return tuple(anonymous(part, directory) for part in answer)
    return answer


NO_EFFECT = 1235


def heard(conditions):
    """Returns the conditions without those that only Paceline raises: that a variable has no effect
    (tests/clients/test_statement_logs.py)."""
    return tuple(row for row in conditions if row[0] == "Error" or row[1] != NO_EFFECT)


class Session:
    """A session that records its answers."""

    def __init__(self, server, metadata=False, **options):
        self.connection = server.connect(**options)
        self.metadata = metadata

    @staticmethod
    def described(field):
        """Returns everything that the protocol says about a column."""
        return (f"{field.db}.{field.table_name}({field.org_table}).{field.name}({field.org_name}) type={field.type_code} "
                f"charset={field.charsetnr} length={field.length} flags={field.flags} decimals={field.scale}")

    def answer(self, statement):
        """Returns the server's answer to a statement."""
        with self.connection.cursor() as cursor:
            try:
                cursor.execute(statement)
            except pymysql.MySQLError as error:
                return "error", error.args
            names = [column[0] for column in cursor.description or ()]
            columns = [self.described(column) for column in cursor._result.fields] if self.metadata and names else names
            rows = cursor.fetchall()
            affected = cursor.rowcount
            # A statement of several parts has several results.
            more = []
            try:
                while cursor.nextset():
                    more.append(([column[0] for column in cursor.description or ()], cursor.fetchall(), cursor.rowcount))
            except pymysql.MySQLError as error:
                more.append(("error", error.args))
            warnings = ()
            if cursor._result is None or cursor._result.warning_count:
                cursor.execute("show warnings")
                warnings = heard(cursor.fetchall())
            if statement == "show warnings":
                rows = heard(rows)
                affected = len(rows)
            return (columns, rows, affected, warnings, *more)

    def close(self):
        with contextlib.suppress(pymysql.MySQLError):
            self.connection.close()


def differences(server, model, script, directories=("", ""), **options):
    """Returns the differences between the answers of `server` and `model` to a script as text, empty if there are
    none.

    `{directory}` in a script is replaced by a directory of each server's own.
    """
    metadata = script.startswith("-- metadata")
    sessions = [Session(server, metadata, **options), Session(model, metadata, **options)]
    found = []
    try:
        for statement in statements_of(script):
            ours, theirs = (
                anonymous(session.answer(statement.replace("{directory}", str(directory))), str(directory))
                for session, directory in zip(sessions, directories)
            )
            if ours != theirs:
                found.append(f"{statement}\n  answer:   {ours}\n  expected: {theirs}")
    finally:
        for session in sessions:
            session.close()
    return "\n".join(found)
