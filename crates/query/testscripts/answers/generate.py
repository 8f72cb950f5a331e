#!/usr/bin/env python3
"""Writes a golden script of random queries and changes over small tables, with every kind of access path, NULLs and duplicates.

    generate.py [SEED] > random

Every SELECT has a complete order, or is tagged `[sort]`, so that the answers of two servers can be compared.
`tools/record_scripts.py` adds the answers.
"""
import random
import sys

r = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
TABLES = {
    "a": "id INT NOT NULL PRIMARY KEY, x INT, y INT, s VARCHAR(8), KEY x (x), KEY xy (x, y), KEY s (s)",
    "b": "id INT NOT NULL PRIMARY KEY, x INT, y INT NOT NULL, s VARCHAR(8) NOT NULL, UNIQUE KEY y (y), KEY sx (s, x)",
    "c": "id INT NOT NULL, x INT NOT NULL, y INT, s VARCHAR(8), PRIMARY KEY (id, x), KEY y (y)",
    "d": "id INT, x INT, y INT, s VARCHAR(8), KEY x (x)",
}
WORDS = ["", "a", "ab", "abc", "b", "B", "ba", "c", "Ca", "d d"]


def num(low=-3, high=12):
    return str(r.randint(low, high))


def value(column, nulls=True):
    if nulls and r.random() < 0.12:
        return "NULL"
    if column == "s":
        return "'" + r.choice(WORDS) + "'"
    return num()


def col(aliases, column=None):
    return "%s.%s" % (r.choice(aliases), column or r.choice(["id", "x", "y", "s"]))


def leaf(aliases):
    c = r.choice(["id", "x", "y", "s"])
    left = col(aliases, c)
    k = r.random()
    if k < 0.3:
        return "%s %s %s" % (left, r.choice(["=", "=", "=", "<", "<=", ">", ">=", "<>", "<=>"]), value(c))
    if k < 0.42:
        return "%s %sIN (%s)" % (left, r.choice(["", "", "NOT "]), ", ".join(value(c, False) for _ in range(r.randint(1, 4))))
    if k < 0.54:
        low, high = sorted([value(c, False), value(c, False)])
        if c != "s":
            low, high = sorted([low, high], key=int)
        return "%s %sBETWEEN %s AND %s" % (left, r.choice(["", "", "NOT "]), low, high)
    if k < 0.62:
        return "%s IS %sNULL" % (left, r.choice(["", "NOT "]))
    if k < 0.7:
        return "%s LIKE '%s'" % (col(aliases, "s"), r.choice(["a%", "%b", "a_", "%", "ab%", "_b%", "B%"]))
    if k < 0.85:
        return "%s %s %s" % (left, r.choice(["=", "<", ">="]), col(aliases, c))
    if k < 0.93:
        t = r.choice(list(TABLES))
        other = "q%d" % r.randint(1, 99)
        kind = r.random()
        inner = "SELECT %s.%s FROM %s AS %s WHERE %s" % (other, c, t, other, cond([other], 1))
        if kind < 0.4:
            return "%s %sIN (%s)" % (left, r.choice(["", "NOT "]), inner)
        if kind < 0.8:
            return "%sEXISTS (SELECT 1 FROM %s AS %s WHERE %s = %s AND %s)" % (
                r.choice(["", "NOT "]), t, other, col([other], c), left, cond([other], 1))
        return "%s %s (SELECT %s(%s.%s) FROM %s AS %s WHERE %s)" % (
            left, r.choice(["=", "<", ">"]), r.choice(["MIN", "MAX"]), other, c, t, other, cond([other], 1))
    return "%s + %s %s %s" % (col(aliases, "x"), num(), r.choice(["=", "<", ">"]), col(aliases, "y"))


def cond(aliases, depth=0):
    k = r.random()
    if depth >= 2 or k < 0.45:
        return leaf(aliases)
    if k < 0.75:
        return "(%s AND %s)" % (cond(aliases, depth + 1), cond(aliases, depth + 1))
    if k < 0.93:
        return "(%s OR %s)" % (cond(aliases, depth + 1), cond(aliases, depth + 1))
    return "NOT (%s)" % cond(aliases, depth + 1)


