"""Equivalent forms of statements. If MariaDB gives our answer to one of them, it contradicts itself."""

import re
from collections.abc import Callable

from .tree import Node


def with_conditions_in_if(tree: Node) -> Node:
    """Returns the statement with each condition of WHERE and ON inside of IF, which is equivalent but blocks the optimizer."""
    children = [with_conditions_in_if(child) for child in tree.children]
    if tree.text == " where {}" or re.fullmatch(r" \w+( \w+)? t\d \w\d on \{\}", tree.text):
        return Node(tree.text, [Node("if({}, 1, 0)", children)])
    if tree.text.endswith(" where {}))"):
        children[-1] = Node("if({}, 1, 0)", [children[-1]])
    return Node(tree.text, children, tree.kind)


def with_null_asked_first(tree: Node) -> Node:
    """Returns the statement with each comparison of a value with a subquery's rows guarded by `IS NULL`."""
    children = [with_null_asked_first(child) for child in tree.children]
    same = Node(tree.text, children, tree.kind)
    if tree.text in ("({} in (select {} from {} where {}))", "({} not in (select {} from {} where {}))", "({} > any (select {} from {} where {}))"):
        return Node("if({} is null and exists (select 1 from {} where {}), null, {})", [children[0], children[2], children[3], same])
    return same


def with_zero_added(tree: Node) -> Node:
    """Returns the statement with 0 added to each GREATEST and LEAST, which is equivalent in numeric context."""
    same = Node(tree.text, [with_zero_added(child) for child in tree.children], tree.kind)
    return Node("({} + 0)", [same]) if tree.text in ("greatest({}, {})", "least({}, {})") else same


def with_rows_written_out(tree: Node) -> Node:
    """Returns the statement with comparisons of rows written as comparisons of their elements."""
    children = [with_rows_written_out(child) for child in tree.children]
    if tree.text == "(({}, {}) = ({}, {}))":
        a, b, c, d = children
        return Node("({} = {} and {} = {})", [a, c, b, d])
    if tree.text == "(({}, {}) in (({}, {}), ({}, {})))":
        a, b, c, d, e, f = children
        return Node("(({} = {} and {} = {}) or ({} = {} and {} = {}))", [a, c, b, d, a, e, b, f])
    return Node(tree.text, children, tree.kind)


def with_copies_inserted(tree: Node) -> Node:
    """Returns the statement with copies of the arguments of INSERT() and MAKE_SET(), and ELT() written as CASE."""
    children = [with_copies_inserted(child) for child in tree.children]
    if tree.text == "insert({}, 1, 1, {})":
        children = [Node("concat({}, '')", [child]) for child in children]
    if tree.text == "elt({}, {}, {})":
        return Node("case {} when 1 then concat({}, '') when 2 then concat({}, '') end", children)
    if tree.text == "make_set({}, {}, {})":
        children[1:] = [Node("concat({}, '')", [child]) for child in children[1:]]
    return Node(tree.text, children, tree.kind)


def table_of(statement: str) -> str | None:
    """Returns the name of a statement's first table."""
    found = re.search(r"\b(?:from|update|into) (t\d)(?: ([a-c]\d|x)\b)?", statement)
    return found and (found[2] or found[1])


# Functions of dates, times and bytes: what a constant of theirs is may be another to a statement's conditions.
KEPT_AS_CONSTANTS = re.compile(
    r"cast\(\{\} as (date|datetime|datetime\(3\)|time)\)|(date|time|timestamp|last_day|from_days|sec_to_time|unhex)\(\{\}\)|"
    r"(timediff|addtime|makedate)\(\{\}, \{\}\)|subtime\(\{\}, '01:00:00'\)|str_to_date\(\{\}, '%Y-%m-%d'\)|maketime\(\{\}, \{\}, 3\)|char\(\{\}, 65\)|"
    r"\(\{\} [-+] interval .*\)|timestampadd\(minute, \{\}, \{\}\)|date_add\(\{\}, interval \{\} second\)")


def with_constants_varied(tree: Node) -> Node:
    """Applies `varied` with the first table of the statement."""
    return varied(tree, table_of(tree.sql()))


def varied(tree: Node, table: str | None) -> Node:
    """Returns the statement with constant arguments of functions of dates, times and bytes replaced by non-constant
    expressions with the same value."""
    if KEPT_AS_CONSTANTS.fullmatch(tree.text) and table and not tree.children[0].children:
        constant = tree.children[0].text
        if constant.lower() == "null":
            other = f"left({table}.id, null)"
        elif constant.startswith(("'", "x'")):
            other = f"concat({constant}, left({table}.id, 0))"
        elif re.fullmatch(r"-?[\d.]+(e\d+)?|true", constant):
            other = f"({constant} + 0 * {table}.id)"
        elif typed := re.fullmatch(r"(date|time|timestamp)('.*')", constant):
            kind = {"date": "date", "time": "time", "timestamp": "datetime(6)"}[typed[1]]
            other = f"cast(concat({typed[2]}, left({table}.id, 0)) as {kind})"
        else:
            other = constant
        return Node(tree.text, [Node(other), *(varied(child, table) for child in tree.children[1:])], tree.kind)
    return Node(tree.text, [varied(child, table) for child in tree.children], tree.kind)


