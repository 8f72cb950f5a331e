#!/usr/bin/env python3
"""Runs everything that CI runs, step by step, and ends with what ran and what passed.

Usage: tools/run_tests.py [STEP ...]    (default: every step, in the order below)

A step that cannot run is a failure, never a skip. The last line is "N passed, M failed", counted over all tests;
the exit status is 0 only when nothing failed.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Where the first step puts programs. `cargo run -p` would compile their dependencies again, with the features of one package.
PROGRAMS = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
PYTEST = [str(ROOT / ".venv/bin/python"), "-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider",
          # The files of passed tests are deleted at once: together they took 24 GB.
          "-o", "tmp_path_retention_policy=failed"]


# Most of a test's time is waiting for a server. Files run in parallel; the tests of one file run in sequence, because
# they may share servers.
SIDE_BY_SIDE = ["-n", "3", "--dist", "loadfile"]


def pytest(*paths):
    return [*PYTEST, *SIDE_BY_SIDE, *paths]


def pytest_alone(*paths):
    """Runs tests that measure times or fill disks, one at a time."""
    return [*PYTEST, *paths]


# name, command, what it proves
STEPS = [
    ("build", ["cargo", "build", "--release", "--locked"], "the release binary"),
    ("format", ["cargo", "fmt", "--all", "--check"], "every file is formatted"),
    ("tidy", ["tools/tidy.py"], "names, links, comment width, the order of the crates, decisions, figures"),
    ("lint", ["cargo", "clippy", "--release", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"],
     "clippy, warnings are errors"),
    ("licences", ["tools/check_licences.py"], "every dependency may be shipped"),
    ("unit", ["cargo", "test", "--release", "--locked", "--workspace", "--no-fail-fast"],
     "unit, property, golden-script and documentation tests"),
    ("fuzz", [str(PROGRAMS / "paceline-fuzz-targets"), "--seconds", "60"],
     "a minute of random changes to everything that parses bytes from outside"),
    ("clients", pytest("tests/clients"), "real clients and tools against the server"),
    ("library", pytest("tests/library"), "programs in C, Perl and Python with the server in their process; the Python module's wheel"),
    ("log", pytest("tests/log"), "the log, as MariaDB's own tools read it"),
    ("sql", pytest("tests/sql"), "SQL beside a real MariaDB: the same answers"),
    ("replication", pytest("tests/replication"), "to and from a real MariaDB, switch-over, kill -9 of either side"),
    ("backup", pytest("tests/backup"), "backups under load, restores to any point in time, interrupted and damaged ones; joined replicas"),
    ("archive", pytest("tests/archive"), "the archive between MariaDB or Paceline and their replicas, kill -9"),
    ("monitoring", pytest("tests/monitoring"), "statistics, the page in a browser, waits, Prometheus, Ganglia"),
    ("packages", pytest_alone("tests/packages"), "the Debian packages in a clean Debian: install, start, upgrade, remove, purge"),
    ("crash", pytest_alone("tests/crash"), "kill -9 under load, machine crashes, damaged files, full disk, failing fsync"),
    ("torture", pytest_alone("tests/torture"), "the suite that tries to break it, in short; `make torture` is the long form"),
]


def count(output):
    """Returns the numbers of passed and failed tests that cargo test or pytest report in `output`."""
    passed = failed = 0
    for ok, bad in re.findall(r"^test result: .*? (\d+) passed; (\d+) failed;", output, re.M):
        passed, failed = passed + int(ok), failed + int(bad)
    closing = [line for line in output.splitlines() if re.search(r"\bin [0-9.]+s", line)]
    if closing and not re.search(r"^test result:", output, re.M):
        for number, word in re.findall(r"(\d+) (passed|failed|errors?)\b", closing[-1]):
            if word == "passed":
                passed += int(number)
            else:
                failed += int(number)
    return passed, failed


def run(command, environment):
    """Runs `command`, copies its output through, and returns its exit status and output."""
    process = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    lines = []
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line)
    return process.wait(), "".join(lines)


def main():
    chosen = sys.argv[1:]
    unknown = set(chosen) - {name for name, _, _ in STEPS}
    if unknown:
        sys.exit(f"unknown step: {', '.join(sorted(unknown))}; there are: {', '.join(name for name, _, _ in STEPS)}")
    environment = dict(os.environ, CARGO_TERM_COLOR="never", PACELINE_BINARY=str(PROGRAMS / "paceline"))
    rows, all_passed, all_failed = [], 0, 0
    for name, command, what in STEPS:
        if chosen and name not in chosen:
            continue
        print(f"\n=== {name}: {what}\n$ {' '.join(command)}", flush=True)
        start = time.monotonic()
        status, output = run(command, environment)
        passed, failed = count(output)
        is_suite = "test" in command or "pytest" in command
        if is_suite and passed + failed == 0:
            failed = 1  # A suite that ran nothing proves nothing.
        if not is_suite:
            passed, failed = (1, 0) if status == 0 else (0, 1)
        elif status != 0 and failed == 0:
            failed = 1
        all_passed, all_failed = all_passed + passed, all_failed + failed
        rows.append((name, passed, failed, time.monotonic() - start, what))
        if name == "build" and status != 0:
            break
    print("\n=== what ran")
    for name, passed, failed, seconds, what in rows:
        print(f"{name:<8} {passed:>5} passed {failed:>3} failed {seconds:>7.0f} s   {what}")
    print(f"{all_passed} passed, {all_failed} failed")
    sys.exit(1 if all_failed else 0)


if __name__ == "__main__":
    main()
