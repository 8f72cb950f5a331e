#!/usr/bin/env python3
"""Measures the time that `paceline join` takes to make a replica of a server with sysbench's table: by files, and by
rows.

    bench/join.py [--rows N] [--parallel N] [--mariadb]      (default: 2,000,000 rows, read by 4 sessions; --mariadb: also the rows of a MariaDB)
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.servers import BINARY, MariaDb, Paceline, free_port  # noqa: E402


def prepare(server, rows):
    server.query("create database sbtest")
    subprocess.run(["sysbench", "oltp_read_write", f"--mysql-socket={server.socket}", "--mysql-user=root", "--mysql-db=sbtest", "--tables=1",
                    f"--table-size={rows}", "prepare"], check=True, stdout=subprocess.DEVNULL)
    server.query("set sql_log_bin=0", "create user copier@'%' identified by 'x'", "create user copier@localhost identified by 'x'",
                 "grant select, reload, trigger, replication slave on *.* to copier@'%'",
                 "grant select, reload, trigger, replication slave on *.* to copier@localhost")


def join(primary, directory, *options):
    """Returns the seconds until the replica is complete, and the command's messages."""
    datadir = directory / "joined"
    command = [BINARY, "join", f"127.0.0.1:{primary.port}", "--datadir", datadir, "--user=copier", "--server-id=7", "--port", free_port(),
               "--socket", directory / "joined.sock", "--prepare-only", *options]
    begun = time.perf_counter()
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env={**os.environ, "PACELINE_PASSWORD": "x"})
    seconds = time.perf_counter() - begun
    assert done.returncode == 0, done.stderr
    shutil.rmtree(datadir)
    return seconds, re.search(r"is complete: (.*)", done.stderr).group(1)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=2_000_000)
    arguments.add_argument("--parallel", type=int, default=4)
    arguments.add_argument("--mariadb", action="store_true")
    wanted = arguments.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="join-"))
    server = None
    try:
        for kind in [Paceline] + [MariaDb] * wanted.mariadb:
            server = kind(directory / kind.__name__).start()
            prepare(server, wanted.rows)
            ways = [("files", ["--copy=files"])] if kind is Paceline else []
            ways += [(f"rows, {sessions} session{'s' * (sessions > 1)}", ["--copy=rows", f"--parallel={sessions}"]) for sessions in (1, wanted.parallel)]
            for name, options in ways:
                seconds, said = join(server, directory, *options)
                print(f"{kind.__name__:9} {name:16} {seconds:7.1f} s   {said}", flush=True)
            server.close()
    finally:
        if server is not None:
            server.close()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
