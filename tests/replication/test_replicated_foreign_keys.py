"""Foreign keys with actions through chains of servers, ours and MariaDB's: changes by actions are in our log and not
in MariaDB's, and all servers end with the same rows."""

import contextlib
import random
import threading
import time

import pymysql
from support.chains import chains, wait_for_all
from support.replication import assert_same, slave_status
from support.servers import MariaDb, Paceline
from support.waiting import let_run

CHAINS = {
    "paceline-mariadb": [Paceline, MariaDb],
    "mariadb-paceline": [MariaDb, Paceline],
    "paceline-paceline": [Paceline, Paceline],
    "mariadb-paceline-mariadb": [MariaDb, Paceline, MariaDb],
    "paceline-mariadb-paceline": [Paceline, MariaDb, Paceline],
}

TABLES = [
    "create table f.a (id int primary key, u int, unique (u))",
    "create table f.b (id int primary key, a int, foreign key (a) references f.a (id) on delete cascade on update cascade)",
    "create table f.c (id int auto_increment primary key, b int, u int, foreign key (b) references f.b (id) on delete cascade on update set null, "
    "foreign key (u) references f.a (u) on delete set null on update cascade)",
    "create table f.d (b int, v varchar(10), foreign key (b) references f.b (id) on delete cascade on update cascade)",
    "create table f.tree (id int primary key, parent int, foreign key (parent) references f.tree (id) on delete cascade)",
    "create table f.r (id int primary key, c int, foreign key (c) references f.c (id))",
]


def every(*names):
    return chains(CHAINS, names)


def some_statement(rng):
    key, other = rng.randrange(30), rng.randrange(30)
    return rng.choice([
        f"insert into f.a values ({key}, {other})",
        f"insert into f.a values ({key}, null)",
        f"insert into f.b values ({key}, {other})",
        f"insert into f.b values ({key}, {other}), ({other}, {key})",
        f"insert into f.c (b, u) values ({key}, {other}), ({key}, null), (null, {key})",
        f"insert into f.d values ({key}, 'x'), ({key}, 'x'), ({other}, 'y')",
        f"insert into f.tree values ({key}, {other})",
        f"insert into f.tree values ({key}, null), ({key + 30}, {key})",
        f"insert into f.r select {key}, min(id) from f.c where b = {other}",
        f"replace into f.a values ({key}, {other})",
        f"insert into f.a values ({key}, {other}) on duplicate key update id = {other}, u = {key}",
        f"update f.a set id = {other} where id = {key}",
        f"update f.a set u = {other} where id = {key}",
        f"update f.b set id = {other} where id = {key}",
        f"update f.b set a = {other} where id = {key}",
        f"update ignore f.a set id = id + 1 where id > {key} order by id desc",
        f"delete from f.a where id = {key}",
        f"delete ignore from f.a where id between {key} and {other}",
        f"delete from f.b where a = {key}",
        f"delete from f.tree where id = {key}",
        f"delete from f.tree where id > {key} order by id",
        f"delete a, b from f.a a join f.b b on b.a = a.id where a.id = {key}",
        f"update f.a a join f.b b on b.a = a.id set a.u = {other}, b.id = {other} where a.id = {key}",
        "delete from f.r",
    ])


class Load:
    """Sessions that change everything at random. Their errors come from foreign keys, unique keys and conflicting
    locks."""

    def __init__(self, server, sessions, seed):
        self.server, self.done, self.wrong, self.changed = server, threading.Event(), [], 0
        self.threads = [threading.Thread(target=self.run, args=(random.Random(f"{seed}-{number}"),)) for number in range(sessions)]
        for thread in self.threads:
            thread.start()

    def run(self, rng):
        while not self.done.is_set():
            try:
                with self.server.connect(database="f", autocommit=False) as session, session.cursor() as cursor:
                    while not self.done.is_set():
                        for _ in range(rng.randrange(1, 4)):
                            try:
                                self.changed += cursor.execute(some_statement(rng)) > 0
                            except pymysql.MySQLError as error:
                                if error.args[0] not in (1020, 1022, 1062, 1213, 1205, 1451, 1452, 1761, 1296):
                                    raise
                        (session.rollback if rng.random() < 0.1 else session.commit)()
            except (pymysql.MySQLError, OSError) as error:
                # The server was killed.
                if error.args and error.args[0] not in (0, 1020, 1053, 1213, 2003, 2006, 2013):
                    self.wrong.append(error)
                    return
                # The server is away for a while.
                time.sleep(0.05)

    def stop(self):
        self.done.set()
        for thread in self.threads:
            thread.join()
        assert not self.wrong, self.wrong


