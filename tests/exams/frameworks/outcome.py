"""The outcome of one test, and the files that have one in each line."""

import json
from pathlib import Path
from typing import NamedTuple


class Outcome(NamedTuple):
    # "passed", "failed" or "skipped".
    kind: str
    # Why it failed or was skipped: the end of the message.
    message: str


def write_outcomes(path: Path, outcomes: dict[str, Outcome], beside_others: bool):
    """Writes the outcomes in the order of their tests, `beside_others`: in addition to those that the file has."""
    if beside_others:
        outcomes = read_outcomes(path) | outcomes
    lines = [json.dumps({"test": test, "outcome": outcome.kind, "message": outcome.message}) + "\n" for test, outcome in sorted(outcomes.items())]
    path.write_text("".join(lines), encoding="utf-8")


def read_outcomes(path: Path) -> dict[str, Outcome]:
    """Returns the outcomes of a file; none if there is no file. Of several lines of one test the worst counts: tests
    that are run with several settings may share their name."""
    worst = ["skipped", "passed", "failed"]
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue  # The last line of a run that was killed.
        outcome = Outcome(record["outcome"], record["message"])
        known = found.get(record["test"])
        if known is None or worst.index(known.kind) < worst.index(outcome.kind):
            found[record["test"]] = outcome
    return found
