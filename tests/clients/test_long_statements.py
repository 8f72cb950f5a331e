"""Statements that compute for long, more of them than the server has workers: everybody else is served meanwhile."""

import threading
import time

import pymysql
import pytest
from support.servers import Paceline

LONG = "select sum(sqrt(a.v * b.v + c.v)) from d.n a join d.n b join d.n c"


@pytest.fixture
def server(tmp_path):
    server = Paceline(tmp_path, "--paceline_worker_threads=2").start()
    server.query("create database d", "create table d.n (v int primary key)",
                 "insert into d.n values " + ", ".join(f"({number})" for number in range(1000)))
    yield server
    server.close()


def test_others_are_served_and_each_can_be_killed(server):
    ended = []

    def run():
        try:
            server.query(LONG)
        except pymysql.err.MySQLError as error:
            ended.append(error.args[0])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    while server.query("select count(*) from information_schema.processlist where info like 'select sum(sqrt%'") != ((4,),):
        assert time.monotonic() < deadline, "the statements do not begin"
        time.sleep(0.01)
    longest = 0
    for number in range(50):
        start = time.monotonic()
        server.query(f"replace into d.n values ({number})", "select max(v) from d.n")
        longest = max(longest, time.monotonic() - start)
    assert longest < 5, f"a connection with two statements took {longest:.1f} s"
    for (session,) in server.query("select id from information_schema.processlist where info like 'select sum(sqrt%'"):
        server.query(f"kill query {session}")
    for thread in threads:
        thread.join(timeout=20)
        assert not thread.is_alive()
    assert ended == [1317] * 4
