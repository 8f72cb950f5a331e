"""One huge transaction. Other transactions must not wait for it, and after a crash all or none of its rows exist."""


import pymysql

from support.waiting import let_run
from torture.harness import Finding
from torture.servers import Cluster, check_for_panics

from .observe import Committer

ROW_BYTES = 100_000
# A stall is a finding if the machine's load cannot explain it: it is long, and much longer than the longest before.
STALL_MS_MAX, TIMES_BEFORE_MAX = 1000, 4
REFUSALS = {1197, 1026, 1021, 3}


def run(part, rng, directory):
    size = 48 << 20 if part.short else 1 << 30
    cluster = Cluster(directory, rng)
    try:
        server = cluster.start()
        server.query("create database pressure", "create table pressure.huge (id int primary key, pad longtext)")
        committer = Committer(server)
        with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
            rows, batch = 0, 40
            refused = None
            try:
                while rows * ROW_BYTES < size:
                    cursor.execute("insert into pressure.huge values "
                                   + ", ".join(f"({id}, repeat(char({97 + id % 26}), {ROW_BYTES}))" for id in range(rows, rows + batch)))
                    rows += batch
                before = committer.longest_ms()
                connection.commit()
            except pymysql.err.MySQLError as error:
                refused = error
                if error.args[0] not in REFUSALS:
                    raise
                before = committer.longest_ms()
                connection.rollback()
        # A commit that is still stalled is counted when it ends.
        let_run(1)
        stall = committer.longest_ms()
        committer.stop()
        found = server.query("select count(*), coalesce(sum(length(pad)), 0) from pressure.huge")
        expected = (0, 0) if refused else (rows, rows * ROW_BYTES)
        assert found == (expected,), f"{found} of {expected} ({refused})"
        part.numbers["huge transactions"] += 1
        part.numbers["huge transactions refused"] += refused is not None
        part.numbers["longest stall beside one (ms)"] = max(part.numbers["longest stall beside one (ms)"], round(stall))
        if stall > STALL_MS_MAX and stall > TIMES_BEFORE_MAX * before:
            raise Finding(f"commits beside a transaction of {rows * ROW_BYTES >> 20} MB waited {stall:.0f} ms while it committed, {before:.0f} ms before")
        # After a crash the transaction must not exist in part.
        server.kill()
        server.start()
        assert server.query("select count(*), coalesce(sum(length(pad)), 0) from pressure.huge") == (expected,)
        check_for_panics(cluster)
    finally:
        cluster.close()
