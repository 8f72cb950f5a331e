#!/usr/bin/python3
"""Measures what a commit of a cluster costs beside semi-sync: durable single-row updates by 1, 8 and 32 clients.

    bench/cluster.py [--clients N,...] [--rounds N] [--seconds N] [--directory DIR]

    semi-sync   a primary and a replica that acknowledges (AFTER_SYNC); the primary waits for it as long as it takes
    cluster     a cluster of two servers, so each transaction needs both; a real etcd

Each has one acknowledging peer, everything is durable on every commit, and all data is on the same disk. All servers run
all the time; the loads alternate, A B A B. The figure is the ratio of the medians. Wanted: 0.90 or more.
"""

import argparse
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
sys.dont_write_bytecode = True

from support.clusters import Cluster  # noqa: E402
from support.servers import Paceline  # noqa: E402
from support.waiting import wait_for  # noqa: E402

ROWS = 100_000
WANTED = 0.90
# Milliseconds after which semi-sync would go on alone: never within a measurement.
SEMI_SYNC_TIMEOUT_MS = 3_600_000


class SemiSync:
    """A primary and a replica that acknowledges."""

    name = "semi-sync"

    def __init__(self, directory):
        self.primary = Paceline(directory / "primary", "--server-id=1", f"--rpl-semi-sync-master-timeout={SEMI_SYNC_TIMEOUT_MS}", "--rpl-semi-sync-master-wait-point=AFTER_SYNC")
        self.replica = Paceline(directory / "replica", "--server-id=2", "--rpl-semi-sync-slave-enabled=ON", "--log-slave-updates")
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        self.primary.start()
        self.replica.start()
        self.primary.query("create user copier", "grant replication slave on *.* to copier")
        self.replica.query(f"change master to master_host='127.0.0.1', master_port={self.primary.port}, master_user='copier', "
                           "master_use_gtid=slave_pos", "start slave")
        # Only now: statements would wait for a replica.
        self.primary.query("set global rpl_semi_sync_master_enabled=on")
        wait_for("the replica to acknowledge", self.acknowledges)

    def acknowledges(self):
        status = dict(self.primary.query("show status like 'Rpl_semi_sync_master%'"))
        return status["Rpl_semi_sync_master_clients"] == "1" and status["Rpl_semi_sync_master_status"] == "ON"

    def check(self):
        """Fails if a commit was not waited for."""
        assert self.acknowledges()
        assert dict(self.primary.query("show status like 'Rpl_semi_sync_master_no_%'"))["Rpl_semi_sync_master_no_times"] == "0"

    def close(self):
        self.primary.close()
        self.replica.close()


class TwoMembers:
    """A cluster of two servers."""

    name = "cluster"

    def __init__(self, directory):
        self.cluster = Cluster(directory, 2)
        self.primary = self.cluster.primary()

    def check(self):
        assert self.cluster.primary() is self.primary
        assert self.cluster.holders() == 2

    def close(self):
        self.cluster.close()


def sysbench(server, clients, action, *options):
    done = subprocess.run(["sysbench", "oltp_update_non_index", f"--mysql-socket={server.socket}", "--mysql-user=root", f"--table-size={ROWS}",
                           f"--threads={clients}", *options, action], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", default="1,8,32")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--directory", default="/var/tmp", help="where the servers' data is")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    directory = Path(tempfile.mkdtemp(prefix="paceline-cluster-", dir=options.directory))
    sides = []
    try:
        for kind in (SemiSync, TwoMembers):
            (directory / kind.name).mkdir()
            sides.append(kind(directory / kind.name))
            sides[-1].primary.query("create database sbtest")
            sysbench(sides[-1].primary, 1, "prepare")
        print("| clients | semi-sync | cluster | ratio | rounds |\n|---|---|---|---|---|", flush=True)
        for clients in map(int, options.clients.split(",")):
            rates = {side.name: [] for side in sides}
            for _ in range(options.rounds):
                for side in sides:
                    output = sysbench(side.primary, clients, "run", f"--time={options.seconds}")
                    rates[side.name].append(float(re.search(r"transactions:.*\(([\d.]+) per sec", output).group(1)))
                    side.check()
            old, new = (statistics.median(rates[side.name]) for side in sides)
            verdict = "" if new / old >= WANTED else f" (wanted: {WANTED:.2f})"
            print(f"| {clients} | {old:,.0f}/s | {new:,.0f}/s | {new / old:.2f}{verdict} | {options.rounds} of {options.seconds} s |", flush=True)
            print(f"{clients} clients: {rates}", file=sys.stderr, flush=True)
    finally:
        for side in sides:
            side.close()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
