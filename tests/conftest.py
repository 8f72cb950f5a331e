"""Fixtures of the end-to-end tests: servers that live as long as one test, in a directory of their own."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from support.servers import MariaDb, Paceline  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, default=1, help="seed of the random tests; a failure prints the one to repeat")
    parser.addoption("--effort", type=float, default=1.0, help="how much the random tests try, as a factor")


@pytest.fixture
def seed(request):
    return request.config.getoption("--seed")


@pytest.fixture
def effort(request):
    return request.config.getoption("--effort")


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
