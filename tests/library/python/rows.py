"""Sessions, transactions, scans, values and the log. Usage: rows.py DIRECTORY"""

import signal
import sys
import threading
import uuid
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import paceline

database = paceline.open(sys.argv[1], sync_binlog=0)
session = database.session()


def fails(number, call, *arguments, **options):
    """Checks that a call fails with this number, and returns the error."""
    try:
        call(*arguments, **options)
    except paceline.Error as error:
        assert error.args[0] == number, error
        return error
    raise AssertionError(f"no error {number}")


def raises(kind, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind}")


# One row, by its key.
session.execute("CREATE DATABASE music")
assert session.execute("USE music").rows == 0
session.execute("CREATE TABLE songs (id INT AUTO_INCREMENT PRIMARY KEY, title VARCHAR(50) UNIQUE, seconds INT, KEY by_length (seconds))")
songs = session.table("songs", ["id", "title"])
assert (songs.database, songs.name, songs.columns) == ("music", "songs", ["id", "title"]) and repr(songs) == "<paceline.Table music.songs>"
done = session.insert(songs, (None, "So What"))
assert (done.rows, done.last_insert_id) == (1, 1) and repr(done) == "Affected(rows=1, last_insert_id=1)"
assert session.get(songs, 1) == session.get(songs, (1,)) == session.get(songs, [1]) == (1, "So What")
assert session.get(songs, "So What", index="title") == (1, "So What")
assert session.get(songs, 2) is None
titles = session.table("songs", ["title"])
assert session.update(titles, 1, ("All Blues",)).rows == 1 and session.get(titles, 1) == ("All Blues",)
assert session.replace(songs, (1, "Blue in Green")).rows == 2
assert session.delete(songs, 1).rows == 1 and session.delete(songs, 1).rows == 0
assert session.query("SELECT ? + 1, ?", (1, "a")) == [(2, "a")]

# Errors.
session.insert(songs, (1, "So What"))
error = fails(1062, session.insert, songs, (2, "So What"))
assert isinstance(error, paceline.IntegrityError) and error.sqlstate == "23000" and "for key 'title'" in error.args[1]
assert isinstance(fails(1146, session.table, "nothing"), paceline.ProgrammingError)
fails(1054, session.table, "songs", ["nothing"])
fails(1136, session.insert, songs, (1,))
fails(1064, session.execute, "SELEKT 1")
assert fails(1644, session.execute, "SIGNAL SQLSTATE '45001' SET MESSAGE_TEXT = 'mine'").sqlstate == "45001"
assert "no SQL type for a value of object" in raises(TypeError, session.insert, songs, (2, object()))
raises(TypeError, session.insert, songs, "ab")
raises(TypeError, session.scan, songs, nothing=1)
raises(TypeError, session.scan, songs, lock="shared")
raises(ValueError, session.begin, isolation="NONE")

# Values.
session.execute("""CREATE TABLE kinds (id INT PRIMARY KEY, tiny TINYINT, big BIGINT, ubig BIGINT UNSIGNED, single FLOAT, real8 DOUBLE,
    exact DECIMAL(30, 10), text TEXT, legacy CHAR(10) CHARACTER SET latin1, bytes VARBINARY(20), day DATE, at DATETIME(6), stamp TIMESTAMP(6) NULL,
    duration TIME(6), year YEAR, bits BIT(10), one ENUM('a', 'b'), some SET('a', 'b', 'c'), uid UUID, document JSON)""")
kinds = session.table("kinds")
utc = timezone.utc
row = (1, -128, -2**63, 2**64 - 1, 0.5, 1e300, Decimal("-12345678901234567890.0123456789"), "Grüße, 世界 🎷", "Grüße", b"\0\xff",
       date(2024, 2, 29), datetime(2024, 2, 29, 23, 59, 59, 123456), datetime(2024, 7, 1, 12, 0, 0, 5, utc),
       -timedelta(hours=30, microseconds=1), 2155, 1023, "b", "a,c", str(uuid.UUID(int=7)), '{"a": [1]}')
