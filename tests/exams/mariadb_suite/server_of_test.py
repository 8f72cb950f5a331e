"""The servers that a test of MariaDB's suites speaks to, started as mysql-test-run starts them and restarted when a test asks for it.

A test that restarts its server writes `restart` or `restart: OPTIONS` into `VARDIR/tmp/mysqld.N.expect`, shuts the server down and
waits for it to come back (include/restart_mysqld.inc); `wait` there means that the server stays down for now.
"""

import functools
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from support.servers import BINARY, MariaDb, Paceline  # noqa: E402

POLL_SECONDS = 0.05

# Of include/default_mysqld.cnf what a test can see.
DEFAULTS = ["--character-set-server=latin1", "--local-infile=ON", "--connect-timeout=60", "--log-bin-trust-function-creators=1",
            "--sort-buffer-size=256K", "--max-heap-table-size=1M", "--slave-net-timeout=120", "--port-open-timeout=10"]
# Where Paceline's default is another than MariaDB 10.11's.
PACELINE_DEFAULTS = ["--innodb-snapshot-isolation=OFF"]
MARIADB_DEFAULTS = [*DEFAULTS, "--loose-innodb_buffer_pool_size=8M", "--debug-no-sync", "--key-buffer-size=1M", "--default-storage-engine=myisam",
                    "--use_stat_tables=preferably", "--histogram_type=json_hb", "--binlog-direct-non-transactional-updates",
                    "--log-basename=mysqld"]


@functools.cache
def options_of_paceline() -> frozenset[str]:
    """The names of the options that the server under test knows: its system variables, and what its help names besides."""
    printed = subprocess.run([BINARY, "server", "--help"], capture_output=True, text=True, check=True).stdout
    helped = {name.replace("-", "_") for name in re.findall(r"--([a-z0-9_-]+)", printed)}
    with tempfile.TemporaryDirectory(prefix="exam-") as directory:
        server = Paceline(directory)
        try:
            server.start()
            return frozenset(helped | {name for name, _ in server.query("show global variables")})
        finally:
            server.close()


def known_to_paceline(options: list[str]) -> tuple[list[str], list[str]]:
    """Options split into those that Paceline knows and those that it does not (which would end its start)."""
    known, unknown = [], []
    for option in options:
        option = re.sub(r"^--loose[-_]", "--", option)
        name = option.removeprefix("--").split("=")[0].replace("-", "_")
        names = {name, name.removeprefix("skip_"), name.removeprefix("enable_")}
        (known if names & options_of_paceline() else unknown).append(option)
    return known, unknown


class ServerOfTest:
    """Server number `number` of a test."""

    def __init__(self, kind: str, number: int, vardir: Path, options: list[str], with_log: bool):
        self.number, self.vardir = number, vardir
        self.tmpdir = vardir / "tmp" / f"mysqld.{number}"
        self.tmpdir.mkdir(parents=True, exist_ok=True)
        self.expectation = vardir / "tmp" / f"mysqld.{number}.expect"
        directory = vardir / f"mysqld.{number}"
        base = "master" if number == 1 else "slave"
        role = [f"--server-id={number}", "--report-host=127.0.0.1", "--report-user=root"] if with_log else [f"--server-id={number}"]
        if number > 1:
            role.append("--skip-slave-start")
        self.left_out = []
        if kind == "mariadb":
            self.server = MariaDbOfTest(directory, number, with_log)
            options = [*MARIADB_DEFAULTS, f"--log-basename={base}", *role, f"--secure-file-priv={vardir}", f"--tmpdir={self.tmpdir}", *options]
        else:
            self.server = Paceline(directory)
            wanted = [*DEFAULTS, *PACELINE_DEFAULTS, *role, f"--secure-file-priv={vardir}", f"--tmpdir={self.tmpdir}", f"--log-bin={base}-bin", *options]
            options, self.left_out = known_to_paceline(wanted)
        self.options = options
        self.server.options = options
        self.closing = threading.Event()
        self.keeper = threading.Thread(target=self.keep, daemon=True)

    def start(self):
        self.server.start()
        self.server.query("create database if not exists test", "create database if not exists mtr")
        self.keeper.start()

    def keep(self):
        """Starts the server again after it has gone, when the test asks for it."""
        while not self.closing.wait(POLL_SECONDS):
            if self.server.process.poll() is None or not self.expectation.exists():
                continue
            said = self.expectation.read_text(errors="replace").strip().splitlines()
            if not said or not said[-1].startswith("restart"):
                continue
            self.expectation.unlink()
            _, _, more = said[-1].partition(":")
            more = more.split()
            if isinstance(self.server, Paceline):
                more, _ = known_to_paceline(more)
            self.server.spawn(*more)

    def close(self):
        self.closing.set()
        if self.keeper.is_alive():
            self.keeper.join(timeout=5)
        self.server.close()


class MariaDbOfTest(MariaDb):
    """A MariaDB without a log unless a test replicates: many expected results depend on it."""

    def __init__(self, directory: Path, number: int, with_log: bool):
        super().__init__(directory)
        self.number, self.with_log = number, with_log

    def command(self):
        command = ["/usr/sbin/mariadbd", "--no-defaults", f"--user={os.environ.get('USER', 'root')}", f"--datadir={self.directory / 'data'}",
                   f"--port={self.port}", "--bind-address=127.0.0.1", f"--socket={self.socket}"]
        if self.with_log:
            command += ["--log-bin", "--log-slave-updates"] if self.number > 1 else ["--log-bin"]
        return command
