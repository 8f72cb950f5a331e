"""Column types and values for them: typical values, the limits of their ranges, NULL."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Kind:
    """A column type: its name, a function that returns a random literal, the prefix length that an index needs (0:
    none), and the group of types that it may be changed into."""

    name: str
    literal: Callable
    prefix: int = 0
    group: str = ""


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def integer(low, high):
    ends = [low, low + 1, high, high - 1, 0, 1]
    return lambda rng: str(rng.choice(ends) if rng.random() < 0.15 else rng.randrange(max(low, -1000), min(high, 1000)))


def decimal(digits, scale, signed=True):
    def literal(rng):
        whole = rng.choice([0, 1, 10 ** (digits - scale) - 1, rng.randrange(10 ** min(digits - scale, 6))]) if digits > scale else 0
        sign = rng.choice(["", "-"]) if signed else ""
        return f"{sign}{whole}.{rng.randrange(10 ** scale):0{scale}}" if scale else f"{sign}{whole}"
    return literal


def floating(largest):
    return lambda rng: rng.choice(["0", "-0.0", "1.5", "-2.25", "1e-10", str(largest), "0.1", repr(round(rng.uniform(-1000, 1000), 3))])


ALPHABETS = ["abcdefgh", "ABCabc", "äöüÄß", "漢字かな", "😀🚲", " xyz", "0123456789", "%_\\'\""]


def text(length, alphabets=None):
    def literal(rng):
        size = rng.choice([0, 1, length, rng.randrange(length + 1), rng.randrange(min(length, 12) + 1)])
        alphabet = rng.choice(alphabets or ALPHABETS)
        if rng.random() < 0.5:
            # Few different values, so that unique keys collide.
            return quoted(rng.choice(alphabet) * min(size, 2))
        return quoted("".join(rng.choice(alphabet) for _ in range(min(size, 400))))
    return literal


def binary(length):
    return lambda rng: "x'" + bytes(rng.randrange(256) for _ in range(min(rng.randrange(length + 1), 300))).hex() + "'"


def moment(date, time, digits):
    def literal(rng):
        days = f"{rng.choice(['1000', '1970', '2000', '2024', '2026', '9999'])}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
        clock = f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
        fraction = f".{rng.randrange(10 ** digits):0{digits}}" if digits else ""
        return "'" + (days if date else "") + (" " if date and time else "") + (clock + fraction if time else "") + "'"
    return literal


def timestamp(digits):
    def literal(rng):
        fraction = f".{rng.randrange(10 ** digits):0{digits}}" if digits else ""
        return f"'{rng.randrange(1971, 2037)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02} 12:{rng.randrange(60):02}:07{fraction}'"
    return literal


def span(digits):
    def literal(rng):
        fraction = f".{rng.randrange(10 ** digits):0{digits}}" if digits else ""
        return f"'{rng.choice(['', '-'])}{rng.choice([0, 1, 23, 838, 100])}:{rng.randrange(60):02}:{rng.randrange(59):02}{fraction}'"
    return literal


def members(*names):
    return lambda rng: quoted(",".join(name for name in names if rng.random() < 0.5))


def document(rng):
    return quoted(rng.choice(['{"a": 1}', "[1, 2, {}]", '"text"', "null", '{"k": "' + "v" * rng.randrange(50) + '"}']))


KINDS = [
    Kind("tinyint", integer(-128, 127), group="number"), Kind("tinyint unsigned", integer(0, 255), group="number"),
    Kind("smallint", integer(-32768, 32767), group="number"), Kind("mediumint", integer(-8388608, 8388607), group="number"),
    Kind("int", integer(-2**31, 2**31 - 1), group="number"), Kind("int unsigned", integer(0, 2**32 - 1), group="number"),
    Kind("bigint", integer(-2**63, 2**63 - 1), group="number"), Kind("bigint unsigned", integer(0, 2**64 - 1), group="number"),
    Kind("int(5) zerofill", integer(0, 2**32 - 1), group="number"), Kind("year", lambda rng: str(rng.choice([1901, 2000, 2026, 2155]))),
    Kind("bit(1)", lambda rng: rng.choice(["b'0'", "b'1'"])), Kind("bit(20)", lambda rng: f"b'{rng.randrange(2**20):b}'"),
    Kind("decimal(10,2)", decimal(10, 2), group="number"), Kind("decimal(38,10)", decimal(38, 10), group="number"),
    Kind("decimal(9,0) unsigned", decimal(9, 0, signed=False), group="number"),
    Kind("float", floating("3.4e37")), Kind("double", floating("1.7e307")),
    Kind("char(10)", text(10), group="text"), Kind("varchar(20)", text(20), group="text"), Kind("varchar(300)", text(300), 20, group="text"),
    Kind("varchar(20) character set latin1", text(20, ["abc", "äöü", "XYZ "])), Kind("varchar(20) collate utf8mb4_bin", text(20), group="text"),
    Kind("tinytext", text(60), 10, group="text"), Kind("text", text(400), 10, group="text"), Kind("longtext", text(400), 30, group="text"),
    Kind("binary(5)", binary(5)), Kind("varbinary(30)", binary(30)), Kind("tinyblob", binary(100), 8), Kind("blob", binary(300), 8),
    Kind("date", moment(True, False, 0)), Kind("time", span(0)), Kind("time(3)", span(3)), Kind("time(6)", span(6)),
    Kind("datetime", moment(True, True, 0)), Kind("datetime(2)", moment(True, True, 2)), Kind("datetime(6)", moment(True, True, 6)),
    Kind("timestamp null", timestamp(0)), Kind("timestamp(6) null", timestamp(6)),
    Kind("enum('a','b','ö')", lambda rng: rng.choice(["'a'", "'b'", "'ö'"])), Kind("set('a','b','c','d')", members("a", "b", "c", "d")),
    Kind("json", document, 10),
]
