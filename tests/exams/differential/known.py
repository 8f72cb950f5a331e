"""Differences that are meant: each with its reason. A difference that none of these explains is a bug."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class KnownDifference:
    """A difference that stays, recognised by the statement and by both answers."""

    reason: str
    statement: re.Pattern
    answers: re.Pattern

    def explains(self, statement: str, ours: str, theirs: str) -> bool:
        return bool(self.statement.search(statement) and self.answers.search(f"ours {ours}\ntheirs {theirs}"))


KNOWN: list[KnownDifference] = []


def reason_for(statement: str, ours: str, theirs: str) -> str | None:
    """Why two servers answer `statement` differently, where that is known."""
    for known in KNOWN:
        if known.explains(statement, ours, theirs):
            return known.reason
    return None
