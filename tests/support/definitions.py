"""DDL during a load."""

import random
import threading

import pymysql


class Definitions(threading.Thread):
    """Runs DDL of every kind, one statement after the other, until stopped."""

    def __init__(self, server, seed):
        super().__init__(daemon=True)
        self.server = server
        self.rng = random.Random(f"ddl-{seed}")
        self.stopping = threading.Event()
        self.statements = 0
        self.error = None

    def run(self):
        try:
            with self.server.connect() as connection, connection.cursor() as cursor:
                cursor.execute("create database ddl")
                number = 0
                while not self.stopping.is_set():
                    number += 1
                    cursor.execute(f"create table ddl.t{number} (id int primary key auto_increment, a int, b varchar(100))")
                    cursor.execute(f"insert into ddl.t{number} (a, b) values " +
                                   ",".join(f"({n * 7919 % 100}, repeat('x', {n % 90}))" for n in range(300)))
                    for statement in self.rng.sample([
                        f"alter table ddl.t{number} add index (a, id)",
                        f"alter table ddl.t{number} modify a bigint not null, add c int default 5",
                        f"alter table ddl.t{number} change b b2 varchar(120) default 'new'",
                        f"alter table ddl.t{number} engine=innodb",
                        f"update ddl.t{number} set a=a+1 where id % 3 = 0",
                        f"truncate table ddl.t{number}",
                        f"insert into ddl.t{number} (a) values (1), (2)",
                        f"create or replace table ddl.copy as select id, a from ddl.t{number}",
                        f"rename table ddl.t{number} to ddl.renamed, ddl.renamed to ddl.t{number}",
                        f"create user if not exists u{number % 5}@localhost identified by 'x'",
                        "drop user if exists u3@localhost",
                    ], 5):
                        cursor.execute(statement)
                        self.statements += 1
                    if number > 4:
                        cursor.execute(f"drop table ddl.t{number - 4}")
        except pymysql.err.MySQLError as error:
            if error.args[0] not in (1053, 1927, 2006, 2013):
                self.error = error

    def stop(self):
        self.stopping.set()
        self.join(60)
        assert self.error is None, self.error
        assert self.statements > 5