def source():
    count = r.choice([1, 1, 1, 2, 2, 3])
    aliases, text = [], ""
    for n in range(count):
        t, alias = r.choice(list(TABLES)), "t%d" % n
        if n == 0:
            text = "%s AS %s" % (t, alias)
        else:
            kind = r.choice(["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "STRAIGHT_JOIN"])
            c = r.choice(["id", "x", "y", "s"])
            on = "%s = %s" % (col(aliases, c), col([alias], c))
            if r.random() < 0.4:
                on += " AND " + leaf(aliases + [alias])
            text += " %s %s AS %s ON %s" % (kind, t, alias, on)
        aliases.append(alias)
    return aliases, text


def select():
    aliases, text = source()
    where = " WHERE " + cond(aliases) if r.random() < 0.85 else ""
    k = r.random()
    if k < 0.3:
        g = [col(aliases) for _ in range(r.randint(1, 2))]
        aggs = ["%s(%s)" % (f, col(aliases, r.choice(["id", "x", "y"]))) for f in r.sample(["MIN", "MAX", "SUM", "COUNT", "COUNT(DISTINCT"], 2)]
        aggs = [x + ")" if "DISTINCT" in x else x for x in aggs]
        aggs = [x.replace("COUNT(DISTINCT(", "COUNT(DISTINCT ").replace("))", ")") for x in aggs]
        having = " HAVING COUNT(*) > %d" % r.randint(0, 2) if r.random() < 0.4 else ""
        keys = ["HEX(%s)" % x if x.endswith(".s") else x for x in g]
        return "SELECT %s, COUNT(*), %s FROM %s%s GROUP BY %s%s" % (", ".join(keys), ", ".join(aggs), text, where, ", ".join(keys), having), True
    if k < 0.42:
        return "SELECT COUNT(*), MIN(%s), MAX(%s) FROM %s%s" % (col(aliases, "x"), col(aliases, "y"), text, where), False
    if k < 0.5:
        return "SELECT %s(%s) FROM %s%s" % (r.choice(["MIN", "MAX"]), col(aliases, r.choice(["id", "x", "y"])), text, where), False
    distinct = "DISTINCT " if r.random() < 0.15 else ""
    columns = ["%s.%s" % (a, c) for a in aliases for c in ("id", "x", "y", "s")]
    if distinct:
        columns = ["%s.%s" % (a, c) for a in aliases for c in ("id", "x", "y")]
    shown = columns if r.random() < 0.6 or distinct else r.sample(columns, 3)
    if len(aliases) == 1 and r.random() < 0.5 and not distinct:
        order = ", ".join(x + r.choice(["", " DESC"]) for x in [col(aliases, r.choice(["x", "y", "id"])), aliases[0] + ".id", aliases[0] + ".x", aliases[0] + ".y", "HEX(%s.s)" % aliases[0]])
        limit = " LIMIT %d" % r.randint(0, 6) if r.random() < 0.5 else ""
        if limit and r.random() < 0.3:
            limit += " OFFSET %d" % r.randint(0, 4)
        return "SELECT %s FROM %s%s ORDER BY %s%s" % (", ".join(shown), text, where, order, limit), False
    return "SELECT %s%s FROM %s%s" % (distinct, ", ".join(shown), text, where), True


def change():
    t = r.choice(["a", "b", "c", "d"])
    k = r.random()
    if k < 0.4:
        return "UPDATE %s SET %s WHERE %s" % (t, ", ".join(r.sample(["x = x + 1", "y = y + 20", "s = '%s'" % r.choice(WORDS), "x = %s" % num(0), "y = y"], 2)) if False else r.choice(["x = x + 1", "s = '%s'" % r.choice(WORDS), "x = %s" % num(0), "y = y + 40"]), cond([t], 1).replace("t0.", ""))
    if k < 0.6:
        return "DELETE FROM %s WHERE %s" % (t, leaf([t]))
    if k < 0.8:
        return "INSERT IGNORE INTO %s VALUES (%s, %s, %s, '%s')" % (t, num(0, 40), num(0), num(0, 60), r.choice(WORDS))
    return "REPLACE INTO %s VALUES (%s, %s, %s, '%s')" % (t, num(0, 40), num(0), num(0, 60), r.choice(WORDS))


def statement(text, tag=""):
    print("%s> %s\n---\n" % (tag, text))


print("# Written by generate.py.")
for name, columns in TABLES.items():
    statement("CREATE TABLE %s (%s)" % (name, columns))
for name in TABLES:
    rows, seen = [], set()
    for i in range(r.randint(12, 25)):
        x = num(0) if name in "c" else value("x")
        if name == "c":
            key = (i // 2, x)
            if key in seen:
                continue
            seen.add(key)
            rows.append("(%d, %s, %s, %s)" % (i // 2, x, value("y"), value("s")))
        elif name == "b":
            rows.append("(%d, %s, %d, %s)" % (i, x, i * 3 % 37, value("s", False)))
        else:
            rows.append("(%s, %s, %s, %s)" % (value("id") if name == "d" else i, x, value("y"), value("s")))
    statement("INSERT INTO %s VALUES %s" % (name, ", ".join(rows)))
for n in range(420):
    if r.random() < 0.12:
        statement(change())
        if r.random() < 0.5:
            statement("SELECT * FROM %s" % r.choice(list(TABLES)), "[sort] ")
        continue
    text, unordered = select()
    statement(text, "[sort] " if unordered else "")
