"""Tests of Perl's two drivers, from Debian's source packages."""

import os
import re
from pathlib import Path

from frameworks.outcome import Outcome
from frameworks.suite import DebianSource, output

RESULT = re.compile(r"(not )?ok (\d+)\s*(?:- )?(.*?)(?: # (skip|TODO)(.*))?", re.I)


class PerlDriver(DebianSource):
    driver: str

    def portions(self):
        # 10connect asks for the version of the client library that the package was built with.
        return sorted(path.name for path in (self.tree / "t").glob("[0-9rmt]*.t") if not path.name.startswith(("00", "99", "manifest", "pod")))

    def prepare_server(self, server):
        server.query("create database exam character set utf8mb4 collate utf8mb4_unicode_ci")

    def run(self, portion, server, directory: Path, seconds_max):
        address = f"DBI:{self.driver}:database=exam;{self.driver.lower()}_socket={server.socket}"
        environment = {**os.environ, "DBI_DSN": address, "DBI_USER": "root", "DBI_PASS": ""}
        _, printed = output(["perl", f"t/{portion}"], min(seconds_max, 120), cwd=self.tree, env=environment)
        found, text = {}, []
        for line in printed.splitlines():
            result = RESULT.fullmatch(line)
            if result is None:
                text.append(line)
                continue
            failed, number, _, directive, _ = result.groups()
            test = f"{portion} {number}"
            kind = "skipped" if directive else "failed" if failed else "passed"
            found[test] = Outcome(kind, "" if kind == "passed" else "\n".join(text)[-500:])
            text = []
        return found


class DbdMariaDb(PerlDriver):
    name = "perl_dbd_mariadb"
    driver, source, packages = "MariaDB", "libdbd-mariadb-perl", ["libdbd-mariadb-perl", "libtest-deep-perl"]


class DbdMySql(PerlDriver):
    name = "perl_dbd_mysql"
    driver, source, packages = "mysql", "libdbd-mysql-perl", ["libdbd-mysql-perl"]
