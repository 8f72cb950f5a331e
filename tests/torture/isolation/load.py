"""Clients that produce a history: random transactions on lists, registers and sets, with every step recorded."""

import threading
import time

import pymysql

from torture.servers import CLIENT

from .checker import REPEATABLE_READ
from .history import Kind, Status, Transaction

# Errors that roll back the transaction (deadlock, changed since the snapshot), or only the statement (lock wait
# timeout).
ROLLED_BACK = {1213, 1020}
STATEMENT_ONLY = {1205}
# Errors of a server that has become a replica or is stopping.
TURNED_AWAY = {1290, 1053, 1927, 1317}
GONE = {0, 2003, 2006, 2013, 2014, 2002, 1053, 1927}
# After this many writes an object is replaced by a new one, so that reads stay short.
WRITES_MAX = 30

TABLES = [
    "create database iso",
    "create table iso.lists (id int primary key, sk int not null, v text not null, key (sk))",
    "create table iso.registers (id int primary key, v bigint, prev bigint, n int not null)",
    "create table iso.sets (id bigint auto_increment primary key, k int not null, e int not null, key (k, e))",
]


class Objects:
    """The keys in use: few at a time, so that transactions conflict."""

    def __init__(self, width):
        self.width = width
        self.first = {"list": 0, "register": 0, "set": 0}
        self.writes = {}
        self.next_element = 1
        self.next_number = 0
        self.lock = threading.Lock()

    def pick(self, object, rng):
        # Many choose the same object, so that conflicts are frequent.
        step = 0 if rng.random() < 0.4 else rng.randrange(self.width)
        return self.first[object] + step

    def element(self, object, key):
        with self.lock:
            element = self.next_element
            self.next_element += 1
            writes = self.writes[object, key] = self.writes.get((object, key), 0) + 1
            if writes == WRITES_MAX:
                self.first[object] = max(self.first[object], key - self.width + 2)
                # Moves on even if only one key is busy. Otherwise this key would hold back all others.
                if key == self.first[object]:
                    self.first[object] += 1
            return element

    def number(self):
        with self.lock:
            self.next_number += 1
            return self.next_number

    def keys(self, object):
        return sorted({key for kind, key in self.writes if kind == object})