session.insert(kinds, row)
read = session.get(kinds, 1)
assert read == row, read
assert [type(value) for value in read] == [type(value) for value in row]
assert read[12].tzinfo is utc
session.insert(kinds, (2,) + (None,) * 19)
assert session.get(kinds, 2) == (2,) + (None,) * 19
# The same in another form.
some = session.table("kinds", ["id", "tiny", "bytes", "stamp", "duration", "exact"])
plus2 = timezone(timedelta(hours=2))
session.insert(some, [3, True, bytearray(b"ab"), datetime(2024, 7, 1, 14, tzinfo=plus2), time(1, 2, 3), Decimal("1E+5")])
assert session.get(some, 3) == (3, 1, b"ab", datetime(2024, 7, 1, 12, tzinfo=utc), timedelta(hours=1, minutes=2, seconds=3), 100000)
session.update(some, 3, (3, False, memoryview(b"xyz")[1:], None, timedelta(days=-1), Decimal(0)))
assert session.get(some, 3)[1:5] == (0, b"yz", None, timedelta(days=-1))
session.execute("SET sql_mode = ''")
session.execute("UPDATE kinds SET day = '2024-02-00', at = 0, stamp = 0 WHERE id = 2")
session.execute("SET sql_mode = DEFAULT")
assert session.query("SELECT day, at, stamp FROM kinds WHERE id = 2") == [("2024-02-00", "0000-00-00 00:00:00.000000", "0000-00-00 00:00:00")]
for value in (2**64, -2**63 - 1, float("nan"), float("inf"), Decimal("NaN"), Decimal(10)**100, timedelta(days=40)):
    error = fails(1690, session.query, "SELECT ?", (value,))
    assert isinstance(error, paceline.DataError) and error.sqlstate == "22003", error
fails(1690, session.insert, some, (4, 1, b"", datetime(1960, 1, 1, tzinfo=utc), None, None))
fails(1264, session.insert, some, (4, 128, b"", None, None, None))
raises(UnicodeEncodeError, session.query, "SELECT ?", ("\ud800",))
# Keys are converted only without a loss.
fails(1366, session.get, songs, 2**40)

# Scans.
session.execute("CREATE TABLE messages (id INT PRIMARY KEY, author INT, at INT, text VARCHAR(20), KEY by_author (author, at))")
messages = session.table("messages", ["id", "author", "at"])
assert session.insert_all(messages, ((number, number % 10, number) for number in range(1000))) == 1000
fails(1062, session.insert_all, messages, [(1000, 0, 0), (1, 0, 0)])
assert session.get(messages, 1000) is None
assert session.scan(messages, limit=2) == [(0, 0, 0), (1, 1, 1)]
assert session.scan(messages, backward=True, limit=1) == [(999, 9, 999)]
assert session.scan(messages, index="by_author", prefix=7, backward=True, limit=1) == [(997, 7, 997)]
assert [row[0] for row in session.scan(messages, at_least=10, before=(13,))] == [10, 11, 12]
assert [row[0] for row in session.scan(messages, after=10, at_most=[13])] == [11, 12, 13]
assert [row[0] for row in session.scan(messages, index="by_author", prefix=3, at_least=(3, 500), at_most=(3, 520))] == [503, 513]
assert len(session.scan(messages)) == 1000
assert session.scan_each(messages, [3, (4,)], index="by_author", backward=True, limit=1) == [(993, 3, 993), (994, 4, 994)]
raises(TypeError, session.scan_each, messages, [1], prefix=2)
seen = []
assert session.scan(messages, visit=seen.append) is None and len(seen) == 1000
seen = []
session.scan(messages, visit=lambda row: seen.append(row) or row[0] < 299)
assert len(seen) == 300


def bad(row):
    raise KeyError(row)


raises(KeyError, session.scan, messages, visit=bad)
# The function of a scan cannot use its session.
fails(2014, session.scan, messages, visit=lambda row: session.query("SELECT 1"))

# Transactions.
with session.begin() as transaction:
    transaction.insert(messages, (2000, 1, 1))
    transaction.execute("INSERT INTO messages VALUES (?, 2, 2, 'x')", (2001,))
    assert transaction.query("SELECT COUNT(*) FROM messages WHERE id >= 2000") == [(2,)]
    assert transaction.get(messages, 2000) == (2000, 1, 1)
    assert transaction.update(messages, 2000, (2000, 1, 5)).rows == 1 and transaction.replace(messages, (2000, 1, 6)).rows == 2
    assert transaction.delete(messages, 2001).rows == 1
    assert transaction.scan(messages, at_least=1999) == [(2000, 1, 6)]
    assert transaction.scan_each(messages, [1], index="by_author", limit=1) == [(1, 1, 1)]
    fails(2014, session.query, "SELECT 1")
    assert session.table("songs").name == "songs"
    fails(1062, transaction.insert, messages, (1, 0, 0))
    with database.session() as other:
        assert other.get(messages, 2000) is None
