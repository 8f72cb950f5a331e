#!/usr/bin/env python3
"""Measures stored programs side by side with MariaDB: microseconds for each pass of a loop, call or row.

    bench/stored_programs.py [--rounds N] [--only TEXT]

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

SETUP = [
    "set global log_bin_trust_function_creators = 1", "create database t", "use t",
    "create table t (a int primary key, b int)", "insert into t select seq, seq from seq_1_to_1000",
    "create function f(x int) returns int return x", "create function g() returns int return 1",
    "create table plain (a int primary key, b int)", "create table fired (a int primary key, b int)",
    "create trigger before_fired before insert on fired for each row set new.b = new.a",
    "create table audited (a int primary key, b int)", "create table audit (id int auto_increment primary key, a int)",
    "create trigger after_audited after insert on audited for each row insert into audit (a) values (new.a)",
    "create procedure p() begin declare i int default 1; while i <= 1000 do update t set b = b + 1 where a = i; set i = i + 1; end while; end",
    "create procedure q() begin declare i int default 1; start transaction; while i <= 1000 do update t set b = b + 1 where a = i; "
    "set i = i + 1; end while; commit; end",
]

# What is measured, the statement, its number of passes, and what undoes it.
LOADS = [
    ("an empty pass", "begin not atomic declare x int default 0; while x < 100000 do set x = x + 1; end while; end", 100_000, None),
    ("SELECT INTO by the primary key", "begin not atomic declare v int; for i in 1..10000 do select b into v from t where a = 5; end for; end",
     10_000, None),
    ("UPDATE in a transaction", "call q()", 1_000, None),
    ("UPDATE, each committed", "call p()", 1_000, None),
    ("a call of a function", "select sum(f(seq)) from seq_1_to_100000", 100_000, None),
    ("the same without the function", "select sum(seq + 0) from seq_1_to_100000", 100_000, None),
    ("a call of a function of nothing", "select sum(g()) from seq_1_to_100000", 100_000, None),
    ("a row", "insert into plain select seq, 0 from seq_1_to_20000", 20_000, "truncate plain"),
    ("a row, with a trigger that sets it", "insert into fired select seq, 0 from seq_1_to_20000", 20_000, "truncate fired"),
    ("a row, with a trigger that inserts", "insert into audited select seq, 0 from seq_1_to_20000", 20_000, "truncate audited"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="only what contains this text")
    parser.add_argument("--directory", type=Path, default=ROOT / "target" / "bench-programs")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.directory, ignore_errors=True)
    servers = [MariaDb(arguments.directory / "mariadb"), Paceline(arguments.directory / "paceline")]
    sessions = []
    try:
        for server in servers:
            server.create()
            server.start()
            cursor = pymysql.connect(unix_socket=str(server.socket), user="root", autocommit=True).cursor()
            for statement in SETUP:
                cursor.execute(statement)
            sessions.append(cursor)
        print(f"{'pass':<36} {'MariaDB':>10} {'Paceline':>10} {'ratio':>7}   us")
        for name, statement, passes, undo in LOADS:
            if arguments.only not in name:
                continue
            times = [[], []]
            for _ in range(arguments.rounds):
                for cursor, taken in zip(sessions, times):
                    start = time.perf_counter()
                    cursor.execute(statement)
                    taken.append((time.perf_counter() - start) / passes * 1e6)
                    if undo:
                        cursor.execute(undo)
            theirs, ours = (statistics.median(taken) for taken in times)
            print(f"{name:<36} {theirs:>10.2f} {ours:>10.2f} {theirs / ours:>6.2f}x", flush=True)
    finally:
        for server in servers:
            if server.process:
                server.kill()
        shutil.rmtree(arguments.directory, ignore_errors=True)


if __name__ == "__main__":
    main()
