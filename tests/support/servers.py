"""Starts, kills and queries servers: Paceline and a real MariaDB."""

import atexit
import fcntl
import functools
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pymysql

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ.get("PACELINE_BINARY", ROOT / "target/release/paceline"))
CRASHFS = BINARY.parent / "crashfs"
OTHER_VERSION = BINARY.parent / "other_version"
START_SECONDS_MAX = 120


# Ports from this one on, and below those that the kernel assigns to connections: a killed server finds its port free
# again.
PORTS_FROM = 10_000


class ReservedPort:
    """A free port that no other test uses during the lifetime of this object, as a locked file shows."""

    def __init__(self):
        given_out_from = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
        ports = range(PORTS_FROM, given_out_from) if given_out_from > PORTS_FROM + 1_000 else range(PORTS_FROM, 1 << 16)
        while not self.take(random.SystemRandom().choice(ports)):
            pass

    def take(self, number):
        """Reserves this port, if it is free, instead of the current one. Returns whether it did."""
        directory = Path("/tmp/paceline-test-ports")
        directory.mkdir(exist_ok=True)
        lock = open(directory / str(number), "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", number))
        except OSError:
            lock.close()
            return False
        self.number, self.lock = number, lock
        return True


@dataclass(frozen=True)
class Program:
    """A build of Paceline: its file, and variables of its environment."""

    path: Path = BINARY
    environment: tuple = ()

    @classmethod
    def of_version(cls, number, message_format=1, log_format=1):
        """Returns the program as another version (tests/other_version)."""
        return cls(OTHER_VERSION, (("PACELINE_OTHER_VERSION", f"{number} {message_format} {log_format}"),))


class Server:
    """A server process. Its output is in `log`. Another `program` is used from the next start on."""

    program = Program()

    def __init__(self, directory, *options):
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.options = list(options)
        self.reserved_port = ReservedPort()
        self.port = self.reserved_port.number
        self.socket = self.directory / "server.sock"
        self.log = self.directory / "server.log"
        self.process = None

    def spawn(self, *more):
        """Starts the process without waiting until it answers."""
        # Paths of UNIX sockets have a short maximum length; a test's directory may be longer.
        if len(str(self.socket)) > 100:
            self.socket = Path(f"/tmp/paceline-test-{os.getpid()}-{self.port}.sock")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*map(str, self.command()), *self.options, *more], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env={**os.environ, **dict(self.program.environment)})

    def start(self, *more):
        self.spawn(*more)
        self.wait_until_ready()
        return self

    def wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                self.connect().close()
                return
            except pymysql.err.OperationalError:
                if self.process.poll() is not None:
                    raise AssertionError(f"{self} ended with {self.process.returncode}:\n{self.said()}") from None
                if time.monotonic() > deadline:
                    raise AssertionError(f"{self} does not answer:\n{self.said()}") from None
                # The pause of a loop that waits.
                time.sleep(0.02)

    def connect(self, **options):
        # Without encryption unless a test requests TLS: PyMySQL uses it wherever it is offered.
        options = {"user": "root", "autocommit": True, "charset": "utf8mb4", "unix_socket": str(self.socket),
                   "read_timeout": 120, "write_timeout": 120, "ssl_disabled": "ssl" not in options, **options}
        return pymysql.connect(**options)

    def query(self, *statements, **options):
        """Runs statements in a session of their own, and returns the rows of the last one."""
        with self.connect(**options) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall()

    def refuses(self, number, **options):
        """Checks that a connection is refused with this error."""
        try:
            self.connect(**options).close()
        except pymysql.err.OperationalError as error:
            assert error.args[0] == number, error
        else:
            raise AssertionError(f"{self} lets {options} in")

    def kill(self):
        """Kills the process with kill -9, like an out-of-memory killer."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Shuts down cleanly. Returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=120)

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()
        self.socket.unlink(missing_ok=True)

    def said(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def client(self, *arguments, program="mariadb", text=None):
        """Runs one of MariaDB's command-line clients against this server. Returns its output."""
        command = [program, "--no-defaults", "-uroot", "-S", str(self.socket), *map(str, arguments)]
        result = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8",
                                errors="surrogateescape", timeout=600)
        assert result.returncode == 0, f"{command} ended with {result.returncode}:\n{result.stderr}{result.stdout}"
        return result.stdout


class Paceline(Server):
    # Like the MariaDB servers of the tests (`new_mariadb`): root needs no password, also over TCP.
    accounts = ["--initialize-insecure"]

    def __init__(self, directory, *options, datadir=None):
        super().__init__(directory, *options)
        self.datadir = Path(datadir or self.directory / "data")

    def command(self):
        return [self.program.path, "server", "--datadir", self.datadir, "--port", self.port, "--socket", self.socket, *self.accounts]

    def log_files(self):
        """Returns the binary log's files, oldest first."""
        return [Path(name) if name.startswith("/") else self.datadir / name for name in self.log_index().split()]

    def log_index(self):
        [index] = self.datadir.rglob("*.index")
        return index.read_text()


@functools.cache
def new_mariadb():
    """Returns a data directory of a new MariaDB installation, which is created once and copied."""
    directory = Path(tempfile.mkdtemp(prefix="paceline-test-mariadb-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    # Every MariaDB removes all temporary tables in its directory for them when it starts: the directory must not be
    # shared.
    done = subprocess.run(["mariadb-install-db", "--no-defaults", "--force", f"--datadir={directory / 'data'}", "--user=root",
                           "--auth-root-authentication-method=normal"], capture_output=True, text=True,
                          env={**os.environ, "TMPDIR": str(directory)})
    assert done.returncode == 0, done.stdout + done.stderr
    return directory / "data"


class MariaDb(Server):
    """A real MariaDB. As a replica it tries again within a test's patience when a connection was lost without a sign."""

    def command(self):
        return ["/usr/sbin/mariadbd", "--no-defaults", "--user=root", f"--datadir={self.directory / 'data'}",
                f"--port={self.port}", "--bind-address=127.0.0.1", f"--socket={self.socket}", "--server-id=100", "--log-bin=bin",
                f"--tmpdir={self.directory / 'tmp'}", "--binlog-format=ROW", "--log-slave-updates", "--character-set-server=utf8mb4",
                "--collation-server=utf8mb4_general_ci", "--slave-net-timeout=20"]

    def spawn(self, *more):
        if not (self.directory / "data").exists():
            shutil.copytree(new_mariadb(), self.directory / "data")
        (self.directory / "tmp").mkdir(exist_ok=True)
        super().spawn(*more)


class CrashFs:
    """A file system that loses power (tests/crashfs), mounted at `mount_point`."""

    def __init__(self, mount_point, *options):
        self.mount_point = Path(mount_point)
        self.mount_point.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen([CRASHFS, self.mount_point, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "mounted\n"

    def say(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
