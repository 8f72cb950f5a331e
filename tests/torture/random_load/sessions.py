"""Sessions that send random statements in random transactions to the current primary, through kills and switch-overs."""

import threading
import time
from collections import Counter

import pymysql

from torture.servers import CLIENT

from .grammar import Statements

GONE = {0, 2002, 2003, 2006, 2013, 2014, 1053, 1927, 1184}
# Errors that no statement may get: internal errors, rows that cannot be found, files that cannot be read, "unknown
# error".
NEVER = {1030, 1032, 1034, 1033, 1105, 1194, 1195, 1296, 1712, 1815, 1835, 1977, 4031}


class Session:
    def __init__(self, run, rng, definitions):
        self.run, self.rng = run, rng
        self.grammar = Statements(run.world, rng)
        self.definitions = definitions  # the proportion of definitions among the statements
        self.counts, self.refused, self.errors = Counter(), Counter(), []
        self.thread = threading.Thread(target=self.work, daemon=True)

    def work(self):
        while not self.run.stopping.is_set():
            server = self.run.primary
            try:
                with server.connect(user=CLIENT, database="rqg", conv={}, use_unicode=False) as connection, connection.cursor() as cursor:
                    self.cursor = cursor
                    self.prepare()
                    while not self.run.stopping.is_set() and server is self.run.primary:
                        self.transaction()
            except pymysql.err.MySQLError as error:
                if error.args[0] not in GONE and not self.run.is_moving(error):
                    self.errors.append(f"{error!r} after {self.last[:300]}")
                    return
                # The server is away for a while.
                time.sleep(0.02)
            except OSError:
                # As above.
                time.sleep(0.02)
            except Exception as error:  # noqa: BLE001 - the round must see it
                self.errors.append(f"{error!r} after {getattr(self, 'last', '')[:300]}")
                return

    def prepare(self):
        self.last = ""
        level = self.rng.choice(["read committed", "repeatable read", "repeatable read", "serializable"])
        self.cursor.execute(f"set session transaction isolation level {level}")
        self.cursor.execute("set session innodb_lock_wait_timeout=1, session lock_wait_timeout=3")
        if self.rng.random() < 0.2:
            self.cursor.execute("set session sql_mode=''")
        if self.rng.random() < 0.1:
            self.cursor.execute("set session foreign_key_checks=0")

    def send(self, statement, note=None):
        """Sends a statement. Returns whether it succeeded."""
        self.last = statement
        self.counts["statements"] += 1
        try:
            self.cursor.execute(statement)
            self.cursor.fetchall()
        except pymysql.err.MySQLError as error:
            number = error.args[0]
            if number in GONE:
                raise
            self.refused[number] += 1
            # Error 193 means that a chain of foreign key actions is too long.
            if number in NEVER and "Got error 193 " not in str(error.args[1]):
                self.errors.append(f"{error!r} after {statement[:300]}")
            return False
        if note:
            with self.run.world.lock:
                note()
        return True

    def transaction(self):
        rng = self.rng
        if rng.random() < self.definitions:
            self.counts["definitions"] += self.send(*self.grammar.define())
            return
        if not self.run.world.tables:
            return
        if rng.random() < 0.3:
            self.counts["transactions"] += self.send(*self.grammar.statement())
            return
        self.send("begin")
        has_savepoint = False
        for _ in range(rng.randrange(1, 7)):
            what = rng.random()
            if what < 0.07:
                has_savepoint = self.send("savepoint s")
            elif what < 0.12 and has_savepoint:
                self.send("rollback to savepoint s")
                self.counts["savepoints rolled back"] += 1
            else:
                self.send(*self.grammar.statement())
        if rng.random() < 0.1:
            self.send("rollback")
        else:
            self.counts["transactions"] += self.send("commit")


class Run:
    def __init__(self, primary, world, rng, sessions):
        self.primary, self.world = primary, world
        self.stopping = threading.Event()
        new = lambda share: Session(self, type(rng)(rng.random()), share)  # noqa: E731
        self.sessions = [new(0.5)] + [new(0.01) for _ in range(sessions - 1)]

    def is_moving(self, error):
        """Returns whether an error only means that the server is no longer the primary."""
        return error.args[0] in (1290, 1049)

    def start(self):
        for session in self.sessions:
            session.thread.start()
        return self

    def stop(self):
        self.stopping.set()
        for session in self.sessions:
            session.thread.join(240)
            if session.thread.is_alive():
                raise AssertionError(f"a session hangs in {session.last[:300]}")
        errors = [error for session in self.sessions for error in session.errors]
        if errors:
            raise AssertionError(f"errors that no client may see: {errors[:5]}")

    def counted(self):
        total = Counter()
        for session in self.sessions:
            total += session.counts
            total["statements refused"] += sum(session.refused.values())
            total["deadlocks"] += session.refused[1213]
            total["statements refused by foreign keys"] += session.refused[1451] + session.refused[1452]
        return total
