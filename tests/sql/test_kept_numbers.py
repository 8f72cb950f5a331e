"""AUTO_INCREMENT continues after deleted rows, across restarts and on a replica that becomes the primary, as in
MariaDB's InnoDB."""

import pytest
from support.servers import MariaDb, Paceline

# Changes of t, which has three rows, before the restart. Rows inserted before and after the restart must get
# MariaDB's ids.
CHANGES = {
    "last row": ["delete from t where id = 3"],
    "all rows": ["delete from t"],
    "in a transaction that inserts": ["begin", "delete from t where id = 3", "insert into t (v) values (4)", "delete from t where v = 4", "commit"],
    "rolled back": ["begin", "delete from t", "rollback"],
    "a savepoint": ["begin", "delete from t where id = 3", "savepoint s", "delete from t where id = 2", "rollback to s", "commit"],
    "replaced": ["replace into t values (3, 30)", "delete from t where id = 3"],
    "named high": ["insert into t values (100, 100)", "delete from t where id = 100"],
    "cascade": ["create table c (id int auto_increment primary key, p int, foreign key (p) references t (id) on delete cascade)",
                "insert into c (p) values (1), (3)", "delete from t where id = 3"],
    "two tables": ["create table c (id int auto_increment primary key, p int)", "insert into c (p) values (1), (3)",
                   "delete t, c from t join c on t.id = c.p"],
    "truncated": ["delete from t where id = 3", "truncate table t"],
    "dropped": ["delete from t", "drop table t", "create table t (id int auto_increment primary key, v int)"],
    "emptied before": ["delete from t", "insert into t (v) values (4)", "delete from t"],
    "renamed": ["delete from t", "rename table t to u", "rename table u to t"],
    "a column more": ["delete from t", "alter table t add w int"],
    "rebuilt": ["delete from t", "alter table t modify v bigint not null default 1, force"],
    "told where to go on": ["delete from t", "alter table t auto_increment = 1"],
    "told to go further": ["delete from t", "alter table t auto_increment = 50"],
    "no rows": [],
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A Paceline that was killed and a MariaDB that was stopped after the same changes, each in a database of its
    own."""
    servers = [kind(tmp_path_factory.mktemp("server"), *options) for kind, options in ((Paceline, ["--server-id=1"]), (MariaDb, []))]
    for server in servers:
        server.start()
        for number, change in enumerate(CHANGES.values()):
            database = f"d{number}"
            server.query(f"create database {database}")
            server.query("create table t (id int auto_increment primary key, v int)", "insert into t (v) values (1), (2), (3)", *change, database=database)
    paceline, mariadb = servers
    paceline.kill()
    mariadb.stop()
    for server in servers:
        server.start()
    yield servers
    for server in servers:
        server.close()


@pytest.mark.parametrize("name", CHANGES)
def test_the_counter_continues_after_a_restart(pair, name):
    database = f"d{list(CHANGES).index(name)}"
    insert = ["insert into t (v) values (7), (8)", "select id from t order by id"]
    tables = [row[0] for row in pair[1].query("show tables", database=database)]
    assert tables == [row[0] for row in pair[0].query("show tables", database=database)]
    for table in tables:
        status = f"select auto_increment from information_schema.tables where table_schema = '{database}' and table_name = '{table}'"
        assert pair[0].query(status) == pair[1].query(status)
    ours, theirs = (server.query(*insert, database=database) for server in pair)
    assert ours == theirs


def test_it_is_kept_by_a_flush_and_by_a_clean_shutdown(paceline):
    paceline.query("create database d", "create table d.t (id int auto_increment primary key, v int)", "insert into d.t (v) values (1), (2), (3)",
                   "delete from d.t", "flush binary logs", "purge binary logs before now()")
    for end in (paceline.stop, paceline.kill, paceline.stop):
        end()
        paceline.start()
    assert paceline.query("insert into d.t (v) values (1)", "select id from d.t") == ((4,),)


def test_a_table_in_memory_starts_again(paceline):
    paceline.query("create database d", "create table d.t (id int auto_increment primary key) engine=memory", "insert into d.t values (), (), ()",
                   "delete from d.t")
    assert paceline.query("insert into d.t values ()", "select id from d.t") == ((4,),)
    paceline.kill()
    paceline.start()
    assert paceline.query("insert into d.t values ()", "select id from d.t") == ((1,),)
