"""Connections of DB-API 2.0 within the process: PyMySQL's, over a pair of descriptors."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING, Any

import pymysql.connections
import pymysql.cursors

from .errors import ProgrammingError

if TYPE_CHECKING:
    from .database import Database


class Cursor(pymysql.cursors.Cursor):
    """PyMySQL's cursor, as strict as PEP 249: rows of a statement that has none are an error."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Does nothing: values of any size are fetched whole."""

    def _check_executed(self) -> None:
        super()._check_executed()
        if self.description is None:
            raise ProgrammingError("the statement has no rows")


class Connection(pymysql.connections.Connection):
    """A connection within the process: PyMySQL's, without a host, a user and a password."""

    def __init__(self, opened: Database, **options: Any) -> None:
        self._process = os.getpid()
        self._opened = opened
        options.setdefault("cursorclass", Cursor)
        # The connection stays within the process: it needs no TLS, for which PyMySQL would read the system's certificates.
        super().__init__(**{**options, "user": "root", "defer_connect": True, "ssl_disabled": True})
        self.host_info = "in this process"
        opened._acquire(self)
        try:
            self.connect()
        except BaseException:
            opened._release(self)
            raise

    def connect(self, sock: Any = None) -> None:
        """Connects, or connects again."""
        descriptor = self._opened._native.connect()
        self._secure = True
        super().connect(socket.socket(fileno=descriptor))

    def close(self) -> None:
        """Closes the connection. Its transaction is rolled back if it was not committed."""
        if os.getpid() != self._process:
            # The child of a fork must not speak on its parent's connection.
            self._closed = True
            self._force_close()
            return
        try:
            super().close()
        finally:
            self._opened._release(self)

    def _force_close(self) -> None:
        # A child of fork has copies of the descriptors, so that the server would not see that this one is closed.
        if self._sock is not None and os.getpid() == self._process:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
        super()._force_close()

    def __del__(self) -> None:
        # An error of the constructor leaves nothing to close.
        if hasattr(self, "_opened") and hasattr(self, "_sock"):
            self._force_close()
            if os.getpid() == self._process:
                self._opened._release(self)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *error: object) -> None:
        if self.open:
            self.close()
