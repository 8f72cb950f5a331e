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
GROUPS_SORTED = "A plan's choice: MariaDB answers as we do where SQL_BIG_RESULT has it sort the rows instead of keeping groups in a temporary table"
NUMBER_OF_GREATEST = "MariaDB's error: GREATEST and LEAST of unsigned integers compare their bits as signed ones where an integer is wanted; with `+ 0` it answers as we do"
ROWS_WRITTEN_OUT = ("MariaDB's error: comparisons of rows have other collations and stop elsewhere than the comparisons of their parts; "
                    "it answers as we do where these are written out")
INSERT_IN_PLACE = ("MariaDB's error: INSERT() of a constant changes it for the rows after, and MAKE_SET converts texts twice; "
                   "it answers as we do where CONCAT makes copies")
AS_EXISTS = "MariaDB's error: IN and ANY of a subquery compare otherwise than `=` and `>` do; it answers as we do where EXISTS asks the same"
TEXTS_OF_CASTS = ("MariaDB's error: a number is equal to the text of a cast, HEX or DATE_FORMAT from which it differs by half; "
                  "it answers as we do where CONCAT copies the text")
NULL_OR_NOT = "MariaDB's error: IS NULL and COUNT find other values than the expression has by itself; it answers as we do where COALESCE stands around it"
CONSTANT_DATES = ("MariaDB's error: a constant that is no date is kept for a statement's conditions as the zero date instead of NULL, one of bytes that are no "
                  "text as a text of those bytes; it answers as we do where it is no constant")
EVALUATIONS = "Number of evaluations: both servers refuse, or warn of, the same values; whether an expression is evaluated for them at all depends on the plan"
OUT_OF_RANGE = 1690
# Division by zero, truncated and incorrect values, texts that are none.
STRICT_ERRORS = (1292, 1300, 1365, 1411, 1441, 1916)
ALL_AT_ONCE = "A plan's choice: MariaDB answers as we do when its tables have no keys, conditions stand in IF, and nothing is materialized"
NAIVE = "materialization=off,semijoin=off,subquery_cache=off,derived_merge=off,condition_pushdown_for_derived=off"


class Controls:
    """What MariaDB answers under other plans. One object belongs to one state of the tables."""

    def __init__(self, pair: Pair, definitions: list[str]):
        self.pair, self.definitions = pair, definitions
        self.has_copies = False

    def reason(self, tree: Node, ours: Answer, theirs: Answer, kind_of) -> str | None:
        """Why MariaDB's answer is one of several that it has, where one of the others is ours."""
        statement = tree.sql()
        in_if, asked_first = with_conditions_in_if(tree).sql(), with_null_asked_first(tree).sql()
        if in_if != statement and not kind_of(ours, self.answer(in_if)):
            return OUTER_JOINS if " join " in statement else "A plan's choice: MariaDB answers as we do where the conditions stand in IF"
        if asked_first != statement and not kind_of(ours, self.answer(asked_first)):
            return NULL_IN
        rewritings = ((with_zero_added(tree), NUMBER_OF_GREATEST), (with_rows_written_out(tree), ROWS_WRITTEN_OUT), (with_copies_inserted(tree), INSERT_IN_PLACE), (with_texts_copied(tree), TEXTS_OF_CASTS),
                      (with_nulls_coalesced(tree), NULL_OR_NOT),
                      (with_constants_varied(tree, table_of(statement)), CONSTANT_DATES))
        for rewritten, why in rewritings:
            form = rewritten.sql()
            if form != statement and not kind_of(ours, self.answer(form)):
                return why
        if re.search(r" (> any|(not )?in) \(select ", statement) and not kind_of(ours, self.answer(with_exists(tree).sql())):
            return AS_EXISTS
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
            answers = [self.without_keys(form) for form in (with_conditions_in_if(with_null_asked_first(tree)).sql(), in_if, statement)]
            self.pair.theirs.run("set optimizer_switch = default")
            if not all(kind_of(ours, answer) for answer in answers):
                return ALL_AT_ONCE
        if self.is_of_evaluations(tree, ours, theirs):
            return EVALUATIONS
        return None

    def is_of_evaluations(self, tree: Node, ours: Answer, theirs: Answer) -> bool:
        """Whether both servers refuse or warn of the same values, and only one met them."""
        if ours.result[0] == theirs.result[0] == "error":
            # A bad constant is a warning to MariaDB, which looks at it before it writes; then it has something else to refuse.
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
        """Whether some expression of the statement has that error or warning for some row of its tables."""
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


