"""Proofs that MariaDB contradicts itself: it is asked the same question again in a way that leads to another plan.

A difference is proven to be the choice of a plan if MariaDB gives our answer when its optimizer gets other settings,
when the tables have no keys, or when the statement is written in an equivalent form (rewritings.py). The whole answer
must be ours.
"""

import ast
import re
from decimal import Decimal

from .pair import Answer, Pair
from .rewritings import REWRITINGS, with_conditions_in_if, with_null_asked_first
from .tree import Node

SWITCHES = {
    "materialization=off": "it materializes a subquery, and compares with the types of the temporary table",
    "in_to_exists=off": "it moves IN into its subquery, and compares there",
    "semijoin=off": "it makes a subquery a join",
    "materialization=off,semijoin=off": "it materializes a subquery, and compares with the types of the temporary table",
    "condition_pushdown_for_derived=off,derived_merge=off": "it moves conditions into derived tables",
    "subquery_cache=off": "it keeps results of subqueries by the outer values, compared by their collation",
}
WITHOUT_KEYS = "A plan's choice: MariaDB answers as we do when its tables have no keys"
GROUPINGS = {
    "sql_big_result": "A plan's choice: MariaDB answers as we do where SQL_BIG_RESULT has it sort the rows instead of keeping groups in a temporary table",
    "sql_small_result": "A plan's choice: MariaDB answers as we do where SQL_SMALL_RESULT has it keep groups in a temporary table instead of sorting the rows",
}
WITHOUT_TEMPORARY_TABLE = ("MariaDB's error: what a temporary table's column makes of a value; its own rows are ours where no DISTINCT, GROUP BY or UNION "
                           "needs such a table")
EVALUATIONS = "Number of evaluations: both servers refuse, or warn of, the same values; whether an expression is evaluated for them at all depends on the plan"
OUT_OF_RANGE = 1690
# Out of range, division by zero, truncated and incorrect values, invalid texts.
STRICT_ERRORS = (1264, 1292, 1300, 1365, 1411, 1441, 1916)
ALL_AT_ONCE = "A plan's choice: MariaDB answers as we do when its tables have no keys, conditions stand in IF, and nothing is materialized"
FIRST_ROW = "A plan's choice: which of several rows that cannot be changed is looked at first; MariaDB refuses as we do in another order"
NAIVE = "materialization=off,semijoin=off,subquery_cache=off,derived_merge=off,condition_pushdown_for_derived=off"


