"""What clients did and what they were told: the material that the checker judges.

A history is a list of transactions. Each has its operations in order, on three kinds of objects whose versions tell where they come from:

    list      a text to which each write appends one element that no other write uses: a read shows all versions before it
    register  a value and the value that it replaced: a read shows one version and the one before
    set       rows that are only ever inserted, read by a range: a read shows whose inserts it has seen and whose it has not

Elements and values are written once in a history, so whoever reads one knows its writer.
"""

import json
from dataclasses import asdict, dataclass, field
from enum import Enum


class Status(str, Enum):
    COMMITTED = "committed"  # the client was told so
    ABORTED = "aborted"      # rolled back, by the client or by an error
    UNKNOWN = "unknown"      # the server went away while it committed


class Kind(str, Enum):
    APPEND = "append"  # key, element
    LIST = "list"      # key, elements read in order
    WRITE = "write"    # key, value
    READ = "read"      # key, [value, the one it replaced]; None for a register that is not there
    INSERT = "insert"  # key, element
    SCAN = "scan"      # key, elements read, sorted
    UNDONE = "undone"  # key, element: a write that failed, or that a savepoint took back


# The kind of object that an operation is about: keys of different kinds are different objects.
OBJECT = {Kind.APPEND: "list", Kind.LIST: "list", Kind.WRITE: "register", Kind.READ: "register", Kind.INSERT: "set", Kind.SCAN: "set"}


@dataclass
class Transaction:
    number: int
    site: str      # the server that it ran on
    begin: float   # before its first statement was sent
    end: float = float("inf")  # after it was told that it had committed
    status: Status = Status.ABORTED
    operations: list = field(default_factory=list)

    def did(self, kind, key, what):
        self.operations.append((kind, key, what))


def save(path, level, transactions):
    with open(path, "w") as file:
        file.write(json.dumps({"level": level}) + "\n")
        for transaction in transactions:
            file.write(json.dumps(asdict(transaction)) + "\n")


def load(path):
    """The isolation level and the transactions of a file that `save` wrote."""
    with open(path) as file:
        level = json.loads(file.readline())["level"]
        transactions = []
        for line in file:
            found = json.loads(line)
            found["status"] = Status(found["status"])
            found["operations"] = [(Kind(kind), key, what) for kind, key, what in found["operations"]]
            transactions.append(Transaction(**found))
    return level, transactions
