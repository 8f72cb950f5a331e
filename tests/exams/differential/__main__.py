#!/usr/bin/env python3
"""Asks Paceline and MariaDB 10.11 the same random statements and says where their answers differ.

    tests/exams/differential [--statements N] [--seed N] [--findings-max N] [--report FILE] [--round N] [--no-warnings] [--unshrunk]

Each round has random tables, random rows and random statements (queries, set operations, changes), all from one seed. An answer is the
rows (in any order unless the statement orders them fully), the number of rows changed, the error's number, and the warnings' numbers. What differs is made
smaller until nothing more can be left out, and printed with what it needs: the tables and the rows. Known differences stand in known.py with their reasons.
"""

import argparse
import contextlib
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]
import pymysql  # noqa: E402
from pymysql.converters import conversions  # noqa: E402

from differential.generator import Generator  # noqa: E402
from differential.known import reason_for  # noqa: E402
from differential.tree import Node  # noqa: E402
from support.servers import MariaDb, Paceline  # noqa: E402

# Rows as the server sent them: a client's own conversions could hide a difference.
AS_SENT = {key: value for key, value in conversions.items() if not isinstance(key, int)}
TRIES_OF_SHRINKING_MAX = 400


# The order that GROUP_CONCAT has inside says nothing about the rows.
CHANGED_TABLE = re.compile(r"(?:insert|replace|update|delete).*?(?:into|update|from|ignore)? ?(t\d) ")
ORDER_OF_ROWS = re.compile(r" order by (?!1 separator)")


def is_ordered(statement: str) -> bool:
    """Whether the rows have one order."""
    return bool(ORDER_OF_ROWS.search(statement))


class Side:
    """One of the two servers and a session in it."""

    def __init__(self, server, with_warnings: bool):
        self.server, self.with_warnings = server, with_warnings
        self.connection = None
        self.connect()

    def connect(self):
        self.connection = self.server.connect(conv=AS_SENT, charset="utf8mb4", use_unicode=False, read_timeout=60)

    def contents(self, statement: str) -> tuple:
        """What the table has that a statement changes: a difference belongs to the statement that makes it, not to the next that reads it."""
        changed = CHANGED_TABLE.match(statement)
        if not changed:
            return ()
        with self.connection.cursor() as reader:
            reader.execute(f"select * from {changed[1]} order by id")
            return tuple(map(repr, reader.fetchall()))

    def run(self, statement: str) -> tuple:
        """The answer: rows or the number of changed rows and the table's rows or an error, and the numbers of the warnings."""
        cursor = self.connection.cursor()
        warnings = ()
        try:
            cursor.execute(statement)
            if self.with_warnings and cursor._result.warning_count:
                warnings = self.said()
            rows = cursor.fetchall()
            answer = tuple(map(repr, rows)) if is_ordered(statement) else tuple(sorted(map(repr, rows)))
            answer = ("rows", answer) if cursor.description else ("changed", cursor.rowcount, self.contents(statement))
        except pymysql.MySQLError as error:
            if error.args[0] in (2006, 2013):
                self.connect()
                self.run("use d")
            return ("error", error.args[0]), ()
        return answer, warnings

    def said(self) -> tuple:
        """The numbers of the warnings."""
        with self.connection.cursor() as cursor:
            cursor.execute("show warnings")
            # A warning for each row: how many there are depends on how often the plan evaluates a condition.
            return tuple(sorted({code for _, code, _ in cursor.fetchall()}))


