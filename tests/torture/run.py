#!/usr/bin/env python3
"""The suite that tries to break it. `make torture` runs it for an hour.

Usage: tests/torture/run.py [--seed N] [--time SECONDS] [--only PART ...] [--round R] [--short]

Every part runs rounds until its share of the time is used. What a round does depends on the seed, the part's name and
the round's number (and on the scheduling of the machine). At the end the suite prints what it has tried, in numbers.
Any finding makes the exit status 1. A finding is printed with the command that repeats its round, and its evidence
(data directories, histories, logs) is kept.

Parts run in parallel, as many as there are processors.
"""

import argparse
import importlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

from torture import harness  # noqa: E402

# Name of the part, its module, its share of the time of one processor, its description.
PARTS = [
    ("isolation", "torture.isolation.part", 0.30, "histories of concurrent transactions, checked for Adya's anomalies"),
    ("random", "torture.random_load.part", 0.50, "random transactions and definitions; all servers must hold the same"),
    ("power", "torture.power.part", 0.60, "power failures: what was not synced is kept, dropped, torn or reordered"),
    ("bit-rot", "torture.bit_rot.part", 0.25, "flipped bits in log and table files: an error or the right answer"),
    ("pressure", "torture.pressure.part", 0.35, "connections, slow readers, huge transactions, many rows, a full disk, a jumping clock"),
    ("cluster", "torture.cluster.part", 0.60, "a cluster's machines, network, disks and clocks fail while clients work"),
]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=None, help="what the random numbers are drawn from; default: a random one, printed")
    parser.add_argument("--time", type=float, default=3600, help="seconds; default: an hour")
    parser.add_argument("--only", action="append", choices=[part[0] for part in PARTS], help="run this part (may be given again)")
    parser.add_argument("--round", type=int, help="run only this round of the parts")
    parser.add_argument("--short", action="store_true", help="small rounds, for `make test`")
    parser.add_argument("--evidence", type=Path, default=Path("torture-evidence"), help="where findings leave what they found")
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)  # statistics of a part, for the process that started it
    return parser.parse_args()


def run_part(options):
    """Runs one part in this process."""
    [name] = options.only
    [module] = [module for part, module, _, _ in PARTS if part == name]
    part = harness.Part(name, options.seed, options.time, options.evidence.absolute(), options.round, options.short)
    try:
        importlib.import_module(module).run(part)
    except Exception as error:  # noqa: BLE001 - a part that cannot run has found that it cannot run
        part.record_finding(-1, f"the part ended with {error!r}")
    harness.write_report(options.report, part)


def run_parts(options):
    """Runs all parts, each in a process of its own, as many at a time as there are processors. Returns their reports."""
    chosen = [part for part in PARTS if not options.only or part[0] in options.only]
    lanes = min(os.cpu_count() or 1, len(chosen))
    share = sum(part[2] for part in chosen) / lanes
    waiting, reports, lock = list(chosen), [], threading.Lock()

    def lane():
        while True:
            with lock:
                if not waiting:
                    return
                name, _, part_share, _ = waiting.pop(0)
            report = options.evidence / f"report-{options.seed}-{name}.json"
            report.unlink(missing_ok=True)
            command = [sys.executable, __file__, "--seed", options.seed, "--time", options.time * part_share / share, "--only", name,
                       "--evidence", options.evidence, "--report", report]
            command += ["--short"] * options.short + ["--round", options.round] * (options.round is not None)
            status = subprocess.run(list(map(str, command)), check=False).returncode
            found = json.loads(report.read_text()) if report.exists() else {
                "part": name, "numbers": {}, "findings": [{"text": f"the part ended with status {status}", "again": "", "kept": ""}]}
            report.unlink(missing_ok=True)
            with lock:
                reports.append(found)

    threads = [threading.Thread(target=lane) for _ in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return reports


def main():
    options = arguments()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 31)
    options.evidence.mkdir(parents=True, exist_ok=True)
    if options.report:
        run_part(options)
        return 0
    print(f"torture: seed {options.seed}, {options.time:.0f} s", flush=True)
    start = time.monotonic()
    reports = run_parts(options)
    print(f"\n=== what was tried in {time.monotonic() - start:.0f} s, seed {options.seed}")
    findings = 0
    for name, _, _, what in PARTS:
        for report in reports:
            if report["part"] == name:
                numbers = ", ".join(f"{count:,} {thing}" for thing, count in report["numbers"].items())
                print(f"{name:<10} {what}\n           {numbers or 'nothing'}; {len(report['findings'])} findings")
                findings += len(report["findings"])
    for report in reports:
        for finding in report["findings"]:
            print(f"FINDING in {report['part']}: {finding['text']}\n  again: {finding['again']}\n  kept: {finding['kept']}")
    print(f"{findings} findings")
    if not any(options.evidence.iterdir()):
        options.evidence.rmdir()
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
