"""Clients that request large results and do not read them: other clients must continue, and the server must not buffer
without limit."""

import time

import pymysql

from torture.harness import Finding
from torture.servers import Cluster, check_for_panics

from .observe import Committer, memory_peak_bytes

ROW_BYTES = 10_000
GROWTH_BYTES_MAX = 200 << 20


def run(part, rng, directory):
    rows = 3_000 if part.short else 20_000
    cluster = Cluster(directory, rng)
    try:
        server = cluster.start()
        server.query("create database pressure", "create table pressure.wide (id int primary key, pad longtext)")
        for start in range(0, rows, 500):
            server.query("insert into pressure.wide values " + ", ".join(f"({id}, repeat('x', {ROW_BYTES}))" for id in range(start, start + 500)))
        committer = Committer(server)
        # Reads everything once normally, so that the memory needed for that is not attributed to the slow readers.
        server.query("select id, length(pad) from pressure.wide")
        with server.connect(cursorclass=pymysql.cursors.SSCursor) as warm, warm.cursor() as cursor:
            cursor.execute("select * from pressure.wide")
            for _ in cursor:
                pass
        before = memory_peak_bytes(server)
        readers = [server.connect(cursorclass=pymysql.cursors.SSCursor) for _ in range(8)]
        cursors = []
        for reader in readers:
            cursor = reader.cursor()
            cursor.execute("select * from pressure.wide order by id")
            cursors.append(cursor)
        counted = committer.count
        for _ in range(10 if part.short else 40):
            # The reader is slow.
            time.sleep(0.05)
            for cursor in cursors:
                cursor.fetchone()
        # A definition must wait for the readers. Other statements must not.
        assert committer.count > counted, "nobody commits while results are read slowly"
        grown = memory_peak_bytes(server) - before
        if grown > GROWTH_BYTES_MAX:
            raise Finding(f"the server took {grown >> 20} MB more for {len(readers)} results of {rows * ROW_BYTES >> 20} MB that nobody read")
        # A client that reads the whole result gets all rows of its statement's snapshot.
        server.query("delete from pressure.wide where id % 2 = 0")
        seen = 10 if part.short else 40
        while cursors[0].fetchone() is not None:
            seen += 1
        assert seen == rows, f"{seen} of {rows} rows came"
        committer.stop()
        for reader in readers:
            # Otherwise the driver continues to read the unread rows, and prints long messages.
            if reader._result is not None:
                reader._result.unbuffered_active = False
            reader._force_close()
        part.numbers["results read slowly"] += len(readers)
        check_for_panics(cluster)
    finally:
        cluster.close()
