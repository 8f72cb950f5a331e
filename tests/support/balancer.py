"""HAProxy in front of a cluster, and sysbench through it.

HAProxy asks each member's probes: `/primary` decides to which one writers go, `/replica?max_lag=` to which ones readers may.
"""

import csv
import re
import socket
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pymysql

from support.servers import ReservedPort
from support.waiting import wait_for

CHECK_SECONDS = 0.2
# Account that may log in on every member, without a password.
USER = "app"

CONFIGURATION = """
global
    maxconn 400
    stats socket ipv4@127.0.0.1:{statistics} level user
defaults
    mode tcp
    timeout connect 1s
    timeout check 1s
    timeout client 60s
    timeout server 60s
    # A member that is not what was asked for loses its sessions: their clients connect again, to another one.
    default-server check inter {milliseconds}ms fall 1 rise 1 on-marked-down shutdown-sessions
listen primary
    bind 127.0.0.1:{primary}
    option httpchk GET /primary
{servers}
listen replicas
    bind 127.0.0.1:{replicas}
    balance roundrobin
    option httpchk GET /replica?max_lag=5
{servers}
"""


class Balancer:
    """A running HAProxy."""

    def __init__(self, directory, members):
        self.primary, self.replicas, self.statistics = ReservedPort(), ReservedPort(), ReservedPort()
        self.file, self.log = directory / "haproxy.cfg", directory / "haproxy.log"
        servers = "\n".join(f"    server {member.directory.name} 127.0.0.1:{member.port} check port {member.http.number}" for member in members)
        self.file.write_text(CONFIGURATION.format(milliseconds=int(CHECK_SECONDS * 1000), primary=self.primary.number,
                                                  replicas=self.replicas.number, statistics=self.statistics.number, servers=servers))
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(["haproxy", "-db", "-f", self.file], stdout=log, stderr=log)
        # It takes every server for good until it has asked.
        wait_for("HAProxy to ask every member", self.has_asked)
        wait_for("HAProxy to find the primary", self.finds_the_primary)
        return self

    def has_asked(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            with socket.create_connection(("127.0.0.1", self.statistics.number), timeout=5) as connection:
                connection.sendall(b"show stat\n")
                lines = connection.makefile().read().lstrip("# ").splitlines()
        except OSError:
            return False
        servers = [row for row in csv.DictReader(lines) if row["svname"] not in ("FRONTEND", "BACKEND")]
        return servers and all(row["check_status"] not in ("", "INI") for row in servers)

    def finds_the_primary(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            with self.connect(read_timeout=5) as connection, connection.cursor() as cursor:
                cursor.execute("select @@read_only")
                return cursor.fetchone() == (0,)
        except pymysql.err.Error:
            return False

    def connect(self, port=None, **options):
        """Connects to the primary, or to a replica: through the port `replicas`."""
        return pymysql.connect(host="127.0.0.1", port=port or self.primary.number, user=USER, autocommit=True, ssl_disabled=True, **options)

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@dataclass
class Interval:
    """A line of sysbench's report: what happened within a time, by `time.monotonic`."""

    begin: float
    end: float
    transactions: float
    errors: float
    connections: float

    def had_errors(self):
        return self.errors > 0 or self.connections > 0


class Sysbench:
    """A running sysbench, with `changes.lua`. Errors are no reason for it to end."""

    REPORT = re.compile(r"tps: ([\d.]+) .*err/s: ([\d.]+) reconn/s: ([\d.]+)")
    SCRIPT = Path(__file__).with_name("changes.lua")

    def __init__(self, port, threads=4):
        self.options = ["--mysql-host=127.0.0.1", f"--mysql-port={port}", f"--mysql-user={USER}", "--mysql-db=sbtest", "--tables=2", "--table-size=1000",
                        # The server is no primary (any more).
                        "--mysql-ignore-errors=1290", f"--threads={threads}"]
        self.intervals, self.output, self.process = [], [], None

    def command(self, action, *options):
        return ["sysbench", self.SCRIPT, *self.options, *options, action]

    def prepare(self):
        done = subprocess.run(self.command("prepare"), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self):
        self.process = subprocess.Popen(self.command("run", "--time=0", "--events=0", "--report-interval=1"), stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.thread = threading.Thread(target=self.read)
        self.thread.start()
        return self

    def read(self):
        before = time.monotonic()
        for line in self.process.stdout:
            # Each failed attempt to connect is a line.
            if not line.startswith("FATAL: "):
                self.output.append(line)
            if found := self.REPORT.search(line):
                now = time.monotonic()
                self.intervals.append(Interval(before, now, *map(float, found.groups())))
                before = now

    def stop(self):
        """Ends it. It must have run until now."""
        assert self.process.poll() is None, "".join(self.output)
        self.close()

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.thread.join()