fails(2014, transaction.commit)
assert session.get(messages, 2000) == (2000, 1, 6)
try:
    with session.begin() as transaction:
        transaction.delete(messages, 2000)
        raise KeyError
except KeyError:
    pass
assert session.get(messages, 2000) is not None
transaction = session.begin()
transaction.delete(messages, 2000)
del transaction
assert session.get(messages, 2000) is not None
transaction = session.begin(isolation="read committed")
transaction.delete(messages, 2000)
gtid = transaction.commit()
assert gtid == database.position and gtid.startswith("0-1-")
transaction = session.begin(read_only=True)
fails(1792, transaction.delete, messages, 1)
transaction.rollback()
fails(2014, transaction.rollback)

# Locks and conflicts.
other = database.session()
held = other.begin()
held.get(messages, 1, lock="exclusive")
with session.begin() as transaction:
    fails(1205, transaction.get, messages, 1, lock="shared", wait="nowait")
    fails(1205, transaction.get, messages, 1, lock="shared", wait=0.01)
    assert transaction.scan(messages, limit=2, lock="exclusive", wait="skip locked") == [(0, 0, 0), (2, 2, 2)]
    raises(ValueError, transaction.get, messages, 1, lock="update")
    raises(ValueError, transaction.get, messages, 1, wait="nowait")
held.rollback()
attempts = []


def deposit(transaction):
    author, at = transaction.get(messages, 1)[1:]
    attempts.append(at)
    if len(attempts) == 1:
        other.update(messages, 1, (1, author, at + 10))
    transaction.update(messages, 1, (1, author, at + 1))
    return at + 1


assert session.transact(deposit, 3) == 12 and session.get(messages, 1) == (1, 1, 12) and attempts == [1, 11]
attempts.clear()
fails(1020, session.transact, deposit)
assert session.get(messages, 1) == (1, 1, 22)

# Threads: a session is used by one at a time, a handle by all. The interpreter's lock is free while a call waits.
held = other.begin()
held.get(messages, 1, lock="exclusive")
failed = []


def update():
    try:
        session.update(messages, 1, (1, 1, 100))
    except paceline.Error as error:
        failed.append(error.args[0])


waiter = threading.Thread(target=update)
waiter.start()
watcher = database.session()
while not watcher.query("SELECT 1 FROM information_schema.innodb_lock_waits"):
    pass
fails(2014, session.query, "SELECT 1")
session.interrupt()
waiter.join()
assert failed == [1317]
held.rollback()
session.update(messages, 1, (1, 1, 100))

# Following the log.
position = database.position
session.execute("CREATE TABLE notes (id INT PRIMARY KEY, text VARCHAR(20))")
notes = session.table("notes")
with session.begin() as transaction:
    transaction.insert(notes, (1, "a"))
    transaction.update(notes, 1, (1, "b"))
session.delete(notes, 1)
stream = database.changes(position, timeout=0.2)
created, changed, deleted = stream
assert [(change.kind, change.database, change.statement[:18]) for change in created.changes()] == [("statement", "music", "CREATE TABLE notes")]
insert, update = changed.changes()
assert (insert.kind, insert.database, insert.table, insert.columns) == ("insert", "music", "notes", ("id", "text"))
assert (insert.before, insert.after, update.before, update.after) == (None, (1, "a"), (1, "a"), (1, "b"))
assert repr(update) == "<paceline.Change update music.notes>"
seen = []
assert changed.changes(lambda change: seen.append(change) or False) is None and len(seen) == 1
(delete,) = deleted.changes()
assert (delete.kind, delete.before, delete.after) == ("delete", (1, "b"), None)
assert stream.position == deleted.gtid == database.position and created.seconds > 1_700_000_000
assert list(stream) == []
fails(1236, database.changes, "0-1-100000")
# It waits for the next one.
stream = database.changes(database.position)
writer = threading.Timer(0.05, lambda: session.insert(notes, (2, "later")))
writer.start()
assert [change.after for change in next(stream).changes()] == [(2, "later")]
writer.join()
# Ctrl-C is seen while it waits. A program that was started in the background may have inherited that it is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT)).start()
    next(stream)
    raise AssertionError
except KeyboardInterrupt:
    pass
stream.close()
fails(0, next, stream)
session.close()
fails(0, session.query, "SELECT 1")
database.close()
print("done")
