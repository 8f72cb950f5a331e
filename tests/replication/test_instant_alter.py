"""Changes of columns that leave the rows as they are: rows of all earlier definitions are read as if they had been rewritten."""

import random
import threading

import pymysql
import pytest
from support.replication import assert_same, change_master, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

# Type of a new column, values for it, and the type that it may be widened to.
TYPES = {
    "int": (["0", "-7", "2147483647"], "bigint"),
    "tinyint unsigned": (["0", "255"], "int unsigned"),
    "bigint": (["9223372036854775807"], None),
    "int unsigned": (["4294967295"], None),
    "varchar(20)": (["''", "'a'", "'twenty characters...'"], "varchar(70)"),
    "varchar(70)": (["''", "'ä'", "'seventy'"], "varchar(300)"),
    "varchar(300)": (["repeat('x', 300)"], None),
    "varbinary(100)": (["x'00ff'", "''"], "varbinary(1000)"),
    "varbinary(1000)": (["repeat('y', 1000)"], None),
    "char(5)": (["'ab'", "''"], "char(9)"),
    "char(9)": (["'abc def'"], None),
    "decimal(5,2)": (["-1.25", "999.99"], "decimal(9,4)"),
    "decimal(9,4)": (["12345.6789"], None),
    "datetime": (["'2026-02-03 04:05:06'"], "datetime(3)"),
    "datetime(3)": (["'2026-02-03 04:05:06.789'"], None),
    "time": (["'-01:02:03'"], "time(6)"),
    "time(6)": (["'12:13:14.151617'"], None),
    "enum('a','b')": (["'a'", "'b'"], "enum('a','b','c')"),
    "enum('a','b','c')": (["'c'"], None),
    "set('a','b')": (["'a,b'", "''"], "set('a','b','c','d','e','f','g','h','i')"),
    "set('a','b','c','d','e','f','g','h','i')": (["'a,i'"], None),
    "double": (["1.5"], None),
    "text": (["'some text'"], None),
    "bit(9)": (["b'101010101'"], None),
}


class Table:
    """A table whose columns change at random, and the statements that change it."""

    def __init__(self, rng):
        self.rng, self.columns, self.made, self.keys = rng, {}, 0, set()

    def column(self, name):
        data_type = self.columns[name]
        choices = TYPES[data_type][0] + ["null"]
        return self.rng.choice(choices)

    def place(self):
        return self.rng.choice(["", " first", " after id", *(f" after {name}" for name in self.columns)])

    def alteration(self):
        kind = self.rng.choice(["add", "add", "drop", "widen", "rename", "index", "drop index", "move", "default"])
        names = list(self.columns)
        name = self.rng.choice(names) if names else None
        if kind == "add" or name is None:
            self.made += 1
            new, data_type = f"c{self.made}", self.rng.choice(list(TYPES))
            place = self.place()
            self.columns[new] = data_type
            default = self.column(new) if data_type != "text" else "null"
            not_null = "not null " if self.rng.random() < 0.3 and default != "null" and "repeat" not in default else ""
            default = "" if "repeat" in default else f"default {default}"
            return f"add column {new} {data_type} {not_null}{default}{place}"
        data_type = self.columns[name]
        if kind == "drop":
            del self.columns[name]
            self.keys.discard(name)
            return f"drop column {name}"
        if kind == "widen":
            self.columns[name] = TYPES[data_type][1] or data_type
            return f"modify {name} {self.columns[name]}"
        if kind == "move":
            place = self.place()
            return f"modify {name} {data_type}{place}" if f"after {name}" not in place + " " else "comment 'moved'"
        if kind == "rename":
            self.made += 1
            new = f"r{self.made}"
            self.columns = {new if known == name else known: data_type for known, data_type in self.columns.items()}
            if name in self.keys:
                self.keys.remove(name)
                return f"rename column {name} to {new}, drop index i_{name}"
            return f"rename column {name} to {new}"
        if kind == "index" and name not in self.keys and data_type not in ("text", "varbinary(1000)"):
            self.keys.add(name)
            return f"add index i_{name} ({name})"
        if kind == "drop index" and self.keys:
            name = self.rng.choice(sorted(self.keys))
            self.keys.remove(name)
            return f"drop index i_{name}"
        return f"comment 'number {self.rng.randrange(100)}'"

    def changes(self, ids):
        """Returns statements that insert, change and delete rows."""
        rng, names = self.rng, list(self.columns)
        statements = []
        for _ in range(rng.randrange(1, 6)):
            chosen = [name for name in names if rng.random() < 0.7]
            values = [self.column(name) for name in chosen]
            ids.append(len(ids) + 1)
            statements.append(f"insert ignore into d.t ({', '.join(['id', *chosen])}) values ({', '.join([str(ids[-1]), *values])})")
        if names:
            name = rng.choice(names)
            statements.append(f"update ignore d.t set {name} = {self.column(name)} where id % 5 = {rng.randrange(5)}")
            name = rng.choice(names)
            statements.append(f"update d.t set n = n + 1 where {name} is null")
        statements.append(f"delete from d.t where id = {rng.randrange(1, len(ids) + 1)}")
        return statements


