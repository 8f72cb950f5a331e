"""Shared by the parts of the torture suite: random numbers by seed, time limits, statistics, findings and their evidence."""

import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

FINDINGS_MAX = 6


class Finding(Exception):
    """A violation: a wrong answer, a lost row, a server that does not start."""


class Part:
    """One run of a part: rounds, each with its own seed, until its time is over."""

    def __init__(self, name, seed, seconds, evidence, only_round=None, short=False):
        self.name, self.seed, self.seconds, self.short = name, seed, seconds, short
        self.only_round = only_round
        self.evidence = Path(evidence)
        self.deadline = time.monotonic() + seconds
        self.numbers = Counter()
        self.findings = []

    def rounds(self, least=1):
        """Yields the numbers of the rounds to run, until the time is over, but at least `least`."""
        if self.only_round is not None:
            yield self.only_round
            return
        number = 0
        while (number < least or time.monotonic() < self.deadline) and len(self.findings) < FINDINGS_MAX:
            yield number
            number += 1

    def seconds_left(self):
        """Returns the remaining seconds."""
        return self.deadline - time.monotonic()

    def rng(self, round, what=""):
        return random.Random(f"{self.seed}-{self.name}-{round}-{what}")

    def record_finding(self, round, text, directory=None):
        """Records a finding, and copies a directory as evidence."""
        kept = ""
        if directory is not None and Path(directory).exists():
            kept = self.evidence / f"{self.name}-{self.seed}-{round}-{len(self.findings)}"
            shutil.rmtree(kept, ignore_errors=True)
            # Sockets and mounted file systems cannot be copied, and are no evidence.
            shutil.copytree(directory, kept, symlinks=True, ignore_dangling_symlinks=True,
                            ignore=lambda folder, names: [name for name in names if name.endswith(".sock")
                                                          or os.path.ismount(os.path.join(folder, name))])
            (kept / "finding.txt").write_text(text + "\n")
        again = f"tests/torture/run.py --seed {self.seed} --only {self.name} --round {round}"
        self.findings.append({"text": text, "again": again, "kept": str(kept)})
        print(f"FINDING in {self.name}, round {round}: {text}\n  again: {again}\n  kept: {kept}", flush=True)

    def run_round(self, round, work):
        """Runs one round in a directory of its own. Any exception is a finding; then the directory is copied as evidence."""
        before = len(self.findings)
        directory = Path(tempfile.mkdtemp(prefix=f"paceline-torture-{self.name}-", dir=scratch()))
        try:
            work(directory)
        except Exception as error:  # noqa: BLE001 - a check that broke is as good a finding as one that failed
            text = str(error) if isinstance(error, (Finding, AssertionError)) else "".join(traceback.format_exc().splitlines(keepends=True)[-9:])
            self.record_finding(round, text, directory)
        self.numbers["rounds"] += 1
        if len(self.findings) == before:
            shutil.rmtree(directory, ignore_errors=True)
        else:
            # `record_finding` has copied the directory.
            shutil.rmtree(directory, ignore_errors=True)

    def report(self):
        return {"part": self.name, "numbers": dict(self.numbers), "findings": self.findings}


def scratch():
    """Returns the directory for servers' data: in memory if there is space, because the suite needs many syncs but no
    slow disk."""
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > (4 << 30):
        return memory
    return None


def write_report(path, part):
    Path(path).write_text(json.dumps(part.report()))


def say(text):
    print(text, file=sys.stderr, flush=True)
