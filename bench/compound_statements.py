#!/usr/bin/env python3
"""Measures compound statements side by side with MariaDB: microseconds for each pass of a loop.

    bench/compound_statements.py [--rounds N]

Both servers are durable on every commit and keep their data on the same disk; one client over a UNIX socket. The rounds
take turns; the medians are printed.
"""

import argparse
import shutil
import statistics
import time
from pathlib import Path

import pymysql

from bench import ROOT, MariaDb, Paceline

# What is done in each pass, the statement, and its number of passes.
LOADS = [
    ("an empty pass", "declare x int default 0; while x < 100000 do set x = x + 1; end while", 100_000),
    ("SELECT INTO by the primary key", "declare v int; for i in 1..10000 do select b into v from t where a = 5; end for", 10_000),
    ("UPDATE in a transaction", "start transaction; for i in 1..1000 do update t set b = b + 1 where a = i; end for; commit", 1_000),
    ("UPDATE, each committed", "for i in 1..1000 do update t set b = b + 1 where a = i; end for", 1_000),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--directory", type=Path, default=ROOT / "target" / "bench-compound")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.directory, ignore_errors=True)
    servers = [MariaDb(arguments.directory / "mariadb"), Paceline(arguments.directory / "paceline")]
    sessions = []
    try:
        for server in servers:
            server.create()
            server.start()
            cursor = pymysql.connect(unix_socket=str(server.socket), user="root", autocommit=True).cursor()
            for statement in ["create database t", "use t", "create table t (a int primary key, b int)",
                              "insert into t select seq, seq from seq_1_to_1000"]:
                cursor.execute(statement)
            sessions.append(cursor)
        print(f"{'pass':<32} {'MariaDB':>10} {'Paceline':>10} {'ratio':>7}   us")
        for name, body, passes in LOADS:
            times = [[], []]
            for _ in range(arguments.rounds):
                for cursor, taken in zip(sessions, times):
                    start = time.perf_counter()
                    cursor.execute(f"begin not atomic {body}; end")
                    taken.append((time.perf_counter() - start) / passes * 1e6)
            theirs, ours = (statistics.median(taken) for taken in times)
            print(f"{name:<32} {theirs:>10.1f} {ours:>10.1f} {theirs / ours:>6.2f}x", flush=True)
    finally:
        for server in servers:
            if server.process:
                server.kill()
        shutil.rmtree(arguments.directory, ignore_errors=True)


if __name__ == "__main__":
    main()
