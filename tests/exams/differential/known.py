"""Differences that are meant: each with its reason. A difference that none of these explains is a bug.

An answer is ((kind, content), warnings): ("rows", rows as their `repr`), ("changed", number) or ("error", number).
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

ERROR_OUT_OF_RANGE = 1690
# Division by zero, truncated and incorrect values.
ERRORS_OF_STRICT_MODE = (1292, 1365, 1411, 1441, 1916)


@dataclass(frozen=True)
class KnownDifference:
    """A difference that stays, recognised by the statement (when it is as small as it gets) and by both answers."""

    reason: str
    statement: re.Pattern
    holds: Callable[[tuple, tuple], bool] = lambda ours, theirs: True
    # Of the statement and the statements that make its tables.
    asks: Callable[[str, list[str]], bool] = lambda statement, history: True

    def explains(self, statement: str, history: list[str], ours: tuple, theirs: tuple) -> bool:
        return bool(self.statement.search(statement)) and self.holds(ours[0], theirs[0]) and self.asks(statement, history)


def joins_text_with_integer(statement: str, history: list[str]) -> bool:
    """Whether a column of text is to be equal to one of integers."""
    types = {}
    for definition in history:
        if table := re.match(r"create table (t\d) ", definition):
            types |= {(table[1], column): kind for column, kind in re.findall(r"\b(id|c\d) (\w+)", definition)}
    tables = {alias: table for table, alias in re.findall(r"(?:from|join) (t\d) ([a-c]\d)", statement)}
    for left, a, right, b in re.findall(r"([a-c]\d)\.(\w+) = ([a-c]\d)\.(\w+)", statement):
        kinds = {types.get((tables.get(left), a), ""), types.get((tables.get(right), b), "")}
        if kinds & {"char", "varchar", "text", "varbinary"} and any(kind.endswith("int") for kind in kinds):
            return True
    return False


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


def computed_bits_folded(row: str) -> str:
    """A row with bytes that are no text made the numbers that they are."""
    values = ast.literal_eval(row)
    return repr([value if value is None or all(byte >= 0x20 for byte in value) else str(int.from_bytes(value)).encode() for value in values])


def equal_as_numbers(ours: tuple, theirs: tuple) -> bool:
    if ours[0] != "rows" or theirs[0] != "rows" or len(ours[1]) != len(theirs[1]):
        return False
    return sorted(map(computed_bits_folded, ours[1])) == sorted(map(computed_bits_folded, theirs[1]))


def padded_with_zeros(ours: tuple, theirs: tuple) -> bool:
    return "\\x00" * 20 in repr(theirs)


def one_refuses_a_value(ours: tuple, theirs: tuple) -> bool:
    errors = [answer for answer in (ours, theirs) if answer[0] == "error" and answer[1] in ERRORS_OF_STRICT_MODE]
    return len(errors) == 1 and "changed" in (ours[0], theirs[0])


def one_is_out_of_range(ours: tuple, theirs: tuple) -> bool:
    return ("error", ERROR_OUT_OF_RANGE) in (ours, theirs) and "rows" in (ours[0], theirs[0])


KNOWN: list[KnownDifference] = [
    KnownDifference("Undefined: which of several texts that are equal in their collation stands for them (a plan's first)",
                    re.compile(r"distinct|group by|union|except|intersect|min\(|max\("), equal_when_folded),
    KnownDifference("Number of evaluations: whether an expression that is out of range is met at all depends on the plan",
                    re.compile(r" where | on | limit | having |group by|distinct|\(select "), one_is_out_of_range),
    KnownDifference("A plan's choice: in strict mode a condition's warning is an error, but not while MariaDB optimizes, when it evaluates subqueries that are cheap",
                    re.compile(r"^(update|delete) .*\(select "), one_refuses_a_value),
    KnownDifference("A plan's choice: a computed BIT is its bytes where MariaDB's plan has a temporary table, else its digits",
                    re.compile(r"distinct|group by|union|except|intersect"), equal_as_numbers),
    KnownDifference("MariaDB's error: a BIT beside longer texts in a UNION is filled up with zero bytes", re.compile(r"union"), padded_with_zeros),
    KnownDifference("Undefined: a column outside of GROUP BY beside HAVING", re.compile(r"^(?!.*group by).* having ")),
    KnownDifference("MariaDB's error: it looks a text up in an integer key by the integer that it begins with: '1e1', which is 10, by 1", re.compile(" join "),
                    asks=joins_text_with_integer),
    KnownDifference("MariaDB's error: COUNT of a comparison of rows counts its NULLs, which it thinks impossible", re.compile(r"count\((distinct )?\(\(")),
    KnownDifference("MariaDB's error: INTERVAL(NULL, ...) is -1, but an outer join under such a condition is made an inner one",
                    re.compile(r"(left|right) join .*interval\(")),
    KnownDifference("MariaDB's error: the zero date of FROM_DAYS(1) to FROM_DAYS(365) passes where zero dates do not (WEEK of it is 613566757)",
                    re.compile(r"(week|weekday|day|name|days|dayofyear|diff|to_seconds|date|datetime|format)\(.*from_days\(")),
]


def reason_for(statement: str, history: list[str], ours: tuple, theirs: tuple) -> str | None:
    """Why two servers answer `statement` differently after the statements of `history`, where that is known."""
    for known in KNOWN:
        if known.explains(statement, history, ours, theirs):
            return known.reason
    return None
