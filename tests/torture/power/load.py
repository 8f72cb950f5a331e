"""The load before a power failure: numbered transactions and DDL. Each acknowledgement becomes a mark in the recording.

Every client asks for the GTID of its committed transaction. So for any state of the server it is known which
transactions it must hold: exactly those up to the last GTID in its log, and these must include all that were
acknowledged before the power failed.
"""

import random
import re
import threading

import pymysql

from support import workload
from support.servers import CrashFs

DEFINITIONS = "defined"


class Recording(CrashFs):
    """A disk that records its operations."""

    def __init__(self, mount_point, file):
        super().__init__(mount_point, "--record", file)
        self.lock = threading.Lock()

    def mark(self, text):
        with self.lock:
            self.say(f"mark {text}")


def sequence(cursor):
    """Returns the sequence number of the session's last transaction."""
    cursor.execute("select @@last_gtid")
    return int(cursor.fetchone()[0].split("-")[2])


class Load(workload.Load):
    """The load of the crash tests, with the GTIDs of all transactions."""

    def __init__(self, server, workers, seed, recording):
        super().__init__(server, workers, seed)
        self.recording = recording
        self.sequences = {worker: {} for worker in range(workers)}  # worker → number → sequence number
        self.threads.append(threading.Thread(target=self.define, args=(seed,), daemon=True))
        self.states = []        # sequence number of a definition, state of its database after it
        self.undecided = None   # a definition that was sent but not answered

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
                        self.recording.mark(f"{worker} {number}")
                        self.sequences[worker][number] = sequence(cursor)
                        self.acknowledged[worker] = number
                    except pymysql.err.MySQLError as error:
                        if error.args[0] not in workload.RETRY:
                            raise
                        connection.rollback()
        except (pymysql.err.OperationalError, pymysql.err.InterfaceError) as error:
            if error.args[0] not in (0, 1053, 1927, 2003, 2006, 2013):
                self.errors.append((worker, error))
        except OSError:
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, the round must see it
            self.errors.append((worker, error))

    def define(self, seed):
        """Runs definitions of all kinds, one after the other."""
        rng = random.Random(f"{seed}-definitions")
        try:
            with self.server.connect() as connection, connection.cursor() as cursor:
                number = 0
                while not self.stopping.is_set():
                    number += 1
                    for statement in definitions(number, rng):
                        if self.stopping.is_set():
                            return
                        self.undecided = statement
                        cursor.execute(statement)
                        self.recording.mark(f"d {len(self.states)}")
                        self.states.append((sequence(cursor), fingerprint(cursor)))
                        self.undecided = None
                    if number % 3 == 0:
                        cursor.execute("flush binary logs")
                    if number % 5 == 0:
                        cursor.execute("show binary logs")
                        names = [row[0] for row in cursor.fetchall()]
                        cursor.execute(f"purge binary logs to '{names[max(0, len(names) - 3)]}'")
        except pymysql.err.MySQLError as error:
            if error.args[0] not in (0, 1053, 1927, 2003, 2006, 2013):
                self.errors.append(("definitions", error, self.undecided))
        except OSError:
            pass
        except Exception as error:  # noqa: BLE001
            self.errors.append(("definitions", error))


def definitions(number, rng):
    """Yields the statements of a table's life. Each may need the ones before."""
    name = f"{DEFINITIONS}.t{number}"
    yield f"create table {name} (id int primary key, a int, b varchar(200)) character set utf8mb4"
    rows = ", ".join(f"({id}, {id * 7 % 100}, repeat('{number}', {id % 60 + 1}))" for id in range(rng.randrange(2, 300)))
    yield f"insert into {name} values {rows}"
    steps = [f"alter table {name} add column c int default 5 after a", f"alter table {name} add index (a)",
             f"update {name} set a = a + 1 where id % 3 = 0", f"alter table {name} modify b varchar(300)",
             f"create table {DEFINITIONS}.copy{number} like {name}", f"truncate table {name}", f"rename table {name} to {name}r"]
    for step in rng.sample(steps[:4], 3):
        yield step
    yield steps[4]
    if rng.random() < 0.5:
        yield steps[5]
    yield f"drop table {DEFINITIONS}.copy{number}"
    yield steps[6]
    if number > 4:
        yield f"drop table {DEFINITIONS}.t{number - 4}r"


def fingerprint(cursor):
    """Returns the definitions and rows of the tables in the definitions' database."""
    cursor.execute(f"show tables from {DEFINITIONS}")
    found = []
    for (name,) in sorted(cursor.fetchall()):
        cursor.execute(f"show create table {DEFINITIONS}.{name}")
        definition = re.sub(r" AUTO_INCREMENT=\d+", "", cursor.fetchone()[1])
        cursor.execute(f"select * from {DEFINITIONS}.{name}")
        found.append((name, definition, tuple(sorted(cursor.fetchall()))))
    return tuple(found)


def create(server):
    workload.create(server)
    server.query(f"create database {DEFINITIONS}")
