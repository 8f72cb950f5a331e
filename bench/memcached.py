#!/usr/bin/python3
"""Measures the memcached port: one-row reads and durable writes beside the same as prepared statements, and beside memcached.

    bench/memcached.py [--connections N] [--rounds N] [--seconds N] [--directory DIR]

    get          `get` of a key with a value of 32 bytes, on TCP
    get10        keys of a `get` with ten of them
    select       a prepared SELECT of the same rows by their primary key, over the UNIX socket of the same server
    select-tcp   the same on TCP
    memcached    `get` of Debian's memcached, with as many threads as the machine has processors
    memcached10  its keys of a `get` with ten of them
    set          `set`, durable on each reply
    set-early    `set` of a container with `sync` 0: answered before the commit
    update       a prepared UPDATE of the same rows, durable on each reply

All loads are the same program (bench/request_load), and take turns: A B C A B C. Figures are medians and their ratios.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
sys.dont_write_bytecode = True

from support.memcached import Memcached, TextConnection  # noqa: E402
from support.servers import BINARY, Paceline, ReservedPort  # noqa: E402
from support.waiting import wait_for  # noqa: E402

KEYS = 100_000
# Ratio: numerator, denominator, wanted.
WANTED = [("get", "select", "2.00"), ("get10", "select", ""), ("get", "memcached", "0.60"), ("get10", "memcached10", ""), ("set", "update", "1.00"),
          ("set-early", "set", "")]


def load(kind, address, options):
    program = BINARY.parent / "request_load"
    command = [program, kind, str(address), str(options.connections), str(options.seconds), str(KEYS)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{kind}: {done.stderr}")
    return float(done.stdout)


def fill(port):
    """Stores all keys."""
    client = TextConnection(port)
    for begin in range(0, KEYS, 1000):
        client.send(b"".join(b"set k%d 0 0 32 noreply\r\n%s\r\n" % (key, b"v" * 32) for key in range(begin, begin + 1000)) + b"mn\r\n")
        reply = client.receive(b"MN\r\n")
        assert reply == b"MN\r\n", reply
    client.close()


def set_sync(server, port, is_durable):
    """Chooses whether sets are durable when they are answered, and waits until the port knows it: a container is read with its table."""
    server.query(f"update paceline.memcached_containers set sync = {int(is_durable)}", "create or replace table paceline.marker (a int)")
    client = TextConnection(port)
    assert client.ask(b"get k0").startswith(b"VALUE")
    client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--directory", default="/var/tmp", help="where the server's data is")
    options = parser.parse_args()
    if not (BINARY.parent / "request_load").exists():
        subprocess.run(["cargo", "build", "--release", "-q", "-p", "request_load"], cwd=ROOT, check=True)
    directory = Path(tempfile.mkdtemp(prefix="paceline-memcached-", dir=options.directory))
    port = ReservedPort()
    server = Paceline(directory / "server", f"--memcached-port={port.number}", "--memcached-account=root")
    memcached = Memcached("-t", str(os.cpu_count()))
    try:
        server.start()
        wait_for("the tables", lambda: server.query("select count(*) from information_schema.tables where table_schema='paceline'") == ((2,),))
        # The filling need not be durable.
        server.query("set global sync_binlog = 0")
        fill(port.number)
        fill(memcached.port)
        # The same rows for SQL: the key is a number there, which is to SQL's advantage.
        server.query("create database `load`", "create table `load`.items (id bigint primary key, value varbinary(64) not null)",
                     "insert into `load`.items select cast(substr(`key`, 2) as unsigned), value from paceline.memcached_items",
                     "set global sync_binlog = 1")
        kinds = {"get": f"127.0.0.1:{port.number}", "select": server.socket, "select-tcp": f"127.0.0.1:{server.port}", "get10": f"127.0.0.1:{port.number}",
                 "memcached": f"127.0.0.1:{memcached.port}", "memcached10": f"127.0.0.1:{memcached.port}",
                 "set": f"127.0.0.1:{port.number}", "set-early": f"127.0.0.1:{port.number}", "update": server.socket}
        requests = {"memcached": "get", "memcached10": "get10", "select-tcp": "select", "set-early": "set"}
        rates = {kind: [] for kind in kinds}
        for _ in range(options.rounds):
            for kind, address in kinds.items():
                set_sync(server, port.number, kind != "set-early")
                rates[kind].append(load(requests.get(kind, kind), address, options))
        medians = {kind: statistics.median(values) for kind, values in rates.items()}
        print(f"{options.connections} connections, {options.rounds} rounds of {options.seconds} s\n\n| load | requests/s |\n|---|---|")
        for kind, median in medians.items():
            print(f"| {kind} | {median:,.0f} |")
        print("\n| ratio | | wanted |\n|---|---|---|")
        for above, below, wanted in WANTED:
            print(f"| {above} / {below} | {medians[above] / medians[below]:.2f} | {wanted} |")
        print(rates, file=sys.stderr)
    finally:
        server.close()
        memcached.close()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
