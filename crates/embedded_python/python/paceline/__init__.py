"""A transactional database in your Python program: DB-API 2.0 (PEP 249).

    import paceline
    with paceline.connect("music-data") as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT VERSION()")

The database lives in a directory, and in this process while it is open: no server has to be started. Connections to the same
directory share one open database; the last one that is closed closes it. `open_database` keeps it open explicitly.
"""

import atexit
import os
import socket
import threading

import pymysql.connections
import pymysql.constants.CLIENT
import pymysql.cursors
from pymysql import (BINARY, DATE, NUMBER, ROWID, STRING, TIME, TIMESTAMP, Binary, DatabaseError, DataError, Date, DateFromTicks, Error,
                     IntegrityError, InterfaceError, InternalError, NotSupportedError, OperationalError, ProgrammingError, Time,
                     TimeFromTicks, Timestamp, TimestampFromTicks, Warning)

from . import _native

__all__ = [
    "BINARY", "Binary", "Connection", "Cursor", "DATE", "DATETIME", "Database", "DataError", "DatabaseError", "Date", "DateFromTicks", "Error",
    "IntegrityError", "InterfaceError", "InternalError", "NUMBER", "NotSupportedError", "OperationalError", "ProgrammingError", "ROWID",
    "STRING", "TIME", "TIMESTAMP", "Time", "TimeFromTicks", "Timestamp", "TimestampFromTicks", "Warning", "apilevel", "connect",
    "open_database", "paramstyle", "threadsafety",
]

apilevel = "2.0"
# Threads may share the module, and a database, but not a connection.
threadsafety = 1
paramstyle = "pyformat"
DATETIME = TIMESTAMP

# The open databases by the real path of their directories, and the lock of this table.
_databases = {}
# Reentrant, because the collector may end a connection at any point.
_databases_lock = threading.RLock()


class Cursor(pymysql.cursors.Cursor):
    """PyMySQL's cursor, as strict as PEP 249: rows of a statement that has none are an error."""

    def setoutputsize(self, size, column=None):
        """Does nothing: values of any size are fetched whole."""

    def _check_executed(self):
        super()._check_executed()
        if self.description is None:
            raise ProgrammingError("the statement has no rows")


class Connection(pymysql.connections.Connection):
    """A connection within the process: PyMySQL's, without a host, a user and a password."""

    def __init__(self, opened, **options):
        self._database = opened
        self._process = os.getpid()
        opened._acquire(self._user())
        options.setdefault("cursorclass", Cursor)
        super().__init__(user="root", defer_connect=True, **options)
        self.host_info = "in this process"
        try:
            self.connect()
        except BaseException:
            opened._release(self._user())
            raise

    def _user(self):
        """Returns what the database counts this connection by; id numbers are used again."""
        if not hasattr(self, "_token"):
            self._token = object()
        return self._token

    def connect(self, sock=None):
        """Connects, or connects again."""
        try:
            descriptor = self._database._native.connect()
        except (OSError, ValueError) as error:
            raise OperationalError(2002, f"Can't connect to the database in this process ({error})") from error
        # What is sent never leaves the process: it needs no TLS.
        self.ssl = False
        self._secure = True
        super().connect(socket.socket(fileno=descriptor))

    def close(self):
        """Closes the connection. Its transaction is rolled back if it was not committed."""
        if os.getpid() != self._process:
            # The child of a fork must not speak on its parent's connection.
            self._force_close()
            return
        try:
            super().close()
        finally:
            self._database._release(self._user())

    def __del__(self):
        self._force_close()
        if os.getpid() == self._process:
            self._database._release(self._user())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.open:
            self.close()


class Database:
    """An open database. Use `open_database` or `connect`."""

    def __init__(self, path, options):
        named = [(name.replace("_", "-"), None if value is None else _text(value)) for name, value in options.items()]
        self._native = _native.Database(path, named)
        self._process = os.getpid()
        self.path = path
        # Connections by which alone the database is open; None if it was opened explicitly.
        self._users = None

    def connect(self, database=None, **options):
        """Returns a new connection, in a database if one is named. Options are those of PyMySQL's connections."""
        return Connection(self, database=database, **options)

    def listen(self, address, port=0):
        """Lets other programs connect, through a UNIX socket if the address has a "/", else over TCP. Returns the port."""
        return self._native.listen(address, port)

    def stop_listening(self):
        """Stops to listen. Connections that exist go on."""
        self._native.stop_listening()

    def close(self):
        """Closes the database: ends its connections, flushes the tables, closes the log. A second close does nothing."""
        if os.getpid() != self._process:
            return
        with _databases_lock:
            if _databases.get(self.path) is self:
                del _databases[self.path]
            self._native.close()

    def _acquire(self, user):
        with _databases_lock:
            if self._users is not None:
                self._users.add(user)

    def _release(self, user):
        with _databases_lock:
            if self._users is None or user not in self._users:
                return
            self._users.remove(user)
            if not self._users:
                self.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def open_database(directory, **options):
    """Opens the database in a directory, and creates it if it does not exist. Options are those of the server, with "_" for "-" and None for
    an option without a value: open_database("data", sync_binlog=0). It stays open until it is closed, or the program ends."""
    path = os.path.realpath(directory)
    with _databases_lock:
        if path in _databases:
            raise ProgrammingError(f"the database in {path} is open in this process already")
        database = _databases[path] = _opened(path, options)
    return database


def connect(directory, database=None, *, options=None, **connection_options):
    """Returns a connection to the database in a directory, which is opened, and created, if it is not open in this process. `database` is
    the SQL database (schema) to begin in; `options` are those of the server, for an open."""
    path = os.path.realpath(directory)
    with _databases_lock:
        opened = _databases.get(path)
        if opened is None:
            opened = _databases[path] = _opened(path, options or {})
            opened._users = set()
        # Held until the connection exists, so that no close of another one comes between.
        pending = object()
        opened._acquire(pending)
    try:
        return opened.connect(database, **connection_options)
    finally:
        opened._release(pending)


def _opened(path, options):
    try:
        return Database(path, options)
    except OSError as error:
        raise OperationalError(2002, str(error)) from error


def _text(value):
    return {True: "ON", False: "OFF"}[value] if isinstance(value, bool) else str(value)


@atexit.register
def _close_all():
    for database in list(_databases.values()):
        database.close()
