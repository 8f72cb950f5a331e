#!/usr/bin/env python3
"""Counts the processor instructions that a statement takes in the server, by callgrind, without and with statistics.

Usage: bench/instructions.py [--statements N] [--loads LOAD,…] [--against-mariadb]

For comparisons whose difference is smaller than what a machine changes from minute to minute: the same program executes
nearly the same number of instructions at every hour. One client, prepared statements; a session does not poll for its
next command. A figure is the difference of two runs of different length, divided by the difference of their statements,
so that logging in does not count. Instructions in the kernel are not counted.

Needs Debian's valgrind, sysbench and mariadb-client, and `cargo build --release` before it.
"""

import argparse
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from bench import ROOT, STATISTICS, STATISTICS_LOADS, STATISTICS_OFF, MariaDb, Paceline, prepare, sysbench

ROWS = 10_000
# Pairs of runs whose median is a figure: background work falls into some of them.
REPEATS = 3


class Counted:
    """A server under callgrind."""

    def command(self):
        return ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={self.counts}", *map(str, super().command())]

    @property
    def counts(self):
        return self.directory.with_suffix(".callgrind")

    def instructions(self):
        """Returns the instructions since the last call."""
        self.forget()
        subprocess.run(["callgrind_control", "--dump", str(self.process.pid)], check=True, capture_output=True)
        [dump] = self.dumps()
        count = int(re.search(r"^(?:summary|totals): (\d+)", dump.read_text(), re.M)[1])
        self.forget()
        return count

    def dumps(self):
        return list(self.directory.parent.glob(f"{self.counts.name}.[0-9]*"))

    def forget(self):
        for dump in self.dumps():
            dump.unlink()


class CountedPaceline(Counted, Paceline):
    pass


class CountedMariaDb(Counted, MariaDb):
    pass


def per_statement(server, script, statements):
    """Returns the instructions of a statement: the medians of several pairs of runs."""
    def run(events):
        server.instructions()
        sysbench(server, script, "run", 1, 0, events, rows=ROWS)
        return server.instructions()

    run(statements)
    found = [(run(3 * statements) - run(statements)) / (2 * statements) for _ in range(REPEATS)]
    return statistics.median(found), min(found), max(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", type=int, default=1000, help="length of the shorter run")
    parser.add_argument("--loads", default=",".join(load[0] for load in STATISTICS_LOADS), help="comma-separated")
    parser.add_argument("--against-mariadb", action="store_true", help="beside it MariaDB's instructions, without statistics")
    parser.add_argument("--directory", type=Path, default=ROOT / "target" / "bench-instructions")
    arguments = parser.parse_args()
    chosen = arguments.loads.split(",")
    unknown = set(chosen) - {load[0] for load in STATISTICS_LOADS}
    if unknown or shutil.which("valgrind") is None:
        sys.exit(f"no such load: {', '.join(unknown)}" if unknown else "valgrind is missing")
    shutil.rmtree(arguments.directory, ignore_errors=True)
    arguments.directory.mkdir(parents=True)
    titles = {"off": "statistics off", "MariaDB": "MariaDB"} | {name: f"{name} on" for name in STATISTICS}
    without = {}
    servers = {"off": STATISTICS_OFF} | {name: [*STATISTICS_OFF, *options] for name, options in STATISTICS.items()}
    if arguments.against_mariadb:
        servers["MariaDB"] = None
    for name, options in servers.items():
        kind = CountedMariaDb if options is None else CountedPaceline
        server = kind(arguments.directory / name.replace(" ", "-"))
        server.options = ["--paceline_idle_poll_usec=0", *(options or [])]
        server.create()
        server.start()
        try:
            prepare(server, ROWS)
            for load, script, _, wanted in STATISTICS_LOADS:
                if load not in chosen:
                    continue
                median, lowest, highest = per_statement(server, script, arguments.statements)
                base = without.setdefault(load, median)
                compared = "" if name == "off" else f": {100 * (median / base - 1):+.1f} %"
                if name in STATISTICS:
                    compared += f" (wanted at most {wanted:.0f} %)"
                print(f"{titles[name] + ', ' + load:<36} {median:>9,.0f} instructions, {lowest:,.0f} to {highest:,.0f}{compared}", flush=True)
        finally:
            server.kill()


if __name__ == "__main__":
    main()
