#!/usr/bin/env python3
"""Measures how fast replicas apply a primary's log, MariaDB and Paceline side by side, and how far they lag behind a
busy primary.

    bench/replication.py [--load NAME,...] [--durability on,off] [--threads N,...] [--mariadb-threads N,...] [--rounds N]
    [--transactions N] [--rows N] [--lag SECONDS] [--directory DIR]

Loads, each logged by one MariaDB primary, with binlog_commit_wait_count=12 and binlog_commit_wait_usec=10000 for
`read-write`:

    updates      single-row updates of 32 clients, 100,000 rows
    single       the same with a single client: its commit groups contain no parallelism
    read-write   sysbench's oltp_read_write with 32 clients, 10 million rows (`--rows`)

All replicas start with the same tables. For each kind of server, one replica replicates the statements that create
them and is left alone until it is idle; its data directory is copied for each measurement. The time is measured from
START SLAVE until MASTER_GTID_WAIT returns for the last transaction, and the tables are compared with the primary's.
All replicas log what they apply (`log_slave_updates`) and can be killed at any moment; with durability on they sync
at every commit. Rounds alternate; the ratio compares the medians with the best median of MariaDB.

`--lag SECONDS`: a replica follows while 32 clients update its primary at full speed; its lag in transactions is drawn
over time.
"""

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import bench

ACCOUNT = "replica"
# name: description, sysbench's script, clients, transactions, rows, whether the primary collects groups
LOADS = {
    "updates": ("single-row updates of 32 clients", "oltp_update_non_index", 32, 200_000, bench.ROWS, False),
    "single": ("single-row updates of one client", "oltp_update_non_index", 1, 50_000, bench.ROWS, False),
    "read-write": ("read-write transactions of 32 clients", "oltp_read_write", 32, 200_000, 10_000_000, True),
}
LAG_EVERY_SECONDS = 0.25
PLOT_WIDTH = 60
SETTLED_WITHIN_SECONDS = 300
# Processor time in two seconds below which a server counts as idle.
IDLE_SECONDS = 0.03


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def sql(server, *statements):
    """Runs statements in one session and returns their results without headers."""
    done = subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", server.socket, "-N", "-e", ";".join(statements)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{server.name}: {statements}: {done.stderr}")
    return done.stdout.strip()


def allow_replicas(server):
    """Creates an account for replicas, and starts a new log after it."""
    sql(server, *[statement for host in ("%", "localhost")
                  for statement in (f"create user {ACCOUNT}@'{host}' identified by 'pw'",
                                    f"grant replication slave, binlog monitor on *.* to {ACCOUNT}@'{host}'")], "reset master")


class MariaDbPrimary(bench.MariaDb):
    name = "MariaDB"

    def __init__(self, directory):
        super().__init__(directory)
        self.port = free_port()

    def command(self):
        command = [option for option in super().command() if option != "--skip-networking"]
        return [*command, f"--port={self.port}", "--bind-address=127.0.0.1"]


class PacelinePrimary(bench.Paceline):
    name = "Paceline"

    def __init__(self, directory):
        super().__init__(directory)
        self.port = free_port()

    def command(self):
        command = [str(option) for option in super().command()]
        command[command.index("--port") + 1] = str(self.port)
        return command


class MariaDbReplica(bench.MariaDb):
    kind = "MariaDB"

    def __init__(self, directory, threads, durable):
        super().__init__(directory)
        self.threads = threads
        self.durable = durable
        self.name = f"MariaDB, {threads} threads" if threads else "MariaDB, serial"

    def command(self):
        options = ["--server-id=7", "--log-slave-updates", f"--slave-parallel-threads={self.threads}", "--slave-parallel-mode=optimistic",
                   "--slave-parallel-max-queued=16777216", "--skip-slave-start"]
        if not self.durable:
            options += ["--sync-binlog=0", "--innodb-flush-log-at-trx-commit=0"]
        return [*super().command(), *options]


class PacelineReplica(bench.Paceline):
    kind = "Paceline"

    def __init__(self, directory, threads, durable):
        super().__init__(directory)
        self.threads = threads
        self.durable = durable
        self.name = f"Paceline, {threads} threads" if threads else "Paceline, serial"

    def command(self):
        options = ["--server-id=7", f"--slave-parallel-threads={self.threads}", "--skip-slave-start"]
        if not self.durable:
            options += ["--sync_binlog=0"]
        return [*super().command(), *options]


