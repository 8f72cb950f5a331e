"""Random statements: rows, queries and definitions on tables with columns of all types.

A `World` knows the tables as last defined. Sessions that run at the same time as a definition may have outdated
knowledge of a table and get an error, as users do.
"""

import threading
from dataclasses import dataclass, field

from .values import KINDS, Kind

TABLES_MAX = 7
KEYS = 40  # few, so that transactions conflict

# Values of a foreign key's column: keys of rows that may exist.
REFERENCE = Kind("int", lambda rng: str(rng.randrange(1, KEYS)), group="number")
ACTIONS = ["", "", " on delete cascade", " on delete cascade", " on delete set null", " on delete restrict", " on delete no action"]


@dataclass
class Column:
    name: str
    kind: object
    nullable: bool = True


@dataclass
class Table:
    name: str
    columns: list
    key: list            # names of the primary key's columns; empty: no primary key
    indexes: list = field(default_factory=list)
    engine: str = "InnoDB"
    generated: str = ""
    constraints: list = field(default_factory=list)  # names of foreign keys


class World:
    def __init__(self):
        self.tables = {}
        self.lock = threading.Lock()
        self.counter = 0
        self.has_memory_tables = True
        self.triggers, self.functions, self.procedures = [], [], []

    def name(self, prefix):
        with self.lock:
            self.counter += 1
            return f"{prefix}{self.counter}"

    def pick(self, rng):
        with self.lock:
            return rng.choice(list(self.tables.values()))


