#!/usr/bin/env python3
"""The exams: what others have written, set to Paceline and a real MariaDB side by side. They take minutes to hours and are no part of `make test`.

Usage: tests/exams/run.py [PART] [OPTIONS OF THE PART]    (default: every part with its own defaults, one after the other)

A part is a folder here with an `exam.py`, whose first line says what it is and whose `main(arguments)` gives the number of failures.
The exit status is 0 only when nothing failed.
"""

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]


def parts():
    return sorted(path.parent.name for path in HERE.glob("*/exam.py"))


def main():
    chosen, arguments = (sys.argv[1:2], sys.argv[2:]) if len(sys.argv) > 1 else (parts(), [])
    unknown = set(chosen) - set(parts())
    if unknown:
        sys.exit(f"{__doc__}\nThere is no part {', '.join(sorted(unknown))}; there are: {', '.join(parts())}")
    failures = {}
    for name in chosen:
        exam = importlib.import_module(f"{name}.exam")
        print(f"=== {name}: {exam.__doc__.splitlines()[0]}", flush=True)
        failures[name] = exam.main(arguments)
    print()
    for name, failed in failures.items():
        print(f"{name}: {f'{failed} failed' if failed else 'passed'}")
    sys.exit(1 if any(failures.values()) else 0)


if __name__ == "__main__":
    main()
