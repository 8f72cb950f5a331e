"""Intended differences with their reasons. A difference that none of them explains is a bug.

An answer is ((kind, content), warnings): ("rows", rows as their `repr`), ("changed", number, the table's rows) or
("error", number). Questions that MariaDB itself answers in two ways need no entry here: controls.py asks MariaDB.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class KnownDifference:
    """An intended difference, recognised by the reduced statement and by both answers."""

    reason: str
    statement: re.Pattern
    holds: Callable[[tuple, tuple], bool] = lambda ours, theirs: True

    def explains(self, statement: str, ours: tuple, theirs: tuple) -> bool:
        # A pattern explains answers, never what is said beside equal ones.
        return ours[0] != theirs[0] and bool(self.statement.search(statement)) and self.holds(ours[0], theirs[0])


def folded(row: str) -> str:
    """Returns a row in which texts that collations treat as equal are made equal."""
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
    """Returns a row in which bytes that are not text are replaced by their numbers, and the year 0 by a digit."""
    values = [b"0" if value == b"0000" else value for value in ast.literal_eval(row)]
    return repr([value if value is None or all(byte >= 0x20 for byte in value) else str(int.from_bytes(value)).encode() for value in values])


def equal_as_numbers(ours: tuple, theirs: tuple) -> bool:
    if ours[0] != "rows" or theirs[0] != "rows" or len(ours[1]) != len(theirs[1]):
        return False
    return sorted(map(computed_bits_folded, ours[1])) == sorted(map(computed_bits_folded, theirs[1]))


def values_of(row: str, change: Callable[[bytes], bytes]) -> str:
    return repr([value if value is None else change(value) for value in ast.literal_eval(row)])


def equal_when(change: Callable[[bytes], bytes]) -> Callable[[tuple, tuple], bool]:
    """Returns whether rows, also those of a changed table, are equal after `change` is applied to each value."""

    def holds(ours: tuple, theirs: tuple) -> bool:
        if ours[0] != theirs[0] or ours[0] == "error" or ours[1:-1] != theirs[1:-1] or len(ours[-1]) != len(theirs[-1]):
            return False
        return sorted(values_of(row, change) for row in ours[-1]) == sorted(values_of(row, change) for row in theirs[-1])

    return holds


def without_padding(value: bytes) -> bytes:
    """Removes zero bytes at the end, which no text here has."""
    return value.rstrip(b"\0") if value.endswith(b"\0" * 10) else value


def without_sign_of_zero(value: bytes) -> bytes:
    """A zero without its sign, and without the digits that the sign leaves no room for."""
    if re.fullmatch(rb"-?0\.0*", value):
        return b"0"
    return value[1:] if re.fullmatch(rb"-(0|00:00:00)(\.0*)?", value) else value


def without_zero_fraction(value: bytes) -> bytes:
    return re.sub(rb"(?<=\d\d:\d\d:\d\d)(\.\d*?)0+$", lambda fraction: fraction[1].rstrip(b"."), value)


def with_question_marks(value: bytes) -> bytes:
    """Replaces each byte that begins no character with `?`."""
    text = ""
    while True:
        try:
            return (text + value.decode()).encode()
        except UnicodeDecodeError as error:
            text += value[: error.start].decode() + "?"
            value = value[error.start + 1:]


CLIPPED = re.compile(rb"-?9+(\.9+)?|-?2147483647|-2147483648|-?9223372036854775807|-9223372036854775808|4294967295|18446744073709551615|-?0(\.0+)?|0")


def clipped(ours: tuple, theirs: tuple) -> bool:
    """Returns whether MariaDB has the largest number of a column where we have a larger one."""
    if ours[0] != "rows" or theirs[0] != "rows":
        return False
    own, other = Counter(ours[1]), Counter(theirs[1])
    left, there = (own - other).elements(), (other - own).elements()
    pairs = [(ast.literal_eval(a), ast.literal_eval(b)) for a, b in zip(sorted(left), sorted(there), strict=False)]
    values = [(a, b) for mine, his in pairs for a, b in zip(mine, his, strict=True) if a != b]
    return bool(values) and all(a and b and re.fullmatch(rb"-?[\d.]+", a) and CLIPPED.fullmatch(b) and abs(float(a)) > abs(float(b)) for a, b in values)


def cut_short(ours: tuple, theirs: tuple) -> bool:
    """Returns whether MariaDB has the beginning of a longer text."""
    if ours[0] != "rows" or theirs[0] != "rows":
        return False
    own, other = Counter(ours[1]), Counter(theirs[1])
    pairs = zip(sorted((own - other).elements()), sorted((other - own).elements()), strict=False)
    values = [(a, b) for mine, his in pairs for a, b in zip(ast.literal_eval(mine), ast.literal_eval(his), strict=True) if a != b]
    return bool(values) and all(a and b and len(b) < len(a) and (len(b) >= 12 and a.startswith(b) or nearly(a, b)) for a, b in values)


def nearly(value: bytes, other: bytes) -> bool:
    """Returns whether two numbers agree in as many digits as the shorter one has."""
    number = re.compile(rb"-?[\d.]+(e-?\d+)?")
    if not number.fullmatch(value) or not number.fullmatch(other):
        return False
    digits = len(re.sub(rb"\D", b"", other.split(b"e")[0]))
    return abs(float(value) - float(other)) <= abs(float(value)) * 10.0 ** (1 - digits)


def zero_dates_to_null(row: str) -> str:
    return re.sub(r"b'(0000-00-00( 00:00:00)?|00:00:00)(\.0+)?'", "None", row)


def equal_without_zero_dates(ours: tuple, theirs: tuple) -> bool:
    if ours[0] != "rows" or theirs[0] != "rows":
        return False
    return sorted(map(zero_dates_to_null, ours[1])) == sorted(map(zero_dates_to_null, theirs[1]))


KNOWN: list[KnownDifference] = [
    KnownDifference("Undefined: which of several texts that are equal in their collation stands for them (a plan's first)",
                    re.compile(r"distinct|group by|union|except|intersect|min\(|max\("), equal_when_folded),
    KnownDifference("A plan's choice: a computed BIT is its bytes, the year 0 0000, where MariaDB's plan has a temporary table, else digits",
                    re.compile(r"distinct|group by|order by|union|except|intersect"), equal_as_numbers),
    KnownDifference("MariaDB's error: a BIT beside longer texts in a UNION is filled up with zero bytes", re.compile(r"union|except|intersect"),
                    equal_when(without_padding)),
    KnownDifference("MariaDB's error: a zero that a division or a remainder leaves has a sign", re.compile(r" [/%] |mod\(|-"), equal_when(without_sign_of_zero)),
    KnownDifference("Digits that are shown: how many zeros end the fraction of a time that functions made of texts",
                    re.compile(r"time|date|interval|greatest|least|nullif"), equal_when(without_zero_fraction)),
    KnownDifference("MariaDB's error: a constant of bytes that are no text becomes a text of those bytes (here `?`, as both have it of what is no constant)",
                    re.compile(r"char\(|unhex\("), equal_when(with_question_marks)),
    KnownDifference("MariaDB's error: a temporary table's column is too narrow for the value, which becomes the column's largest number",
                    re.compile(r"distinct|group by|order by|union|except|intersect"), clipped),
    KnownDifference("A plan's choice: MIN and MAX of what is no date are the zero date, or NULL where MariaDB keeps groups in a temporary table",
                    re.compile(r"(min|max)\("), equal_without_zero_dates),
    KnownDifference("MariaDB's error: a temporary table's column is too narrow for a FLOAT's or DOUBLE's text, and cuts it",
                    re.compile(r"distinct|group by|order by|union|except|intersect"), cut_short),
    KnownDifference("Not built: bytes that are no text are not refused in strict writes (1300), they become `?`", re.compile(r"^(insert|update|replace|delete).*(char|unhex)\("),
                    lambda ours, theirs: theirs == ("error", 1300)),
    KnownDifference("Words: an integer past its range is refused as 1690 or as 1916", re.compile(""),
                    lambda ours, theirs: {ours, theirs} == {("error", 1690), ("error", 1916)}),
]


def reason_for(statement: str, ours: tuple, theirs: tuple) -> str | None:
    """Returns the known reason why two servers answer `statement` differently."""
    for known in KNOWN:
        if known.explains(statement, ours, theirs):
            return known.reason
    return None
