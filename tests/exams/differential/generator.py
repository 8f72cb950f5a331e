"""Random statements over random tables. Statements without a unique answer are not generated: LIMIT without a total
order, sums of doubles in any order, the clock, random numbers, GROUP_CONCAT without ORDER BY."""

from random import Random

from .schema import Column, Table, random_table
from .tree import Node, expression, fixed, joined, optional

LITERALS = {
    "number": ["0", "1", "-1", "2", "10", "255", "1.5", "-2.50", "1e2", "18446744073709551615", "null", "true"],
    "text": ["''", "'a'", "'B'", "'ab'", "'10'", "' 10'", "'1.5x'", "'ä'", "'ss'", "null", "x'41'", "'2024-02-29'"],
    "time": ["date'2024-02-29'", "timestamp'2024-02-29 12:34:56'", "time'12:34:56'", "'2024-02-29'", "'12:34:56'", "'2024-02-29 00:00:00.5'", "null",
             "20240229", "timestamp'1999-12-31 23:59:59.999999'"],
}
# Text with holes → families of the holes. A hole of one family may be filled with another: servers convert.
FUNCTIONS = {
    "number": [
        ("({} + {})", "nn"), ("({} - {})", "nn"), ("({} * {})", "nn"), ("({} / {})", "nn"), ("({} div {})", "nn"), ("({} % {})", "nn"), ("(-{})", "n"),
        ("abs({})", "n"), ("round({}, {})", "nn"), ("truncate({}, 1)", "n"), ("floor({})", "n"), ("ceiling({})", "n"), ("sign({})", "n"),
        ("mod({}, {})", "nn"), ("length({})", "t"), ("char_length({})", "t"), ("ascii({})", "t"), ("locate({}, {})", "tt"), ("strcmp({}, {})", "tt"),
        ("field({}, {}, {})", "ttt"), ("find_in_set({}, {})", "tt"), ("cast({} as signed)", "a"), ("cast({} as unsigned)", "a"),
        ("cast({} as decimal(12,3))", "a"), ("cast({} as double)", "a"), ("year({})", "m"), ("month({})", "m"), ("dayofweek({})", "m"), ("hour({})", "m"),
        ("second({})", "m"), ("microsecond({})", "m"), ("to_days({})", "m"), ("datediff({}, {})", "mm"), ("extract(day_minute from {})", "m"),
        ("time_to_sec({})", "m"), ("timestampdiff(hour, {}, {})", "mm"), ("quarter({})", "m"), ("week({}, 1)", "m"), ("({} & {})", "nn"), ("({} | {})", "nn"),
        ("({} ^ {})", "nn"), ("(~{})", "n"), ("({} << 2)", "n"), ("bit_count({})", "n"), ("crc32({})", "t"), ("ord({})", "t"), ("isnull({})", "a"),
        ("({} = {})", "aa"), ("({} < {})", "aa"), ("({} <=> {})", "aa"), ("({} <> {})", "aa"), ("({} >= {})", "aa"), ("({} like {})", "tt"),
        ("({} between {} and {})", "aaa"), ("({} in ({}, {}))", "aaa"), ("({} not in ({}, {}))", "aaa"), ("({} is null)", "a"), ("({} and {})", "nn"),
        ("({} or {})", "nn"), ("({} xor {})", "nn"), ("(not {})", "n"), ("interval({}, {}, {})", "nnn"), ("({} is true)", "n"),
        ("(({}, {}) = ({}, {}))", "aaaa"), ("(({}, {}) in (({}, {}), ({}, {})))", "aaaaaa"), ("({} regexp 'a|1')", "t"),
    ],
    "text": [
        ("concat({}, {})", "aa"), ("concat_ws('-', {}, {})", "aa"), ("upper({})", "t"), ("lower({})", "t"), ("left({}, 2)", "t"), ("right({}, 2)", "t"),
        ("substring({}, {}, 2)", "tn"), ("trim({})", "t"), ("ltrim({})", "t"), ("replace({}, {}, 'q')", "tt"), ("reverse({})", "t"), ("repeat({}, 2)", "t"),
        ("lpad({}, 5, 'z')", "t"), ("hex({})", "a"), ("cast({} as char)", "a"), ("cast({} as char(3))", "a"), ("convert({} using latin1)", "t"),
        ("date_format({}, '%Y-%m-%d %H:%i:%s.%f %j %W')", "m"), ("quote({})", "t"), ("insert({}, 1, 1, {})", "tt"), ("substring_index({}, 'a', 1)", "t"),
        ("elt({}, {}, {})", "ntt"), ("bin({})", "n"), ("conv({}, 10, 16)", "n"), ("format({}, 2)", "n"), ("soundex({})", "t"), ("cast({} as binary)", "t"),
        ("char({}, 65)", "n"), ("dayname({})", "m"), ("monthname({})", "m"), ("md5({})", "t"), ("json_quote({})", "t"), ("export_set(5, {}, {}, ',', 4)", "tt"),
        ("make_set({}, {}, {})", "ntt"), ("unhex({})", "t"), ("space(2)", ""),
    ],
    "time": [
        ("date({})", "m"), ("time({})", "m"), ("timestamp({})", "m"), ("cast({} as date)", "a"), ("cast({} as datetime)", "a"), ("cast({} as datetime(3))", "m"),
        ("cast({} as time)", "a"), ("({} + interval 1 day)", "m"), ("({} - interval {} month)", "mn"), ("({} + interval '1:30' minute_second)", "m"),
        ("last_day({})", "m"), ("addtime({}, {})", "mm"), ("subtime({}, '01:00:00')", "m"), ("sec_to_time({})", "n"), ("from_days({})", "n"),
        ("makedate({}, {})", "nn"), ("maketime({}, {}, 3)", "nn"), ("str_to_date({}, '%Y-%m-%d')", "t"), ("timediff({}, {})", "mm"),
        ("timestampadd(minute, {}, {})", "nm"), ("date_add({}, interval {} second)", "mn"),
    ],
}
ANY = [("coalesce({}, {})", "ss"), ("ifnull({}, {})", "ss"), ("nullif({}, {})", "sa"), ("if({}, {}, {})", "nss"), ("case when {} then {} else {} end", "nss"),
       ("case {} when {} then {} end", "aas"), ("greatest({}, {})", "ss"), ("least({}, {})", "ss"), ("({})", "s")]
