"""Martin Kleppmann's Hermitage cases as golden scripts: they show which anomalies each isolation level allows.

A script in hermitage/ contains cases. A case begins with `# name`, and has the table `test` with the rows (1, 10) and
(2, 20). Each line `t1: statement` is followed by the session's answer, and by the answers that other sessions got
because of it:

    t2: update test set value = 12 where id = 1
        waits
    t1: commit
        ok
        then t2: ok

`UPDATE_GOLDENFILES=1 pytest tests/torture/test_hermitage.py` writes the server's present answers to the scripts.
"""

import os
import queue
import re
import threading
from pathlib import Path

import pymysql
import pytest

SCRIPTS = sorted((Path(__file__).parent / "hermitage").glob("*.txt"))
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
    """Yields the name, the lines, and the answers to each line, of each case."""
    for case in re.split(r"^(?=# )", text, flags=re.M):
        if not case.startswith("# "):
            continue
        name, *rest = [line for line in case.splitlines() if line.strip()]
        lines, answers = [], []
        for line in rest:
            if line.startswith(" "):
                answers[-1].append(line)
            else:
                lines.append(line)
                answers.append([])
        yield name, lines, answers


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_hermitage_cases_give_the_recorded_answers(server, script):
    server.query("create database if not exists t")
    if script.stem == "repeatable_read" and type(server).__name__ == "MariaDb":
        server.query("set global innodb_snapshot_isolation=ON")
    level = script.stem.replace("_", " ")
    text = script.read_text()
    updates = bool(os.environ.get("UPDATE_GOLDENFILES"))
    written = [text.split("# ", 1)[0]]
    for name, lines, answers in cases(text):
        found = play(server, level, lines, None if updates else answers)
        if updates:
            written.append("\n".join([name, *found]) + "\n\n")
        else:
            assert found == [text for line, told in zip(lines, answers) for text in (line, *told)], name
    if updates:
        script.write_text("".join(written).rstrip() + "\n")
