"""SQLAlchemy's tests, from its source distribution, with mysqlclient."""

import re
from pathlib import Path

from frameworks.suite import PythonSuite

VERSION = re.compile(r"_mariadb\+mysqldb_[0-9_]+")
PORTIONS = ["test/dialect/mysql", "test/dialect/test_suite.py", "test/engine", "test/sql", "test/orm", "test/base test/ext"]


class SqlAlchemy(PythonSuite):
    name = "sqlalchemy"
    requirements = ["setuptools", "wheel", "cython", "sqlalchemy==2.0.58", "mysqlclient==2.3.2", "pymysql==1.2.4", "pytest<9", "typing_extensions"]
    source = "sqlalchemy==2.0.58"

    def portions(self):
        return PORTIONS

    def prepare_server(self, server):
        # README.unittests.rst: a second database, for tests of schemas.
        server.query("create database exam character set utf8mb4", "create database test_schema character set utf8mb4",
                     "create database if not exists test")

    def run(self, portion, server, directory: Path, seconds_max):
        address = f"mysql+mysqldb://root@/exam?unix_socket={server.socket}&charset=utf8mb4"
        command = [self.python, "-m", "pytest", "-q", "-p", "pytest_outcomes", "-p", "no:cacheprovider", "-p", "no:logging", "--tb=line", "--maxfail=100000",
                   "--dburi", address, f"--basetemp={directory / 'pytest'}", *portion.split()]
        outcomes = self.recorded(command, directory, seconds_max, cwd=self.tree)
        # Names have the server's version in them.
        return {VERSION.sub("", test): outcome for test, outcome in outcomes.items()}