class Client:
    """One session. It appends its transactions to `history`."""

    # Errors after which it looks for another server, and those that are an answer: the transaction did not commit.
    lost = GONE | TURNED_AWAY
    refusals = ROLLED_BACK | STATEMENT_ONLY | TURNED_AWAY

    def __init__(self, run, rng, level, read_only_site=None):
        self.run, self.rng, self.level = run, rng, level
        self.site = read_only_site  # a replica to read from; None: the current primary
        self.connection = None
        self.history = []
        self.errors = []
        self.statements = 0
        self.thread = threading.Thread(target=self.work, daemon=True)

    def work(self):
        while not self.run.stopping.is_set():
            try:
                self.connect()
                while not self.run.stopping.is_set() and self.is_current():
                    self.transaction()
            except pymysql.err.MySQLError as error:
                if error.args[0] not in self.lost:
                    self.errors.append(repr(error))
                    return
            except OSError:
                pass
            except Exception as error:  # noqa: BLE001 - the round must see it
                self.errors.append(repr(error))
                return
            finally:
                self.close()
            # The server is away for a while.
            time.sleep(0.01)

    def close(self):
        if self.connection is not None:
            try:
                self.connection.close()
            except (pymysql.err.MySQLError, OSError):
                pass
            self.connection = None

    def is_current(self):
        """Returns whether it is connected to the server that it should talk to."""
        return self.server is (self.site or self.run.primary)

    def connect(self):
        self.server = self.site or self.run.primary
        self.connection = self.server.connect(user=CLIENT, database="iso")
        self.cursor = self.connection.cursor()
        self.ask(f"set session transaction isolation level {self.level}")
        self.ask("set session innodb_lock_wait_timeout=1")

    def ask(self, statement):
        self.statements += 1
        self.cursor.execute(statement)
        return self.cursor.fetchall()

    def transaction(self):
        rng = self.rng
        self.open = Transaction(self.run.objects.number(), self.server.name, time.monotonic())
        self.history.append(self.open)
        writes = self.site is None and rng.random() < 0.8
        if rng.random() < 0.1:
            self.autocommitted(writes)
            return
        how = [" with consistent snapshot"] * (rng.random() < 0.1) + [" read only"] * (not writes and rng.random() < 0.5)
        self.ask("start transaction" + ",".join(how))
        try:
            for _ in range(rng.randrange(1, 6)):
                if writes and rng.random() < 0.08:
                    self.savepoint()
                else:
                    self.step(writes)
            if rng.random() < 0.06:
                self.ask("rollback")
                return
            self.open.status = Status.UNKNOWN
            self.ask("commit")
            self.committed()
        except pymysql.err.MySQLError as error:
            self.failed(error)

    def committed(self):
        self.open.end = time.monotonic()
        self.open.status = Status.COMMITTED

    def failed(self, error):
        number = error.args[0]
        if number in GONE or not isinstance(error, (pymysql.err.OperationalError, pymysql.err.InternalError)):
            raise error
        # An error reported by the server is an answer: the transaction did not commit.
        self.open.status = Status.ABORTED
        if number not in self.refusals:
            raise error
        self.run.refused[number] = self.run.refused.get(number, 0) + 1
        self.ask("rollback")

    def autocommitted(self, writes):
        self.open.status = Status.UNKNOWN if writes else Status.ABORTED
        try:
            self.step(writes, alone=True)
            self.committed()
        except pymysql.err.MySQLError as error:
            self.failed(error)

    def savepoint(self):
        """Executes a few steps, and often undoes them by a rollback to a savepoint."""
        mark = len(self.open.operations)
        self.ask("savepoint s")
        for _ in range(self.rng.randrange(1, 3)):
            self.step(True)
        if self.rng.random() < 0.7:
            self.ask("rollback to s")
            self.take_back(mark)

    def take_back(self, mark):
        """Marks the writes since `mark` as undone, and removes what was read of them."""
        names = {Kind.APPEND: "list", Kind.WRITE: "register", Kind.INSERT: "set"}
        since, self.open.operations[mark:] = self.open.operations[mark:], []
        gone = {(names[kind], key, what) for kind, key, what in since if kind in names}
        for kind, key, what in since:
            if kind in names:
                self.open.did(Kind.UNDONE, key, [names[kind], what])
            elif kind == Kind.LIST:
                self.open.did(kind, key, [element for element in what if ("list", key, element) not in gone])
            elif kind == Kind.SCAN:
                self.open.did(kind, key, [element for element in what if ("set", key, element) not in gone])
            elif what is None or ("register", key, what[0]) not in gone:
                self.open.did(kind, key, what)

    def step(self, writes, alone=False):
        rng = self.rng
        kind = rng.choice([Kind.APPEND, Kind.APPEND, Kind.WRITE, Kind.INSERT]) if writes and rng.random() < 0.5 else \
            rng.choice([Kind.LIST, Kind.LIST, Kind.READ, Kind.SCAN])
        if kind in (Kind.APPEND, Kind.WRITE, Kind.INSERT):
            self.write(kind, alone)
        elif kind == Kind.LIST:
            self.read_lists(writes)
        elif kind == Kind.READ:
            self.read_register(self.run.objects.pick("register", rng), lock=self.for_lock(writes))
        else:
            self.scan(self.run.objects.pick("set", rng))

    def for_lock(self, writes):
        """Returns a locking clause. Locking reads see the newest version, as writes do. Read-only transactions and
        replicas use none."""
        if writes and self.rng.random() < 0.15:
            return self.rng.choice([" for update", " lock in share mode"])
        return ""

    def write(self, kind, alone):
        rng, objects = self.rng, self.run.objects
        object = {Kind.APPEND: "list", Kind.WRITE: "register", Kind.INSERT: "set"}[kind]
        key = objects.pick(object, rng)
        if kind == Kind.WRITE and not alone and rng.random() < 0.5:
            # Read, then write: if another write comes in between, the server must report it, or an update is lost.
            self.read_register(key, lock="")
        element = objects.element(object, key)
        index = len(self.open.operations)
        # Recorded first: without an answer, the write may have happened.
        self.open.did(kind, key, element)
        try:
            if kind == Kind.APPEND:
                done = rng.random() < 0.5 and self.changed(f"update lists set v=concat(v, ',{element}') where "
                                                              + rng.choice([f"id={key}", f"sk={key * 10}", f"id between {key} and {key}"]))
                if not done:
                    self.ask(f"insert into lists values ({key}, {key * 10}, '{element}') on duplicate key update v=concat(v, ',{element}')")
            elif kind == Kind.WRITE:
                self.ask(f"insert into registers values ({key}, {element}, null, 1) "
                         f"on duplicate key update prev=v, v={element}, n=n+1")
            else:
                self.ask(f"insert into sets (k, e) values ({key}, {element})")
        except pymysql.err.MySQLError as error:
            if error.args[0] not in STATEMENT_ONLY or alone:
                raise
            # Only the statement has failed. The transaction continues, or not.
            self.open.operations[index] = (Kind.UNDONE, key, [object, element])
            self.run.refused[error.args[0]] = self.run.refused.get(error.args[0], 0) + 1
            if rng.random() < 0.5:
                raise

    def changed(self, statement):
        self.ask(statement)
        return self.cursor.rowcount > 0

    def read_lists(self, writes):
        rng = self.rng
        keys = sorted({self.run.objects.pick("list", rng) for _ in range(rng.randrange(1, 4))})
        lock = self.for_lock(writes)
        some = ", ".join(map(str, keys))
        ways = [f"id in ({some})", f"sk in ({', '.join(str(key * 10) for key in keys)})", f"id between {keys[0]} and {keys[-1]}"]
        if lock and self.level == REPEATABLE_READ:
            # It locks keys, even of missing rows, but no ranges.
            keys, where = keys[:1], f"id={keys[0]}"
        else:
            where = rng.choice(ways)
        rows = dict(self.ask(f"select id, v from lists where {where}{lock}"))
        for key in keys:
            self.open.did(Kind.LIST, key, [int(element) for element in rows[key].split(",")] if key in rows else [])

    def read_register(self, key, lock):
        rows = self.ask(f"select v, prev from registers where id={key}{lock}")
        self.open.did(Kind.READ, key, list(rows[0]) if rows else None)

    def scan(self, key):
        rows = self.ask(f"select e from sets where k={key}")
        self.open.did(Kind.SCAN, key, sorted(element for (element,) in rows))


