"""A queue of jobs in a table: a session that takes the first open job locks only that job."""

import pytest

from support.servers import MariaDb, Paceline


@pytest.mark.parametrize("kind", [Paceline, MariaDb], ids=["paceline", "mariadb"])
def test_a_prepared_change_stops_at_the_first_row(kind, tmp_path):
    server = kind(tmp_path / "server", "--server-id=1")
    server.start()
    try:
        server.query("create database t", "create table t.jobs (id int primary key, state varchar(10), done int default 0, key (state))",
                     "insert into t.jobs (id, state) values " + ", ".join(f"({id}, 'open')" for id in range(1, 101)))
        with server.connect(autocommit=False, database="t") as other, server.connect(autocommit=False, database="t") as worker:
            other.cursor().execute("select * from jobs where id = 50 for update")
            cursor = worker.cursor()
            for statement in ("set innodb_lock_wait_timeout = 1, @from = 0, @open = 'open'",
                              "prepare take from 'update jobs set done = 1 where state = ? order by id limit 1'", "execute take using @open",
                              "prepare take from 'update jobs set done = 2 where id > ? and state = ? order by id limit 1'",
                              "execute take using @from, @open", "prepare take from 'delete from jobs where state = ? order by id limit 1'",
                              "execute take using @open"):
                cursor.execute(statement)
            worker.commit()
        assert server.query("select min(id), max(done) from t.jobs") == ((2, 0),)
    finally:
        server.close()
