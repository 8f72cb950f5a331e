"""Tests of PHP's mysqli and PDO, from Debian's source package of PHP."""

import os
import re
from pathlib import Path

from frameworks.outcome import Outcome
from frameworks.suite import DebianSource, output

KINDS = {"PASSED": "passed", "FAILED": "failed", "BORKED": "failed", "LEAKED": "failed", "WARNED": "passed", "XFAILED": "failed", "SKIPPED": "skipped"}


class Php(DebianSource):
    name = "php"
    source, packages = "php8.2", ["php8.2-cli", "php8.2-mysql"]

    def portions(self):
        return ["ext/mysqli/tests", "ext/pdo_mysql/tests"]

    def prepare_server(self, server):
        server.query("create database if not exists test")

    def run(self, portion, server, directory: Path, seconds_max):
        results = directory / "results"
        environment = {
            **os.environ, "MYSQL_TEST_HOST": "127.0.0.1", "MYSQL_TEST_PORT": str(server.port), "MYSQL_TEST_SOCKET": str(server.socket), "MYSQL_TEST_USER": "root",
            "MYSQL_TEST_PASSWD": "", "MYSQL_TEST_DB": "test", "PDO_MYSQL_TEST_DSN": f"mysql:host=127.0.0.1;port={server.port};dbname=test",
            "PDO_MYSQL_TEST_USER": "root", "PDO_MYSQL_TEST_PASS": "", "PDO_MYSQL_TEST_SOCKET": str(server.socket), "TEST_PHP_EXECUTABLE": "/usr/bin/php8.2", "NO_INTERACTION": "1",
            "SKIP_ONLINE_TESTS": "1",
        }
        output(["php8.2", "run-tests.php", "-q", "--no-clean", "--set-timeout", "30", "-W", results, portion], seconds_max, cwd=self.tree, env=environment)
        found = {}
        for line in results.read_text(encoding="utf-8").splitlines() if results.exists() else []:
            kind, test = re.split(r"\s+", line, maxsplit=1)
            test = test.removeprefix(f"{self.tree}/")
            difference = (self.tree / test).with_suffix(".diff")
            message = difference.read_text(errors="replace")[:700] if KINDS[kind] == "failed" and difference.exists() else ""
            found[test] = Outcome(KINDS[kind], message)
        return found
