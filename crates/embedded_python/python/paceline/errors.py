"""Exceptions: those of PyMySQL. Their arguments are MariaDB's number and the text; `sqlstate` has five characters."""

from __future__ import annotations

from pymysql import err
from pymysql.err import (DatabaseError, DataError, Error, IntegrityError, InterfaceError, InternalError, NotSupportedError,
                         OperationalError, ProgrammingError, Warning)

__all__ = ["DataError", "DatabaseError", "Error", "IntegrityError", "InterfaceError", "InternalError", "NotSupportedError",
           "OperationalError", "ProgrammingError", "Warning"]


def exception(name: str, number: int, sqlstate: str, message: str) -> Error:
    """Returns an exception of the class with this name or, without one, of the class that PyMySQL has for the number."""
    found = getattr(err, name) if name else err.error_map.get(number, OperationalError)
    return found(number, message, sqlstate=sqlstate)
