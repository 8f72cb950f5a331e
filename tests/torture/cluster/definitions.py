"""A client that defines tables and writes thousands of rows at once, and what must be there in the end.

Definitions are single event groups that wait for their publication; large transactions keep their locks and go to the log in
pieces. Both take other ways through a member than the rows of the isolation part.
"""

import threading
from dataclasses import dataclass

import pymysql

from torture.harness import Finding

from .clients import CLOSED, FULL, load

# More rows than the locks of a small transaction.
ROWS_MAX = 12_000
BULK_MAX = 25
ABSENT = -1


@dataclass
class Table:
    """A table, and its possible numbers of columns: one, or two after a statement without an answer."""

    name: str
    columns: set


class Definer:
    """The client. `stop` ends it."""

    def __init__(self, run, rng):
        self.run, self.rng = run, rng
        self.connection, self.errors, self.statements = None, [], 0
        self.tables, self.bulks = [], {}  # number of a large transaction → possible numbers of its rows
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while not self.run.stopping.wait(self.rng.uniform(0.01, 0.3)):
            try:
                self.act()
            except Exception as error:  # noqa: BLE001 - the round must see it
                self.errors.append(repr(error))
                return
        self.leave()

    def leave(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def execute(self, statement):
        """Returns True if the statement was acknowledged, False if it was refused, and `None` if there was no answer."""
        try:
            if self.connection is None:
                server = self.rng.choice(self.run.servers)
                self.connection = server.dial(self.rng.choice([1, 4]), user="definer", database="iso")
        except (pymysql.err.MySQLError, OSError):
            return False
        self.statements += 1
        try:
            self.connection.cursor().execute(statement)
            return True
        except pymysql.err.MySQLError as error:
            number = error.args[0]
            if number not in load.GONE | load.TURNED_AWAY | load.ROLLED_BACK | load.STATEMENT_ONLY | FULL | CLOSED:
                raise
            self.leave()
            return None if number in load.GONE else False

    def act(self):
        rng = self.rng
        known = [table for table in self.tables if len(table.columns) == 1 and ABSENT not in table.columns]
        if rng.random() < 0.3 and len(self.bulks) < BULK_MAX:
            number, rows = len(self.bulks) + 1, rng.randrange(1, ROWS_MAX)
            done = self.execute(f"insert into bulk select {number}, seq, repeat('x', {rng.randrange(50)}) from seq_1_to_{rows}")
            self.bulks[number] = {True: {rows}, False: {0}, None: {0, rows}}[done]
        elif len(known) < 3 or rng.random() < 0.2:
            table = Table(f"d{len(self.tables) + 1}", {ABSENT})
            self.tables.append(table)
            self.change(table, f"create table {table.name} (c1 int primary key)", 1)
        else:
            table = rng.choice(known)
            [columns] = table.columns
            if rng.random() < 0.3:
                self.change(table, f"drop table {table.name}", ABSENT)
            else:
                self.change(table, f"alter table {table.name} add column c{columns + 1} int", columns + 1)

    def change(self, table, statement, columns):
        done = self.execute(statement)
        if done is not False:
            table.columns = {columns} | (table.columns if done is None else set())

    def check(self, server):
        """Checks that a server has what was acknowledged."""
        self.thread.join(180)
        if self.errors:
            raise Finding(f"the client that defines tables got {self.errors}")
        found = dict(server.query("select table_name, count(*) from information_schema.columns where table_schema = 'iso' group by 1"))
        for table in self.tables:
            if found.get(table.name, ABSENT) not in table.columns:
                raise Finding(f"{server.name}: {table.name} has {found.get(table.name)} columns, not one of {table.columns}")
        rows = dict(server.query("select n, count(*) from iso.bulk group by 1"))
        for number, possible in self.bulks.items():
            if rows.get(number, 0) not in possible:
                raise Finding(f"{server.name}: the large transaction {number} has {rows.get(number, 0)} rows, not one of {possible}")
