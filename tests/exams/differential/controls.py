"""Proofs that MariaDB contradicts itself: the same question asked of it once more so that another plan answers it.

A difference is proven to be a plan's choice where MariaDB gives our answer as soon as its optimizer is told to do something else, as soon as the tables have
no keys, or as soon as a condition is written so that outer joins are not made inner ones. Nothing else is taken for a proof: the whole answer has to be ours.
"""

import re

from .pair import Answer, Pair
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
OUTER_JOINS = ("MariaDB's error: it makes an outer join an inner one under a condition that it thinks never true for NULL (CHAR, FIELD, MAKE_SET, INTERVAL, rows); "
               "it answers as we do where the condition stands in IF")
NULL_IN = ("MariaDB's error: NULL IN (SELECT ...) where its cache holds the left side as another type (dates, times) is not NULL; "
           "it answers as we do where `x IS NULL` is asked first")
ALL_AT_ONCE = "A plan's choice: MariaDB answers as we do when its tables have no keys, conditions stand in IF, and nothing is materialized"
NAIVE = "materialization=off,semijoin=off,subquery_cache=off,derived_merge=off,condition_pushdown_for_derived=off"


class Controls:
    """What MariaDB answers under other plans. One object belongs to one state of the tables."""

    def __init__(self, pair: Pair, definitions: list[str]):
        self.pair, self.definitions = pair, definitions
        self.has_copies = False

    def reason(self, tree: Node, ours: Answer, kind_of) -> str | None:
        """Why MariaDB's answer is one of several that it has, where one of the others is ours."""
        statement = tree.sql()
        in_if, asked_first = with_conditions_in_if(tree).sql(), with_null_asked_first(tree).sql()
        if in_if != statement and not kind_of(ours, self.answer(in_if)):
            return OUTER_JOINS if " join " in statement else "A plan's choice: MariaDB answers as we do where the conditions stand in IF"
        if asked_first != statement and not kind_of(ours, self.answer(asked_first)):
            return NULL_IN
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
            answers = [self.without_keys(form) for form in (with_conditions_in_if(with_null_asked_first(tree)).sql(), in_if, statement)]
            self.pair.theirs.run("set optimizer_switch = default")
            if not all(kind_of(ours, answer) for answer in answers):
                return ALL_AT_ONCE
        return None

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


def with_conditions_in_if(tree: Node) -> Node:
    """The statement with each WHERE's condition inside of IF: the same to a reader, but not to an optimizer."""
    children = [with_conditions_in_if(child) for child in tree.children]
    if tree.text == " where {}":
        return Node(tree.text, [Node("if({}, 1, 0)", children)])
    if tree.text.endswith(" where {}))"):
        children[-1] = Node("if({}, 1, 0)", [children[-1]])
    return Node(tree.text, children, tree.kind)


def with_null_asked_first(tree: Node) -> Node:
    """The statement with each comparison of a value with the rows of a subquery guarded by `IS NULL`, which says the same."""
    children = [with_null_asked_first(child) for child in tree.children]
    same = Node(tree.text, children, tree.kind)
    if tree.text in ("({} in (select {} from {} where {}))", "({} not in (select {} from {} where {}))", "({} > any (select {} from {} where {}))"):
        return Node("if({} is null and exists (select 1 from {} where {}), null, {})", [children[0], children[2], children[3], same])
    return same