def follow(replica, primary):
    sql(replica, f"change master to master_host='127.0.0.1', master_port={primary.port}, master_user='{ACCOUNT}', "
                 "master_password='pw', master_use_gtid=slave_pos")


def wait_for(replica, position, seconds):
    if sql(replica, f"select master_gtid_wait('{position}', {seconds})") != "0":
        sys.exit(f"{replica.name} does not come to {position}:\n{sql(replica, 'show slave status')}")


def checksum(server):
    return sql(server, "select sum(crc32(concat(id, k, c, pad))) from sbtest.sbtest1")


def tables_before(kind, image, primary, begin):
    """Returns a replica's data directory with everything logged before the load, created once."""
    replica = kind(image, 8, durable=False)
    replica.create()
    replica.start()
    follow(replica, primary)
    sql(replica, f"start slave until master_gtid_pos='{begin}'")
    wait_for(replica, begin, 3600)
    sql(replica, "stop slave")
    settle(replica)
    replica.stop()


def settle(server):
    """Waits until a server has no background work left: the after-effects of filling the tables are not to be
    measured."""
    deadline = time.monotonic() + SETTLED_WITHIN_SECONDS
    before = sum(server.processor_seconds())
    while time.monotonic() < deadline:
        time.sleep(2)
        now = sum(server.processor_seconds())
        if now - before < IDLE_SECONDS:
            return
        before = now
    sys.exit(f"{server.name} is not idle {SETTLED_WITHIN_SECONDS} s after its tables were filled")


def apply_seconds(replica, image, end, expected):
    """Returns a replica's time and its processor time, in seconds."""
    shutil.rmtree(replica.directory, ignore_errors=True)
    subprocess.run(["cp", "-a", image, replica.directory], check=True)
    # Otherwise gigabytes of the copy are written during the measurement.
    os.sync()
    replica.start()
    try:
        start, processor = time.monotonic(), sum(replica.processor_seconds())
        sql(replica, "start slave")
        wait_for(replica, end, 3600)
        seconds, processor = time.monotonic() - start, sum(replica.processor_seconds()) - processor
        if checksum(replica) != expected:
            sys.exit(f"{replica.name}: the tables differ")
        return seconds, processor
    finally:
        replica.kill()
        shutil.rmtree(replica.directory, ignore_errors=True)


def measure(name, arguments):
    what, script, clients, transactions, rows, collects = LOADS[name]
    transactions, rows = arguments.transactions or transactions, arguments.rows or rows
    directory = arguments.directory / name
    primary = MariaDbPrimary(directory / "primary")
    primary.create()
    primary.start()
    try:
        allow_replicas(primary)
        bench.prepare(primary, rows)
        begin = sql(primary, "select @@global.gtid_binlog_pos")
        if collects:
            sql(primary, "set global binlog_commit_wait_count=12", "set global binlog_commit_wait_usec=10000")
        bench.sysbench(primary, script, "run", clients, 0, transactions, rows=rows)
        end = sql(primary, "select @@global.gtid_binlog_pos")
        expected = checksum(primary)
        for kind in (MariaDbReplica, PacelineReplica):
            tables_before(kind, directory / kind.kind, primary, begin)
        for durability in arguments.durability.split(","):
            durable = durability == "on"
            contenders = [kind(directory / "replica", int(threads), durable)
                          for kind, all_threads in ((MariaDbReplica, arguments.mariadb_threads), (PacelineReplica, arguments.threads))
                          for threads in all_threads.split(",")]
            rates = {replica.name: [] for replica in contenders}
            for _ in range(arguments.rounds):
                for replica in contenders:
                    seconds, processor = apply_seconds(replica, directory / replica.kind, end, expected)
                    rates[replica.name].append(transactions / seconds)
                    print(f"{replica.name:<22} {transactions / seconds:>10,.0f}/s, {1e6 * processor / transactions:.0f} us of the processor each",
                          file=sys.stderr, flush=True)
            print(f"\napplying {transactions:,} {what}, {rows:,} rows, durability {durability}")
            medians = {name: statistics.median(taken) for name, taken in rates.items()}
            best = max(rate for name, rate in medians.items() if name.startswith("MariaDB"))
            for name, rate in medians.items():
                print(f"{name:<22} {rate:>10,.0f}/s  {rate / best:>6.2f} x MariaDB's best   "
                      f"({min(rates[name]):,.0f}-{max(rates[name]):,.0f})", flush=True)
    finally:
        primary.kill()
        shutil.rmtree(directory, ignore_errors=True)


