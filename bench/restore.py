#!/usr/bin/env python3
"""Measures `paceline restore` from a slow bucket, by the number of objects read in parallel.

    bench/restore.py [--parallel N,...] [--delay SECONDS] [--rate MB] [--megabytes N] [--increments N] [--directory DIR]

The bucket is that of the tests (tests/support/object_storage.py), in memory: each answer is delayed by `--delay`, and
each connection gets `--rate` megabytes a second. The backup has `--megabytes` of tables and `--increments` increments
of one transaction each. The results are the seconds of the command and its maximum memory. `PACELINE_BINARY` is the
program; the default is target/release/paceline.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support import backups  # noqa: E402
from support.object_storage import ObjectStorage  # noqa: E402
from support.servers import BINARY, Paceline  # noqa: E402


def numbers(text):
    return [int(number) for number in text.split(",")]


def make_backup(directory, bucket, place, megabytes, increments):
    server = Paceline(directory / "server", "--server-id=1").start()
    try:
        server.query("create database d", "create table d.t (id int primary key auto_increment, b longblob)", "create table d.i (n int)")
        for _ in range(megabytes):
            server.query(f"insert into d.t (b) values (x'{os.urandom(1 << 20).hex()}')")
        backups.backup(server, place, environment=bucket.environment)
        for number in range(increments):
            server.query(f"insert into d.i values ({number})")
            backups.backup(server, place, "--incremental", environment=bucket.environment)
    finally:
        server.close()


def restore(place, datadir, parallel, environment):
    """Returns seconds and kilobytes."""
    command = [BINARY, "restore", "--from", place, "--datadir", datadir, "--parallel", str(parallel)]
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **environment})
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    if status != 0:
        sys.exit(f"{command} has failed")
    return seconds, usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parallel", type=numbers, default=[1, 2, 4, 8, 16])
    parser.add_argument("--delay", type=float, default=0.05)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--increments", type=int, default=60)
    parser.add_argument("--directory")
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="paceline-restore-", dir=options.directory))
    bucket = ObjectStorage()
    try:
        place = bucket.url("backup")
        make_backup(directory, bucket, place, options.megabytes, options.increments)
        stored = sum(len(content) for content, _ in bucket.objects.values())
        print(f"{len(bucket.objects)} objects, {stored / 1e6:.0f} MB; an answer takes {options.delay * 1000:.0f} ms, and comes at "
              f"{options.rate:.0f} MB/s to each connection")
        bucket.delay, bucket.rate = options.delay, options.rate * 1e6
        for parallel in options.parallel:
            datadir = directory / f"restored{parallel}"
            seconds, kilobytes = restore(place, datadir, parallel, bucket.environment)
            shutil.rmtree(datadir)
            print(f"--parallel {parallel:2}   {seconds:6.1f} s   {kilobytes / 1000:6.0f} MB of memory")
    finally:
        bucket.close()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
