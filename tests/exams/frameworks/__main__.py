#!/usr/bin/env python3
"""Runs test suites of frameworks and drivers against Paceline, with MariaDB 10.11 as the control.

    tests/exams/frameworks [--suite django,sqlalchemy] [--portion NAME ...] [--server both|paceline|mariadb]
    [--report DIRECTORY] [--work DIRECTORY] [--seconds-max N]

A suite is fetched by its package manager into the work directory, once. It is run in portions, each with a limit of
time, against one server after the other. A test that passes on MariaDB and does not pass on Paceline is a defect,
unless known/SUITE.txt has a line with the reason. The report has a file SUITE.SERVER.jsonl with a line for each test,
so that two runs can be compared; `--server paceline` compares with the control's file of an earlier run.

The exit status is 0 only if no test without a reason failed on Paceline alone.
"""

import argparse
import contextlib
import difflib
import itertools
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from frameworks.outcome import Outcome, read_outcomes, write_outcomes  # noqa: E402
from frameworks.suite import Suite, Unavailable  # noqa: E402
from frameworks.suites import SUITES  # noqa: E402
from support.servers import ROOT, MariaDb, Paceline  # noqa: E402

WORK = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "paceline-exams"
SERVERS = {"mariadb": MariaDb, "paceline": Paceline}
# What both servers need for these suites: as many connections as tests that leave theirs open.
OPTIONS = ["--max-connections=500", "--local-infile=1"]


def reasons_of(suite: str) -> list[tuple[re.Pattern, str]]:
    """Returns the lines of known/SUITE.txt, `TEST: REASON`, where * stands for any characters of a test's name."""
    path = HERE / "known" / f"{suite}.txt"
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            found.append((re.compile(".*".join(map(re.escape, name.split("*")))), reason))
    return found


def run_suite(suite: Suite, kind: str, portions: list[str], seconds_max: float, report: Path, beside_others: bool):
    """Runs portions of a suite against a new server of this kind, and writes the outcomes to a file, `beside_others`: in
    addition to those that it has."""
    directory = Path(tempfile.mkdtemp(prefix="exam-"))
    found = {}
    with contextlib.closing(SERVERS[kind](directory, *OPTIONS, *suite.server_options)) as server:
        server.start()
        suite.prepare_server(server)
        for portion in portions:
            started = time.monotonic()
            outcomes = suite.run(portion, server, directory, seconds_max)
            found |= outcomes
            passed = sum(outcome.kind == "passed" for outcome in outcomes.values())
            print(f"{suite.name} {kind} {portion}: {passed} of {len(outcomes)} passed, {time.monotonic() - started:.0f} s", flush=True)
            if server.process.poll() is not None:
                print(f"{kind} ended with {server.process.returncode}:\n{server.said()[-2000:]}", flush=True)
                found[f"{portion}: the server stays alive"] = Outcome("failed", server.said()[-500:])
                server.start()
            write_outcomes(report, found, beside_others)
    shutil.rmtree(directory, ignore_errors=True)


def difference(control: str, ours: str) -> str:
    """Returns the first lines in which two tests saw different things."""
    lines = difflib.unified_diff(control.splitlines(), ours.splitlines(), "MariaDB", "Paceline", lineterm="", n=0)
    return "\n" + "\n".join(f"    {line[:500]}" for line in itertools.islice(lines, 2, 12))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default=",".join(SUITES), help=f"some of {', '.join(SUITES)}")
    parser.add_argument("--portion", nargs="*", default=[], help="only these portions of the suites")
    parser.add_argument("--server", choices=["both", "paceline", "mariadb"], default="both")
    parser.add_argument("--report", type=Path, default=ROOT / "target/exams/report")
    parser.add_argument("--work", type=Path, default=WORK, help="directory of what is fetched, outside of the checkout; it is reused")
    parser.add_argument("--seconds-max", type=float, default=900, help="time that a portion may take")
    arguments = parser.parse_args()

    arguments.report.mkdir(parents=True, exist_ok=True)
    rows, failures = [], 0
    for name in arguments.suite.split(","):
        suite = SUITES[name](arguments.work.resolve())
        try:
            suite.fetch()
        except Unavailable as reason:
            print(f"{name} cannot be run: {reason}", flush=True)
            rows.append((name, "-", "-", "-", "-"))
            continue
        portions = arguments.portion or suite.portions()
        for kind in ["mariadb", "paceline"] if arguments.server == "both" else [arguments.server]:
            run_suite(suite, kind, portions, arguments.seconds_max, arguments.report / f"{name}.{kind}.jsonl", bool(arguments.portion))
        if arguments.server == "mariadb":
            continue
        control, ours = (read_outcomes(arguments.report / f"{name}.{kind}.jsonl") for kind in ("mariadb", "paceline"))
        reasons = reasons_of(name)
        passed = [test for test, outcome in control.items() if outcome.kind == "passed"]
        if arguments.portion:
            passed = [test for test in passed if test in ours]
        only_here = [test for test in passed if ours.get(test, Outcome("missing", "")).kind != "passed"
                     or suite.compares_messages and ours[test].message != control[test].message]
        explained = [test for test in only_here if any(pattern.fullmatch(test) for pattern, _ in reasons)]
        rows.append((name, len(passed), len(passed) - len(only_here), len(explained), len(only_here) - len(explained)))
        failures += len(only_here) - len(explained)
        for test in only_here:
            if test not in explained:
                outcome = ours.get(test, Outcome("missing", ""))
                what = difference(control[test].message, outcome.message) if suite.compares_messages and outcome.kind == "passed" else outcome.message[:200]
                print(f"only here: {test}: {outcome.kind}: {what}")
    print("\n| suite | passed on MariaDB | passed on both | failed only here, with a reason | without |\n|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