class Controls:
    """MariaDB's answers under other plans. An object belongs to one state of the tables."""

    def __init__(self, pair: Pair, definitions: list[str]):
        self.pair, self.definitions = pair, definitions
        self.has_copies = False

    def reason(self, tree: Node, ours: Answer, theirs: Answer, kind_of) -> str | None:
        """Returns why MariaDB's answer is one of several that it gives, if one of the others is ours."""
        statement = tree.sql()
        for rewrite, why in REWRITINGS:
            form = rewrite(tree).sql()
            if form != statement and not kind_of(ours, self.answer(form)):
                return why
        if " group by " in statement and statement.startswith("select "):
            for hint, why in GROUPINGS.items():
                if not kind_of(ours, self.answer(f"select {hint} {statement[7:]}")):
                    return why
        if self.is_of_temporary_table(tree, ours, theirs):
            return WITHOUT_TEMPORARY_TABLE
        if statement.startswith("update ") and " order by " not in statement and ours.result[0] == theirs.result[0] == "error":
            table = statement.removeprefix("update ").removeprefix("ignore ").split()[0]
            columns = re.findall(r"[(,] ?(id|c\d) ", next(each for each in self.definitions if each.startswith(f"create table {table} ")))
            orders = [f"{statement} order by {table}.{column}{direction}, {table}.id" for column in columns for direction in ("", " desc")]
            if not all(kind_of(ours, self.answer(form)) for form in orders):
                return FIRST_ROW
        has_keys = bool(re.search(r" key \(", "".join(self.definitions)))
        has_subquery = bool(re.search(r"\(select |^with", statement))
        if has_subquery:
            for switch, why in SWITCHES.items():
                if not kind_of(ours, self.under(switch, statement)):
                    return f"A plan's choice ({switch}): {why}"
        if has_keys and not kind_of(ours, self.without_keys(statement)):
            return WITHOUT_KEYS
        if has_keys or has_subquery:
            self.pair.theirs.run(f"set optimizer_switch = '{NAIVE}'")
            answers = [self.without_keys(form)
                       for form in (with_conditions_in_if(with_null_asked_first(tree)).sql(), with_conditions_in_if(tree).sql(), statement)]
            self.pair.theirs.run("set optimizer_switch = default")
            if not all(kind_of(ours, answer) for answer in answers):
                return ALL_AT_ONCE
        return None

    def is_of_temporary_table(self, tree: Node, ours: Answer, theirs: Answer) -> bool:
        """Whether our rows are MariaDB's own before DISTINCT, GROUP BY or a set operation puts them into a temporary table."""
        if ours.result[0] != "rows" or theirs.result[0] != "rows":
            return False
        rows, statement = values_of_rows(ours), tree.sql()
        # Digits that are shown are no matter of a table's columns.
        if same_sets(rows, values_of_rows(theirs)) and len(rows) == len(theirs.result[1]):
            return False
        inner = re.fullmatch(r"select count\(\*\) from \((.*)\) d(?: where 1)?|with d as \((.*)\) select count\(\*\) from d", statement)
        if inner and tree.children[0].kind != "grouped" and " distinct " in statement:
            plain = self.plain_rows(tree.children[0])
            return plain is not None and rows == [(str(len(set(plain))).encode(),)]
        if tree.kind == "list" and tree.text.strip() in ("union", "union all"):
            parts = [self.answer(part.sql()) for part in tree.children]
            if any(part.result[0] != "rows" for part in parts):
                return False
            theirs_apart = [row for part in parts for row in values_of_rows(part)]
            return same_rows(rows, theirs_apart) if tree.text.strip() == "union all" else same_sets(rows, theirs_apart)
        if tree.kind == "grouped" and tree.children[0].children and not tree.children[4].text:
            count = len(tree.children[0].children)
            keys, aggregates, tables, where, _ = (child.sql() for child in tree.children)
            plain = self.answer(f"select {keys} from {tables}{where}")
            if plain.result[0] != "rows":
                return False
            others = values_of_rows(theirs)
            return (set(row[:count] for row in rows) == set(values_of_rows(plain))
                    and sorted(map(repr, (row[count:] for row in rows))) == sorted(map(repr, (row[count:] for row in others))))
        if tree.children and tree.children[0].text == "distinct ":
            plain = self.plain_rows(tree)
            return plain is not None and set(rows) == set(plain) and len(set(rows)) == len(rows)
        return False

    def plain_rows(self, select: Node) -> list | None:
        """MariaDB's rows of a select without its DISTINCT."""
        if not select.children or select.children[0].text != "distinct ":
            return None
        answer = self.answer(Node(select.text, [Node(""), *select.children[1:]]).sql())
        return values_of_rows(answer) if answer.result[0] == "rows" else None

    def is_of_evaluations(self, tree: Node, ours: Answer, theirs: Answer) -> bool:
        """Returns whether both servers refuse the same values, or warn about them, and only one of them encountered
        them."""
        if ours.result[0] == theirs.result[0] == "error":
            # MariaDB examines a bad constant before it writes, and only warns; then it refuses something else.
            return (ours.result[1] in STRICT_ERRORS and self.says(self.pair.theirs, tree, ours.result[1])
                    or theirs.result[1] in STRICT_ERRORS and self.says(self.pair.ours, tree, theirs.result[1]))
        missing = []
        for side, own, other in ((self.pair.ours, ours, theirs), (self.pair.theirs, theirs, ours)):
            if other.result[0] == "error" and own.result[0] != "error":
                # An error of a strict write is a warning in a query.
                if other.result[1] not in (OUT_OF_RANGE, *STRICT_ERRORS):
                    return False
                missing.append((side, other.result[1]))
            elif own.result != other.result and "error" not in (own.result[0], other.result[0]):
                return False
            if own.result == other.result:
                missing += [(side, code) for _, code in set(other.warnings) - set(own.warnings)]
        return bool(missing) and all(self.says(side, tree, code) for side, code in missing)

    def says(self, side, tree: Node, code: int) -> bool:
        """Returns whether an expression of the statement causes this error or warning for some row of its tables."""
        statement = tree.sql()
        tables = {alias: f"{table} {alias}" for table, alias in re.findall(r"\b(t\d) ([a-c]\d|x)\b", statement)}
        for expression in sorted(expressions(tree), key=len, reverse=True):
            used = sorted(set(re.findall(r"\b([a-c]\d|x|t\d)\.", expression)))
            sources = ", ".join(tables.get(name, name) for name in used)
            answer = side.run(f"select {expression}{' from ' if sources else ''}{sources}", with_warnings=True)
            if answer.result == ("error", code) or code in [number for _, number in answer.warnings]:
                return True
        return False

    def answer(self, statement: str) -> Answer:
        side = self.pair.theirs
        side.run("begin")
        answer = side.run(statement)
        side.run("rollback")
        return answer

    def under(self, switch: str, statement: str) -> Answer:
        self.pair.theirs.run(f"set optimizer_switch = '{switch}'")
        answer = self.answer(statement)
        self.pair.theirs.run("set optimizer_switch = default")
        return answer

    def without_keys(self, statement: str) -> Answer:
        side = self.pair.theirs
        if not self.has_copies:
            side.run("create or replace database without_keys character set utf8mb4")
            for definition in self.definitions:
                name = definition.split()[2]
                bare = re.sub(r", (primary )?key \((\w+(\(5\))?(, )?)+\)", "", definition).replace(f"table {name}", f"table without_keys.{name}")
                side.run(bare)
                side.run(f"insert into without_keys.{name} select * from {name} order by id")
            self.has_copies = True
        side.run("use without_keys")
        answer = self.answer(statement)
        side.run("use d")
        return answer


