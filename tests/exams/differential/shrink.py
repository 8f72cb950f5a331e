"""Reduction of a difference until nothing more can be left out: first the statement, then the rows that it needs."""

import re
from dataclasses import dataclass

from .controls import EVALUATIONS, Controls
from .known import reason_for
from .pair import Answer, Pair
from .tree import Node

TRIES_MAX = 600
WARNINGS_ONLY, ANSWERS = "warnings", "answers"


def kind_of(ours: Answer, theirs: Answer) -> str | None:
    """Returns the kind of a difference: the answers, or only the warnings."""
    if ours.result != theirs.result:
        return ANSWERS
    return WARNINGS_ONLY if ours.warnings != theirs.warnings else None


@dataclass
class Finding:
    """A difference with everything that it needs."""

    statement: str
    # Statements that create the tables and their rows.
    history: list[str]
    ours: Answer
    theirs: Answer
    # The reason, if the difference is known.
    reason: str | None


def shrink(pair: Pair, history: list[str], tree: Node, kind: str) -> Finding:
    """Returns the smallest difference of the same kind. Before and after, both servers' tables are as `history`
    created them."""
    definitions = [statement for statement in history if statement.startswith("create table")]
    controls = Controls(pair, definitions)
    tries = 0
    answers = pair.answers(tree.sql())
    # A large statement contains a part of everything: only a proof explains it, not a pattern and not a warning.
    reason = controls.reason(tree, *answers, kind_of)
    smaller_found = True
    while smaller_found and not reason and tries < TRIES_MAX:
        smaller_found = False
        # An explained difference must not stand for an unexplained one: it is used only if there is no other.
        explained = None
        for other in sorted(tree.smaller(), key=Node.size):
            tries += 1
            if tries > TRIES_MAX:
                break
            candidate = pair.answers(other.sql())
            if kind_of(*candidate) != kind:
                continue
            why = reason_of_small(controls, other, candidate)
            if why:
                explained = explained or (other, candidate, why)
                continue
            tree, answers, smaller_found = other, candidate, True
            break
        if not smaller_found:
            reason = reason_of_small(controls, tree, answers)
            if explained and not reason:
                tree, answers, reason = explained
    statement = tree.sql()
    if reason:
        return Finding(statement, definitions, *answers, reason)
    smaller = with_fewer_rows(pair, history, definitions, statement, kind)
    if smaller:
        answers = pair.answers(statement)
        reason = reason_of_small(Controls(pair, definitions), tree, answers)
    pair.reset(history)
    return Finding(statement, smaller or history, *answers, reason)


def reason_of_small(controls: Controls, tree: Node, answers: tuple[Answer, Answer]) -> str | None:
    """Returns why a statement differs that is small enough to be explained by its parts."""
    reason = reason_for(tree.sql(), *answers) or controls.reason(tree, *answers, kind_of)
    return reason or (EVALUATIONS if controls.is_of_evaluations(tree, *answers) else None)


def with_fewer_rows(pair: Pair, history: list[str], definitions: list[str], statement: str, kind: str) -> list[str] | None:
    """Runs and returns statements that create only the rows that the difference needs. Returns None if only the whole
    history shows it."""
    names = sorted(set(re.findall(r"\bt\d\b", statement)))
    used = [definition for definition in definitions if definition.split()[2] in names]
    rows = {name: stored_rows(pair, name) for name in names}

    def made(ids: list[tuple[str, bytes]]) -> list[str]:
        inserts = [f"insert into {name} values {', '.join(rows[name][each] for table, each in ids if table == name)}"
                   for name in names if any(table == name for table, _ in ids)]
        return used + inserts

    def differs(statements: list[str]) -> bool:
        pair.reset(statements)
        return kind_of(*pair.answers(statement)) == kind

    everything = [(name, each) for name in names for each in rows[name]]
    if not differs(made(everything)):
        return None
    kept = list(everything)
    step = max(1, len(kept) // 2)
    while step >= 1:
        index = 0
        while index < len(kept):
            fewer = kept[:index] + kept[index + step:]
            left_out = [f"delete from {name} where id not in (-123456789{''.join(f', {each.decode()}' for table, each in fewer if table == name)})" for name in names]
            if kind_of(*pair.answers_without(left_out, statement)) == kind:
                kept = fewer
            else:
                index += step
        step //= 2
    return made(kept) if differs(made(kept)) else made(everything) if differs(made(everything)) else None


def stored_rows(pair: Pair, name: str) -> dict[bytes, str]:
    """Returns the rows of a table in MariaDB as text for VALUES, by their `id`."""
    return {row[0]: f"({', '.join(map(literal, row))})" for row in pair.theirs.rows(f"select * from {name} order by id")}


def literal(value: bytes | None) -> str:
    if value is None:
        return "null"
    if re.fullmatch(rb"-?[0-9.]+(e[-+]?[0-9]+)?", value):
        return value.decode()
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = "\0"
    return f"'{text}'" if all(character >= " " and character not in "'\\" for character in text) else f"x'{value.hex()}'"
