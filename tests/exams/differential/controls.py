"""Proofs that MariaDB contradicts itself: it is asked the same question again in a way that leads to another plan.

A difference is proven to be the choice of a plan if MariaDB gives our answer when its optimizer gets other settings,
when the tables have no keys, or when the statement is written in an equivalent form (rewritings.py). The whole answer
must be ours.
"""

import re

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
GROUPS_SORTED = "A plan's choice: MariaDB answers as we do where SQL_BIG_RESULT has it sort the rows instead of keeping groups in a temporary table"
EVALUATIONS = "Number of evaluations: both servers refuse, or warn of, the same values; whether an expression is evaluated for them at all depends on the plan"
OUT_OF_RANGE = 1690
# Division by zero, truncated and incorrect values, invalid texts.
STRICT_ERRORS = (1292, 1300, 1365, 1411, 1441, 1916)
ALL_AT_ONCE = "A plan's choice: MariaDB answers as we do when its tables have no keys, conditions stand in IF, and nothing is materialized"
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
        if " group by " in statement and statement.startswith("select ") and not kind_of(ours, self.answer(f"select sql_big_result {statement[7:]}")):
            return GROUPS_SORTED
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


def expressions(tree: Node) -> set[str]:
    """Returns every expression of a statement that can cause an error or a warning."""
    found = {tree.sql()} if tree.kind == "expression" and (tree.children or " " in tree.text) else set()
    return found.union(*(expressions(child) for child in tree.children))