def assert_whole(server):
    """Checks that every reference has its parent."""
    for child, column, parent, key in (("b", "a", "a", "id"), ("c", "b", "b", "id"), ("c", "u", "a", "u"), ("d", "b", "b", "id"),
                                       ("tree", "parent", "tree", "id"), ("r", "c", "c", "id")):
        lost = server.query(f"select * from f.{child} x where {column} is not null and not exists (select 1 from f.{parent} y where "
                            f"y.{key} = x.{column})")
        assert not lost, (server, child, lost)


@every()
def test_a_random_load(chain, seed, effort):
    chain[0].query("create database f", *TABLES)
    wait_for_all(chain)
    load = Load(chain[0], 4, seed)
    let_run(3 * effort)
    load.stop()
    assert load.changed > 50
    wait_for_all(chain)
    for server in chain:
        assert_whole(server)
    for replica in chain[1:]:
        assert_same(chain[0], replica)


@every("paceline-mariadb", "mariadb-paceline")
def test_kills_among_actions(chain, seed, effort):
    rng = random.Random(seed)
    chain[0].query("create database f", *TABLES)
    wait_for_all(chain)
    ours = next(server for server in chain if isinstance(server, Paceline))
    load = Load(chain[0], 4, seed)
    for _ in range(max(2, int(4 * effort))):
        let_run(rng.uniform(0.2, 0.7))
        ours.kill()
        ours.start()
        assert_whole(ours)
        if ours is chain[0]:
            for replica in chain[1:]:
                with contextlib.suppress(pymysql.MySQLError):
                    replica.query("start slave")
    load.stop()
    wait_for_all(chain)
    for server in chain:
        assert_whole(server)
    assert_same(chain[0], chain[1])


@every("paceline-mariadb", "mariadb-paceline")
def test_what_is_logged(chain):
    """A MariaDB's log has only the parent's row. Ours has every row, in events that say so."""
    chain[0].query("create database f", *TABLES, "insert into f.a values (1,1),(2,2)", "insert into f.b values (1,1),(2,1)",
                   "insert into f.d values (1,'x'),(2,'y'),(2,'y')")
    chain[0].query("delete from f.a where id = 1")
    wait_for_all(chain)
    for server in chain:
        assert server.query("select * from f.b") == () and server.query("select * from f.d") == ()
        [(text,)] = server.query("select group_concat(x) from (select 1 x) z")
        assert text == "1"
    for server in chain:
        log, _, *_ = server.query("show master status")[0]
        shown = server.client("--read-from-remote-server", "--host=127.0.0.1", f"--port={server.port}", "--user=root", "-v", log,
                              program="mariadb-binlog")
        deleted = [line for line in shown.splitlines() if line.startswith("### DELETE FROM")]
        tables = {line.split("`")[3] for line in deleted}
        if isinstance(server, Paceline):
            assert tables == {"a", "b", "d"} and len(deleted) == 6, deleted
        else:
            assert tables == {"a"} or chain[0] is not server, deleted
    assert_same(chain[0], chain[1])


@every("mariadb-paceline")
def test_only_what_the_primary_would_do(chain):
    """Rows that a primary changes under foreign_key_checks=0 cause no actions, and the replica refuses nothing that
    its primary has done."""
    primary, replica = chain
    primary.query("create database f", *TABLES, "insert into f.a values (1,1),(2,2)", "insert into f.b values (1,1),(2,2)")
    with primary.connect(database="f", autocommit=True) as session, session.cursor() as cursor:
        cursor.execute("set foreign_key_checks=0")
        cursor.execute("delete from a where id = 1")
        cursor.execute("insert into b values (7, 77)")
        cursor.execute("drop table a")
        cursor.execute("create table a (id int primary key, u int, unique (u))")
    wait_for_all(chain)
    assert replica.query("select * from f.b order by id") == ((1, 1), (2, 2), (7, 77))
    assert slave_status(replica)["Last_SQL_Error"] == ""
    assert_same(primary, replica)


@every("paceline-mariadb", "paceline-paceline")
def test_what_was_checked_is_not_checked_again(chain):
    """A parent without children is deleted; before the commit, a session without checks gives it a child. In the log
    the child comes first."""
    primary = chain[0]
    primary.query("create database f", *TABLES, "insert into f.c (id) values (1), (2)")
    with primary.connect(database="f") as deleting, primary.connect(database="f", autocommit=True) as unchecked:
        with deleting.cursor() as cursor:
            cursor.execute("delete from c where id = 2")
        with unchecked.cursor() as cursor:
            cursor.execute("set foreign_key_checks=0")
            cursor.execute("insert into r values (9, 2)")
        deleting.commit()
    wait_for_all(chain)
    for server in chain:
        assert server.query("select * from f.r") == ((9, 2),) and server.query("select id from f.c") == ((1,),)
    assert_same(*chain)
