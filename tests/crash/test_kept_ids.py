"""kill -9 under sessions that insert and delete: an id that a committed row had is never assigned again."""

import random
import threading

import pymysql
from support import workload

TABLES = ("plain", "nested")


def deliver(server, seed, done, lock):
    """Inserts and deletes rows, as consumers of a queue do, until the server dies. Records the committed ids."""
    rng = random.Random(seed)
    connection = server.connect(autocommit=False)
    cursor = connection.cursor()
    while True:
        try:
            table, ids = rng.choice(TABLES), []
            for _ in range(rng.randint(1, 3)):
                cursor.execute(f"insert into q.{table} (v) values {', '.join(['(1)'] * rng.randint(1, 3))}")
                ids.extend(range(cursor.lastrowid, cursor.lastrowid + cursor.rowcount))
                if rng.random() < 0.5:
                    cursor.execute(f"delete from q.{table} where id = {rng.choice(ids)}")
                if rng.random() < 0.1:
                    cursor.execute(f"update q.{table} set id = id + 1000 where id = {ids[0]}")
            if rng.random() < 0.2:
                connection.rollback()
                continue
            connection.commit()
            with lock:
                done[table].extend(ids)
            cursor.execute(f"delete from q.{table} where id > {rng.choice(ids) - 5}")
            connection.commit()
        except pymysql.err.MySQLError as error:
            if error.args[0] not in (1062, 1213):  # conflicts between two sessions
                assert error.args[0] in (0, 2006, 2013), error
                return
            connection.rollback()


def test_no_id_is_given_out_again(paceline, seed, effort):
    rng = random.Random(f"ids-{seed}")
    paceline.query("create database q", "create table q.plain (id bigint auto_increment primary key, v int)",
                   "create table q.nested (id bigint auto_increment, v int, primary key (v, id), key (id))")
    done, lock = {table: [] for table in TABLES}, threading.Lock()
    for round in range(max(4, int(10 * effort))):
        workers = [threading.Thread(target=deliver, args=(paceline, f"{seed}-{round}-{n}", done, lock)) for n in range(4)]
        for worker in workers:
            worker.start()
        workload.for_a_while(rng, 0.2, 0.8)
        paceline.kill()
        for worker in workers:
            worker.join()
        paceline.start()
        for table in TABLES:
            # Above all committed ids, whether their rows still exist or not.
            next_id = paceline.query(f"insert into q.{table} (v) values (1)", "select last_insert_id()")[0][0]
            assert next_id > max(done[table]), (table, round)
            done[table].append(next_id)
        if rng.random() < 0.5:
            paceline.query(*(f"delete from q.{table}" for table in TABLES), "flush binary logs", "purge binary logs before now()")
    assert all(len(set(ids)) == len(ids) > 100 for ids in done.values())
