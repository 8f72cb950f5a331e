"""Random tables: columns of every type that applications use, indexes on them, and values at the limits."""

from dataclasses import dataclass
from random import Random

# Type → (family, values that are valid for it). Values are SQL texts.
NUMBERS = ["0", "1", "-1", "2", "3", "7", "10", "42", "100", "127"]
WORDS = ["''", "'a'", "'A'", "'b'", "'ab'", "'abc '", "'0'", "'1'", "'10'", "'2.5'", "'1e1'", "'ä'", "'ß'", "'ss'", "'x y'", "'2024-02-29'"]
TYPES = {
    "tinyint": ("number", [*NUMBERS, "-128"]),
    "tinyint unsigned": ("number", ["0", "1", "2", "200", "255"]),
    "smallint": ("number", [*NUMBERS, "-32768", "32767"]),
    "int": ("number", [*NUMBERS, "2147483647", "-2147483648"]),
    "int unsigned": ("number", ["0", "1", "2", "4294967295"]),
    "bigint": ("number", [*NUMBERS, "9223372036854775807", "-9223372036854775808"]),
    "bigint unsigned": ("number", ["0", "1", "18446744073709551615", "9223372036854775808"]),
    "decimal(10,2)": ("number", ["0.00", "1.50", "-1.25", "99999999.99", "0.01", "10"]),
    "decimal(30,10)": ("number", ["0", "1.0000000001", "-12345678901234567890.0123456789", "2.5"]),
    "double": ("number", ["0", "1.5", "-2.25", "1e10", "-1e-3", "3"]),
    "float": ("number", ["0", "1.5", "-2.25", "1000", "0.5"]),
    "bit(1)": ("number", ["b'0'", "b'1'"]),
    "bit(12)": ("number", ["b'0'", "b'101010'", "b'111111111111'"]),
    "year": ("number", ["2000", "1999", "2024", "1901"]),
    "char(10)": ("text", WORDS[:-1]),
    "varchar(20)": ("text", WORDS),
    "varchar(20) collate utf8mb4_bin": ("text", WORDS),
    "text": ("text", WORDS),
    "varbinary(20)": ("text", ["''", "'a'", "'A'", "x'00ff'", "'10'"]),
    "enum('a','b','ab','10')": ("text", ["'a'", "'b'", "'ab'", "'10'"]),
    "set('a','b','c')": ("text", ["''", "'a'", "'a,c'", "'b'"]),
    "date": ("time", ["'2024-02-29'", "'1999-12-31'", "'2000-01-01'", "'2024-03-01'"]),
    "datetime": ("time", ["'2024-02-29 12:34:56'", "'1999-12-31 23:59:59'", "'2000-01-01 00:00:00'"]),
    "datetime(6)": ("time", ["'2024-02-29 12:34:56.123456'", "'1999-12-31 23:59:59.999999'", "'2000-01-01 00:00:00'"]),
    "timestamp": ("time", ["'2024-02-29 12:34:56'", "'2001-09-09 01:46:40'"]),
    "time": ("time", ["'12:34:56'", "'-01:00:00'", "'00:00:00'", "'100:00:01'"]),
    "time(3)": ("time", ["'12:34:56.789'", "'-00:00:00.001'", "'23:59:59.999'"]),
}


@dataclass
class Column:
    """A column of a random table."""

    name: str
    type: str
    family: str
    values: list[str]
    is_nullable: bool


@dataclass
class Table:
    """A random table; its first column `id` is the primary key."""

    name: str
    columns: list[Column]
    definition: str

    def row(self, random: Random, identity: int) -> str:
        return ", ".join([str(identity), *(self.value(random, column) for column in self.columns[1:])])

    @staticmethod
    def value(random: Random, column: Column) -> str:
        if column.is_nullable and random.random() < 0.15:
            return "null"
        return random.choice(column.values)


def random_table(random: Random, name: str) -> Table:
    columns = [Column("id", "int", "number", NUMBERS, False)]
    for index in range(random.randint(2, 6)):
        kind = random.choice(list(TYPES))
        family, values = TYPES[kind]
        # NULL in a TIMESTAMP that is not nullable is the current time.
        columns.append(Column(f"c{index}", kind, family, values, kind == "timestamp" or random.random() < 0.7))
    parts = [f"{column.name} {column.type}{'' if column.is_nullable else ' not null'}" for column in columns]
    parts = [part.replace("timestamp", "timestamp null", 1) if " timestamp" in part and "not null" not in part else part for part in parts]
    parts.append("primary key (id)")
    for _ in range(random.randint(0, 3)):
        chosen = random.sample(columns[1:], min(len(columns) - 1, random.randint(1, 2)))
        keys = ", ".join(f"{column.name}(5)" if column.type == "text" else column.name for column in chosen)
        parts.append(f"key ({keys})")
    return Table(name, columns, f"create table {name} ({', '.join(parts)}) engine=InnoDB")