class Pair:
    """Both servers with equal contents."""

    def __init__(self, directory: Path, with_warnings: bool):
        self.ours = Side(Paceline(directory / "paceline", "--server-id=100").start(), with_warnings)
        self.theirs = Side(MariaDb(directory / "mariadb").start(), with_warnings)

    def reset(self, statements: list[str]):
        tables = [statement for statement in statements if statement.startswith("create table")]
        changes = [statement for statement in statements if not statement.startswith("create table")]
        begin = ("drop database if exists d", "create database d character set utf8mb4", "use d", "set sql_mode = default")
        # One transaction: what is made smaller is made anew hundreds of times.
        for side in (self.ours, self.theirs):
            for statement in (*begin, *tables, "begin", *changes, "commit"):
                side.run(statement)

    def answers(self, statement: str) -> tuple[tuple, tuple]:
        return self.ours.run(statement), self.theirs.run(statement)

    def differ(self, statement: str, history: list[str] | None = None) -> bool:
        if history is not None:
            self.reset(history)
        ours, theirs = self.answers(statement)
        return ours != theirs

    def close(self):
        for side in (self.ours, self.theirs):
            with contextlib.suppress(pymysql.MySQLError):
                side.connection.close()
            side.server.close()


def is_query(statement: str) -> bool:
    return statement.startswith(("select", "with", "("))


def shrink(pair: Pair, history: list[str], tree: Node) -> tuple[list[str], str]:
    """The smallest statement and history found that still differ."""
    tries = 0
    changed = True
    fresh = None if is_query(tree.sql()) else history
    while changed and tries < TRIES_OF_SHRINKING_MAX:
        changed = False
        for other in sorted(tree.smaller(), key=Node.size):
            tries += 1
            if tries > TRIES_OF_SHRINKING_MAX:
                break
            if pair.differ(other.sql(), fresh):
                tree, changed = other, True
                break
    statement = tree.sql()
    kept = list(history)
    step = max(1, len(kept) // 2)
    while step >= 1 and tries < 2 * TRIES_OF_SHRINKING_MAX:
        index = 0
        while index < len(kept):
            shorter = kept[:index] + kept[index + step:]
            tries += 1
            if pair.differ(statement, shorter):
                kept = shorter
            else:
                index += step
        step //= 2
    pair.reset(kept)
    return kept, statement


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", type=int, default=500_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--round", type=int, default=250, help="statements between new tables")
    parser.add_argument("--findings-max", type=int, default=50)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--no-warnings", action="store_true", help="compare rows and errors only")
    parser.add_argument("--unshrunk", action="store_true", help="count what differs and print it as it is: quick, for the rate")
    arguments = parser.parse_args()
    counts, reasons, findings = Counter(), Counter(), 0
    started = time.monotonic()
    report = open(arguments.report, "a") if arguments.report else sys.stdout
    with tempfile.TemporaryDirectory(prefix="exam-") as directory:
        pair = Pair(Path(directory), not arguments.no_warnings)
        try:
            done, seed = 0, arguments.seed
            while done < arguments.statements and findings < arguments.findings_max:
                generator = Generator(seed)
                history = generator.setup()
                pair.reset(history)
                for _ in range(arguments.round):
                    tree = generator.statement()
                    statement = tree.sql()
                    ours, theirs = pair.answers(statement)
                    done += 1
                    counts[ours[0][0]] += 1
                    if ours == theirs:
                        if not is_query(statement) and ours[0][0] == "changed":
                            history.append(statement)
                        continue
                    smaller, small = ([], statement) if arguments.unshrunk else shrink(pair, history, tree)
                    if not arguments.unshrunk:
                        ours, theirs = pair.answers(small)
                    # A large statement has a piece of everything: only of a small one can be said why.
                    reason = None if arguments.unshrunk else reason_for(small, smaller, ours, theirs)
                    if reason:
                        reasons[reason] += 1
                    else:
                        findings += 1
                        print(f"--- finding {findings}, seed {seed}, statement {done}", *(f"{line};" for line in smaller), f"{small};",
                              f"-- ours:    {str(ours)[:600]}", f"-- MariaDB: {str(theirs)[:600]}", sep="\n", file=report, flush=True)
                    # Both begin again from the same rows.
                    pair.reset(history)
                    if findings >= arguments.findings_max:
                        break
                seed += 1
        finally:
            pair.close()
    print(f"{done} statements in {time.monotonic() - started:.0f} s: " + ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    for reason, count in reasons.most_common():
        print(f"{count} known differences: {reason}")
    print(f"{findings} differences without an explanation")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