def sequence(server, variable):
    """Returns the number in the last GTID of the only domain."""
    position = sql(server, f"select @@global.{variable}")
    return int(position.rsplit("-", 1)[1]) if position else 0


def plot(samples):
    """Draws (seconds, transactions behind) as lines."""
    most = max(behind for _, behind in samples) or 1
    last = None
    for seconds, behind in samples:
        if last is not None and int(seconds) == last:
            continue
        last = int(seconds)
        print(f"{seconds:>6.1f} s {behind:>9,} {'#' * round(PLOT_WIDTH * behind / most)}")


def lag(primary_kind, replica_kind, threads, arguments):
    directory = arguments.directory / "lag"
    primary = primary_kind(directory / "primary")
    replica = replica_kind(directory / "replica", threads, durable=True)
    for server in (primary, replica):
        server.create()
        server.start()
    try:
        allow_replicas(primary)
        bench.prepare(primary)
        follow(replica, primary)
        sql(replica, "start slave")
        wait_for(replica, sql(primary, "select @@global.gtid_binlog_pos"), 600)
        rate = []
        load = threading.Thread(target=lambda: rate.append(
            bench.sysbench(primary, "oltp_update_non_index", "run", 32, arguments.lag)[0]))
        began = time.monotonic()
        load.start()
        samples = []
        while load.is_alive() or samples[-1][1] > 0:
            # The replica is asked first, so that the lag is never underestimated.
            there = sequence(replica, "gtid_slave_pos")
            behind = max(0, sequence(primary, "gtid_binlog_pos") - there)
            samples.append((time.monotonic() - began, behind))
            if samples[-1][0] > 20 * arguments.lag + 60:
                break
            time.sleep(LAG_EVERY_SECONDS)
        load.join()
        print(f"\n{replica.name} behind a {primary.name} primary at {rate[0]:,.0f} updates/s of 32 clients for {arguments.lag} s: "
              f"transactions behind")
        plot(samples)
        busy = [behind for seconds, behind in samples if seconds <= arguments.lag]
        print(f"median {statistics.median(busy):,.0f}, most {max(busy):,}; all there {max(0, samples[-1][0] - arguments.lag):.1f} s "
              f"after the end of the load", flush=True)
    finally:
        primary.kill()
        replica.kill()
        shutil.rmtree(directory, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--load", default="updates", help=f"of {', '.join(LOADS)}; none for the lag only")
    parser.add_argument("--durability", default="on")
    parser.add_argument("--transactions", type=int, help="instead of the load's own number")
    parser.add_argument("--rows", type=int, help="instead of the load's own number")
    parser.add_argument("--threads", default="0,1,2,4,8,20", help="threads of Paceline that prepare transactions")
    parser.add_argument("--mariadb-threads", default="0,8,20")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--lag", type=int, metavar="SECONDS", help="draw the lag of replicas of a primary that is busy for so long")
    parser.add_argument("--directory", type=Path, default=bench.ROOT / "target" / "bench-replication")
    arguments = parser.parse_args()
    loads = [name for name in arguments.load.split(",") if name != "none"]
    for unknown in set(loads) - set(LOADS):
        parser.error(f"no load '{unknown}'; there are {', '.join(LOADS)}")
    shutil.rmtree(arguments.directory, ignore_errors=True)
    for name in loads:
        measure(name, arguments)
    if arguments.lag:
        for primary, replica, threads in ((MariaDbPrimary, MariaDbReplica, 8), (MariaDbPrimary, PacelineReplica, 0),
                                          (PacelinePrimary, PacelineReplica, 0)):
            lag(primary, replica, threads, arguments)


if __name__ == "__main__":
    main()
