#!/usr/bin/env python3
"""Measures the delay of other commits while one transaction of a gigabyte runs and commits, and the memory that it
takes.

    bench/large_transaction.py [--megabytes N] [--clients N] [--directory DIR] [--server paceline|mariadb] [--option NAME=VALUE ...]

Clients run sysbench's oltp_update_non_index all the time. The longest time of one of their transactions is printed
for three spans: without the large transaction, while its statements run, and from its COMMIT to the answer. Memory is
that of the process, sampled ten times a second: resident, and the anonymous part of it (the rest is mapped page
cache).
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import bench
import pymysql

# A row of about 200 bytes in the log.
ROW_BYTES = 200
SEED_ROWS = 20_000


class Memory(threading.Thread):
    """Records the server's maximum memory while it runs."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.done = pid, False
        self.resident = self.anonymous = 0

    def run(self):
        while not self.done:
            text = Path(f"/proc/{self.pid}/status").read_text()
            numbers = {key: int(value) for key, value in re.findall(r"^(\w+):\s+(\d+) kB", text, re.M)}
            self.resident = max(self.resident, numbers["VmRSS"])
            self.anonymous = max(self.anonymous, numbers["RssAnon"])
            time.sleep(0.1)

    def take(self):
        taken = self.resident // 1024, self.anonymous // 1024
        self.resident = self.anonymous = 0
        return taken


class Clients:
    """sysbench in the background. Each second it reports the longest transaction of that second."""

    def __init__(self, server, clients):
        self.process = subprocess.Popen(
            ["sysbench", "oltp_update_non_index", "--mysql-user=root", f"--mysql-socket={server.socket}", "--mysql-db=sbtest", "--tables=1",
             f"--table-size={bench.ROWS}", f"--threads={clients}", "--time=0", "--events=0", "--rand-type=uniform",
             "--report-interval=1", "--percentile=100", "run"], stdout=subprocess.PIPE, text=True)
        self.seconds = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            found = re.search(r"tps: ([0-9.]+).*lat \(ms,100%\): ([0-9.]+)", line)
            if found:
                self.seconds.append((float(found[1]), float(found[2])))

    def take(self):
        """Returns the rate and the longest transaction since the last call, in whole seconds."""
        time.sleep(1.5)
        seconds, self.seconds = self.seconds, []
        rate = sum(rate for rate, _ in seconds) / max(len(seconds), 1)
        return rate, max((longest for _, longest in seconds), default=float("nan"))

    def stop(self):
        self.process.terminate()
        self.process.wait()


def fill(server):
    connection = pymysql.connect(user="root", unix_socket=str(server.socket), autocommit=True)
    with connection.cursor() as session:
        session.execute("create database large")
        session.execute("create table large.seed (id int auto_increment primary key, v char(180))")
        for _ in range(SEED_ROWS // 1000):
            session.execute("insert into large.seed (v) values " + ",".join(["(md5(rand()))"] * 1000))
        session.execute("update large.seed set v=rpad(v, 180, v)")
        session.execute("create table large.big (id bigint auto_increment primary key, v char(180))")
    return connection


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--server", choices=["paceline", "mariadb"], default="paceline")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="large-", dir=arguments.directory))
    kind = bench.Paceline if arguments.server == "paceline" else bench.MariaDb
    bench.Paceline.options = [f"--{option}" for option in arguments.option]
    server = kind(directory / arguments.server)
    server.create()
    server.start()
    try:
        bench.prepare(server)
        connection = fill(server)
        memory = Memory(server.process.pid)
        memory.start()
        clients = Clients(server, arguments.clients)
        time.sleep(8)
        print(f"{arguments.server}, {arguments.megabytes} MB, {arguments.clients} clients\n")
        print(f"{'':28}{'seconds':>9}{'others/s':>10}{'longest ms':>12}{'resident MB':>13}{'anonymous MB':>14}")

        def tell(what, seconds):
            rate, longest = clients.take()
            print(f"{what:28}{seconds:9.1f}{rate:10.0f}{longest:12.1f}{memory.resident // 1024:13}{memory.anonymous // 1024:14}", flush=True)
            memory.take()

        tell("alone", 8)
        with connection.cursor() as session:
            start = time.monotonic()
            session.execute("begin")
            for _ in range(arguments.megabytes * (1 << 20) // (SEED_ROWS * ROW_BYTES)):
                session.execute("insert into large.big (v) select v from large.seed")
            tell("its statements run", time.monotonic() - start)
            start = time.monotonic()
            session.execute("commit")
            tell("its COMMIT", time.monotonic() - start)
            time.sleep(5)
            tell("after it", 5)
        clients.stop()
        memory.done = True
        files = sorted((directory / arguments.server).rglob("*bin*.0*"), key=lambda path: path.stat().st_size)
        print(f"\nlargest file of the log: {files[-1].stat().st_size >> 20} MB")
        server.kill()
        start = time.monotonic()
        server.start()
        rows = subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", server.socket, "-Ne", "select count(*) from large.big"],
                              capture_output=True, text=True).stdout.strip()
        print(f"kill -9 and start: {time.monotonic() - start:.1f} s; {rows} rows are there")
    finally:
        if server.process.poll() is None:
            server.kill()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
