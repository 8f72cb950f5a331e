"""mysqlclient's tests, from its source distribution."""

from pathlib import Path

from frameworks.suite import PythonSuite


class MySqlClient(PythonSuite):
    name = "mysqlclient"
    requirements = ["setuptools", "wheel", "mysqlclient==2.3.2", "pytest<9", "sqlalchemy==2.0.58"]
    source = "mysqlclient==2.3.2"

    def prepare_server(self, server):
        server.query("create database exam character set utf8mb4")

    def run(self, portion, server, directory: Path, seconds_max):
        configuration = directory / "exam.cnf"
        configuration.write_text(f"[MySQLdb-tests]\nuser=root\nsocket={server.socket}\ndatabase=exam\ndefault-character-set=utf8mb4\n", encoding="utf-8")
        command = [self.python, "-m", "pytest", "-q", "-p", "pytest_outcomes", "-p", "no:cacheprovider", "--tb=line", f"--basetemp={directory / 'pytest'}", "tests"]
        return self.recorded(command, directory, seconds_max, cwd=self.tree, environment={"TESTDB": str(configuration)})
