"""Histories: the operations of clients and the answers that they got. The checker judges them.

A history is a list of transactions. Each has its operations in order. There are three kinds of objects, and every
version of an object shows its origin:

    list      a text to which each write appends an element that no other write uses: a read shows all earlier versions
    register  a value and the value that it replaced: a read shows one version and the one before
    set       rows that are only inserted, and read by a range: a read shows which inserts it has seen

Every element and value is written only once in a history, so it identifies its writer.
"""

import json
from dataclasses import asdict, dataclass, field
from enum import Enum


class Status(str, Enum):
    COMMITTED = "committed"  # the client got OK for its commit
    ABORTED = "aborted"      # rolled back, by the client or by an error
    UNKNOWN = "unknown"      # the connection was lost during the commit


class Kind(str, Enum):
    APPEND = "append"  # key, element
    LIST = "list"      # key, elements read in order
    WRITE = "write"    # key, value
    READ = "read"      # key, [value, the value that it replaced]; None if the register does not exist
    INSERT = "insert"  # key, element
    SCAN = "scan"      # key, elements read, sorted
    UNDONE = "undone"  # key, element: a write that failed, or that a rollback to a savepoint has undone


# The kind of object of an operation. Keys of different kinds are different objects.
OBJECT = {Kind.APPEND: "list", Kind.LIST: "list", Kind.WRITE: "register", Kind.READ: "register", Kind.INSERT: "set", Kind.SCAN: "set"}


@dataclass
class Transaction:
    number: int
    site: str      # the server that it ran on
    begin: float   # before its first statement was sent
    end: float = float("inf")  # after the commit was acknowledged
    status: Status = Status.ABORTED
    operations: list = field(default_factory=list)
    group: str = ""  # servers among which the order in time must hold, too

    def writes(self):
        """Returns whether it changed something, and did not undo it."""
        return any(kind in (Kind.APPEND, Kind.WRITE, Kind.INSERT) for kind, _, _ in self.operations)

    def did(self, kind, key, what):
        self.operations.append((kind, key, what))


def save(path, level, transactions):
    with open(path, "w") as file:
        file.write(json.dumps({"level": level}) + "\n")
        for transaction in transactions:
            file.write(json.dumps(asdict(transaction)) + "\n")


def load(path):
    """Reads a file that `save` wrote. Returns the isolation level and the transactions."""
    with open(path) as file:
        level = json.loads(file.readline())["level"]
        transactions = []
        for line in file:
            found = json.loads(line)
            found["status"] = Status(found["status"])
            found["operations"] = [(Kind(kind), key, what) for kind, key, what in found["operations"]]
            transactions.append(Transaction(**found))
    return level, transactions