def values_of_rows(answer: Answer) -> list[tuple]:
    return [ast.literal_eval(row) for row in answer.result[1]]


def same_value(value: bytes | None, other: bytes | None) -> bool:
    """Whether two values are the same text or the same number."""
    if value == other or value is None or other is None:
        return value == other
    # Texts can look like numbers of any exponent; results have at most three digits there.
    number = re.compile(rb"-?\d+(\.\d+)?(e-?\d{1,3})?")
    return bool(number.fullmatch(value) and number.fullmatch(other)) and Decimal(value.decode()) == Decimal(other.decode())


def same_row(row: tuple, other: tuple) -> bool:
    return all(map(same_value, row, other))


def same_rows(rows: list[tuple], others: list[tuple]) -> bool:
    """Whether each row has one of the others for itself."""
    left = list(others)
    for row in rows:
        match = next((other for other in left if same_row(row, other)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def same_sets(rows: list[tuple], others: list[tuple]) -> bool:
    """Whether each row is among the others, and none of these is missing."""
    return (all(any(same_row(row, other) for other in others) for row in rows)
            and all(any(same_row(row, other) for row in rows) for other in others))


def expressions(tree: Node) -> set[str]:
    """Returns every expression of a statement that can cause an error or a warning."""
    found = {tree.sql()} if tree.kind == "expression" and (tree.children or " " in tree.text) else set()
    return found.union(*(expressions(child) for child in tree.children))
