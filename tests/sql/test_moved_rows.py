"""A statement locks rows along an index while another session moves a row in this index: the row is met at its old
and its new place, and counts once, as in MariaDB."""

import threading

import pytest

from support.servers import MariaDb, Paceline


@pytest.fixture(params=[Paceline, MariaDb], ids=["paceline", "mariadb"])
def server(request, tmp_path):
    server = request.param(tmp_path / "server", "--server-id=1")
    try:
        server.start()
        server.query("create database t")
        yield server
    finally:
        server.close()


def test_a_row_that_moves_counts_once(server):
    server.query("create table t.a (id int primary key, c int, n int default 0, key (c))",
                 "insert into t.a (id, c) values " + ", ".join(f"({id}, {id * 10 - 1000})" for id in range(1, 200)))
    for statement in ("update t.a force index (c) set n = n + 1 where c <> 0", "update t.a force index (c) set c = c + 1 where c <> 0",
                      "select id from t.a force index (c) where c <> 0 for update"):
        with server.connect(autocommit=False) as mover, server.connect(autocommit=False) as finder:
            moving, finding = mover.cursor(), finder.cursor()
            # Out of the range before 0, into the range after it.
            moving.execute("update t.a set c = 5000 where id = 50")
            found = []
            thread = threading.Thread(target=lambda: found.append(finding.execute(statement)))
            thread.start()
            thread.join(0.5)
            assert not found, "it waits for the row"
            mover.commit()
            thread.join(60)
            rows = [row[0] for row in finding.fetchall()]
            finding.execute("select max(n), max(c) from t.a")
            assert finding.fetchone() in ((1, 5000), (0, 5001), (0, 5000)), statement
            finder.rollback()
        assert found == [198] and len(set(rows)) == len(rows), statement
        server.query("update t.a set c = 50 * 10 - 1000 where id = 50")


def test_identical_rows_count_once_from_the_end(server):
    server.query("create table t.a (k int, v int, key (k))",
                 "insert into t.a values " + ", ".join(f"({k}, 0), ({k}, 0)" for k in range(1, 1001)))
    server.query("update t.a set v = v + 1 where k between 10 and 12 order by k desc", "update t.a set v = v + 2 where k = 14 order by k desc limit 1",
                 "update t.a force index (k) set v = v + 3 where k > 990 order by k desc limit 5",
                 "delete from t.a where k between 20 and 22 order by k desc", "delete from t.a where k between 30 and 32 order by k desc limit 3")
    assert server.query("select v from t.a where k between 10 and 12") == ((1,),) * 6
    assert server.query("select v from t.a where k = 14 order by v") == ((0,), (2,))
    assert server.query("select k, v from t.a where k > 990 and v <> 0 order by k") == ((998, 3), (999, 3), (999, 3), (1000, 3), (1000, 3))
    assert server.query("select count(*), max(v) from t.a where k > 990") == ((20, 3),)
    left = server.query("select k, count(*) from t.a where k between 20 and 32 group by k order by k")
    assert left == (*((k, 2) for k in range(23, 31)), (31, 1))