def answers(server, table):
    """Returns what a server says about the table, read in several ways."""
    found = [server.query("select * from d.t order by id"), server.query("checksum table d.t")]
    for name in sorted(table.keys):
        found.append(server.query(f"select id, {name} from d.t force index (i_{name}) where {name} is not null order by {name}, id"))
    return found


@pytest.mark.parametrize("round", range(3))
def test_rows_of_all_definitions_are_as_in_mariadb(servers, seed, effort, round):
    """Random changes of a table, of its rows and crashes; MariaDB executes the same, and a Paceline and a MariaDB replicate it."""
    rng = random.Random(f"instant-{seed}-{round}")
    paceline, mariadb = servers(Paceline, 1), servers(MariaDb, 2, "--log-bin=b")
    replication_user(paceline)
    replicas = [servers(Paceline, 3, "--slave-parallel-threads=4"), servers(MariaDb, 4, "--log-bin=b")]
    for replica in replicas:
        change_master(replica, paceline, master_use_gtid="slave_pos")
        replica.query("start slave")
    table, ids, done = Table(rng), [], []
    first = "create table d.t (id int primary key, n int not null default 0, key (n)) charset utf8mb4"
    for server in (paceline, mariadb):
        server.query("create database d", first)
    for step in range(int(30 * max(effort, 1))):
        alteration = f"alter table d.t {table.alteration()}"
        statements = [alteration, *table.changes(ids)]
        for server in (paceline, mariadb):
            with server.connect() as connection, connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
        done += statements
        if rng.random() < 0.15:
            paceline.kill()
            paceline.start()
        assert answers(paceline, table) == answers(mariadb, table), "\n".join(done)
        assert paceline.query("check table d.t extended") == (("d.t", "check", "status", "OK"),), "\n".join(done)
    for replica in replicas:
        wait_for_replica(replica, paceline)
        assert_same(paceline, replica)
    replicas[0].kill()
    replicas[0].start()
    assert answers(replicas[0], table) == answers(paceline, table)
    assert replicas[0].query("check table d.t extended") == (("d.t", "check", "status", "OK"),)
    # Rewritten rows are the same.
    before = answers(paceline, table)
    paceline.query("alter table d.t force")
    assert answers(paceline, table) == before


