"""Statements as trees, so that one that two servers answer differently can be reduced piece by piece."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

HOLE = re.compile(r"\{\}")


@dataclass
class Node:
    """A piece of SQL: a text with a hole (`{}`) for each child."""

    text: str
    children: list[Node] = field(default_factory=list)
    # Possible replacements, smallest first: "expression" (children of the same kind, literals), "list" (any part of
    # the children), "optional" (nothing), "grouped" (its keys are in the select list and in GROUP BY, and must be the
    # same), "fixed" (none).
    kind: str = "fixed"

    def sql(self) -> str:
        if self.kind == "list":
            return self.text.join(child.sql() for child in self.children)
        if self.kind == "grouped":
            keys, aggregates, tables, where, having = (child.sql() for child in self.children)
            grouped = f" group by {keys}{having}" if keys else ""
            return f"select {', '.join(part for part in (keys, aggregates) if part)} from {tables}{where}{grouped}"
        parts = iter(self.children)
        return HOLE.sub(lambda _: next(parts).sql(), self.text)

    def size(self) -> int:
        return 1 + sum(child.size() for child in self.children)

    def smaller(self) -> Iterator[Node]:
        """Yields trees with one piece removed or replaced by a smaller one; the largest savings first."""
        if self.kind == "optional" and (self.text or self.children):
            yield Node("")
        if self.kind == "expression" and self.children:
            yield from (child for child in self.children if child.kind == "expression")
            yield Node("NULL", kind="expression")
            yield Node("1", kind="expression")
        if self.kind == "list" and len(self.children) > 1:
            half = len(self.children) // 2
            yield Node(self.text, self.children[:half], "list")
            yield Node(self.text, self.children[half:], "list")
            for index in range(len(self.children)):
                yield Node(self.text, self.children[:index] + self.children[index + 1:], "list")
        for index, child in enumerate(self.children):
            for other in child.smaller():
                yield Node(self.text, self.children[:index] + [other] + self.children[index + 1:], self.kind)


def fixed(text: str, *children: Node) -> Node:
    return Node(text, list(children))


def expression(text: str, *children: Node) -> Node:
    return Node(text, list(children), "expression")


def optional(text: str, *children: Node) -> Node:
    return Node(text, list(children), "optional")


def joined(separator: str, children: list[Node]) -> Node:
    return Node(separator, children, "list")
