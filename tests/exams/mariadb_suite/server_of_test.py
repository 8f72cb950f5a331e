"""The servers of a test of MariaDB's suites, started like mysql-test-run starts them, and restarted when a test
requests it.

A test that restarts its server writes `restart` or `restart: OPTIONS` to `VARDIR/tmp/mysqld.N.expect`, shuts the
server down and waits until it is back (include/restart_mysqld.inc). `wait` in this file means that the server stays
down for now.
"""

import atexit
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from support.servers import BINARY, MariaDb, Paceline  # noqa: E402

POLL_SECONDS = 0.05

# Time zones that mysql-test-run loads.
TIME_ZONES = Path("/usr/share/mysql/mysql_test_data_timezone.sql")

# The part of include/default_mysqld.cnf that a test can notice.
DEFAULTS = ["--character-set-server=latin1", "--local-infile=ON", "--connect-timeout=60", "--log-bin-trust-function-creators=1",
            "--sort-buffer-size=256K", "--max-heap-table-size=1M", "--slave-net-timeout=120", "--port-open-timeout=10", "--key-buffer-size=1M",
            "--loose-innodb-lru-scan-depth=100", "--loose-innodb-write-io-threads=2", "--loose-innodb-read-io-threads=2", "--loose-innodb-log-buffer-size=2M",
            "--loose-innodb-log-file-size=10M", "--binlog-direct-non-transactional-updates", "--use-stat-tables=preferably", "--histogram-type=json_hb"]
# Settings whose default differs from MariaDB 10.11.
PACELINE_DEFAULTS = ["--innodb-snapshot-isolation=OFF"]
MARIADB_DEFAULTS = [*DEFAULTS, "--loose-innodb_buffer_pool_size=8M", "--debug-no-sync", "--default-storage-engine=myisam", "--log-basename=mysqld"]


@functools.cache
def options_of_paceline() -> frozenset[str]:
    """Returns the names of the options that the server under test knows: its system variables, and others in its
    help."""
    printed = subprocess.run([BINARY, "server", "--help"], capture_output=True, text=True, check=True).stdout
    helped = {name.replace("-", "_") for name in re.findall(r"--([a-z0-9_-]+)", printed)}
    with tempfile.TemporaryDirectory(prefix="exam-") as directory:
        server = Paceline(directory)
        try:
            server.start()
            return frozenset({"default_time_zone", "transaction_isolation", "transaction_read_only"} | helped | {name for name, _ in server.query("show global variables")})
        finally:
            server.close()


def known_to_paceline(options: list[str]) -> tuple[list[str], list[str]]:
    """Splits options into those that Paceline knows and those that it does not know, which would end its start."""
    known, unknown = [], []
    for option in options:
        option = re.sub(r"^--loose[-_]", "--", option)
        name = option.removeprefix("--").split("=")[0].replace("-", "_")
        names = {name, name.removeprefix("skip_"), name.removeprefix("enable_")}
        (known if names & options_of_paceline() else unknown).append(option)
    return known, unknown


class ServerOfTest:
    """Server number `number` of a test."""

    def __init__(self, kind: str, number: int, vardir: Path):
        self.number, self.vardir = number, vardir
        self.tmpdir = vardir / "tmp" / f"mysqld.{number}"
        self.tmpdir.mkdir(parents=True, exist_ok=True)
        self.expectation = vardir / "tmp" / f"mysqld.{number}.expect"
        self.server = (MariaDbOfTest if kind == "mariadb" else PacelineOfTest)(vardir / f"mysqld.{number}")
        self.left_out = []
        self.closing = threading.Event()
        self.keeper = threading.Thread(target=self.keep, daemon=True)

    def take_port(self, port: int) -> bool:
        """Makes the server listen on this port from its next start, if the port is free. Returns whether it is."""
        taken = self.server.reserved_port.take(port)
        self.server.port = self.server.reserved_port.number
        return taken

    def configure(self, options: list[str], time_zone: str | None):
        """Sets the server's options, beyond the defaults."""
        base = next((option.partition("=")[2] for option in reversed(options) if option.startswith("--log-basename=")), "mysqld")
        general = [f"--server-id={self.number}", f"--secure-file-priv={self.vardir}", f"--tmpdir={self.tmpdir}"]
        if isinstance(self.server, PacelineOfTest):
            named = [f"--log-bin={base}-bin" if option == "--log-bin" else option for option in options]
            self.server.options, self.left_out = known_to_paceline([*DEFAULTS, *PACELINE_DEFAULTS, *general, f"--log-bin={base}-bin", *named])
        else:
            self.server.options = [*MARIADB_DEFAULTS, *general, *options]
        self.server.time_zone = time_zone

    def start(self):
        # As after mysql-test-run's bootstrap, the databases exist when the file of --init-file is executed.
        options = self.server.options
        self.server.options = [option for option in options if not option.startswith("--init-file")]
        self.server.start()
        self.server.query(*self.server.first_statements)
        if self.server.options != options:
            self.server.stop()
            self.server.options = options
            self.server.start()
        self.keeper.start()

    def keep(self):
        """Restarts the server after it has stopped, if the test requests it."""
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


class PacelineOfTest(Paceline):
    time_zone = None
    first_statements = ["set session transaction read write", "create database if not exists test character set latin1", "create database if not exists mtr", "reset master"]

    def command(self):
        return [*with_time_zone(self.time_zone), *super().command()]


class MariaDbOfTest(MariaDb):
    """A MariaDB without a log unless a test requests it: many expected results depend on it."""

    time_zone = None
    first_statements = ["select 1"]

    def spawn(self, *more):
        if not (self.directory / "data").exists():
            shutil.copytree(prepared_data(), self.directory / "data")
        super().spawn(*more)

    def command(self):
        return [*with_time_zone(self.time_zone), "/usr/sbin/mariadbd", "--no-defaults", f"--user={os.environ.get('USER', 'root')}",
                f"--datadir={self.directory / 'data'}", f"--port={self.port}", "--bind-address=127.0.0.1", f"--socket={self.socket}"]


def with_time_zone(time_zone: str | None) -> list[str]:
    """Returns the beginning of a command line that runs the rest of it in a time zone, in the same process."""
    return ["env", f"TZ={time_zone}"] if time_zone else []


PREPARATION = threading.Lock()


def prepared_data() -> Path:
    """Returns a data directory of MariaDB as mysql-test-run prepares it, which is created once and copied."""
    with PREPARATION:
        return prepared_data_once()


def servers_of_test(kind: str, numbers: list[int], vardir: Path) -> list["ServerOfTest"]:
    """Creates the servers of a test, with consecutive ports: tests identify the servers by them."""
    servers = [ServerOfTest(kind, number, vardir) for number in numbers]
    while not all(server.take_port(servers[0].server.port + ahead) for ahead, server in enumerate(servers) if ahead > 0):
        servers[0] = ServerOfTest(kind, numbers[0], vardir)
    return servers


@functools.cache
def prepared_data_once() -> Path:
    directory = Path(tempfile.mkdtemp(prefix="exam-mariadb-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    server = MariaDb(directory)
    server.start()
    try:
        server.query("set sql_log_bin=0", "create database if not exists test character set latin1", "create database if not exists mtr character set latin1",
                     "alter table mysql.gtid_slave_pos engine=Aria transactional=0", "delete from mysql.global_priv where user=''")
        server.client("mysql", text="set sql_log_bin=0;\n" + TIME_ZONES.read_text())
        assert server.stop() == 0
    finally:
        server.close()
    data = directory / "data"
    for path in data.glob("bin.*"):
        path.unlink()
    return data