class Run:
    """Clients on a primary and on replicas, running until `stop`."""

    client = Client

    def __init__(self, primary, level, rng, clients, replicas=(), readers=0, width=3):
        self.primary, self.level = primary, level
        self.objects = Objects(width)
        self.stopping = threading.Event()
        self.refused = {}
        new = lambda site=None: self.client(self, type(rng)(rng.random()), level, site)  # noqa: E731
        self.clients = [new() for _ in range(clients)] + [new(replica) for replica in replicas for _ in range(readers)]

    def start(self):
        for client in self.clients:
            client.thread.start()
        return self

    def stop(self):
        self.stopping.set()
        for client in self.clients:
            client.thread.join(180)
            if client.thread.is_alive():
                raise AssertionError("a client hangs")
        if self.errors():
            raise AssertionError(f"clients got errors that nothing explains: {self.errors()}")

    def errors(self):
        """Returns the errors that nothing explains. They have ended their clients."""
        return [error for client in self.clients for error in client.errors]

    def history(self):
        return sorted((transaction for client in self.clients for transaction in client.history), key=lambda each: each.begin)

    def read_everything(self, server):
        """Reads every object in one transaction. Returns the transaction, and the number of writes of each register."""
        final = Transaction(self.objects.number(), server.name, time.monotonic(), status=Status.COMMITTED)
        with server.connect(database="iso") as connection, connection.cursor() as cursor:
            cursor.execute("start transaction with consistent snapshot")
            cursor.execute("select id, v from lists")
            for key, text in cursor.fetchall():
                final.did(Kind.LIST, key, [int(element) for element in text.split(",")])
            cursor.execute("select id, v, prev, n from registers")
            counts = {}
            for key, value, before, count in cursor.fetchall():
                final.did(Kind.READ, key, [value, before])
                counts[key] = count
            cursor.execute("select k, e from sets order by k, e")
            sets = {}
            for key, element in cursor.fetchall():
                sets.setdefault(key, []).append(element)
            for key, elements in sets.items():
                final.did(Kind.SCAN, key, elements)
        final.end = time.monotonic()
        return final, counts
