"""More rows than memory: the process keeps its limit, and every row is there. ROWS in the environment sets how many (100000000 for the full case)."""

import os

from torture.harness import Finding
from torture.servers import Cluster, complaints

from .observe import memory_peak_bytes

MEMORY_BYTES_MAX = 2 << 30
BATCH = 5000


def run(part, chance, directory):
    rows = int(os.environ.get("ROWS", 100_000 if part.short else 2_000_000))
    cluster = Cluster(directory, chance)
    try:
        server = cluster.start()
        server.query("create database pressure", "create table pressure.many (id int primary key, v int, pad char(40), key (v))")
        done = 0
        with server.connect() as connection, connection.cursor() as cursor:
            while done < rows and (done < 100_000 or "ROWS" in os.environ or part.left() > 0):
                cursor.execute("insert into pressure.many values " + ", ".join(f"({id}, {id * 7919 % 1000003}, 'x')" for id in range(done, done + BATCH)))
                done += BATCH
        ask(server, done)
        peak = memory_peak_bytes(server)
        part.numbers["rows in one table"] = max(part.numbers["rows in one table"], done)
        part.numbers["memory for them (MB)"] = max(part.numbers["memory for them (MB)"], peak >> 20)
        if peak > MEMORY_BYTES_MAX:
            raise Finding(f"the server took {peak >> 20} MB for {done} rows")
        server.kill()
        server.start()
        ask(server, done)
        complaints(cluster)
    finally:
        cluster.close()


def ask(server, rows):
    assert server.query("select count(*), min(id), max(id) from pressure.many") == ((rows, 0, rows - 1),)
    wanted = rows // 2
    assert server.query(f"select id from pressure.many where v = {wanted * 7919 % 1000003} and id = {wanted}") == ((wanted,),)
    [(sample,)] = server.query("select count(*) from pressure.many force index (v) where v between 500 and 1500")
    assert sample == sum(500 <= id * 7919 % 1000003 <= 1500 for id in range(rows)), sample
