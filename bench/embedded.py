#!/usr/bin/python3
"""Measures rows within the process beside prepared statements over the UNIX socket, and beside MariaDB.

    bench/embedded.py [--rounds N] [--seconds N] [--directory DIR]

    get              a row by its primary key, one thread, beside a prepared SELECT from one connection
    durable update   32 threads beside 32 connections with a prepared UPDATE
    latest messages  of each of 100 friends: one backward step in an index for each, beside the fastest of three queries, of this
                     server and of MariaDB; by rows within the process, and by a function in WebAssembly over the socket

crates/embedded/examples/measure.rs is the program. Figures are medians of rounds in which the loads take turns, and their ratios.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
sys.dont_write_bytecode = True

from support.servers import BINARY, MariaDb  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--directory", default="/var/tmp", help="where the data is")
    options = parser.parse_args()
    program, load = BINARY.parent / "examples" / "measure", BINARY.parent / "request_load"
    if not program.exists() or not load.exists():
        subprocess.run(["cargo", "build", "--release", "-q", "-p", "request_load", "-p", "paceline-embedded", "--features=paceline-embedded/wasm",
                        "--examples", "--bins"],
                       cwd=ROOT, check=True)
    directory = Path(tempfile.mkdtemp(prefix="paceline-embedded-", dir=options.directory))
    mariadb = MariaDb(directory / "mariadb")
    try:
        mariadb.start()
        subprocess.run([program, directory, load, str(options.rounds), str(options.seconds), str(mariadb.socket)], check=True)
    finally:
        mariadb.close()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