def test_no_row_is_touched(paceline):
    """ALGORITHM=INSTANT has a note if the rows are written anew after all."""
    paceline.query("create database d")
    paceline.query("create table t (a int primary key, b int not null, c varchar(10), key (b)) charset utf8mb4",
                   "insert into t select seq, seq, seq from seq_1_to_1000", database="d")
    with paceline.connect(database="d") as connection, connection.cursor() as cursor:
        for alteration in [
            "add column d int not null default 5",
            "add column e varchar(10) default 'x' first, add column f timestamp not null default current_timestamp after a",
            "drop column c",
            "add column c json",
            "drop column e, add column e decimal(8,3) default 1.5",
            "modify b int null",
            "rename column d to g",
            "alter column g set default 7",
            "modify e decimal(8,3) comment 'e' after b",
        ]:
            cursor.execute(f"alter table t {alteration}, algorithm=instant")
            cursor.execute("show warnings")
            assert cursor.fetchall() == (), alteration
        for alteration in ["modify b bigint", "modify e decimal(12,5)", "add column h enum('a','b') default 'b'", "modify h enum('a','b','c')"]:
            assert cursor.execute(f"alter table t {alteration}") == 0, f"{alteration}: rows were copied"
        cursor.execute("select a, b, e, g, h, c, f > '2020-01-01' from t where b = 77")
        [row] = cursor.fetchall()
        assert [str(value) for value in row] == ["77", "77", "1.50000", "5", "b", "None", "1"]
        cursor.execute("insert into t (a, b) values (2000, 5000000000)")
        cursor.execute("select e, g, h from t where b = 5000000000")
        assert [str(value) for value in cursor.fetchall()[0]] == ["None", "7", "None"]


def test_the_value_of_a_new_column_is_that_of_the_statement(servers):
    """A default that depends on the time is the statement's on all servers, also for rows that are read later."""
    primary, replica = servers(Paceline, 1), servers(Paceline, 2)
    replication_user(primary)
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    primary.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1), (2)")
    with primary.connect(database="d") as connection, connection.cursor() as cursor:
        cursor.execute("set timestamp = 1000000000.25")
        cursor.execute("alter table t add column at timestamp(2) not null default current_timestamp(2), add column d datetime default (now() + interval 1 day)")
        cursor.execute("set timestamp = default")
        cursor.execute("update t set a = 3 where a = 2")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    [(one,), (three,)] = primary.query("select unix_timestamp(at) from d.t order by a")
    assert str(one) == str(three) == "1000000000.25"


def test_a_transaction_that_became_large_before_the_change_writes_rows_after_it(servers):
    """Its rows have a mark that was taken before the columns changed."""
    server = servers(Paceline, 1, "--binlog_large_commit_threshold=10485760")
    server.query("create database d", "create table d.big (a int primary key, b varchar(1000))",
                 "create table d.t (a int primary key, b varchar(20))", "insert into d.t values (1, 'old')")
    with server.connect(database="d") as large, server.connect(database="d") as other:
        large.begin()
        # The rows go to a file.
        large.cursor().execute("insert into big select seq, repeat('x', 900) from seq_1_to_20000")
        other.cursor().execute("alter table t add column c int not null default 7 first, add column d varchar(9) default 'new'")
        cursor = large.cursor()
        cursor.execute("insert into t (a, b, c) values (2, 'large', 8)")
        cursor.execute("update t set b = 'changed' where a = 1")
        expected = ((7, 1, "changed", "new"), (8, 2, "large", "new"))
        cursor.execute("select * from t order by a")
        assert cursor.fetchall() == expected
        large.commit()
    assert server.query("select * from d.t order by a") == expected
    server.query("alter table d.t drop column d")
    expected = tuple(row[:3] for row in expected)
    for _ in range(2):
        assert server.query("select * from d.t order by a") == expected
        assert server.query("check table d.t extended") == (("d.t", "check", "status", "OK"),)
        server.kill()
        server.start()


def test_large_transactions_before_and_after_changes(servers):
    server = servers(Paceline, 1, "--binlog_large_commit_threshold=10485760")
    server.query("create database d", "create table d.t (a int primary key, b varchar(1000))")
    for number in range(3):
        if number == 2:
            # Positions and marks go on in a new log.
            server.query("reset master")
        low = number * 20000
        server.query(f"insert into t (a, b) select seq, repeat('x', 900) from seq_{low + 1}_to_{low + 20000}",
                     f"alter table t add column c{number} int default {number} first", database="d")
    for _ in range(2):
        found = server.query("select c0, c1, c2, count(*), min(a), sum(length(b)) from d.t group by 1, 2, 3 order by 5")
        assert [tuple(map(int, row)) for row in found] == [(0, 1, 2, 60000, 1, 54000000)]
        assert server.query("check table d.t") == (("d.t", "check", "status", "OK"),)
        server.kill()
        server.start()


