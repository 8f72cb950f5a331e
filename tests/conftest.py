"""Fixtures of the end-to-end tests: servers that run for one test, in a directory of their own."""

import contextlib
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pymysql
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from support.servers import MariaDb, Paceline  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, default=1, help="seed of the random tests; a failure prints the one to repeat")
    parser.addoption("--server", choices=["paceline", "mariadb"], default="paceline",
                     help="whom the tests of `server` speak to; a real MariaDB shows that a test asks for the right thing")
    parser.addoption("--effort", type=float, default=1.0, help="how much the random tests try, as a factor")


def pytest_configure():
    """Fails if two test files have the same name: pytest imports them by name, runs only the first, and stops if all
    folders run together."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise pytest.UsageError(f"there are several test files of the name {', '.join(twice)}")


@pytest.fixture
def seed(request):
    return request.config.getoption("--seed")


@pytest.fixture
def effort(request):
    return request.config.getoption("--effort")


@pytest.fixture
def short_path():
    """An empty directory with a short path, for UNIX sockets that a test does not name itself. That of `tmp_path` grows with the
    test's name and with the number of test runs that the machine has seen."""
    with tempfile.TemporaryDirectory(prefix="paceline-test-") as directory:
        yield Path(directory)


@pytest.fixture
def paceline(tmp_path):
    """A running Paceline with an empty data directory."""
    server = Paceline(tmp_path / "paceline")
    server.start()
    yield server
    server.close()


@pytest.fixture
def mariadb(tmp_path):
    """A running MariaDB with an empty data directory and a binary log in row format."""
    server = MariaDb(tmp_path / "mariadb")
    server.start()
    yield server
    server.close()


@pytest.fixture
def server(request):
    """The server under test: Paceline, or MariaDB with --server=mariadb."""
    return request.getfixturevalue(request.config.getoption("--server"))


@pytest.fixture(scope="module")
def shared_server(request, tmp_path_factory):
    """The server under test, shared by all tests of a module; each test makes its own database (see `database`)."""
    kind = MariaDb if request.config.getoption("--server") == "mariadb" else Paceline
    server = kind(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.close()


@pytest.fixture
def database(shared_server):
    """`shared_server` with an empty database `t` that exists for one test."""
    shared_server.query("create database t character set utf8mb4")
    yield shared_server
    # A failed test may have left sessions with locks.
    with shared_server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("show processlist")
        for row in cursor.fetchall():
            if row[0] != connection.thread_id() and row[1] == "root":
                with contextlib.suppress(pymysql.err.OperationalError):  # 1094: it has just ended by itself
                    cursor.execute(f"kill {row[0]}")
        cursor.execute("drop database t")
