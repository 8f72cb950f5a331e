"""Martin Kleppmann's Hermitage cases as golden scripts: they show which anomalies each isolation level allows.

A script in hermitage/ has the format of all golden scripts (CONTRIBUTING.md). It consists of cases. A case begins with
`# name`, and has the table `test` with the rows (1, 10) and (2, 20). After `---` stand the sessions' answers, one for
each statement, then those that other sessions got because of the last statement:

    t2: > update test set value = 12 where id = 1
    ---
    t2: waits

    t1: > commit
    ---
    t1: ok
    then t2: ok

`UPDATE_GOLDENFILES=1 pytest tests/torture/test_hermitage.py` writes the server's present answers to the scripts.
"""

import os
import queue
import threading
from pathlib import Path

import pymysql
import pytest

SCRIPTS = sorted((Path(__file__).parent / "hermitage").iterdir())
# Time for which a statement that must wait is watched, and time limit for a statement that must end.
WATCHED_SECONDS, PATIENCE_SECONDS = 0.15, 60


class Session:
    def __init__(self, server, level):
        self.connection = server.connect(database="t")
        self.answers, self.statements = queue.Queue(), queue.Queue()
        self.waiting = 0
        self.ask(f"set session transaction isolation level {level}")
        threading.Thread(target=self.work, daemon=True).start()

    def ask(self, statement):
        with self.connection.cursor() as cursor:
            try:
                cursor.execute(statement)
            except pymysql.err.MySQLError as error:
                return f"error {error.args[0]}"
            if cursor.description is None:
                return "ok"
            return " ".join(str(row) for row in cursor.fetchall()) or "no rows"

    def send(self, statement):
        self.waiting += 1
        self.statements.put(statement)

    def work(self):
        while (statement := self.statements.get()) is not None:
            self.answers.put(self.ask(statement))

    def answer(self, seconds):
        try:
            answer = self.answers.get(timeout=seconds)
            self.waiting -= 1
            return answer
        except queue.Empty:
            return None


def play(server, level, lines, expected):
    """Runs a case. Returns its lines with the answers. `expected` has the answers to each line; None: they are unknown."""
    server.query("drop table if exists t.test", "create table t.test (id int primary key, value int)",
                 "insert into t.test values (1, 10), (2, 20)")
    sessions, output = {}, []
    for number, line in enumerate(lines):
        name, statement = line.split(": ", 1)
        session = sessions.get(name) or sessions.setdefault(name, Session(server, level))
        output.append(line)
        answers = expected[number] if expected else None
        session.send(statement)
        if session.waiting > 1:
            output.append("    when it has waited")
        else:
            told = session.answer(1 if answers is None else WATCHED_SECONDS if "    waits" in answers else PATIENCE_SECONDS)
            output.append(f"    {told or 'waits'}")
        for other_name, other in sessions.items():
            wanted = None if answers is None else sum(answer.startswith(f"    then {other_name}: ") for answer in answers)
            while other is not session and other.waiting:
                told = other.answer(1 if wanted is None else PATIENCE_SECONDS if wanted else 0.01)
                if not told:
                    break
                wanted = wanted and wanted - 1
                output.append(f"    then {other_name}: {told}")
    for name, session in sessions.items():
        assert not session.waiting, f"{name} still waits at the end of the case"
        session.statements.put(None)
        session.connection.close()
    return output


def cases(text):
    """Yields the comments, the lines, and the answers to each line, of each case."""
    blocks = [block for block in text.split("\n\n") if "\n---\n" in block]
    case = None
    for block in blocks:
        head, told = (part.splitlines() for part in block.split("\n---\n"))
        name = [line for line in head if line.startswith("#")]
        if name:
            if case:
                yield case
            case = (name, [], [])
        lines = [line.replace(": > ", ": ", 1) for line in head if not line.startswith("#")]
        answers = [["    " + answer.split(": ", 1)[1]] for answer in told[: len(lines)]]
        answers[-1] += ["    " + answer for answer in told[len(lines) :]]
        case[1].extend(lines)
        case[2].extend(answers)
    yield case


def script_of(name, found):
    """Returns a case as it is written: a block ends where a session waits, or another one goes on."""
    blocks, lines, answers = [], list(name), []
    for line in found:
        if not line.startswith(" "):
            if not answers or answers[-1].startswith("then ") or answers[-1].endswith((": waits", ": when it has waited")):
                if answers:
                    blocks.append("\n".join([*lines, "---", *answers]))
                    lines, answers = [], []
            who, statement = line.split(": ", 1)
            lines.append(f"{who}: > {statement}")
        elif line.startswith("    then "):
            answers.append(line.strip())
        else:
            answers.append(f"{who}: {line.strip()}")
    blocks.append("\n".join([*lines, "---", *answers]))
    return "\n\n".join(blocks)


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.name for script in SCRIPTS])
def test_hermitage_cases_give_the_recorded_answers(server, script):
    server.query("create database if not exists t")
    if script.name == "repeatable_read" and type(server).__name__ == "MariaDb":
        server.query("set global innodb_snapshot_isolation=ON")
    level = script.name.replace("_", " ")
    text = script.read_text()
    updates = bool(os.environ.get("UPDATE_GOLDENFILES"))
    written = [text.split("\n\n", 1)[0]]
    for name, lines, answers in cases(text):
        found = play(server, level, lines, None if updates else answers)
        if updates:
            written.append(script_of(name, found))
        else:
            assert found == [text for line, told in zip(lines, answers) for text in (line, *told)], name
    if updates:
        script.write_text("\n\n".join(written) + "\n")