def with_texts_copied(tree: Node) -> Node:
    """Returns the statement with copies of the texts that casts and similar functions produce."""
    same = Node(tree.text, [with_texts_copied(child) for child in tree.children], tree.kind)
    is_text = re.match(r"cast\(\{\} as (char|binary)|(hex|unhex|dayname|monthname)\(\{|date_format\(", tree.text)
    return Node("concat({}, '')", [same]) if is_text else same


def with_exists(tree: Node) -> Node:
    """Returns the statement with IN and ANY of subqueries as EXISTS, which is equivalent in a condition."""
    children = [with_exists(child) for child in tree.children]
    if tree.text == "({} in (select {} from {} where {}))":
        return Node("(exists (select 1 from {} where {} and {} = {}))", [children[2], children[3], children[0], children[1]])
    if tree.text == "({} > any (select {} from {} where {}))":
        return Node("(exists (select 1 from {} where {} and {} > {}))", [children[2], children[3], children[0], children[1]])
    if tree.text == "({} not in (select {} from {} where {}))":
        value, chosen = children[0], children[1]
        return Node("(not exists (select 1 from {} where {} and ({} = {} or {} is null or {} is null)))", [children[2], children[3], value, chosen, value, chosen])
    return Node(tree.text, children, tree.kind)


def with_keys_coalesced(tree: Node) -> Node:
    """The statement with COALESCE around what it groups by, which is the same value."""
    children = [with_keys_coalesced(child) for child in tree.children]
    if tree.kind == "grouped":
        children[0] = Node(children[0].text, [Node("coalesce({}, null)", [key]) for key in children[0].children], children[0].kind)
    return Node(tree.text, children, tree.kind)


def with_nulls_coalesced(tree: Node) -> Node:
    """Returns the statement with COALESCE around the operands of IS NULL and COUNT, which does not change their
    values."""
    children = [with_nulls_coalesced(child) for child in tree.children]
    if tree.text in ("({} is null)", "isnull({})", "count({})", "count(distinct {})"):
        children = [Node("coalesce({}, null)", children)]
    return Node(tree.text, children, tree.kind)


# Rewritings, and why MariaDB's answer differs for each.
REWRITINGS: list[tuple[Callable[[Node], Node], str]] = [
    (with_conditions_in_if,
     "A plan's choice: what its optimizer makes of a condition, such as an inner join of an outer one under CHAR, FIELD, MAKE_SET, INTERVAL or rows of NULL; "
     "it answers as we do where the condition stands in IF"),
    (with_null_asked_first,
     "MariaDB's error: NULL IN (SELECT ...) where its cache holds the left side as another type (dates, times) is not NULL; "
     "it answers as we do where `x IS NULL` is asked first"),
    (with_zero_added,
     "MariaDB's error: GREATEST and LEAST of unsigned integers compare their bits as signed ones where an integer is wanted; with `+ 0` it answers as we do"),
    (with_rows_written_out,
     "MariaDB's error: comparisons of rows have other collations and stop elsewhere than the comparisons of their parts; "
     "it answers as we do where these are written out"),
    (with_copies_inserted,
     "MariaDB's error: INSERT() of a constant changes it for the rows after, MAKE_SET converts texts twice, ELT of a text beside bytes is cut; "
     "it answers as we do where CONCAT makes copies, or CASE chooses"),
    (with_texts_copied,
     "MariaDB's error: a number is equal to the text of a cast, HEX or DATE_FORMAT from which it differs by half; "
     "it answers as we do where CONCAT copies the text"),
    (with_nulls_coalesced,
     "MariaDB's error: IS NULL and COUNT find other values than the expression has by itself; it answers as we do where COALESCE stands around it"),
    (with_keys_coalesced,
     "MariaDB's error: a constant condition in GROUP BY is taken for the number of a column; it answers as we do where COALESCE stands around it"),
    (with_constants_varied,
     "MariaDB's error: a constant that is no date is kept for a statement's conditions as the zero date instead of NULL, one of bytes that are no "
     "text as a text of those bytes; it answers as we do where it is no constant"),
    (with_exists,
     "MariaDB's error: IN and ANY of a subquery compare otherwise than `=` and `>` do; it answers as we do where EXISTS asks the same"),
]