def with_zero_added(tree: Node) -> Node:
    """The statement with 0 added to each GREATEST and LEAST, which is the same where a number is wanted."""
    same = Node(tree.text, [with_zero_added(child) for child in tree.children], tree.kind)
    return Node("({} + 0)", [same]) if tree.text in ("greatest({}, {})", "least({}, {})") else same


def with_rows_written_out(tree: Node) -> Node:
    """The statement with comparisons of rows as comparisons of their parts, which says the same."""
    children = [with_rows_written_out(child) for child in tree.children]
    if tree.text == "(({}, {}) = ({}, {}))":
        a, b, c, d = children
        return Node("({} = {} and {} = {})", [a, c, b, d])
    if tree.text == "(({}, {}) in (({}, {}), ({}, {})))":
        a, b, c, d, e, f = children
        return Node("(({} = {} and {} = {}) or ({} = {} and {} = {}))", [a, c, b, d, a, e, b, f])
    return Node(tree.text, children, tree.kind)


def with_copies_inserted(tree: Node) -> Node:
    """The statement with INSERT() and MAKE_SET having copies."""
    children = [with_copies_inserted(child) for child in tree.children]
    if tree.text == "insert({}, 1, 1, {})":
        children[0] = Node("concat({}, '')", [children[0]])
    if tree.text == "make_set({}, {}, {})":
        children[1:] = [Node("concat({}, '')", [child]) for child in children[1:]]
    return Node(tree.text, children, tree.kind)


def expressions(tree: Node) -> set[str]:
    """Every expression of a statement that may say something."""
    found = {tree.sql()} if tree.kind == "expression" and (tree.children or " " in tree.text) else set()
    return found.union(*(expressions(child) for child in tree.children))


def table_of(statement: str) -> str | None:
    """What a statement calls its first table."""
    found = re.search(r"\b(?:from|update|into) (t\d)(?: ([a-c]\d|x)\b)?", statement)
    return found and (found[2] or found[1])


def with_constants_varied(tree: Node, table: str | None) -> Node:
    """The statement with casts of constants to dates and times made casts of what is no constant, of the same value."""
    is_cast = re.fullmatch(r"cast\(\{\} as (date|datetime|datetime\(3\)|time)\)|date\(\{\}\)|time\(\{\}\)|timestamp\(\{\}\)|timediff\(\{\}, \{\}\)|"
                           r"char\(\{\}, 65\)|unhex\(\{\}\)", tree.text)
    if is_cast and table and not tree.children[0].children:
        constant = tree.children[0].text
        if "." not in constant or constant[0] in "-0123456789'":
            varied = f"concat({constant}, left({table}.id, 0))" if constant.startswith(("'", "x'")) else f"({constant} + 0 * {table}.id)"
            return Node(tree.text, [Node(varied), *tree.children[1:]], tree.kind)
    return Node(tree.text, [with_constants_varied(child, table) for child in tree.children], tree.kind)


def with_texts_copied(tree: Node) -> Node:
    """The statement with copies of the texts that casts and their like make."""
    same = Node(tree.text, [with_texts_copied(child) for child in tree.children], tree.kind)
    is_text = re.match(r"cast\(\{\} as (char|binary)|(hex|unhex|dayname|monthname)\(\{|date_format\(", tree.text)
    return Node("concat({}, '')", [same]) if is_text else same


def with_exists(tree: Node) -> Node:
    """The statement with IN and ANY of subqueries as EXISTS: the same to a condition."""
    children = [with_exists(child) for child in tree.children]
    if tree.text == "({} in (select {} from {} where {}))":
        return Node("(exists (select 1 from {} where {} and {} = {}))", [children[2], children[3], children[0], children[1]])
    if tree.text == "({} > any (select {} from {} where {}))":
        return Node("(exists (select 1 from {} where {} and {} > {}))", [children[2], children[3], children[0], children[1]])
    if tree.text == "({} not in (select {} from {} where {}))":
        value, chosen = children[0], children[1]
        return Node("(not exists (select 1 from {} where {} and ({} = {} or {} is null or {} is null)))", [children[2], children[3], value, chosen, value, chosen])
    return Node(tree.text, children, tree.kind)


def with_nulls_coalesced(tree: Node) -> Node:
    """The statement with COALESCE around what IS NULL and COUNT look at, which is the same value."""
    children = [with_nulls_coalesced(child) for child in tree.children]
    if tree.text in ("({} is null)", "isnull({})", "count({})", "count(distinct {})"):
        children = [Node("coalesce({}, null)", children)]
    return Node(tree.text, children, tree.kind)
