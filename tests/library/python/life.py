"""Opening, closing, threads, fork and exit. Usage: life.py DIRECTORY"""

import contextlib
import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import paceline

PR_SET_PDEATHSIG = 1

directory = sys.argv[1]


def fails(number, call, *arguments, **options):
    """Checks that a call fails with this number, and returns the error."""
    try:
        call(*arguments, **options)
    except paceline.Error as error:
        assert error.args[0] == number, error
        return error
    raise AssertionError(f"no error {number}")


def in_child(call):
    """Calls a function in a child of fork, and returns its exit status. It exits as a program does."""
    child = os.fork()
    if child == 0:
        call()
        sys.exit(0)
    return os.waitpid(child, 0)[1]


with paceline.open(directory, sync_binlog=0) as database:
    with database.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE a")
        cursor.execute("CREATE TABLE a.t (id INT PRIMARY KEY, text VARCHAR(20))")
        error = fails(1146, cursor.execute, "SELECT * FROM a.nothing")
        assert isinstance(error, paceline.ProgrammingError) and error.sqlstate == "42S02"
        cursor.execute("INSERT INTO a.t VALUES (1, 'one'), (2, NULL)")
        assert isinstance(fails(1062, cursor.execute, "INSERT INTO a.t VALUES (1, 'again')"), paceline.IntegrityError)

    # Threads: each with a connection of its own, all with one database.
    def work(number):
        with database.connect("a") as connection:
            for step in range(50):
                connection.cursor().execute("INSERT INTO t VALUES (%s, 'thread')", (1000 * number + step,))
                connection.commit()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    # A child of fork cannot use anything of its parent's, and exits: it has destructors of all of it.
    connection = database.connect("a")
    session = database.session()
    table = session.table("a.t")
    changes = database.changes()
    transaction = session.begin()
    transaction.insert(table, (3, "in a transaction"))

    def child():
        fails(2006, database.connect)
        fails(2006, database.session)
        fails(2006, session.query, "SELECT 1")
        fails(2006, transaction.commit)
        fails(2006, next, changes)
        fails(2006, paceline.connect, directory)
        fails(2006, paceline.open, directory + "-of-child")
        connection.close()
        session.close()
        changes.close()
        database.close()

    assert in_child(child) == 0
    assert in_child(lambda: None) == 0
    # One that is forked in the middle of everything, by a thread, while others work.
    workers = [threading.Thread(target=work, args=(number,)) for number in range(5, 8)]
    [worker.start() for worker in workers]
    for _ in range(10):
        assert in_child(lambda: None) == 0
    [worker.join() for worker in workers]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
    # The objects of the parent still work.
    transaction.commit()
    cursor = connection.cursor()
    cursor.execute("SELECT COUNT(*) FROM t")
    assert cursor.fetchone() == (353,)

    # A child that lives on does not keep a connection open, or the directory locked.
    sleeper = os.fork()
    if sleeper == 0:
        # It ends with its parent.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pause()
    others = database.connect("a")
    cursor = others.cursor()
    cursor.execute("INSERT INTO t VALUES (4, 'rolled back')")
    del cursor, others

    path = os.path.join(directory, "socket")
    assert database.listen(path) == 0 and os.path.exists(path)
    port = database.listen("127.0.0.1")
    assert port > 0
    database.stop_listening()
    assert not os.path.exists(path)
    fails(2002, database.listen, "127.0.0.1.nowhere.invalid")
    try:
        paceline.open(directory)
        raise AssertionError
    except paceline.ProgrammingError:
        pass
    # Another process: it is told who has the directory.
    told = subprocess.run([sys.executable, "-c", f"import paceline; paceline.open({directory!r})"], capture_output=True, text=True)
    assert f"in use by another server (process {os.getpid()})" in told.stderr, told.stderr

    # The close ends what others wait for: a lock, a transaction of the log, a query.
    transaction = session.begin()
    transaction.get(table, 1, lock="exclusive")
    ended = {}

    def wait(name, number, call):
        try:
            call()
        except paceline.Error as error:
            ended[name] = error.args[0]

    def wait_for_lock():
        other = database.session().begin()
        waiting.release()
        other.get(table, 1, lock="exclusive", wait=1000)

    def wait_for_log():
        stream = database.changes(database.position)
        waiting.release()
        next(stream)

    def wait_for_query():
        waiting.release()
        database.session().query("SELECT SLEEP(1000)")

    waiting = threading.Semaphore(0)
    waiters = [threading.Thread(target=wait, args=(call.__name__, 0, call)) for call in (wait_for_lock, wait_for_log, wait_for_query)]
    [waiter.start() for waiter in waiters]
    [waiting.acquire() for _ in waiters]
assert all(not waiter.join(60) and not waiter.is_alive() for waiter in waiters)
# The lock may be granted when its holder is ended.
assert ended["wait_for_log"] == 0 and ended.get("wait_for_lock") in (None, 0, 1927) and ended["wait_for_query"] in (0, 1927), ended
fails(0, session.query, "SELECT 1")
fails(0, transaction.commit)
fails(0, database.session)
fails(0, next, changes)
try:
    connection.cursor().execute("SELECT 1")
    raise AssertionError
except paceline.OperationalError as error:
    assert error.args[0] in (2006, 2013), error
except paceline.InterfaceError as error:
    assert error.args[0] == 0, error
database.close()

# By their connections alone: the last one closes the database, so that it can be opened again.
first = paceline.connect(directory, "a")
second = paceline.connect(directory, "a")
first.cursor().execute("INSERT INTO t VALUES (5, 'never')")
first.close()
cursor = second.cursor()
cursor.execute("SELECT COUNT(*) FROM t")
assert cursor.fetchone() == (353,)
second.close()
os.kill(sleeper, signal.SIGKILL)
os.waitpid(sleeper, 0)
paceline.open(directory).close()
assert "unknown option '--sink-binlog'" in str(fails(2002, paceline.connect, directory, options={"sink_binlog": 0}))

# Closed at the exit of the interpreter, while a thread waits in a call.
database = paceline.open(directory)
left_open = database.connect("a")
session = database.session()
transaction = session.begin()
transaction.get(session.table("a.t"), 1, lock="exclusive")
begun = threading.Event()


def wait_at_exit():
    other = database.session()
    begun.set()
    with contextlib.suppress(paceline.Error):
        other.execute("UPDATE a.t SET text = 'x' WHERE id = 1")


threading.Thread(target=wait_at_exit, daemon=True).start()
begun.wait()
print("done")
