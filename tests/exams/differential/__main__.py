#!/usr/bin/env python3
"""Runs the same random statements on Paceline and MariaDB 10.11, and reports where their answers differ.

    python -m tests.exams.differential [--statements N] [--seed N] [--findings-max N] [--report FILE] [--round N] [--no-warnings] [--unshrunk]

Each round has random tables, random rows and random statements (queries, set operations, changes), all from one seed.
An answer is the rows (in any order unless the statement sorts them completely), or the number of changed rows and the
table after the change, or the error's number. The levels and numbers of warnings are compared separately. A statement
whose answers differ is reduced as far as possible, and printed with the tables and rows that it needs. Known
differences are in known.py with their reasons.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from differential.generator import Generator  # noqa: E402
from differential.pair import Pair, is_query  # noqa: E402
from differential.shrink import Finding, kind_of, shrink  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", type=int, default=500_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--round", type=int, default=250, help="statements between new tables")
    parser.add_argument("--findings-max", type=int, default=50)
    parser.add_argument("--seconds-max", type=int, default=1 << 31, help="begin no round after so long")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--no-warnings", action="store_true", help="compare rows and errors only")
    parser.add_argument("--unshrunk", action="store_true", help="count what differs and print it as it is: quick, for the rate")
    arguments = parser.parse_args()
    counts, raw, reasons, unexplained = Counter(), Counter(), Counter(), Counter()
    started = time.monotonic()
    report = open(arguments.report, "a") if arguments.report else sys.stdout
    with tempfile.TemporaryDirectory(prefix="exam-") as directory:
        pair = Pair(Path(directory), not arguments.no_warnings)
        try:
            done, seed = 0, arguments.seed
            while done < arguments.statements and unexplained.total() < arguments.findings_max and time.monotonic() - started < arguments.seconds_max:
                generator = Generator(seed)
                history = generator.setup()
                pair.reset(history)
                for _ in range(arguments.round):
                    tree = generator.statement()
                    statement = tree.sql()
                    ours, theirs = pair.answers(statement) if is_query(statement) else pair.change(statement)
                    done += 1
                    counts[ours.result[0]] += 1
                    kind = kind_of(ours, theirs)
                    if not kind:
                        if ours.result[0] == "changed":
                            history.append(statement)
                        continue
                    raw[kind] += 1
                    if arguments.unshrunk:
                        finding = Finding(statement, [], ours, theirs, None)
                    else:
                        finding = shrink(pair, history, tree, kind)
                    if finding.reason:
                        reasons[kind, finding.reason] += 1
                        continue
                    unexplained[kind] += 1
                    print(f"--- {kind} {unexplained[kind]}, seed {seed}, statement {done}", *(f"{line};" for line in finding.history), f"{finding.statement};",
                          f"-- ours:    {str(tuple(finding.ours))[:600]}", f"-- MariaDB: {str(tuple(finding.theirs))[:600]}", sep="\n", file=report, flush=True)
                    if unexplained.total() >= arguments.findings_max:
                        break
                seed += 1
        finally:
            pair.close()
    print(f"{done} statements of seeds {arguments.seed} to {seed - 1} in {time.monotonic() - started:.0f} s: "
          + ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    for kind, count in raw.most_common():
        print(f"{count} differ in {kind}, {unexplained[kind]} without an explanation")
    for (kind, reason), count in reasons.most_common():
        print(f"{count} known differences in {kind}: {reason}")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
