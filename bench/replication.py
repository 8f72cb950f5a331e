#!/usr/bin/env python3
"""Measures how fast replicas apply what one MariaDB primary has logged: MariaDB, serial and in parallel, and Paceline.

    bench/replication.py [--transactions N] [--threads N,N,...] [--rounds N] [--not-durable] [--directory DIR] [--only NAME,...]

A primary (MariaDB) logs so many single-row updates of 32 sysbench clients. Each replica starts empty, comes to where the updates begin, and is then
timed from START SLAVE until MASTER_GTID_WAIT says that the last one is there. All replicas log what they apply (`log_slave_updates`), are durable at every
commit unless `--not-durable` is given, and can be killed at any moment. Rounds take turns; medians are quoted.
"""

import argparse
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import bench

ACCOUNT = "replica"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def sql(server, *statements):
    """Runs statements in one session; what the last one gave, without heads."""
    done = subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", server.socket, "-N", "-e", ";".join(statements)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{server.name}: {statements}: {done.stderr}")
    return done.stdout.strip()


class Primary(bench.MariaDb):
    name = "primary"

    def __init__(self, directory):
        super().__init__(directory)
        self.port = free_port()

    def command(self):
        command = [option for option in super().command() if option != "--skip-networking"]
        return [*command, f"--port={self.port}", "--bind-address=127.0.0.1"]


class MariaDbReplica(bench.MariaDb):
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


def apply_rate(replica, primary, begin, end, transactions):
    """Transactions a second."""
    shutil.rmtree(replica.directory, ignore_errors=True)
    replica.create()
    replica.start()
    try:
        sql(replica, f"change master to master_host='127.0.0.1', master_port={primary.port}, master_user='{ACCOUNT}', "
                     "master_password='pw', master_use_gtid=slave_pos")
        sql(replica, f"start slave until master_gtid_pos='{begin}'")
        reached = sql(replica, f"select master_gtid_wait('{begin}', 600)")
        if reached != "0":
            sys.exit(f"{replica.name} does not come to where the updates begin:\n{sql(replica, 'show slave status')}")
        sql(replica, "stop slave")
        start = time.monotonic()
        sql(replica, "start slave")
        reached = sql(replica, f"select master_gtid_wait('{end}', 1800)")
        seconds = time.monotonic() - start
        if reached != "0":
            sys.exit(f"{replica.name} does not come to the end:\n{sql(replica, 'show slave status')}")
        checksum = sql(replica, "select sum(crc32(concat(id, k, c, pad))) from sbtest.sbtest1")
        if checksum != sql(primary, "select sum(crc32(concat(id, k, c, pad))) from sbtest.sbtest1"):
            sys.exit(f"{replica.name}: the tables differ")
        return transactions / seconds
    finally:
        replica.kill()
        shutil.rmtree(replica.directory, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transactions", type=int, default=200_000)
    parser.add_argument("--threads", default="0,1,2,4,8", help="worker threads of Paceline")
    parser.add_argument("--mariadb-threads", default="0,8,20")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--not-durable", action="store_true")
    parser.add_argument("--directory", type=Path, default=bench.ROOT / "target" / "bench-replication")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.directory, ignore_errors=True)
    durable = not arguments.not_durable
    primary = Primary(arguments.directory / "primary")
    primary.create()
    primary.start()
    try:
        sql(primary, f"create user {ACCOUNT}@'%' identified by 'pw'", f"grant replication slave on *.* to {ACCOUNT}@'%'",
            f"create user {ACCOUNT}@'localhost' identified by 'pw'", f"grant replication slave on *.* to {ACCOUNT}@'localhost'",
            "reset master")
        bench.prepare(primary)
        begin = sql(primary, "select @@global.gtid_binlog_pos")
        bench.sysbench(primary, "oltp_update_non_index", "run", 32, 0, arguments.transactions)
        end = sql(primary, "select @@global.gtid_binlog_pos")
        contenders = [MariaDbReplica(arguments.directory / "replica", int(threads), durable)
                      for threads in arguments.mariadb_threads.split(",")]
        contenders += [PacelineReplica(arguments.directory / "replica", int(threads), durable)
                       for threads in arguments.threads.split(",")]
        rates = {replica.name: [] for replica in contenders}
        for _ in range(arguments.rounds):
            for replica in contenders:
                rates[replica.name].append(apply_rate(replica, primary, begin, end, arguments.transactions))
                print(f"{replica.name:<22} {rates[replica.name][-1]:>10,.0f}/s", file=sys.stderr, flush=True)
        print(f"applying {arguments.transactions:,} single-row updates of 32 clients, {'durable' if durable else 'not durable'}")
        medians = {name: statistics.median(taken) for name, taken in rates.items()}
        best = max(rate for name, rate in medians.items() if name.startswith("MariaDB"))
        for name, rate in medians.items():
            print(f"{name:<22} {rate:>10,.0f}/s  {rate / best:>6.2f} x MariaDB's best   "
                  f"({min(rates[name]):,.0f}-{max(rates[name]):,.0f})")
    finally:
        primary.kill()


if __name__ == "__main__":
    main()
