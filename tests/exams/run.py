#!/usr/bin/env python3
"""Runs the exams (README.md), each with its own defaults, or one of them with options.

Usage: tests/exams/run.py [EXAM [OPTIONS]]

The exit status is 0 only if nothing failed.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    exams = sorted(path.parent.name for path in HERE.glob("*/__main__.py"))
    chosen, options = (sys.argv[1:2], sys.argv[2:]) if len(sys.argv) > 1 else (exams, [])
    if not set(chosen) <= set(exams):
        sys.exit(f"{__doc__}\nThere is no exam {chosen[0]}; there are: {', '.join(exams)}")
    failed = []
    for exam in chosen:
        print(f"=== {exam}", flush=True)
        if subprocess.run([sys.executable, HERE / exam, *options], check=False).returncode != 0:
            failed.append(exam)
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
