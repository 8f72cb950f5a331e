#!/usr/bin/python3
"""Measures for how long nothing can be written when a primary fails or is replaced by plan: Paceline's cluster, and Debian's
Patroni with PostgreSQL, each with three servers and an etcd on this machine.

    bench/failover.py [--systems NAME,...] [--faults NAME,...] [--runs N] [--patroni-runs N] [--directory DIR] [--raw FILE]

Systems:

    paceline         a cluster with its defaults
    patroni          Patroni's defaults: ttl 30, loop_wait 10, retry_timeout 10, asynchronous
    patroni-fast     the smallest values that its manual allows (ttl 20, loop_wait 1, retry_timeout 3), primary_start_timeout 0,
                     synchronous_mode on

Faults:

    host dead        kill -9 of everything that runs on the primary's host: server and agent. Paceline's server is its own agent
    server dead      kill -9 of the database server only. Of Paceline this is the same, and not measured again
    host silent      SIGSTOP of everything on the primary's host. It goes on when the others have accepted writes for a second
    planned          `paceline cluster switch`, `patronictl switchover`

The client is the same: a thread for each host, which inserts numbered rows there, one a transaction, and after an error
tries again in 5 ms. So it finds the primary without a time limit of a connection. The figure is the longest time between two
acknowledged writes, wherever, from the fault until the cluster is whole again. Afterwards each acknowledged row is looked for.

Needs bench/'s packages (`tools/install.sh bench`) and, for PostgreSQL, which does not run as root, a user `postgres`.
PACELINE_BINARY is the server; by default target/release/paceline.
"""

import argparse
import itertools
import json
import os
import pwd
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
sys.dont_write_bytecode = True

import psycopg2  # noqa: E402
import pymysql  # noqa: E402
from support.clusters import Cluster, Etcd  # noqa: E402
from support.servers import ReservedPort  # noqa: E402
from support.waiting import let_run, wait_for  # noqa: E402

POSTGRES_PROGRAMS = Path("/usr/lib/postgresql/15/bin")
RETRY_SECONDS = 0.005
# Pause after a write: a few hundred writes a second are enough to see a gap.
WRITE_PAUSE_SECONDS = 0.002
# Writes that are looked at before a fault, and after it.
QUIET_SECONDS = 1.0
# No two writes of this process have the same number.
NUMBERS = itertools.count(1)
WHOLE_WITHIN_SECONDS = 240
FAULTS = ["host dead", "server dead", "host silent", "planned"]


class Writers:
    """A thread for each host. Knows the times of the acknowledged writes."""

    def __init__(self, system):
        self.system, self.acknowledged, self.lock = system, [], threading.Lock()
        self.is_stopping = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(host,), daemon=True) for host in range(3)]
        for thread in self.threads:
            thread.start()

    def run(self, host):
        cursor = None
        while not self.is_stopping.is_set():
            number = next(NUMBERS)
            try:
                if cursor is None:
                    cursor = self.system.connect(host).cursor()
                cursor.execute("insert into n values (%s)", (number,))
            except (pymysql.err.Error, psycopg2.Error) as error:
                if not self.system.is_refusal(error):
                    cursor = None
                time.sleep(RETRY_SECONDS)  # The pause of a loop that waits for another primary.
                continue
            with self.lock:
                self.acknowledged.append((time.monotonic(), number))
            time.sleep(WRITE_PAUSE_SECONDS)  # The servers share the machine's processors with this.

    def newest(self):
        with self.lock:
            return self.acknowledged[-1][0] if self.acknowledged else 0

    def longest_gap(self, since):
        """Returns the longest time between two acknowledged writes, from the last one before a moment on."""
        with self.lock:
            times = sorted(at for at, _ in self.acknowledged)
        first = max([number for number, at in enumerate(times) if at <= since], default=0)
        return max(later - earlier for earlier, later in zip(times[first:], times[first + 1:]))

    def stop(self):
        self.is_stopping.set()
        for thread in self.threads:
            thread.join(timeout=10)


