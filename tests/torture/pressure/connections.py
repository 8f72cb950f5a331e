"""Thousands of connections, each in a transaction of its own."""

import resource
from concurrent.futures import ThreadPoolExecutor

import pymysql

from torture.servers import Cluster, check_for_panics

THREADS = 32
RETRY = {1213, 1205, 1020}


def run(part, rng, directory):
    count = 200 if part.short else 2000
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, count + 1000) if most > 0 else count + 1000, most))
    cluster = Cluster(directory, rng)
    try:
        server = cluster.start()
        server.query("create database pressure", "create table pressure.t (id int primary key, v int not null)",
                     "insert into pressure.t values " + ", ".join(f"({id}, 0)" for id in range(200)))
        with ThreadPoolExecutor(THREADS) as pool:
            sessions = list(pool.map(lambda _: server.connect(autocommit=False), range(count)))
            keys = [rng.randrange(200) for _ in range(count)]
            done = sum(pool.map(lambda pair: several(*pair), zip(sessions, keys)))
            # All sessions have a transaction open at the same time, each with a row of its own to insert.
            list(pool.map(lambda pair: insert(*pair), enumerate(sessions)))
            list(pool.map(lambda session: session.commit(), sessions))
        assert server.query("select sum(v) from pressure.t") == ((done,),)
        assert server.query("select count(*) from pressure.t where id >= 1000") == ((count,),)
        for session in sessions:
            session.close()
        part.numbers["connections"] += count
        part.numbers["transactions"] += done + count
        check_for_panics(cluster)
    finally:
        cluster.close()


def several(session, key):
    done = 0
    with session.cursor() as cursor:
        for _ in range(3):
            try:
                cursor.execute(f"update pressure.t set v = v + 1 where id = {key}")
                session.commit()
                done += 1
            except pymysql.err.OperationalError as error:
                if error.args[0] not in RETRY:
                    raise
                session.rollback()
    return done


def insert(number, session):
    with session.cursor() as cursor:
        cursor.execute(f"insert into pressure.t values ({1000 + number}, 0)")
