"""Compares what a test printed with what MariaDB's test tree expects.

Plans are not answers: rows of EXPLAIN and ANALYZE, the note 1003 of EXPLAIN EXTENDED and counters of handler calls are left out on
both sides, and the name of a storage engine in a table's definition. Everything else must be equal, to the letter.
"""

import difflib
import re

EXPLAIN_HEAD = re.compile(r"^id\tselect_type\ttable\t", re.I)
EXPLAIN_ROW = re.compile(r"^(\d+|NULL)\t(SIMPLE|PRIMARY|DERIVED|SUBQUERY|DEPENDENT SUBQUERY|MATERIALIZED|UNION|DEPENDENT UNION|UNION RESULT|"
                         r"INTERSECT|EXCEPT|UNIT RESULT|INTERSECT RESULT|EXCEPT RESULT|RECURSIVE UNION|LATERAL DERIVED|UNCACHEABLE \w+|INSERT)\t", re.I)
HANDLER_COUNT = re.compile(r"^Handler_\w+\t\d+$")
ENGINE = re.compile(r"\bENGINE=\w+", re.I)
ENGINE_OPTION = re.compile(r" (PAGE_CHECKSUM|TRANSACTIONAL|ROW_FORMAT|STATS_PERSISTENT|KEY_BLOCK_SIZE|CHECKSUM|DELAY_KEY_WRITE)=\w+")


def normalised(text: str) -> list[str]:
    """The lines of `text` that two servers must agree on."""
    lines, in_explain, in_json = [], False, 0
    for line in text.splitlines():
        if EXPLAIN_HEAD.match(line):
            in_explain = True
            continue
        if in_explain and EXPLAIN_ROW.match(line):
            continue
        in_explain = False
        if line in ("EXPLAIN", "ANALYZE"):
            in_json = 1
            continue
        if in_json == 1:
            in_json = 2 if line == "{" else 0
        if in_json == 2:
            if line == "}":
                in_json = 0
            continue
        if line.startswith("Note\t1003\t") or HANDLER_COUNT.match(line):
            continue
        lines.append(ENGINE_OPTION.sub("", ENGINE.sub("ENGINE=…", line)))
    return lines


def difference(expected: str, answer: str, lines_max: int = 40) -> str:
    """The first lines in which an answer differs from what is expected, as a unified diff; empty where it does not."""
    diff = difflib.unified_diff(normalised(expected), normalised(answer), "expected", "answer", lineterm="", n=3)
    return "\n".join(line for _, line in zip(range(lines_max), diff))
