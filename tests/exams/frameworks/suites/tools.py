"""Tools of administrators, from Debian's packages."""

import os

from frameworks.suite import ProgramSuite


class Tools(ProgramSuite):
    name = program = "tools"
    server_options = ["--server-id=1"]
    packages = ["percona-toolkit", "mydumper", "mycli", "mysqltuner", "prometheus-mysqld-exporter"]

    def install(self):
        self.fetching("apt-get", "install", "-y", "-qq", "--no-install-recommends", *self.packages, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})

    def command(self, server):
        return ["python3", self.source / "tools.py"]