def test_readers_and_writers_beside_changes(paceline):
    """Sessions read and write the table by names while columns come and go: nobody sees a wrong value."""
    paceline.query("create database d")
    paceline.query("create table t (a int primary key, b int not null, c varchar(20) not null, key (b))",
                   "insert into t select seq, seq * 2, concat('row ', seq) from seq_1_to_500", database="d")
    stopping, failures, seen = threading.Event(), [], [0]

    def work(number):
        rng = random.Random(number)
        with paceline.connect(database="d", autocommit=True) as connection, connection.cursor() as cursor:
            while not stopping.is_set():
                try:
                    at = rng.randrange(1, 501)
                    if rng.random() < 0.3:
                        cursor.execute("update t set c = c where a = %s", (at,))
                        cursor.execute("replace into t (a, b, c) values (%s, %s, %s)", (at, at * 2, f"row {at}"))
                    cursor.execute("select a, b, c from t where b = %s", (at * 2,))
                    found = cursor.fetchall()
                    seen[0] += 1
                    if found != ((at, at * 2, f"row {at}"),):
                        failures.append(found)
                except pymysql.err.MySQLError as error:
                    if error.args[0] not in (1213, 1205, 1020, 1412):
                        failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    try:
        for number in range(12):
            reads = seen[0]
            paceline.query(f"alter table d.t add column x{number} int default {number} {'first' if number % 2 else 'after a'}")
            wait_for("sessions that go on", lambda: seen[0] > reads + 20 or failures)
            if number % 3 == 2:
                paceline.query(f"alter table d.t drop column x{number - 1}, drop column x{number}")
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert paceline.query("check table d.t extended") == (("d.t", "check", "status", "OK"),)


def test_what_else_knows_the_rows(paceline):
    """Foreign keys, duplicate keys, REPLACE, HANDLER, TRUNCATE, LIKE, RENAME and earlier states, with rows of earlier definitions."""
    paceline.query("create database d", "create table d.p (a int primary key, b int, unique (b))",
                   "create table d.c (a int primary key, p int, foreign key (p) references p (b) on update cascade on delete set null)",
                   "insert into d.p values (1, 10), (2, 20)", "insert into d.c values (1, 10), (2, 20)",
                   "alter table d.p add column x varchar(10) default 'x' first",
                   "alter table d.c add column y int default 5 after a", "update d.p set b = 11 where a = 1", "delete from d.p where a = 2")
    assert paceline.query("select * from d.c order by a") == ((1, 5, 11), (2, 5, None))
    with paceline.connect(database="d") as connection, connection.cursor() as cursor:
        with pytest.raises(pymysql.err.IntegrityError):
            cursor.execute("insert into p (a, b) values (1, 50)")
        cursor.execute("insert into p (a, b) values (1, 50) on duplicate key update x = concat(x, 'y')")
        cursor.execute("select * from p")
        assert cursor.fetchall() == (("xy", 1, 11),)
        cursor.execute("handler c open")
        cursor.execute("handler c read first")
        assert cursor.fetchall() == ((1, 5, 11),)
        cursor.execute("handler c close")
        cursor.execute("create table l like c")
        cursor.execute("insert into l select * from c")
        cursor.execute("rename table c to e")
        cursor.execute("alter table e comment 'renamed'")
        cursor.execute("select * from e order by a")
        assert cursor.fetchall() == ((1, 5, 11), (2, 5, None))
        cursor.execute("analyze table e persistent for all")
        cursor.execute("truncate e")
        cursor.execute("insert into e (a, p) values (7, null)")
        cursor.execute("select * from e")
        assert cursor.fetchall() == ((7, 5, None),)
    with paceline.connect(database="d") as old, paceline.connect(database="d") as new:
        cursor = old.cursor()
        cursor.execute("start transaction with consistent snapshot")
        new.cursor().execute("alter table l add column z int default 1")
        with pytest.raises(pymysql.err.MySQLError) as refused:
            cursor.execute("select * from l")
        assert refused.value.args[0] == 1412
    paceline.kill()
    paceline.start()
    assert paceline.query("select * from d.l order by a") == ((1, 5, 11, 1), (2, 5, None, 1))
