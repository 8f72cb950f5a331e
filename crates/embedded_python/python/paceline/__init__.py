"""A transactional database in your Python program, with MariaDB's SQL.

    import paceline
    with paceline.open("music-data") as database:
        session = database.session()            # rows by their keys, and SQL
        connection = database.connect()         # DB-API 2.0 (PEP 249)

The database lives in a directory, and in this process while it is open: no server has to be started. docs/embedding.md of the project
says more.
"""

from pymysql import (BINARY, DATE, NUMBER, ROWID, STRING, TIME, TIMESTAMP, Binary, Date, DateFromTicks, Time, TimeFromTicks, Timestamp,
                     TimestampFromTicks)

from ._native import Affected, Change, Changes, LoggedTransaction, Session, Table, Transaction
from .connection import Connection, Cursor
from .database import Database, connect
# Not in __all__, because `from paceline import *` must not hide Python's own.
from .database import open as open
from .errors import (DatabaseError, DataError, Error, IntegrityError, InterfaceError, InternalError, NotSupportedError,
                     OperationalError, ProgrammingError, Warning)

__all__ = [
    "Affected", "BINARY", "Binary", "Change", "Changes", "Connection", "Cursor", "DATE", "DATETIME", "DataError", "Database",
    "DatabaseError", "Date", "DateFromTicks", "Error", "IntegrityError", "InterfaceError", "InternalError", "LoggedTransaction",
    "NUMBER", "NotSupportedError", "OperationalError", "ProgrammingError", "ROWID", "STRING", "Session", "TIME", "TIMESTAMP", "Table",
    "Time", "TimeFromTicks", "Timestamp", "TimestampFromTicks", "Transaction", "Warning", "apilevel", "connect", "paramstyle",
    "threadsafety",
]

apilevel = "2.0"
# Threads may share the module, and a database, but not a connection.
threadsafety = 1
paramstyle = "pyformat"
DATETIME = TIMESTAMP