class PacelineSystem:
    faults = ["host dead", "host silent", "planned"]

    def __init__(self, name, directory):
        self.name = name
        self.cluster = Cluster(directory, 3)
        self.cluster.primary().query("create user app", "grant all on *.* to app", "create database t", "create table t.n (i int primary key)")

    def connect(self, host):
        return pymysql.connect(host="127.0.0.1", port=self.cluster.members[host].port, user="app", database="t", autocommit=True, connect_timeout=2,
                               ssl_disabled=True)

    @staticmethod
    def is_refusal(error):
        return error.args and error.args[0] == 1290

    def primary(self):
        return self.cluster.members.index(self.cluster.primary())

    def kill(self, host, _only_server):
        self.cluster.members[host].kill()

    def revive(self, host):
        if self.cluster.members[host].process.poll() is not None:
            self.cluster.members[host].start()

    def send(self, host, number):
        self.cluster.members[host].process.send_signal(number)

    def switch(self):
        self.cluster.command("switch")

    def is_whole(self):
        probes = [member.probe("/replica?max_lag=1") for member in self.cluster.members]
        return sum(probe is not None and probe[0] == 200 for probe in probes) == 2 and any(member.is_primary() for member in self.cluster.members)

    def rows(self):
        return {number for (number,) in self.cluster.primary().query("select i from t.n")}

    def close(self):
        self.cluster.close()


def as_postgres(*command):
    """Returns a command that runs as PostgreSQL's user."""
    command = [str(word) for word in command]
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command] if os.getuid() == 0 else command


def descendants(roots):
    """Returns the processes with these numbers and all below them."""
    parents = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {root for root in roots if root in parents}
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return found


