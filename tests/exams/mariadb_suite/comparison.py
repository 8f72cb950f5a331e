"""Compares a test's output with that expected by MariaDB's test tree.

Left out on both sides are:
- plans: rows of EXPLAIN and ANALYZE, the notes 1003, 1105 and 1276 about them, the conditions 1292 of EXPLAIN (of
  constants that a planner evaluates), counters of executed operations, and statistics in ANALYZE TABLE and SHOW INDEX;
- the name of the storage engine in a table's definition, and options of MariaDB's engines;
- the order of rows without ORDER BY: MyISAM returns rows as they were inserted, other engines by the primary key; and
  that of SHOW GRANTS, which is the order of MariaDB's hash tables;
- what OPTIMIZE and REPAIR say about a table that they have nothing to do for: it depends on the engine;
- Paceline's own events in a listing of the log (type 28, Ignorable);
- Paceline's own notes: a variable has no effect (1235), CHANGE MASTER without a position continues from the GTID
  position (1105), a table of another engine is an InnoDB table here (1266) and lacks that engine's features (note
  1031), and the rows of a table were rewritten although an instant ALTER TABLE was requested (note 1846).

Everything else must be equal to the letter.
"""

import difflib
import re

EXPLAIN_HEAD = re.compile(r"^id\tselect_type\ttable\t", re.I)
EXPLAIN_ROW = re.compile(r"^(\d+|NULL)\t(SIMPLE|PRIMARY|DERIVED|SUBQUERY|DEPENDENT SUBQUERY|MATERIALIZED|UNION|DEPENDENT UNION|UNION RESULT|"
                         r"INTERSECT|EXCEPT|UNIT RESULT|INTERSECT RESULT|EXCEPT RESULT|RECURSIVE UNION|LATERAL DERIVED|UNCACHEABLE \w+|INSERT)\t", re.I)
# A row of a plan of which a test shows nothing but the last column.
EXPLAIN_REMARK = re.compile(r"^(?:x\t){9}")
# Paceline's own notes: a known variable has no effect; CHANGE MASTER continues from the GTID position; a table of
# another engine is an InnoDB table; an ALTER TABLE was done in another way than requested.
REMARK = re.compile(r"^(Note|Warning)\t1235\tThis version of MariaDB doesn't yet support '\w+=|^Note\t1105\tNo position was given"
                    r"|^Warning\t1266\tUsing storage engine InnoDB for table|^Note\t1846\t"
                    r"|^Note\t1031\tStorage engine InnoDB of the table \S+ doesn't have this option")
# The same in the output of mysqltest after --vertical_results.
VERTICAL = r"(?:Level\t(?:Note|Warning)\nCode\t(?:1235\nMessage\tThis version of MariaDB doesn't yet support '\w+=|1266\nMessage\tUsing storage engine InnoDB|1846\nMessage\t).*\n)"
VERTICAL_REMARK = re.compile(rf"^Warnings:\n{VERTICAL}+(?!Level\t)|^{VERTICAL}", re.M)
COUNTER = re.compile(r"^(Handler|Created_tmp|Select|Sort|Rows)_\w+\t(\d+|ok)$|^Last_query_cost\t[\d.]+$")
PLAN_NOTE = re.compile(r"^Note\t(1003\t|1276\t|1105\tCannot use key )")
STATISTICS = re.compile(r"^\S+\tanalyze\t(status|Warning)\tEngine-independent statistics ")
# MyISAM's ANALYZE prints this if nothing has changed since.
ANALYZED = re.compile(r"^(\S+\tanalyze\tstatus\t)Table is already up to date$")
# OPTIMIZE and REPAIR of a table of another engine.
MAINTAINED = re.compile(r"^(\S+\t(?:optimize|repair)\t)(?:status\tTable is already up to date|note\tThe storage engine for the table doesn't support repair)$")
RECREATED = re.compile(r"^\S+\toptimize\tnote\tTable does not support optimize, doing recreate \+ analyze instead$")
OWN_EVENT = re.compile(r"^\S+\t[\d#]+\tIgnorable\t")
# A row of SHOW INDEX: the cardinality is an estimate.
INDEX_ROW = re.compile(r"^(\w+\t[01]\t[^\t]+\t\d+\t[^\t]+\t[AD]\t|\w+\t[01]\t[^\t]+\t\d+\t[^\t]+\tNULL\t)(\d+|NULL)(\t.*\t(BTREE|HASH)\t)")
ENGINE = re.compile(r"\bENGINE=\w+|(?<=^\) )TYPE=\w+", re.I)
ENGINE_OPTION = re.compile(r" (PAGE_CHECKSUM|TRANSACTIONAL|ROW_FORMAT|STATS_PERSISTENT|KEY_BLOCK_SIZE|CHECKSUM|DELAY_KEY_WRITE)=\w+")

