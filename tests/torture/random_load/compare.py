"""Compares servers that must hold the same data: table by table, row by row, and on each server index by index."""

from torture.harness import Finding

DATABASE = "rqg"
DIFFERENCES_SHOWN = 4


def connect(server):
    # Compares the bytes as received, without the client's conversions of types.
    return server.connect(database=DATABASE, conv={}, use_unicode=False)


def tables(server):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("show full tables where table_type='BASE TABLE'")
        return sorted(row[0].decode() for row in cursor.fetchall())


def columns(server, table):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("select column_name, column_type, is_nullable, column_key, collation_name from information_schema.columns "
                       f"where table_schema='{DATABASE}' and table_name='{table}' order by ordinal_position")
        return [tuple(row) for row in cursor.fetchall()]


def without_plain_keys(described):
    return [tuple(b"" if part == b"MUL" else part for part in column) for column in described]


def same_columns(one, other, table):
    """Returns whether the columns are the same. A server whose tables were created from another server's definitions
    may have plain keys that the other has dropped, but lacks none."""
    ours, theirs = columns(one, table), columns(other, table)
    if ours == theirs or not (one.is_remade or other.is_remade):
        return ours == theirs
    if without_plain_keys(ours) != without_plain_keys(theirs):
        return False
    # If both are such servers, each may have different plain keys.
    plain, remade = (theirs, ours) if one.is_remade else (ours, theirs)
    return one.is_remade and other.is_remade or all(has[3] != b"" for has, wanted in zip(remade, plain, strict=True) if wanted[3] == b"MUL")


def foreign_keys(server):
    """Returns every foreign key: table, name, columns, referenced table and columns, actions. NO ACTION counts as
    RESTRICT, because MariaDB may convert one to the other."""
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("select c.table_name, c.constraint_name, u.column_name, c.referenced_table_name, u.referenced_column_name, c.update_rule, "
                       "c.delete_rule from information_schema.referential_constraints c join information_schema.key_column_usage u "
                       "on c.constraint_schema = u.constraint_schema and c.table_name = u.table_name and c.constraint_name = u.constraint_name "
                       f"where c.constraint_schema = '{DATABASE}' order by c.table_name, c.constraint_name, u.ordinal_position")
        return [tuple(b"RESTRICT" if part == b"NO ACTION" else part for part in row) for row in cursor.fetchall()]


def rows(server, table):
    with connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("set time_zone='+00:00'")
        cursor.execute(f"select * from {table}")
        return sorted(cursor.fetchall(), key=repr)


def compare_servers(one, other, without=()):
    """Raises if `other` differs from `one`. Returns the number of compared rows."""
    ours, theirs = tables(one), tables(other)
    if ours != theirs:
        raise Finding(f"{one.name} has the tables {ours}, {other.name} has {theirs}")
    keys, their_keys = foreign_keys(one), foreign_keys(other)
    if keys != their_keys:
        raise Finding(f"the foreign keys are {keys} on {one.name} and {their_keys} on {other.name}")
    compared = 0
    for table in ours:
        if table in without:
            continue
        if not same_columns(one, other, table):
            raise Finding(f"{table} is {columns(one, table)} on {one.name} and {columns(other, table)} on {other.name}")
        here, there = rows(one, table), rows(other, table)
        if here != there:
            left, right = [row for row in here if row not in there], [row for row in there if row not in here]
            raise Finding(f"{table} has {len(here)} rows on {one.name} and {len(there)} on {other.name}; only on {one.name}: "
                          f"{left[:DIFFERENCES_SHOWN]}; only on {other.name}: {right[:DIFFERENCES_SHOWN]}")
        compared += len(here)
    return compared


def indexes_agree(server):
    """Checks that every index of every table finds the same rows as the table. Returns the number of checked indexes."""
    looked = 0
    with connect(server) as connection, connection.cursor() as cursor:
        for table in tables(server):
            cursor.execute("select distinct index_name from information_schema.statistics "
                           f"where table_schema='{DATABASE}' and table_name='{table}' and index_name <> 'PRIMARY'")
            for (index,) in cursor.fetchall():
                cursor.execute("select column_name, sub_part from information_schema.statistics where "
                               f"table_schema='{DATABASE}' and table_name='{table}' and index_name='{index.decode()}' order by seq_in_index limit 1")
                [(column, _)] = cursor.fetchall()
                name = column.decode()
                for test in (f"{name} is null", f"{name} is not null"):
                    counts = []
                    for hint in (f"force index ({index.decode()})", f"ignore index ({index.decode()})"):
                        cursor.execute(f"select count(*), sum(crc32(id)) from {table} {hint} where {test}")
                        counts.append(cursor.fetchall())
                    if counts[0] != counts[1]:
                        raise Finding(f"{server.name}: index {index.decode()} of {table} has {counts[0]} rows where {test}, the table {counts[1]}")
                looked += 1
    return looked
