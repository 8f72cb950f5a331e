"""innodb_snapshot_isolation, and the locks of rows that a change reads: two sessions on Paceline and on a real
MariaDB, which must give the same answers."""

import pymysql
import pytest

from support.servers import MariaDb, Paceline

TABLES = [
    "create or replace table s (id int primary key, v int, k int, u int, key (k), unique (u))",
    "insert into s values (1,1,1,1),(2,2,2,2),(3,3,3,3)",
    "create or replace table d (id int, v int)",
    "insert into d values (1,1),(2,2)",
]

# Session and statement, in order. 1020 rolls back the whole transaction: the next statement stands alone.
SNAPSHOTS = [
    "a: begin", "a: update s set v=10 where id=1", "a: select * from s", "b: update s set v=20, k=22 where id=2",
    "b: insert into s values (4,4,4,4)", "b: delete from s where id=3", "a: select * from s", "a: update s set v=v+5 where id=2",
    "a: select @@in_transaction", "a: select * from s", "a: select id from s where k=2", "a: select id, k from s where k > 1 order by k",
    "a: select id from s force index (k) where k=22", "a: update s set v=v+100 where k>=4", "a: select * from s order by id",
    "a: delete from s where id=3", "a: select * from s for update", "a: commit", "a: select * from s order by id",
    # A savepoint restores the view too.
    "b: update s set v=1, k=1, u=10 where id=1", "a: begin", "a: select * from s", "b: update s set k=77, u=77 where id=1",
    "b: insert into s values (9,9,9,10)", "a: savepoint x", "a: update s set v=7 where id=1", "a: select * from s where id=1",
    "a: select id from s where k=77", "a: select id from s where u=10", "a: select id from s where u=77", "a: rollback to x",
    "a: select * from s where id=1", "a: select id from s where k=77", "a: select id from s where k=1", "a: rollback",
    "b: delete from s where id=9",    "a: begin", "a: select count(*) from s", "b: update s set k=k+1, v=0 where id=2", "a: select * from s where id=2 lock in share mode",
    "a: update ignore s set v=1 where id=2", "a: select @@in_transaction", "a: rollback",
    "a: set autocommit=0", "a: select count(*) from s", "b: update s set v=80 where id=2", "a: update s set v=1 where id=4",
    "a: update s set v=v+1 where id=2", "a: rollback", "a: set autocommit=1", "a: select * from s order by id",
]

# A row that is deleted and inserted again. (Under ON MariaDB refuses the insert until the row is purged.)
COMING_AGAIN = [
    "a: begin", "a: select count(*) from s", "b: delete from s where id=1", "a: insert into s values (1,5,5,5)",
    "a: select * from s where id=1", "a: select id from s where k=1", "a: select id from s where k=5", "a: select count(*) from s",
    "a: rollback", "a: select count(*) from s",
]

SOURCES = [
    "insert into d select id,v from s where id<3",
    "update d set v=(select max(v) from s where id<3)",
    "delete from d where id in (select id from s where id<3)",
    "replace into d select id,v from s where id=1",
    "insert into d values ((select max(v) from s where id<3),1)",
    "insert into d select max(id),1 from s",
    "do (select v from s where id=1)",
    "insert into d select id,v from s where k=2",
    "insert into d select 1,1 from s where k=77",
]


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    ours, model = Paceline(tmp_path_factory.mktemp("paceline")), MariaDb(tmp_path_factory.mktemp("mariadb"))
    try:
        for server in (ours, model):
            server.start()
            server.query("create or replace database t character set utf8mb4")
        yield ours, model
    finally:
        ours.close()
        model.close()


def answer(connection, statement):
    with connection.cursor() as cursor:
        try:
            cursor.execute(statement)
            return cursor.rowcount, cursor.fetchall()
        except pymysql.MySQLError as error:
            return error.args


def answers(server, settings, steps):
    """Returns a server's answers to each step, with tables of their own."""
    server.query(*TABLES, database="t")
    sessions = {name: server.connect(database="t") for name in "ab"}
    try:
        for session in sessions.values():
            for setting in settings:
                answer(session, f"set {setting}")
        return [(step, answer(sessions[step[0]], step[3:])) for step in steps]
    finally:
        for session in sessions.values():
            session.close()


@pytest.mark.parametrize("value", ["ON", "OFF"])
def test_changes_of_rows_that_another_session_has_changed(servers, value):
    ours, model = (answers(server, [f"innodb_snapshot_isolation={value}"], SNAPSHOTS) for server in servers)
    assert ours == model


def test_rows_that_are_inserted_again(servers):
    ours, model = (answers(server, ["innodb_snapshot_isolation=OFF"], COMING_AGAIN) for server in servers)
    assert ours == model


def test_snapshot_isolation_is_on_unless_switched_off(servers):
    assert servers[0].query("select @@innodb_snapshot_isolation, @@global.innodb_snapshot_isolation") == ((1, 1),)
    _, first = next(entry for entry in answers(servers[0], [], SNAPSHOTS[:8]) if entry[0].startswith("a: update s set v=v+5"))
    assert first[0] == 1020


@pytest.mark.parametrize("isolation", ["REPEATABLE-READ", "READ-COMMITTED"])
def test_rows_read_by_a_change_are_locked(servers, isolation):
    steps = []
    for source in SOURCES:
        steps += ["a: begin", f"a: {source}", "b: update s set v=7 where id=1", "b: rollback", "a: rollback"]
    steps += ["b: begin", "b: update s set v=50 where id=1"]
    steps += [f"a: {source}" for source in SOURCES[:3]]
    steps += ["b: rollback"]
    settings = [f"tx_isolation='{isolation}'", "innodb_lock_wait_timeout=0", "autocommit=1"]
    ours, model = (answers(server, settings, steps) for server in servers)
    # InnoDB may also lock rows that it has read and that did not match. These steps are chosen so that both agree.
    assert ours == model
