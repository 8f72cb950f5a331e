#!/usr/bin/env python3
"""Measures Paceline side by side with MariaDB on this machine, and prints the tables of docs/figures.md.

    bench/bench.py [--rounds N] [--seconds N] [--only NAME[,NAME...]] [--directory DIR] [--option VARIABLE=VALUE ...]

Both servers are durable on every commit, keep their data on the same disk, and are driven by the same sysbench over a
UNIX socket with prepared statements. Each load runs in alternating rounds, A B A B; the other server is stopped
meanwhile (SIGSTOP), so that its background work does not interfere. The figure is the ratio of the medians. The
client shares the machine's processors with the server: `ceiling` is the rate of a server that does nothing but answer
(bench/ceiling).
"""

import argparse
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = 100_000

# name, sysbench script, clients, wanted ratio to MariaDB or to the ceiling
LOADS = [
    ("update-1", "oltp_update_non_index", 1, 2.4, "mariadb"),
    ("update-8", "oltp_update_non_index", 8, 3.7, "mariadb"),
    ("update-32", "oltp_update_non_index", 32, 4.0, "mariadb"),
    ("update-128", "oltp_update_non_index", 128, 4.5, "mariadb"),
    ("update-512", "oltp_update_non_index", 512, 0.8, "ceiling"),
    ("update-1024", "oltp_update_non_index", 1024, 0.8, "ceiling"),
    ("select-1", "oltp_point_select", 1, 1.4, "mariadb"),
    ("select-8", "oltp_point_select", 8, 1.6, "mariadb"),
    ("ranges-1", "select_random_ranges", 1, 1.0, "mariadb"),
    ("ranges-8", "select_random_ranges", 8, 1.0, "mariadb"),
    ("points-1", "select_random_points", 1, 1.0, "mariadb"),
    ("points-8", "select_random_points", 8, 1.0, "mariadb"),
    ("read-write-16", "oltp_read_write", 16, 2.0, "mariadb"),
]
# Scripts that the ceiling server can answer.
CEILING_SCRIPTS = {"oltp_update_non_index", "oltp_point_select"}
OTHERS = ["syncs", "bytes", "recovery", "processor"]

# Loads of `processor`, in this order: rows changed by read-write transactions are more expensive to read until their
# old versions are gone.
PROCESSOR_LOADS = [
    ("update-8", "oltp_update_non_index", 8),
    ("update-32", "oltp_update_non_index", 32),
    ("update-128", "oltp_update_non_index", 128),
    ("read-only-16", "oltp_read_only", 16),
    ("read-write-16", "oltp_read_write", 16),
    ("read-only-16 behind it", "oltp_read_only", 16),
]

# What `processor` measures with statistics on and off: name, sysbench script, clients, wanted maximum of the difference in percent.
STATISTICS_LOADS = [
    ("point select", "oltp_point_select", 8, 1.0),
    ("update", "oltp_update_non_index", 8, 2.0),
]
# Paceline's options for each kind of statistics; the others are off meanwhile. The slow log is open and gets nothing.
STATISTICS_OFF = ["--performance-schema=OFF", "--userstat=OFF", "--slow-query-log=OFF"]
STATISTICS = {
    "performance_schema": ["--performance-schema=ON"],
    "slow log": ["--slow-query-log=ON", "--long-query-time=10", "--log-slow-verbosity=query_plan,explain"],
    "userstat": ["--userstat=ON"],
    "all": ["--performance-schema=ON", "--userstat=ON", "--slow-query-log=ON", "--long-query-time=10",
            "--log-slow-verbosity=query_plan,explain"],
}


