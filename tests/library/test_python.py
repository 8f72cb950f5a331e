"""The Python module: DB-API 2.0 with the database in the interpreter's process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.servers import BINARY

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "crates/embedded_python/python/paceline"

COMPLIANCE = """
import sys, unittest
import dbapi20, paceline

class Compliance(dbapi20.DatabaseAPI20Test):
    driver = paceline
    connect_args = (sys.argv.pop(1), "test")

    def setUp(self):
        with paceline.connect(self.connect_args[0]) as connection:
            connection.cursor().execute("CREATE OR REPLACE DATABASE test")
            connection.cursor().execute("CREATE FUNCTION test.f(s TEXT) RETURNS TEXT RETURN LOWER(s)")
            connection.cursor().execute("CREATE PROCEDURE test.lower(s TEXT) SELECT LOWER(s)")

    def tearDown(self):
        pass

    # The suite has no general test of these two: each driver brings its own.
    def test_nextset(self):
        connection = self._connect()
        cursor = connection.cursor()
        cursor.execute("CREATE PROCEDURE several() BEGIN SELECT 1; SELECT 2; END")
        cursor.callproc("several")
        self.assertEqual(cursor.fetchall(), ((1,),))
        self.assertTrue(cursor.nextset())
        self.assertEqual(cursor.fetchall(), ((2,),))
        # A CALL ends with a result without rows.
        self.assertTrue(cursor.nextset())
        self.assertIsNone(cursor.nextset())
        connection.close()

    def test_setoutputsize(self):
        connection = self._connect()
        connection.cursor().setoutputsize(1000)
        connection.close()

unittest.main()
"""

LIFE = """
import os, sys, threading
import paceline

directory = sys.argv[1]
with paceline.open_database(directory, sync_binlog=0) as database:
    with database.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE a")
        cursor.execute("CREATE TABLE a.t (id INT PRIMARY KEY, v VARCHAR(20))")
        cursor.executemany("INSERT INTO a.t VALUES (%s, %s)", [(1, "größer"), (2, None)])
        cursor.execute("SELECT @@sync_binlog, CURRENT_USER()")
        assert cursor.fetchall() == ((0, "root@localhost"),)
        try:
            cursor.execute("INSERT INTO a.t VALUES (1, 'x')")
            raise AssertionError
        except paceline.IntegrityError as error:
            assert error.args[0] == 1062

    def work(number):
        with database.connect("a") as connection:
            for step in range(50):
                connection.cursor().execute("INSERT INTO t VALUES (%s, 'thread')", (1000 * number + step,))
                connection.commit()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    connection = database.connect("a")
    child = os.fork()
    if child == 0:
        connection.close()
        database.close()
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    cursor = connection.cursor()
    cursor.execute("SELECT COUNT(*) FROM t")
    assert cursor.fetchone() == (202,)
    path = os.path.join(directory, "socket")
    assert database.listen(path) == 0 and os.path.exists(path)
    database.stop_listening()
    assert not os.path.exists(path)
    try:
        paceline.open_database(directory)
        raise AssertionError
    except paceline.ProgrammingError:
        pass
try:
    cursor.execute("SELECT 1")
    raise AssertionError
except paceline.OperationalError as error:
    assert error.args[0] in (2006, 2013), error
# By their connections alone: the last one closes the database, so that it can be opened again.
first = paceline.connect(directory, "a")
second = paceline.connect(directory, "a")
first.cursor().execute("INSERT INTO t VALUES (3, 'never')")
first.close()
cursor = second.cursor()
cursor.execute("SELECT COUNT(*) FROM t")
assert cursor.fetchone() == (202,)
second.close()
paceline.open_database(directory).close()
try:
    paceline.connect(directory, options={"sink_binlog": 0})
    raise AssertionError
except paceline.OperationalError as error:
    assert "unknown option '--sink-binlog'" in str(error)
# Closed at the exit of the interpreter.
left_open = paceline.connect(directory)
print("done")
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """A directory to import the module from: the wheel's content, of the workspace's build."""
    directory = tmp_path_factory.mktemp("modules")
    shutil.copytree(PACKAGE, directory / "paceline", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(BINARY.with_name("libpaceline_python.so"), directory / "paceline/_native.abi3.so")
    return directory


def run(modules, program, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(modules), "PYTHONWARNINGS": "error::ResourceWarning"}
    return subprocess.run([sys.executable, "-c", program, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=120)


def test_opening_closing_threads_and_fork(modules, tmp_path):
    done = run(modules, LIFE, tmp_path / "data")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_the_public_compliance_suite_of_db_api_2(modules, tmp_path):
    suite = tmp_path / "suite"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", str(suite), "dbapi-compliance==1.15.0"],
                   check=True)
    for file in suite.glob("dbapi20.py"):
        shutil.copy(file, modules)
    done = run(modules, COMPLIANCE, tmp_path / "data")
    assert done.returncode == 0, done.stderr
    assert "\nRan " in done.stderr and done.stderr.rstrip().endswith("OK"), done.stderr
