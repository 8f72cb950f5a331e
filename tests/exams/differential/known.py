"""Differences that are meant: each with its reason. A difference that none of these explains is a bug.

An answer is ((kind, content), warnings): ("rows", rows as their `repr`), ("changed", number) or ("error", number).
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

ERROR_OUT_OF_RANGE = 1690


@dataclass(frozen=True)
class KnownDifference:
    """A difference that stays, recognised by the statement (when it is as small as it gets) and by both answers."""

    reason: str
    statement: re.Pattern
    holds: Callable[[tuple, tuple], bool] = lambda ours, theirs: True

    def explains(self, statement: str, ours: tuple, theirs: tuple) -> bool:
        return bool(self.statement.search(statement)) and self.holds(ours[0], theirs[0])


def folded(row: str) -> str:
    """A row with texts that collations take for equal made the same."""
    texts = []
    for value in ast.literal_eval(row):
        text = "NULL" if value is None else value.decode("latin1" if b"\xff" in value else "utf8", "replace").casefold().rstrip(" ")
        texts.append(text.replace("ä", "a").replace("ss", "s").replace("ß", "s"))
    return repr(texts)


def equal_when_folded(ours: tuple, theirs: tuple) -> bool:
    if ours[0] != "rows" or theirs[0] != "rows" or len(ours[1]) != len(theirs[1]):
        return False
    return sorted(map(folded, ours[1])) == sorted(map(folded, theirs[1]))


def one_is_out_of_range(ours: tuple, theirs: tuple) -> bool:
    return ("error", ERROR_OUT_OF_RANGE) in (ours, theirs) and "rows" in (ours[0], theirs[0])


KNOWN: list[KnownDifference] = [
    KnownDifference("Undefined: which of several texts that are equal in their collation stands for them (a plan's first)",
                    re.compile(r"distinct|group by|union|except|intersect|min\(|max\("), equal_when_folded),
    KnownDifference("Number of evaluations: whether an expression that is out of range is met at all depends on the plan",
                    re.compile(r" where | on | limit | having |group by|distinct|\(select "), one_is_out_of_range),
    KnownDifference("MariaDB's error: COUNT of a comparison of rows counts its NULLs, which it thinks impossible", re.compile(r"count\((distinct )?\(\(")),
    KnownDifference("MariaDB's error: INTERVAL(NULL, ...) is -1, but an outer join under such a condition is made an inner one",
                    re.compile(r"(left|right) join .*interval\(")),
    KnownDifference("MariaDB's error: the zero date of FROM_DAYS(1) to FROM_DAYS(365) passes where zero dates do not (WEEK of it is 613566757)",
                    re.compile(r"(week|weekday|day|name|days|dayofyear|diff|to_seconds|date|datetime|format)\(.*from_days\(")),
]


def reason_for(statement: str, ours: tuple, theirs: tuple) -> str | None:
    """Why two servers answer `statement` differently, where that is known."""
    for known in KNOWN:
        if known.explains(statement, ours, theirs):
            return known.reason
    return None
