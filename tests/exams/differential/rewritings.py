"""Equivalent forms of statements. If MariaDB gives our answer to one of them, it contradicts itself."""

import re
from collections.abc import Callable

from .tree import Node


def with_conditions_in_if(tree: Node) -> Node:
    """Returns the statement with each WHERE condition inside of IF, which is equivalent but blocks the optimizer."""
    children = [with_conditions_in_if(child) for child in tree.children]
    if tree.text == " where {}":
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
    """Returns the statement with copies of the arguments of INSERT() and MAKE_SET()."""
    children = [with_copies_inserted(child) for child in tree.children]
    if tree.text == "insert({}, 1, 1, {})":
        children[0] = Node("concat({}, '')", [children[0]])
    if tree.text == "make_set({}, {}, {})":
        children[1:] = [Node("concat({}, '')", [child]) for child in children[1:]]
    return Node(tree.text, children, tree.kind)


def table_of(statement: str) -> str | None:
    """Returns the name of a statement's first table."""
    found = re.search(r"\b(?:from|update|into) (t\d)(?: ([a-c]\d|x)\b)?", statement)
    return found and (found[2] or found[1])


def with_constants_varied(tree: Node) -> Node:
    """Applies `varied` with the first table of the statement."""
    return varied(tree, table_of(tree.sql()))


def varied(tree: Node, table: str | None) -> Node:
    """Returns the statement with casts of constants to dates and times replaced by casts of non-constant expressions
    with the same value."""
    is_cast = re.fullmatch(r"cast\(\{\} as (date|datetime|datetime\(3\)|time)\)|date\(\{\}\)|time\(\{\}\)|timestamp\(\{\}\)|timediff\(\{\}, \{\}\)|"
                           r"char\(\{\}, 65\)|unhex\(\{\}\)", tree.text)
    if is_cast and table and not tree.children[0].children:
        constant = tree.children[0].text
        if "." not in constant or constant[0] in "-0123456789'":
            other = f"concat({constant}, left({table}.id, 0))" if constant.startswith(("'", "x'")) else f"({constant} + 0 * {table}.id)"
            return Node(tree.text, [Node(other), *tree.children[1:]], tree.kind)
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
     "MariaDB's error: INSERT() of a constant changes it for the rows after, and MAKE_SET converts texts twice; "
     "it answers as we do where CONCAT makes copies"),
    (with_texts_copied,
     "MariaDB's error: a number is equal to the text of a cast, HEX or DATE_FORMAT from which it differs by half; "
     "it answers as we do where CONCAT copies the text"),
    (with_nulls_coalesced,
     "MariaDB's error: IS NULL and COUNT find other values than the expression has by itself; it answers as we do where COALESCE stands around it"),
    (with_constants_varied,
     "MariaDB's error: a constant that is no date is kept for a statement's conditions as the zero date instead of NULL, one of bytes that are no "
     "text as a text of those bytes; it answers as we do where it is no constant"),
    (with_exists,
     "MariaDB's error: IN and ANY of a subquery compare otherwise than `=` and `>` do; it answers as we do where EXISTS asks the same"),
]