class Statements:
    """Random statements of one session. Each method returns (text, function to call after success or None)."""

    def __init__(self, world, rng):
        self.world, self.rng = world, rng

    # Definitions.

    def create_table(self):
        rng, name = self.rng, self.world.name("t")
        columns = [Column(f"c{number}", rng.choice(KINDS), rng.random() < 0.8) for number in range(rng.randrange(1, 7))]
        style = rng.choice(["id", "id", "auto", "auto", "two", "none"])
        table = Table(name, columns, {"id": ["id"], "auto": ["id"], "two": ["id", "k"], "none": []}[style])
        table.engine = "MEMORY" if self.world.has_memory_tables and rng.random() < 0.1 and not any(column.kind.prefix for column in columns) else "InnoDB"
        parts = [f"id int{' auto_increment' if style == 'auto' else ''} not null"] + ["k int not null"] * (style == "two")
        parts += [f"{column.name} {column.kind.name}{'' if column.nullable else ' not null'}" for column in columns]
        if rng.random() < 0.15 and table.engine == "InnoDB":
            table.generated = rng.choice(["stored", "virtual"])
            parts.append(f"g int as (id * 2 + 1) {table.generated}")
        if table.key:
            parts.append(f"primary key ({', '.join(table.key)})")
        for number in range(rng.randrange(0, 4)):
            parts.append(self.index(table, f"k{number}"))
        if rng.random() < 0.4 and table.engine == "InnoDB":
            parts += self.reference(table, f"r{len(columns)}")
        text = f"create table {name} ({', '.join(parts)}) engine={table.engine} character set utf8mb4"
        return text, lambda: self.world.tables.__setitem__(name, table)

    def index(self, table, name):
        rng = self.rng
        columns = rng.sample(table.columns, min(len(table.columns), rng.randrange(1, 3)))
        parts = [column.name + (f"({column.kind.prefix})" if column.kind.prefix else "") for column in columns]
        unique = "unique " if rng.random() < 0.3 else ""
        table.indexes.append(name)
        return f"{unique}key {name} ({', '.join(parts)})"

    def reference(self, table, prefix):
        """Returns the clauses that define a foreign key with new columns of its own, which are named after `prefix`."""
        rng = self.rng
        parents = [parent for parent in self.world.tables.values() if parent.key and parent.engine == "InnoDB"] + [table] * bool(table.key)
        if not parents:
            return []
        parent = rng.choice(parents)
        width = rng.randrange(1, len(parent.key) + 1)
        columns = [Column(f"{prefix}{letter}", REFERENCE) for letter in "ab"[:width]]
        table.columns += columns
        name = self.world.name("f")
        table.constraints.append(name)
        deleting, updating = rng.choice(ACTIONS), rng.choice(ACTIONS).replace("delete", "update")
        return [f"{column.name} int" for column in columns] + [
            f"constraint {name} foreign key ({', '.join(column.name for column in columns)}) references {parent.name} "
            f"({', '.join(parent.key[:width])}){deleting}{updating}"]

    def alter_references(self, table):
        """Adds a foreign key with its columns, or drops one."""
        if table.constraints and self.rng.random() < 0.4:
            name = self.rng.choice(table.constraints)
            return f"alter table {table.name} drop foreign key {name}", lambda: name in table.constraints and table.constraints.remove(name)
        made = Table(table.name, [], table.key)
        parts = self.reference(made, self.world.name("r"))

        def added():
            table.columns += made.columns
            table.constraints += made.constraints

        return f"alter table {table.name} {', '.join(f'add {part}' for part in parts) or 'force'}", added

    def alter(self):
        rng, table = self.rng, self.world.pick(self.rng)
        if rng.random() < 0.2:
            return self.alter_references(table)
        what = rng.randrange(8)
        if what < 2:
            column = Column(self.world.name("n"), rng.choice(KINDS), rng.random() < 0.8)
            default = f" default {column.kind.literal(rng)}" if rng.random() < 0.3 and not column.kind.prefix else ""
            place = rng.choice(["", " first", f" after {rng.choice(table.columns).name}"]) if table.columns else ""
            # The implicit default of a JSON column is not valid JSON: MariaDB refuses it if the table has rows, and
            # accepts it otherwise.
            column.nullable = column.nullable or column.kind.name == "json"
            null = "" if column.nullable else " not null"
            return (f"alter table {table.name} add column {column.name} {column.kind.name}{null}{default}{place}",
                    lambda: table.columns.append(column))
        if what < 4 and len(table.columns) > 1:
            column = rng.choice(table.columns)
            return f"alter table {table.name} drop column {column.name}", lambda: column in table.columns and table.columns.remove(column)
        if what == 4:
            name = self.world.name("i")
            made = Table(table.name, table.columns, [], [])
            if table.columns:
                return f"alter table {table.name} add {self.index(made, name)}", lambda: table.indexes.append(name)
        if what == 5 and table.indexes:
            name = rng.choice(table.indexes)
            return f"drop index {name} on {table.name}", lambda: name in table.indexes and table.indexes.remove(name)
        if what == 6 and table.columns:
            column = rng.choice(table.columns)
            # A MariaDB replica finds no row by a UNIQUE key on TEXT (docs/differences.md); tables with a primary key do without.
            kinds = [kind for kind in KINDS if kind.group and kind.group == column.kind.group and (table.key or not kind.prefix)]
            if kinds:
                kind = rng.choice(kinds)

                def changed():
                    column.kind, column.nullable = kind, True

                return f"alter table {table.name} modify column {column.name} {kind.name}", changed
        new = self.world.name("t")

        def renamed():
            self.world.tables.pop(table.name, None)
            table.name = new
            self.world.tables[new] = table

        return f"rename table {table.name} to {new}", renamed

    # Programs. Those that write add a row to the table `audit`, which no other statement uses.

    AUDIT = "create table if not exists audit (id int auto_increment primary key, what varchar(200)) character set utf8mb4"

    def trigger(self):
        rng, table, world = self.rng, self.world.pick(self.rng), self.world
        name, event = world.name("g"), rng.choice(["insert", "update", "delete"])
        time, row = rng.choice(["before", "after"]), "old" if event == "delete" else "new"
        body = f"insert into audit (what) values (concat('{name} ', {row}.id))"
        if time == "before" and row == "new" and table.columns and rng.random() < 0.5:
            column = rng.choice(table.columns)
            body = f"set new.{column.name} = {self.value(column)}"
        elif rng.random() < 0.3:
            body = f"begin declare continue handler for sqlexception begin end; {body}; signal sqlstate '45000'; end"
        replace = "or replace " if rng.random() < 0.2 and world.triggers else ""
        if replace:
            name = rng.choice(world.triggers)
        return f"create {replace}trigger {name} {time} {event} on {table.name} for each row {body}", lambda: world.triggers.append(name)

    def function(self):
        rng, world = self.rng, self.world
        name = world.name("u")
        body = rng.choice(["return x * 3 - 1", "begin if x > 20 then return null; end if; return (select count(*) + x from audit where id < 3); end",
                           f"begin insert into audit (what) values (concat('{name} ', x)); return x; end"])
        return f"create function {name}(x int) returns int {body}", lambda: world.functions.append(name)

    def procedure(self):
        world = self.world
        name, changes = world.name("p"), [self.update()[0], self.insert()[0], self.delete()[0]]
        body = "; ".join(self.rng.sample(changes, 2))
        handler = self.rng.choice(["", "declare exit handler for sqlexception begin end; ", "declare continue handler for 1062 set k = 0; "])
        return (f"create procedure {name}(k int) begin {handler}insert into audit (what) values (concat('{name} ', k)); {body}; end",
                lambda: world.procedures.append(name))

    def drop_program(self):
        kind, names = self.rng.choice([("trigger", self.world.triggers), ("function", self.world.functions), ("procedure", self.world.procedures)])
        if not names:
            return self.AUDIT, None
        name = self.rng.choice(names)
        return f"drop {kind} if exists {name}", lambda: name in names and names.remove(name)

    def program(self):
        if not self.world.tables:
            return self.AUDIT, None
        return self.rng.choices([self.trigger, self.function, self.procedure, self.drop_program, lambda: (self.AUDIT, None)], [4, 2, 2, 3, 1])[0]()

    def call(self):
        """Returns a statement that uses a function or a procedure."""
        rng, world = self.rng, self.world
        if world.procedures and rng.random() < 0.5:
            return f"call {rng.choice(world.procedures)}({self.key()})", None
        if not world.functions:
            return self.select()
        function, table = rng.choice(world.functions), world.pick(rng)
        numbers = [column.name for column in table.columns if column.kind.group == "number"]
        if numbers and rng.random() < 0.6:
            return f"update {table.name} set {rng.choice(numbers)} = {function}(id) where {self.condition(table)}", None
        return f"select {function}(id) from {table.name} where {self.condition(table)} limit 5", None

    def define(self):
        rng = self.rng
        if len(self.world.tables) < 3:
            return self.create_table()
        if rng.random() < 0.25:
            return self.program()
        what = rng.random()
        if what < 0.6:
            return self.alter()
        if what < 0.75 and len(self.world.tables) < TABLES_MAX:
            return self.create_table()
        table = self.world.pick(rng)
        if what < 0.85:
            return f"truncate table {table.name}", None
        if what < 0.92 and len(self.world.tables) < TABLES_MAX:
            name = self.world.name("t")
            copy = Table(name, [Column(column.name, column.kind, column.nullable) for column in table.columns], list(table.key),
                         list(table.indexes), table.engine, table.generated)
            return f"create table {name} like {table.name}", lambda: self.world.tables.__setitem__(name, copy)
        return f"drop table {table.name}", lambda: self.world.tables.pop(table.name, None)

    # Rows.

    def value(self, column):
        if column.nullable and self.rng.random() < 0.1:
            return "null"
        return column.kind.literal(self.rng)

    def key(self):
        return str(self.rng.randrange(1, KEYS))

    def row(self, table, columns):
        values = [self.value(column) for column in columns]
        keys = [self.key() for _ in table.key] or [self.key()]
        if len(keys) == 1 and table.key and self.rng.random() < 0.2:
            keys = ["null"]  # the next AUTO_INCREMENT value, or an error
        return "(" + ", ".join(keys + values) + ")"

    def insert(self):
        rng, table = self.rng, self.world.pick(self.rng)
        columns = list(table.columns)
        names = ", ".join((table.key or ["id"]) + [column.name for column in columns])
        rows = ", ".join(self.row(table, columns) for _ in range(rng.choice([1, 1, 2, 5, 30])))
        way = rng.choice(["insert", "insert", "insert ignore", "replace", "update", "update"])
        if way == "update":
            text = f"insert into {table.name} ({names}) values {rows}"
            if columns:
                column = rng.choice(columns)
                text += f" on duplicate key update {column.name} = " + rng.choice([f"values({column.name})", self.value(column)])
            return text, None
        return f"{way} into {table.name} ({names}) values {rows}", None

    def insert_select(self):
        rng = self.rng
        table, source = self.world.pick(rng), self.world.pick(rng)
        pairs = [(column.name, other.name) for column in table.columns for other in source.columns if column.kind.group
                 and column.kind.group == other.kind.group][:3]
        to = ", ".join(["id"] + [one for one, _ in dict(pairs).items()])
        back = ", ".join([f"id + {rng.randrange(KEYS)}"] + [other for _, other in dict(pairs).items()])
        return f"insert ignore into {table.name} ({to}) select {back} from {source.name} where {self.condition(source)} limit 20", None

    def condition(self, table):
        rng = self.rng
        what = rng.randrange(6)
        if what < 2:
            return f"id = {self.key()}"
        if what == 2:
            low = rng.randrange(1, KEYS)
            return f"id between {low} and {low + rng.randrange(6)}"
        if what == 3:
            return f"id in ({', '.join(self.key() for _ in range(rng.randrange(1, 5)))})"
        if table.columns:
            column = rng.choice(table.columns)
            test = rng.choice(["=", "<", ">=", "<>", "<=>"])
            return f"{column.name} {test} {self.value(column)}" if rng.random() < 0.8 else f"{column.name} is {rng.choice(['', 'not '])}null"
        return "id > 30"

    def update(self):
        rng, table = self.rng, self.world.pick(self.rng)
        changes = []
        for column in rng.sample(table.columns, min(len(table.columns), rng.randrange(1, 3))):
            expression = self.value(column)
            if column.kind.group == "number" and rng.random() < 0.4:
                expression = f"{column.name} + 1"
            elif column.kind.group == "text" and rng.random() < 0.3:
                expression = f"left(concat({column.name}, 'x'), 10)"
            changes.append(f"{column.name} = {expression}")
        if not changes or rng.random() < 0.15:
            changes.append(f"id = id {rng.choice(['+', '-'])} {rng.randrange(1, 3)}")
        tail = f" order by id limit {rng.randrange(1, 5)}" if rng.random() < 0.2 else ""
        ignore = "ignore " if rng.random() < 0.15 else ""
        return f"update {ignore}{table.name} set {', '.join(changes)} where {self.condition(table)}{tail}", None

    def delete(self):
        rng, table = self.rng, self.world.pick(self.rng)
        tail = f" order by id limit {rng.randrange(1, 4)}" if rng.random() < 0.3 else ""
        return f"delete from {table.name} where {self.condition(table)}{tail}", None

    def several_tables(self):
        rng = self.rng
        one, other = self.world.pick(rng), self.world.pick(rng)
        if one is other:
            return self.delete()
        if rng.random() < 0.5 and one.columns:
            column = rng.choice(one.columns)
            return (f"update {one.name} a join {other.name} b on a.id = b.id set a.{column.name} = {self.value(column)} where a.id < {self.key()}",
                    None)
        return f"delete a from {one.name} a join {other.name} b on a.id = b.id where b.id = {self.key()}", None

    def select(self):
        rng, table = self.rng, self.world.pick(self.rng)
        lock = rng.choice(["", "", "", " for update", " lock in share mode", " for update skip locked", " for update nowait"])
        if rng.random() < 0.2:
            other = self.world.pick(rng)
            return f"select count(*), max(a.id) from {table.name} a left join {other.name} b on a.id = b.id where a.id > {self.key()}{lock}", None
        tail = rng.choice(["", " order by id desc", " order by id limit 3"])
        return f"select * from {table.name} where {self.condition(table)}{tail}{lock}", None

    def statement(self):
        """Returns a statement that reads or writes rows."""
        make = self.rng.choices([self.insert, self.update, self.delete, self.select, self.insert_select, self.several_tables, self.call],
                                   [30, 30, 12, 16, 6, 6, 6])[0]
        return make()