class PatroniHost:
    """A Patroni and its PostgreSQL."""

    def __init__(self, name, directory, etcd, dynamic):
        self.name, self.directory = name, directory
        self.sql, self.rest = ReservedPort(), ReservedPort()
        self.data, self.file = directory / "data", directory / "patroni.json"
        directory.mkdir()
        accounts = {"superuser": {"username": "postgres", "password": "super"}, "replication": {"username": "replicator", "password": "copy"},
                    "rewind": {"username": "rewinder", "password": "rewind"}}
        # JSON is YAML.
        self.file.write_text(json.dumps({
            "scope": "bench", "name": name,
            "restapi": {"listen": f"127.0.0.1:{self.rest.number}", "connect_address": f"127.0.0.1:{self.rest.number}"},
            "etcd3": {"host": etcd.url.removeprefix("http://")},
            "bootstrap": {"dcs": {**dynamic, "postgresql": {"use_pg_rewind": True, "use_slots": True, "parameters": {"wal_log_hints": "on"}}},
                          "initdb": [{"encoding": "UTF8"}, "data-checksums"],
                          "pg_hba": ["host replication replicator 127.0.0.1/32 md5", "host all all 127.0.0.1/32 md5"]},
            "postgresql": {"listen": f"127.0.0.1:{self.sql.number}", "connect_address": f"127.0.0.1:{self.sql.number}", "data_dir": str(self.data),
                           "bin_dir": str(POSTGRES_PROGRAMS), "pgpass": str(directory / "pgpass"), "authentication": accounts,
                           "parameters": {"unix_socket_directories": str(directory)}}}))
        if os.getuid() == 0:
            shutil.chown(directory, "postgres", "postgres")
        self.process = None

    def start(self):
        with open(self.directory / "patroni.log", "ab") as log:
            self.process = subprocess.Popen(as_postgres("patroni", self.file), stdout=log, stderr=log, cwd=self.directory)

    def server(self):
        """Returns the process number of PostgreSQL's parent process, or none."""
        try:
            return int((self.data / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None

    def processes(self, only_server=False):
        roots = [self.server()] if only_server else [self.process.pid, self.server()]
        return descendants([root for root in roots if root])

    def send(self, number, only_server=False):
        for process in self.processes(only_server):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                continue
        if number == signal.SIGKILL and not only_server:
            self.process.wait()

    def role(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.rest.number}/cluster", timeout=1) as answer:
                members = json.load(answer)["members"]
        except (OSError, ValueError, KeyError):
            return None
        return {member["name"]: (member["role"], member["state"], member.get("lag")) for member in members}


class PatroniSystem:
    faults = FAULTS
    settings = {
        "patroni": {},
        "patroni-fast": {"ttl": 20, "loop_wait": 1, "retry_timeout": 3, "master_start_timeout": 0, "synchronous_mode": True},
    }

    def __init__(self, name, directory):
        self.name, self.dynamic = name, self.settings[name]
        directory.chmod(0o755)
        self.etcd = Etcd(directory).start()
        self.hosts = [PatroniHost(letter, directory / letter, self.etcd, self.dynamic) for letter in "abc"]
        self.hosts[0].start()
        wait_for("the first PostgreSQL", lambda: self.leader() == 0, seconds=120)
        for host in self.hosts[1:]:
            host.start()
        wait_for("the others", self.is_whole, seconds=WHOLE_WITHIN_SECONDS)
        with self.connect(0).cursor() as cursor:
            cursor.execute("create table n (i int primary key)")

    def leader(self):
        for host in self.hosts:
            roles = host.role() or {}
            for number, other in enumerate(self.hosts):
                if roles.get(other.name, ("", "", None))[:2] == ("leader", "running"):
                    return number
        return None

    def connect(self, host):
        connection = psycopg2.connect(host="127.0.0.1", port=self.hosts[host].sql.number, user="postgres", password="super", dbname="postgres",
                                      connect_timeout=2)
        connection.autocommit = True
        return connection

    @staticmethod
    def is_refusal(error):
        return isinstance(error, psycopg2.errors.ReadOnlySqlTransaction)

    def primary(self):
        wait_for("a leader", lambda: self.leader() is not None, seconds=WHOLE_WITHIN_SECONDS)
        return self.leader()

    def kill(self, host, only_server):
        self.hosts[host].send(signal.SIGKILL, only_server)

    def revive(self, host):
        if self.hosts[host].process.poll() is not None:
            self.hosts[host].start()

    def send(self, host, number):
        self.hosts[host].send(number)

    def switch(self):
        leader = self.hosts[self.primary()].name
        roles = self.hosts[0].role()
        wanted = "sync_standby" if self.dynamic.get("synchronous_mode") else "replica"
        candidate = next(name for name, (role, _, _) in roles.items() if role == wanted)
        done = subprocess.run(as_postgres("patronictl", "-c", self.hosts[0].file, "switchover", "bench", "--master", leader, "--candidate",
                                          candidate, "--force"), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr

    def is_whole(self):
        for host in self.hosts:
            roles = host.role()
            if roles is None or len(roles) != 3:
                return False
            leaders = [name for name, (role, state, _) in roles.items() if role == "leader" and state == "running"]
            followers = [lag for role, state, lag in roles.values() if role in ("replica", "sync_standby") and state in ("running", "streaming")]
            if len(leaders) != 1 or len(followers) != 2 or any(not isinstance(lag, int) or lag > 1 << 20 for lag in followers):
                return False
            if self.dynamic.get("synchronous_mode") and not any(role == "sync_standby" for role, _, _ in roles.values()):
                return False
        # A replica begins to stream when Patroni has made its slot, up to loop_wait later. Its lag is small before, too.
        leader = self.leader()
        if leader is None:
            return False
        try:
            with self.connect(leader).cursor() as cursor:
                cursor.execute("select count(*) from pg_stat_replication where state = 'streaming'")
                return cursor.fetchone() == (2,)
        except psycopg2.Error:
            return False

    def rows(self):
        with self.connect(self.primary()).cursor() as cursor:
            cursor.execute("select i from n")
            return {number for (number,) in cursor.fetchall()}

    def close(self):
        for host in self.hosts:
            if host.process is not None:
                host.send(signal.SIGCONT)
                host.send(signal.SIGKILL)
        self.etcd.close()


def run_once(system, fault):
    """Returns the seconds without an acknowledged write, and how many acknowledged rows are gone."""
    wait_for("the cluster to be whole", system.is_whole, seconds=WHOLE_WITHIN_SECONDS)
    writers = Writers(system)
    try:
        wait_for("a write", lambda: time.monotonic() - writers.newest() < RETRY_SECONDS * 20)
        let_run(QUIET_SECONDS)
        old, since = system.primary(), time.monotonic()
        if fault == "planned":
            system.switch()
        elif fault == "host silent":
            system.send(old, signal.SIGSTOP)
        else:
            system.kill(old, fault == "server dead")
        injected = time.monotonic()
        # The last write that was under way may still be acknowledged.
        let_run(RETRY_SECONDS * 10)
        wait_for("a write after the fault", lambda: writers.newest() > injected + RETRY_SECONDS * 10, seconds=WHOLE_WITHIN_SECONDS)
        let_run(QUIET_SECONDS)
        if fault == "host silent":
            system.send(old, signal.SIGCONT)
        system.revive(old)
        wait_for("the cluster to be whole", system.is_whole, seconds=WHOLE_WITHIN_SECONDS)
        wait_for("a write", lambda: time.monotonic() - writers.newest() < RETRY_SECONDS * 20, seconds=WHOLE_WITHIN_SECONDS)
    finally:
        writers.stop()
    seconds = writers.longest_gap(since)
    lost = {number for _, number in writers.acknowledged} - system.rows()
    return seconds, len(lost)


def percentile(values, percent):
    """Returns the smallest value that so many percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", default="paceline,patroni-fast,patroni")
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--runs", type=int, default=30, help="runs of each fault with Paceline")
    parser.add_argument("--patroni-runs", type=int, default=5, help="runs of each fault with Patroni")
    parser.add_argument("--directory", default="/var/tmp", help="where the servers' data is")
    parser.add_argument("--raw", type=Path, help="file for the seconds of each run")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    if "patroni" in options.systems:
        pwd.getpwnam("postgres")
    table, raw = [], []
    for name in options.systems.split(","):
        directory = Path(tempfile.mkdtemp(prefix="paceline-failover-", dir=options.directory))
        kind = PacelineSystem if name == "paceline" else PatroniSystem
        system = None
        try:
            system = kind(name, directory)
            for fault in options.faults.split(","):
                if fault not in kind.faults:
                    continue
                seconds, lost = [], 0
                for _ in range(options.runs if kind is PacelineSystem else options.patroni_runs):
                    pause, gone = run_once(system, fault)
                    seconds.append(pause)
                    lost += gone
                    print(f"{name}, {fault}: {pause:.3f} s, {gone} rows lost", file=sys.stderr, flush=True)
                table.append((name, fault, len(seconds), statistics.median(seconds), percentile(seconds, 99), max(seconds), lost))
                raw.append({"system": name, "fault": fault, "seconds": seconds, "lost": lost})
        finally:
            if system is not None:
                system.close()
            shutil.rmtree(directory, ignore_errors=True)
    print("\n| system | fault | runs | median | p99 | longest | acknowledged rows lost |\n|---|---|---|---|---|---|---|")
    for name, fault, runs, median, p99, longest, lost in table:
        print(f"| {name} | {fault} | {runs} | {median:.2f} s | {p99:.2f} s | {longest:.2f} s | {lost} |")
    if options.raw:
        options.raw.write_text("\n".join(map(json.dumps, raw)) + "\n")


if __name__ == "__main__":
    main()
