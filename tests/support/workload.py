"""A load whose every transaction can be checked afterwards: acknowledged, present, complete.

Each worker writes numbered transactions. Transaction k of worker w
- sets `counter.value` of row w to k,
- inserts (w, k) into `history`, with a payload that is a function of w and k,
- moves an amount between two random accounts (and so competes with other workers for locks),
- sometimes deletes its older history, or rolls everything back and starts again.

Whatever happened, for every worker: counter = newest history row; no row is missing between the oldest and the
newest; the payloads are right; the sum of all accounts is unchanged; and the counter lies between the last
acknowledged and the last attempted number.
"""

import random
import threading

import pymysql

from support.waiting import let_run

ACCOUNTS = 20
AMOUNT_EACH = 1000
# Errors that mean "try again": deadlock, lock wait timeout, changed since the snapshot.
RETRY = {1213, 1205, 1020}


def payload(worker, number):
    return f"{worker}:{number}:" + "x" * (number * 7919 % 300)


def create(server, engine="InnoDB"):
    server.query(
        "create database load_test",
        f"create table load_test.counter (worker int primary key, value bigint not null) engine={engine}",
        f"""create table load_test.history (worker int, number bigint, at timestamp(6) default current_timestamp(6), payload text,
            primary key (worker, number), key (number), key (payload(20))) engine={engine}""",
        f"create table load_test.account (id int primary key, amount decimal(20,2) not null) engine={engine}",
        "insert into load_test.account values " + ",".join(f"({id}, {AMOUNT_EACH})" for id in range(ACCOUNTS)),
    )


class Load:
    """Workers that run until `stop`, or until the server is gone."""

    def __init__(self, server, workers, seed):
        self.server = server
        self.acknowledged = {worker: self.highest(worker) for worker in range(workers)}
        self.tried = dict(self.acknowledged)
        self.errors = []
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(worker, random.Random(f"{seed}-{worker}")), daemon=True)
                        for worker in range(workers)]

    def highest(self, worker):
        rows = self.server.query(f"select value from load_test.counter where worker={worker}")
        return rows[0][0] if rows else 0

    def start(self):
        for thread in self.threads:
            thread.start()
        return self

    def stop(self):
        self.stopping.set()
        self.join()

    def join(self):
        for thread in self.threads:
            thread.join(120)
            assert not thread.is_alive(), "a worker hangs"
        assert not self.errors, self.errors

    def run(self, worker, rng):
        try:
            with self.server.connect(autocommit=False) as connection, connection.cursor() as cursor:
                while not self.stopping.is_set():
                    number = self.acknowledged[worker] + 1
                    try:
                        self.transaction(cursor, worker, number, rng)
                        if rng.random() < 0.05:
                            connection.rollback()
                            continue
                        self.tried[worker] = number
                        connection.commit()
                        self.acknowledged[worker] = number
                    except pymysql.err.MySQLError as error:
                        if error.args[0] not in RETRY:
                            raise
                        connection.rollback()
        except (pymysql.err.OperationalError, pymysql.err.InterfaceError) as error:
            # 2003, 2006, 2013: the server is gone, as a crash test intends; 1053: it is shutting down.
            if error.args[0] not in (0, 1053, 1927, 2003, 2006, 2013):
                self.errors.append((worker, error))
        except (ConnectionError, OSError):
            pass
        except Exception as error:  # noqa: BLE001 - the test must see any error
            self.errors.append((worker, error))

    def transaction(self, cursor, worker, number, rng):
        cursor.execute("insert into load_test.counter values (%s, %s) on duplicate key update value=values(value)", (worker, number))
        cursor.execute("insert into load_test.history (worker, number, payload) values (%s, %s, %s)",
                       (worker, number, payload(worker, number)))
        giver, taker = rng.sample(range(ACCOUNTS), 2)
        amount = rng.randrange(1, 500) / 100
        cursor.execute("update load_test.account set amount=amount-%s where id=%s", (amount, giver))
        cursor.execute("update load_test.account set amount=amount+%s where id=%s", (amount, taker))
        if rng.random() < 0.02:
            cursor.execute("delete from load_test.history where worker=%s and number<%s", (worker, number - 20))


def check(server, load, loses_acknowledged=False):
    """Compares the server's contents with what the load was told. Returns the number of transactions found."""
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("start transaction with consistent snapshot")
        cursor.execute("select sum(amount), count(*) from load_test.account")
        assert cursor.fetchone() == (ACCOUNTS * AMOUNT_EACH, ACCOUNTS)
        cursor.execute("select worker, value from load_test.counter")
        counters = dict(cursor.fetchall())
        total = 0
        for worker, acknowledged in load.acknowledged.items():
            value = counters.get(worker, 0)
            total += value
            assert value <= load.tried[worker], f"worker {worker}: {value} was never tried"
            if not loses_acknowledged:
                assert value >= acknowledged, f"worker {worker}: acknowledged {acknowledged}, found {value}"
            cursor.execute("select number, payload from load_test.history where worker=%s order by number", (worker,))
            rows = cursor.fetchall()
            assert [row[0] for row in rows] == list(range(value - len(rows) + 1, value + 1)), f"worker {worker} has gaps"
            assert value == 0 or rows, f"worker {worker}: the history is gone"
            for number, text in rows:
                assert text == payload(worker, number), f"worker {worker}: row {number} is damaged"
            # The secondary indexes must agree with the rows.
            cursor.execute("select count(*) from load_test.history force index (number) where number>0 and worker=%s", (worker,))
            assert cursor.fetchone()[0] == len(rows)
        cursor.execute("commit")
    return total


def for_a_while(rng, least=0.2, most=1.5):
    let_run(rng.uniform(least, most))