# The beginning of a statement in the output of mysqltest, which ends the rows of a result.
STATEMENT = re.compile(r"^\s*\(*\s*(select|with|values|table|insert|replace|update|delete|create|alter|drop|set|show|explain|analyze|prepare|execute|"
                       r"deallocate|use|begin|start|commit|rollback|lock|unlock|flush|truncate|rename|do|describe|desc|check|optimize|repair|load|"
                       r"grant|revoke|kill|reset|call|handler|help|savepoint|release|xa)\b", re.I)
END_OF_ROWS = re.compile(r"^(#|connect(ion)? |disconnect |Warnings:$|ERROR |affected rows: |\*{3})")
QUERY = re.compile(r"^\s*(set\s+statement\s.*?\sfor\s+)?\(*\s*(select|with|values|table|show\s+grants|(insert|replace|delete)\b.*\breturning)\b", re.I | re.S)


# A constant that cannot be converted as a whole. EXPLAIN tells it if the planner evaluates the constant.
CONVERSION = re.compile(r"^(Note|Warning)\t1292\t")
EXPLAIN = re.compile(r"^\s*explain\b", re.I)


class Explained:
    """Whether the last statement in the output is an EXPLAIN."""

    def __init__(self):
        self.is_last, self.is_whole = False, True

    def read(self, line: str):
        if self.is_whole and STATEMENT.match(line):
            self.is_last, self.is_whole = EXPLAIN.match(line) is not None, False
        self.is_whole = self.is_whole or line.rstrip().endswith(";")


PREPARE = re.compile(r"^\s*prepare\s+(\w+)\s+from\s+[\"'](.*)", re.I | re.S)
EXECUTE = re.compile(r"^\s*execute\s+(\w+)", re.I)

# Stands below the heading of warnings of which all lines so far were left out.
LEFT_OUT = "\0"


def without_plans(text: str) -> list[str]:
    """Returns the lines of `text` without plans and engines."""
    lines, in_explain, in_json = [], False, 0
    explained = Explained()
    text = VERTICAL_REMARK.sub("", text)
    for line in text.splitlines():
        explained.read(line)
        if EXPLAIN_HEAD.match(line):
            in_explain = True
            continue
        if in_explain and EXPLAIN_ROW.match(line):
            continue
        in_explain = False
        if EXPLAIN_REMARK.match(line):
            continue
        if line in ("EXPLAIN", "ANALYZE"):
            in_json = 1
            continue
        if in_json == 1:
            in_json = 2 if line == "{" else 0
        if in_json == 2:
            if line == "}":
                in_json = 0
            continue
        if COUNTER.match(line) or STATISTICS.match(line) or RECREATED.match(line) or OWN_EVENT.match(line):
            continue
        if PLAN_NOTE.match(line) or REMARK.match(line) or explained.is_last and CONVERSION.match(line):
            # The heading of warnings that were all left out.
            if lines and lines[-1] == "Warnings:":
                lines.append(LEFT_OUT)
            continue
        if lines[-2:] == ["Warnings:", LEFT_OUT]:
            lines.pop()
            if "\t" not in line:
                lines.pop()
        line = INDEX_ROW.sub(r"\1…\3", MAINTAINED.sub(r"\1status\tOK", ANALYZED.sub(r"\1OK", line)))
        lines.append(ENGINE_OPTION.sub("", ENGINE.sub("ENGINE=…", line)))
    if lines[-2:] == ["Warnings:", LEFT_OUT]:
        del lines[-2:]
    return lines


def normalised(text: str) -> list[str]:
    """Returns the lines of `text` in which two servers must agree. Rows without an order are sorted."""
    lines, statement, rows = [], None, None
    # The texts of prepared statements.
    prepared = {}
    for line in [*without_plans(text), "#"]:
        if rows is not None and (STATEMENT.match(line) or END_OF_ROWS.match(line)):
            lines += rows[:1] + sorted(rows[1:])
            rows = None
        if rows is not None:
            rows.append(line)
            continue
        lines.append(line)
        if statement is not None:
            statement += " " + line
        elif STATEMENT.match(line):
            statement = line
        if statement is not None and line.rstrip().endswith(";"):
            if found := PREPARE.match(statement):
                prepared[found[1].lower()] = found[2]
            if found := EXECUTE.match(statement):
                statement = prepared.get(found[1].lower(), "")
            if QUERY.match(statement) and not re.search(r"\border\s+by\b", statement, re.I):
                rows = []
            statement = None
    return lines[:-1]


def difference(expected: str, answer: str, lines_max: int = 400) -> str:
    """Returns the first lines in which an answer differs from the expected one, as a unified diff; empty if it does
    not."""
    diff = difflib.unified_diff(normalised(expected), normalised(answer), "expected", "answer", lineterm="", n=3)
    return "\n".join(line for _, line in zip(range(lines_max), diff))
