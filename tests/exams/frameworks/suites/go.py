"""Tests of Go's driver and of libraries that use it, from their modules."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from frameworks.outcome import Outcome
from frameworks.suite import Suite, output

OUTCOMES = {"pass": "passed", "fail": "failed", "skip": "skipped"}


class GoSuite(Suite):
    """The tests of one package of a module. `{address}` in an argument or a variable is user, address and database as
    the driver writes them."""

    module: str
    version: str
    package = "."
    arguments: list[str] = []
    environment: dict[str, str] = {}
    database = "exam"

    def install(self):
        self.fetching("go", "mod", "init", "exam")
        done = subprocess.run(["go", "mod", "download", "-json", f"{self.module}@{self.version}"], cwd=self.folder, check=True, capture_output=True)
        tree = self.folder / "module"
        # The module cache is read-only, and the build may need checksums that go.sum lacks.
        shutil.copytree(json.loads(done.stdout)["Dir"], tree, copy_function=shutil.copy)
        for path in [tree, *tree.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        self.fetching("go", "test", "-mod=mod", "-c", "-o", self.folder / "tests", self.package, cwd=tree, env={**os.environ, "GOFLAGS": "-buildvcs=false -p=1"})

    def prepare_server(self, server):
        server.query(f"create database {self.database} character set utf8mb4 collate utf8mb4_general_ci")

    def run(self, portion, server, directory: Path, seconds_max):
        def filled(text: str) -> str:
            return text.format(address=f"root@tcp(127.0.0.1:{server.port})/{self.database}", port=server.port, database=self.database)

        command = ["go", "tool", "test2json", self.folder / "tests", "-test.v", f"-test.timeout={seconds_max:.0f}s", *map(filled, self.arguments)]
        environment = {**os.environ, **{name: filled(value) for name, value in self.environment.items()}}
        _, printed = output(command, seconds_max + 10, cwd=self.folder / "module" / self.package, env=environment)
        found, texts = {}, {}
        for line in printed.splitlines():
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                continue
            test = event.get("Test")
            if test and event["Action"] == "output":
                texts[test] = (texts.get(test, "") + event["Output"])[-700:]
            elif test and event["Action"] in OUTCOMES:
                kind = OUTCOMES[event["Action"]]
                found[test] = Outcome(kind, "" if kind == "passed" else texts.get(test, ""))
        if not found:
            print(printed[-2000:], flush=True)
        return found


class GoSqlDriver(GoSuite):
    name = "go_sql_driver"
    module, version = "github.com/go-sql-driver/mysql", "v1.9.3"
    # It connects to an address elsewhere.
    arguments = ["-test.skip=^TestConnectorReturnsTimeout$"]
    environment = {"MYSQL_TEST_USER": "root", "MYSQL_TEST_PROT": "tcp", "MYSQL_TEST_ADDR": "127.0.0.1:{port}", "MYSQL_TEST_DBNAME": "{database}",
                   "MYSQL_TEST_CONCURRENT": "1"}


class Sqlx(GoSuite):
    name = "go_sqlx"
    module, version = "github.com/jmoiron/sqlx", "v1.4.0"
    environment = {"SQLX_MYSQL_DSN": "{address}?parseTime=true", "SQLX_POSTGRES_DSN": "skip", "SQLX_SQLITE_DSN": "skip"}


class Gorp(GoSuite):
    name = "go_gorp"
    module, version = "github.com/go-gorp/gorp/v3", "v3.1.0"
    environment = {"GORP_TEST_DIALECT": "mysql", "GORP_TEST_DSN": "{address}"}


class Goqu(GoSuite):
    name = "go_goqu"
    module, version, package = "github.com/doug-martin/goqu/v9", "v9.19.0", "./dialect/mysql"
    environment = {"MYSQL_URI": "{address}?parseTime=true"}


class Xorm(GoSuite):
    name = "go_xorm"
    module, version, package = "xorm.io/xorm", "v1.4.3", "./tests"
    arguments = ["-db=mysql", "-conn_str={address}?charset=utf8mb4", "-show_sql=false"]


class Dbr(GoSuite):
    name = "go_dbr"
    module, version = "github.com/gocraft/dbr/v2", "v2.7.6"
    environment = {"DBR_TEST_MYSQL_DSN": "{address}?charset=utf8mb4&parseTime=true"}
