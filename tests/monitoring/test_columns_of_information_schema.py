"""The columns of `information_schema` and `performance_schema`, compared with MariaDB's one by one."""

import pymysql
import pytest
from support.servers import MariaDb, Paceline

COMPARED = ("ordinal_position", "column_default", "is_nullable", "data_type", "character_maximum_length", "character_octet_length", "numeric_precision",
            "numeric_scale", "datetime_precision", "character_set_name", "collation_name", "column_type", "column_key", "extra", "privileges")
# MariaDB takes the bytes of the longest label for its characters there, and a third of them for its length.
WRONG_IN_MARIADB = ("character_maximum_length", "character_octet_length")
# Ours. METADATA_LOCK_INFO is of a plugin that is not installed in MariaDB.
OWN_TABLES = ("PACELINE_", "METADATA_LOCK_INFO")


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    started = [Paceline(tmp_path_factory.mktemp("server")).start(), MariaDb(tmp_path_factory.mktemp("mariadb"), "--performance-schema=ON").start()]
    yield started
    for server in started:
        server.close()


def columns(server, database):
    statement = (f"select table_name, column_name, {', '.join(COMPARED)} from information_schema.columns "
                 f"where table_schema = '{database}'")
    with server.connect(cursorclass=pymysql.cursors.DictCursor) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        rows = [{name.lower(): value for name, value in row.items()} for row in cursor.fetchall()]
    found = {}
    for row in rows:
        column = {name: row[name] for name in COMPARED}
        if database == "information_schema" and row["data_type"] == "enum":
            column = {name: value for name, value in column.items() if name not in WRONG_IN_MARIADB}
        found[row["table_name"], row["column_name"]] = column
    return found


@pytest.mark.parametrize("database", ["information_schema", "performance_schema"])
def test_each_column_is_declared_as_in_mariadb(servers, database):
    ours, theirs = (columns(server, database) for server in servers)
    ours = {place: column for place, column in ours.items() if not place[0].startswith(OWN_TABLES)}
    assert ours.keys() == theirs.keys()
    assert {place: column for place, column in ours.items() if column != theirs[place]} == {}


@pytest.mark.parametrize("database", ["information_schema", "performance_schema"])
def test_results_say_the_same_of_each_column(servers, database):
    """The protocol's description of `SELECT *`: names, types, lengths, flags."""
    tables = sorted({table for table, _ in columns(servers[1], database)})

    def described(server):
        with server.connect() as connection, connection.cursor() as cursor:
            for table in tables:
                cursor.execute(f"select * from {database}.{table} limit 0")
                yield table, [(field.name, field.type_code, field.charsetnr, field.flags & (1 | 32 | 256)) for field in cursor._result.fields]

    ours, theirs = (dict(described(server)) for server in servers)
    assert {table: (described, theirs[table]) for table, described in ours.items() if described != theirs[table]} == {}


def test_labels_are_ordered_and_compared_by_their_type(servers):
    """Columns of ENUM: ordered by label's number, compared with text and number."""
    answers = []
    for server in servers:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("select distinct enabled, enabled + 0, enabled = 'yes', enabled = 1 from performance_schema.setup_consumers "
                           "order by enabled")
            answers.append(cursor.fetchall())
    assert answers[0] == answers[1]


def test_user_variables(servers):
    """As in MariaDB, with their types; only those of the session."""
    answers = []
    for server in servers:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("select * from information_schema.user_variables")
            assert cursor.fetchall() == ()
            cursor.execute("set @a = 1, @b = _utf8mb3'x', @c = 1.5, @d = 1e3, @e = null, @f = cast(5 as unsigned), @g = x'4142', @h = _latin1'y'")
            cursor.execute("select * from information_schema.user_variables order by variable_name")
            answers.append(cursor.fetchall())
    assert answers[0] == answers[1]
    assert len(answers[0]) == 8
