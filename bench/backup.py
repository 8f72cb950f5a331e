#!/usr/bin/env python3
"""Measures the cost of a running backup for committing clients: their rate and commit time, without and with a
backup.

    bench/backup.py [--rate-max MB] [--rounds N] [--seconds N] [--clients N[,N…]] [--megabytes N] [--directory DIR] [--option NAME=VALUE ...]

Clients run sysbench's oltp_update_non_index, durable on every commit. Rounds alternate: without a backup, then with
`paceline backup` into a directory on the same disk, one backup after the other until the round ends. A table of
`--megabytes` that does not compress gives the backup something to copy. The results are medians over the rounds; the
longest commit is over all of them.
"""

import argparse
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import bench


class Backups(threading.Thread):
    """Full backups, one after the other."""

    def __init__(self, server, directory, options):
        super().__init__(daemon=True)
        self.server, self.directory, self.options, self.done, self.rates = server, directory, options, False, []

    def run(self):
        number = 0
        while not self.done:
            number += 1
            place = self.directory / f"backup-{number}"
            start = time.monotonic()
            subprocess.run([bench.ROOT / "target/release/paceline", "backup", "--from", self.server.socket, "--to", place,
                            *self.options], check=True, capture_output=True)
            took = time.monotonic() - start
            self.rates.append(sum(path.stat().st_size for path in place.rglob("*") if path.is_file()) / took / 1e6)
            shutil.rmtree(place)


def load(server, clients, seconds):
    """Returns rate, median, 99th percentile and longest time of the transactions, in ms."""
    out = subprocess.run(
        ["sysbench", "oltp_update_non_index", "--mysql-user=root", f"--mysql-socket={server.socket}", "--mysql-db=sbtest", "--tables=1",
         f"--table-size={bench.ROWS}", f"--threads={clients}", f"--time={seconds}", "--events=0", "--rand-type=uniform", "--percentile=99",
         "run"], check=True, capture_output=True, text=True).stdout
    number = lambda pattern: float(re.search(pattern, out)[1])  # noqa: E731
    return (number(r"transactions:\s+\d+\s+\(([0-9.]+) per sec"), number(r"avg:\s+([0-9.]+)"), number(r"99th percentile:\s+([0-9.]+)"),
            number(r"max:\s+([0-9.]+)"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--clients", default="1,8,32")
    parser.add_argument("--megabytes", type=int, default=512)
    parser.add_argument("--rate-max", metavar="MB", help="the backup's --rate-max")
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="backup-", dir=arguments.directory))
    options = ["--rate-max", arguments.rate_max] if arguments.rate_max else []
    bench.Paceline.options = [f"--{option}" for option in arguments.option]
    server = bench.Paceline(directory / "paceline")
    server.create()
    server.start()
    try:
        bench.prepare(server)
        client = ["mariadb", "--no-defaults", "-uroot", "-S", str(server.socket), "-e"]
        subprocess.run([*client, "create database big; create table big.t (id int auto_increment primary key, b longblob)"], check=True)
        for _ in range(arguments.megabytes):
            rows = ",".join(["(concat(" + ",".join(["random_bytes(1024)"] * 16) + "))"] * 64)
            subprocess.run([*client, f"insert into big.t (b) values {rows}"], check=True)
        print(f"{arguments.megabytes} MB of rows beside 100,000 of sysbench\n")
        print(f"{'':26}{'commits/s':>10}{'mean ms':>9}{'99 % ms':>9}{'longest ms':>12}{'backup MB/s':>13}")
        for clients in map(int, arguments.clients.split(",")):
            found = {"alone": [], "with a backup": []}
            rates = []
            for _ in range(arguments.rounds):
                found["alone"].append(load(server, clients, arguments.seconds))
                backups = Backups(server, directory, options)
                backups.start()
                found["with a backup"].append(load(server, clients, arguments.seconds))
                backups.done = True
                backups.join()
                rates.extend(backups.rates)
            for what, rounds in found.items():
                rate, mean, high, _ = (statistics.median(column) for column in zip(*rounds))
                copied = f"{statistics.median(rates):13.0f}" if what != "alone" else ""
                print(f"{clients:3} clients, {what:14}{rate:10.0f}{mean:9.2f}{high:9.2f}{max(r[3] for r in rounds):12.1f}{copied}", flush=True)
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
