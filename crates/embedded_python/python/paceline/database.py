"""Which database of which directory is open in this process.

A database that `open` has opened is open until it is closed, or the program ends. One that `connect` has opened is open as long as
there are connections.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

from . import _native
from .connection import Connection
from .errors import ProgrammingError

# The open databases by the real path of their directories, and the lock of this table. It is reentrant, because the collector may
# end a connection at any point.
_databases: dict[str, Database] = {}
_lock = threading.RLock()


class Database:
    """An open database. `open` and `connect` make it."""

    def __init__(self, path: str, options: dict[str, Any]) -> None:
        named = [(name.replace("_", "-"), None if value is None else _text(value)) for name, value in options.items()]
        self._native = _native.Database(path, named)
        self._process = os.getpid()
        self.path = path
        # Numbers of the connections by which alone the database is open; None if `open` has opened it.
        self._users: set[int] | None = None
        self._is_closing = False
        self._ended = threading.Event()

    def connect(self, database: str | None = None, **options: Any) -> Connection:
        """Returns a new connection of DB-API, in a database if one is named. Options are those of PyMySQL's connections."""
        return Connection(self, database=database, **options)

    def session(self) -> _native.Session:
        """Begins a session: rows by their keys, and SQL, without packets."""
        return self._native.session()

    def changes(self, position: str = "", *, timeout: float | None = None) -> _native.Changes:
        """Follows the log: an iterator of the committed transactions after a GTID position ("0-1-100"; "" is the beginning). It waits for
        the next one, and ends if there is none for `timeout` seconds."""
        return self._native.changes(position, timeout)

    @property
    def position(self) -> str:
        """GTID position of what is committed now."""
        return self._native.position()

    def listen(self, address: str, port: int = 0) -> int:
        """Lets other programs connect: through a UNIX socket if the address has a "/", else over TCP; port 0 chooses a free one. Returns
        the port. They log in with accounts, as with any server."""
        return self._native.listen(address, port)

    def stop_listening(self) -> None:
        """Stops to listen. Connections that exist go on."""
        self._native.stop_listening()

    def close(self) -> None:
        """Closes the database: ends its connections, sessions and streams, flushes the tables, closes the log. A second close does
        nothing."""
        if os.getpid() != self._process:
            return
        with _lock:
            if self._is_closing:
                return
            self._is_closing = True
        self._finish_close()

    def _finish_close(self) -> None:
        # Without the lock: a close waits for calls to end, and what a scan calls may need the lock.
        try:
            self._native.close()
        finally:
            with _lock:
                if _databases.get(self.path) is self:
                    del _databases[self.path]
            self._ended.set()

    def _acquire(self, user: object) -> None:
        with _lock:
            if self._users is not None:
                self._users.add(id(user))

    def _release(self, user: object) -> None:
        with _lock:
            if self._users is None or id(user) not in self._users:
                return
            self._users.remove(id(user))
            if self._users or self._is_closing:
                return
            self._is_closing = True
        self._finish_close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<paceline.Database {self.path}>"


def open(directory: str | os.PathLike[str], **options: Any) -> Database:
    """Opens the database in a directory, and creates it if it does not exist. Options are those of the server, with "_" for "-", and None
    for an option without a value: open("data", sync_binlog=0, skip_ssl=None)."""
    path = os.path.realpath(directory)
    while True:
        with _lock:
            found = _databases.get(path)
            if found is None:
                _databases[path] = database = Database(path, options)
                return database
            if not found._is_closing:
                raise ProgrammingError(f"the database in {path} is open in this process already")
        found._ended.wait()


def connect(directory: str | os.PathLike[str], database: str | None = None, *, options: dict[str, Any] | None = None,
            **connection_options: Any) -> Connection:
    """Returns a connection to the database in a directory, which is opened, and created, if it is not open in this process. `database` is
    the SQL database (schema) to begin in; `options` are those of the server, for an open."""
    path = os.path.realpath(directory)
    # Held until the connection exists, so that no close of another one comes between.
    pending = object()
    while True:
        with _lock:
            opened = _databases.get(path)
            if opened is None:
                _databases[path] = opened = Database(path, options or {})
                opened._users = set()
            if not opened._is_closing:
                opened._acquire(pending)
                break
        opened._ended.wait()
    try:
        return opened.connect(database, **connection_options)
    finally:
        opened._release(pending)


def _text(value: Any) -> str:
    return ("ON" if value else "OFF") if isinstance(value, bool) else str(value)


@atexit.register
def _close_all() -> None:
    for database in list(_databases.values()):
        database.close()


def _begin_child() -> None:
    """Forgets the parent's databases, and a lock that another thread of it may have held at the fork."""
    global _lock
    _lock = threading.RLock()
    _databases.clear()


os.register_at_fork(after_in_child=_begin_child)