# Sums of doubles depend on the order of the rows.
AGGREGATES = [("count({})", "a"), ("count(distinct {})", "a"), ("min({})", "a"), ("max({})", "a"), ("sum(cast({} as decimal(20,4)))", "n"),
              ("avg(cast({} as decimal(20,4)))", "n"), ("bit_or(cast({} as unsigned))", "n"), ("bit_xor(cast({} as unsigned))", "n"),
              ("group_concat(hex({}) order by 1 separator '|')", "t")]
FAMILIES = {"n": "number", "t": "text", "m": "time"}


class Generator:
    """Statements over one random schema. The same seed generates the same statements."""

    def __init__(self, seed: int):
        self.random = Random(seed)
        self.tables = [random_table(self.random, f"t{index}") for index in range(self.random.randint(2, 3))]
        self.next_id = 1000

    def setup(self) -> list[str]:
        """Returns the statements that create the tables and their first rows."""
        statements = [table.definition for table in self.tables]
        for table in self.tables:
            for identity in range(1, self.random.randint(3, 25)):
                statements.append(f"insert ignore into {table.name} values ({table.row(self.random, identity)})")
        return statements

    # --- expressions

    def family(self, letter: str, same: str) -> str:
        if letter == "s":
            return same
        return FAMILIES.get(letter) or self.random.choice(["number", "text", "time"])

    def expression(self, family: str, scope: list[tuple[str, Column]], depth: int) -> Node:
        choice = self.random.random()
        if depth <= 0 or choice < 0.25:
            if scope and self.random.random() < 0.7:
                wanted = [pair for pair in scope if pair[1].family == family] or scope
                qualifier, column = self.random.choice(wanted if self.random.random() < 0.85 else scope)
                return expression(f"{qualifier}.{column.name}")
            return expression(self.random.choice(LITERALS[family]))
        options = ANY if choice < 0.4 else FUNCTIONS[family]
        text, letters = self.random.choice(options)
        return expression(text, *(self.expression(self.family(letter, family), scope, depth - 1) for letter in letters))

    def any_expression(self, scope, depth: int = 3) -> Node:
        return self.expression(self.random.choice(["number", "text", "time"]), scope, self.random.randint(1, depth))

    def condition(self, scope, depth: int = 3) -> Node:
        # Half of the conditions compare a column with a value of its rows, so that indexes are used.
        if scope and self.random.random() < 0.5:
            qualifier, column = self.random.choice(scope)
            value = self.random.choice(column.values)
            name = f"{qualifier}.{column.name}"
            text = self.random.choice([f"{name} = {value}", f"{name} > {value}", f"{name} <= {value}", f"{name} in ({value}, {self.random.choice(column.values)})",
                                       f"{name} between {value} and {self.random.choice(column.values)}", f"{name} is not null", f"{name} <> {value}"])
            simple = expression(f"({text})")
            if self.random.random() < 0.5:
                return simple
            return expression(self.random.choice(["({} and {})", "({} or {})"]), simple, self.condition(scope, depth - 1))
        return self.expression("number", scope, depth)

    # --- queries

    def scope_of(self, names: list[tuple[str, Table]]) -> list[tuple[str, Column]]:
        return [(alias, column) for alias, table in names for column in table.columns]

    def tables_of_query(self, outer: list[tuple[str, Column]], level: int) -> tuple[Node, list[tuple[str, Column]]]:
        count = self.random.choices([1, 2, 3], [6, 3, 1])[0]
        names = [(f"{'abc'[index]}{level}", self.random.choice(self.tables)) for index in range(count)]
        parts = [fixed(f"{names[0][1].name} {names[0][0]}")]
        for index in range(1, count):
            alias, table = names[index]
            before, own = self.scope_of(names[:index]), self.scope_of([names[index]])
            if self.random.random() < 0.6:
                left, right = self.random.choice(before), self.random.choice(own)
                on = expression(f"{left[0]}.{left[1].name} = {right[0]}.{right[1].name}")
            else:
                on = self.condition(before + own, 2)
            kind = self.random.choice(["join", "left join", "left join", "right join"])
            parts.append(optional(f" {kind} {table.name} {alias} on {{}}", on))
        return Node("{}" * len(parts), parts), self.scope_of(names)

    def subquery_condition(self, scope, level: int) -> Node:
        inner, inner_scope = self.tables_of_query(scope, level)
        where = self.condition(inner_scope + (scope if self.random.random() < 0.5 else []), 2)
        column = self.random.choice(inner_scope)
        text, first = self.random.choice([("{} in (select {} from {} where {})", True), ("{} not in (select {} from {} where {})", True),
                                          ("exists (select {} from {} where {})", False), ("not exists (select {} from {} where {})", False),
                                          ("{} = (select max({}) from {} where {})", True), ("{} > any (select {} from {} where {})", True)])
        chosen = expression(f"{column[0]}.{column[1].name}")
        children = [chosen, inner, where]
        return expression(f"({text})", *([self.any_expression(scope, 1)] if first else []), *children)

    def where(self, scope, level: int) -> Node:
        choice = self.random.random()
        if choice < 0.2:
            return Node("")
        if choice < 0.4 and level < 2:
            return optional(" where {}", self.subquery_condition(scope, level + 1))
        return optional(" where {}", self.condition(scope))

    def select(self, level: int = 0, columns: int | None = None) -> Node:
        tables, scope = self.tables_of_query([], level)
        where = self.where(scope, level)
        count = columns or self.random.randint(1, 3)
        if self.random.random() < 0.3:
            keys = [self.any_expression(scope, 2) for _ in range(self.random.randint(0, 2))][:count]
            aggregates = []
            while len(keys) + len(aggregates) < count:
                text, letters = self.random.choice(AGGREGATES)
                aggregates.append(fixed(text, self.expression(self.family(letters, "number"), scope, 2)))
            having = Node("")
            if keys and self.random.random() < 0.3:
                having = optional(" having count(*) > {}", expression(self.random.choice("0123")))
            return Node("", [joined(", ", keys), joined(", ", aggregates), tables, where, having], "grouped")
        distinct = optional("distinct ") if self.random.random() < 0.2 else Node("")
        items = joined(", ", [self.any_expression(scope) for _ in range(count)])
        tail = Node("")
        if not distinct.text and self.random.random() < 0.3:
            # Under LIMIT, only an order in which no two rows are equal has a unique answer.
            aliases = list(dict.fromkeys(alias for alias, _ in scope))
            order = ", ".join(f"{alias}.id" for alias in aliases)
            first = self.random.choice(scope)
            direction = self.random.choice(["", " desc"])
            order = f" order by {first[0]}.{first[1].name}{direction}, {order}"
            tail = optional(order + (f" limit {self.random.randint(1, 8)}" if self.random.random() < 0.7 else ""))
        return Node("select {}{} from {}{}{}", [distinct, items, tables, where, tail])

    def set_operation(self) -> Node:
        columns = self.random.randint(1, 2)
        parts = [self.plain_select(columns) for _ in range(self.random.randint(2, 4))]
        word = self.random.choice([" union ", " union ", " union all ", " except ", " intersect "])
        return joined(word, parts)

    def plain_select(self, columns: int) -> Node:
        tables, scope = self.tables_of_query([], 0)
        items = joined(", ", [self.any_expression(scope, 2) for _ in range(columns)])
        return Node("select {} from {}{}", [fixed("{}", items), tables, self.where(scope, 1)])

    def derived(self) -> Node:
        inner = self.select(1, 2)
        text = self.random.choice(["select count(*) from ({}) d", "with d as ({}) select count(*) from d", "select count(*) from ({}) d where 1"])
        return Node(text, [inner])

    # --- changes

    def change(self) -> Node:
        table = self.random.choice(self.tables)
        scope = [(table.name, column) for column in table.columns]
        columns = table.columns[1:]
        column = self.random.choice(columns)
        choice = self.random.random()
        if choice < 0.35:
            ignore = self.random.choice(["", "", " ignore"])
            self.next_id += 1
            identity = self.next_id if self.random.random() < 0.7 else self.random.randint(1, 20)
            values = [expression(table.value(self.random, each)) if self.random.random() < 0.7 else self.any_expression([], 1) for each in columns]
            tail = Node("")
            if self.random.random() < 0.2 and not ignore:
                tail = optional(f" on duplicate key update {column.name} = {{}}", self.any_expression(scope, 1))
            verb = "replace" if self.random.random() < 0.1 and not tail.text else f"insert{ignore}"
            return Node(f"{verb} into {table.name} values ({identity}{', {}' * len(values)}){{}}", [*values, tail])
        if choice < 0.75:
            ignore = self.random.choice(["", "", " ignore"])
            value = self.any_expression(scope, 2) if self.random.random() < 0.6 else expression(table.value(self.random, column))
            where = self.where(scope, 1)
            order = self.random.choice(["", f" order by {table.name}.id limit 3"])
            return Node(f"update{ignore} {table.name} set {column.name} = {{}}{{}}{order}", [value, where])
        if choice < 0.9:
            return Node(f"delete from {table.name}{{}}", [optional(" where {}", fixed("({} and {})", self.condition(scope, 2), fixed(f"{table.name}.id % 3 = 0")))])
        other = self.random.choice(self.tables)
        chosen = joined(", ", [self.any_expression([("x", each) for each in other.columns], 1) for _ in columns])
        self.next_id += 100
        return Node(f"insert ignore into {table.name} select x.id + {self.next_id}, {{}} from {other.name} x where x.id < 5 order by x.id", [fixed("{}", chosen)])

    def statement(self) -> Node:
        choice = self.random.random()
        if choice < 0.62:
            return self.select()
        if choice < 0.72:
            return self.set_operation()
        if choice < 0.78:
            return self.derived()
        return self.change()