class Server:
    """A server process with its data in `directory`; `command(directory)` returns its command line."""

    def __init__(self, directory):
        self.directory = directory
        self.socket = directory / "server.sock"
        self.process = None

    def processor_seconds(self):
        """Returns the processor time used so far, in user mode and in the kernel."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return [int(fields[place]) / os.sysconf("SC_CLK_TCK") for place in (11, 12)]

    def start(self):
        log = open(self.directory.with_suffix(".err"), "ab")
        self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 300
        while subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", self.socket, "-e", "select 1"],
                             capture_output=True).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{self.name} does not start: see {self.directory.with_suffix('.err')}")
            time.sleep(0.05)

    def stop(self):
        """Shuts down cleanly. Returns the number of bytes that the process has caused to be written to disk."""
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        _, _, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = 0
        return usage.ru_oublock * 512

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)


class MariaDb(Server):
    name = "mariadb"

    def create(self):
        self.directory.mkdir(parents=True)
        subprocess.run(["mariadb-install-db", "--no-defaults", "--force", f"--datadir={self.directory}", "--user=root",
                        "--auth-root-authentication-method=normal"], check=True, capture_output=True)

    def command(self):
        return ["/usr/sbin/mariadbd", "--no-defaults", "--user=root", f"--datadir={self.directory}", f"--socket={self.socket}",
                "--skip-networking", "--server-id=1", "--log-bin=bin", "--binlog-format=ROW", "--sync-binlog=1",
                "--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=2G", "--innodb-log-file-size=512M",
                "--max-connections=2000", "--max-prepared-stmt-count=100000"]


class Paceline(Server):
    name = "paceline"
    options = []

    def create(self):
        self.directory.mkdir(parents=True)

    def command(self):
        binary = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "paceline"
        return [binary, "server", "--datadir", self.directory / "data", "--port", "0", "--socket", self.socket, "--initialize-insecure",
                "--server-id", "2", "--sync_binlog=1", "--max_connections=2000", *self.options]


class Ceiling(Server):
    name = "ceiling"
    leader = "thread"

    def create(self):
        self.directory.mkdir(parents=True)

    def command(self):
        binary = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "ceiling"
        return [binary, self.socket, self.leader]

    def start(self):
        self.process = subprocess.Popen(self.command(), stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()


def sysbench(server, script, verb, clients=1, seconds=0, events=0, rows=ROWS):
    """Runs sysbench. For `run` it returns the transactions per second and their number."""
    result = subprocess.run(
        ["sysbench", script, "--mysql-user=root", f"--mysql-socket={server.socket}", "--mysql-db=sbtest", "--tables=1",
         f"--table-size={rows}", f"--threads={clients}", f"--time={seconds}", f"--events={events}", "--rand-type=uniform",
         "--db-ps-mode=auto", verb], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"sysbench {script} {verb} with {clients} clients failed on {server.name}:\n{result.stdout}{result.stderr}")
    if verb != "run":
        return None
    number, rate = re.search(r"transactions:\s+(\d+)\s+\(([0-9.]+) per sec", result.stdout).groups()
    return float(rate), int(number)


def prepare(server, rows=ROWS):
    subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", server.socket, "-e", "create database sbtest"], check=True)
    sysbench(server, "oltp_update_non_index", "prepare", rows=rows)


def rounds_in_turn(servers, script, clients, rounds, seconds):
    """Returns the median of transactions per second for each of `servers`, which take turns."""
    rates = [[] for _ in servers]
    for server in servers:
        server.pause()
    for _ in range(rounds):
        for server, taken in zip(servers, rates):
            server.resume()
            taken.append(sysbench(server, script, "run", clients, seconds)[0])
            server.pause()
    for server in servers:
        server.resume()
    return [statistics.median(taken) for taken in rates], rates


def syncs_per_commit(server, clients, seconds):
    """Returns fsync and fdatasync calls of the server's threads per transaction, as counted by the kernel."""
    counter = subprocess.Popen(["strace", "-f", "-c", "-e", "trace=fsync,fdatasync", "-p", str(server.process.pid)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    _, transactions = sysbench(server, "oltp_update_non_index", "run", clients, seconds)
    counter.send_signal(signal.SIGINT)
    table = counter.communicate()[1]
    calls = sum(int(line.split()[3]) for line in table.splitlines() if re.search(r"\b(fsync|fdatasync)$", line))
    return calls / transactions


def bytes_per_update(server, updates):
    """Returns bytes written to disk per update, in all files, from a clean start to a clean shutdown."""
    server.stop()
    server.start()
    idle = server.stop()
    server.start()
    _, done = sysbench(server, "oltp_update_non_index", "run", 32, 0, updates)
    written = server.stop()
    server.start()
    return (written - idle) / done


def processor_per_transaction(server, script, clients, seconds):
    """Returns microseconds of processor time per transaction (the server's in user mode and in the kernel, the
    client's) and transactions per second."""
    def client_time():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    server_before, client_before = server.processor_seconds(), client_time()
    rate, transactions = sysbench(server, script, "run", clients, seconds)
    spent = [after - before for after, before in zip(server.processor_seconds(), server_before)] + [client_time() - client_before]
    return [1e6 * time_spent / transactions for time_spent in spent], rate


def statistics_cost(directory, rounds, seconds):
    """Prints the processor time per transaction of servers that differ only in what they count. They take turns, and a round is
    compared with that of the server without statistics beside it: the machine's own changes from minute to minute are larger than
    the difference."""
    servers = {}
    try:
        for name, options in {"off": [], **STATISTICS}.items():
            server = servers[name] = Paceline(directory / f"statistics-{name.replace(' ', '-')}")
            server.options = [*Paceline.options, *STATISTICS_OFF, *options]
            server.create()
            server.start()
            prepare(server)
            server.pause()
        for load, script, clients, wanted in STATISTICS_LOADS:
            times = {name: [] for name in servers}
            # The first round warms all up, and does not count.
            for number in range(rounds + 1):
                for name, server in servers.items() if number % 2 else reversed(servers.items()):
                    server.resume()
                    (user, kernel, _), _ = processor_per_transaction(server, script, clients, seconds)
                    server.pause()
                    if number > 0:
                        times[name].append(user + kernel)
            print(f"{'statistics off, ' + load:<40} {statistics.median(times['off']):>6.2f} us per transaction", flush=True)
            for name in STATISTICS:
                differences = sorted(100 * (on / off - 1) for on, off in zip(times[name], times["off"]))
                print(f"{name + ' on, ' + load:<40} {statistics.median(times[name]):>6.2f} us per transaction: "
                      f"{statistics.median(differences):+.1f} % (wanted at most {wanted:.0f} %; rounds {differences[0]:+.1f} to "
                      f"{differences[-1]:+.1f} %)", flush=True)
    finally:
        for server in servers.values():
            server.resume()
            server.kill()


def recovery_rate(server, updates):
    """Returns the rows per second that a start after kill -9 replays, and the time until it answers. No checkpoint
    shortens the replay."""
    server.stop()
    options, server.options = server.options, [*server.options, f"--paceline_checkpoint_log_bytes={64 << 30}"]
    server.start()
    _, done = sysbench(server, "oltp_update_non_index", "run", 32, 0, updates)
    server.kill()
    mark = server.directory.with_suffix(".err").stat().st_size
    start = time.monotonic()
    server.start()
    seconds = time.monotonic() - start
    server.options = options
    said = server.directory.with_suffix(".err").read_bytes()[mark:].decode(errors="replace")
    replayed = re.search(r"replayed (\d+) rows .*?in ([0-9.]+) s", said)
    if not replayed:
        sys.exit(f"no replay reported after kill -9:\n{said}")
    rows, replay_seconds = int(replayed[1]), float(replayed[2])
    return rows / replay_seconds, rows, done, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--only", help="comma-separated: " + ", ".join([load[0] for load in LOADS] + OTHERS))
    parser.add_argument("--directory", type=Path, default=ROOT / "target" / "bench")
    parser.add_argument("--option", action="append", default=[], help="a server option for Paceline, VARIABLE=VALUE")
    arguments = parser.parse_args()
    chosen = set(arguments.only.split(",")) if arguments.only else {load[0] for load in LOADS} | set(OTHERS)
    Paceline.options = [f"--{option}" for option in arguments.option]

    shutil.rmtree(arguments.directory, ignore_errors=True)
    mariadb = MariaDb(arguments.directory / "mariadb")
    paceline = Paceline(arguments.directory / "paceline")
    ceiling = Ceiling(arguments.directory / "ceiling")
    servers = [mariadb, paceline]
    try:
        for server in servers:
            server.create()
            server.start()
            prepare(server)
        ceiling.create()

        print(f"{'load':<15} {'MariaDB':>10} {'Paceline':>10} {'ceiling':>10} {'ratio':>7} {'wanted':>7}   rounds")
        for name, script, clients, wanted, against in LOADS:
            if name not in chosen:
                continue
            ceiling.leader = "none" if script == "oltp_point_select" else "inline" if clients == 1 else "thread"
            contenders = [mariadb, paceline]
            if script in CEILING_SCRIPTS:
                ceiling.start()
                contenders.append(ceiling)
            medians, rates = rounds_in_turn(contenders, script, clients, arguments.rounds, arguments.seconds)
            top = medians[2] if len(medians) > 2 else None
            if top is not None:
                ceiling.kill()
            ratio = medians[1] / (top if against == "ceiling" else medians[0])
            print(f"{name:<15} {medians[0]:>10,.0f} {medians[1]:>10,.0f} {(f'{top:,.0f}' if top else '-'):>10} {ratio:>6.2f}x "
                  f"{wanted:>6.2f}x   of {against}; Paceline {min(rates[1]):,.0f}-{max(rates[1]):,.0f}, "
                  f"MariaDB {min(rates[0]):,.0f}-{max(rates[0]):,.0f}", flush=True)

        if "syncs" in chosen:
            for clients, wanted in [(1, 1.05), (32, 0.15)]:
                ours, theirs = (syncs_per_commit(server, clients, arguments.seconds) for server in (paceline, mariadb))
                print(f"syncs per commit, {clients} clients: Paceline {ours:.3f} (wanted at most {wanted}), MariaDB {theirs:.3f}",
                      flush=True)
        if "processor" in chosen:
            print(f"{'processor time':<24} {'server':<9} {'user':>8} {'kernel':>8} {'client':>8}   us per transaction")
            for name, script, clients in PROCESSOR_LOADS:
                contenders = [mariadb, paceline]
                if script == "oltp_update_non_index":
                    ceiling.leader = "thread"
                    ceiling.start()
                    contenders.append(ceiling)
                for server in contenders:
                    server.pause()
                for server in contenders:
                    server.resume()
                    (user, kernel, client), rate = processor_per_transaction(server, script, clients, arguments.seconds)
                    server.pause()
                    print(f"{name:<24} {server.name:<9} {user:>8.1f} {kernel:>8.1f} {client:>8.1f}   {rate:,.0f}/s", flush=True)
                for server in contenders:
                    server.resume()
                if ceiling in contenders:
                    ceiling.kill()
            for server in servers:
                server.pause()
            statistics_cost(arguments.directory, 2 * arguments.rounds, arguments.seconds)
            for server in servers:
                server.resume()
        if "bytes" in chosen:
            ours, theirs = (bytes_per_update(server, 300_000) for server in (paceline, mariadb))
            print(f"bytes written to disk per update: Paceline {ours:,.0f}, MariaDB {theirs:,.0f}, "
                  f"ratio {ours / theirs:.2f} (wanted at most 0.33)", flush=True)
        if "recovery" in chosen:
            rate, rows, done, seconds = recovery_rate(paceline, 600_000)
            print(f"start-up after kill -9: {rate:,.0f} rows/s replayed ({rows:,} rows of {done:,} updates; "
                  f"{seconds:.1f} s until it answers; wanted at least 300,000 rows/s)", flush=True)
    finally:
        for server in [mariadb, paceline, ceiling]:
            if server.process is not None and server.process.poll() is None:
                server.resume()
                server.kill()


if __name__ == "__main__":
    main()
