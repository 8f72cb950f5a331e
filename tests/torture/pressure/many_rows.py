"""More rows than fit in memory: the process must stay below its memory limit, and every row must exist, through
loading, sorting, grouping, building an index, and recovery.

`ROWS` in the environment sets the number of rows: 100000000 for the full case, which takes almost an hour and 20 GB of
disk. The data is then below `TMPDIR` instead of in memory. The kernel enforces the limit: an allocation beyond it
fails."""

import os
import resource
import shutil
import tempfile
import time
from pathlib import Path

from torture.harness import Finding
from torture.servers import Cluster, check_for_panics

from .observe import memory_peak_bytes

MEMORY_BYTES_MAX = 2 << 30
# Rows per LOAD DATA statement.
BATCH = 100_000
# Number of different values of v. It is a prime, so that the values of successive rows are spread over all of them.
VALUES = 1_000_003


def run(part, rng, directory):
    if "ROWS" not in os.environ:
        rows_in(part, rng, directory, 100_000 if part.short else 2_000_000)
        return
    aside = Path(tempfile.mkdtemp(prefix="paceline-torture-rows-"))
    try:
        rows_in(part, rng, aside, int(os.environ["ROWS"]))
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def rows_in(part, rng, directory, rows):
    cluster = Cluster(directory, rng)
    try:
        server = cluster.start()
        limit(server)
        server.query("create database pressure", "create table pressure.many (id int primary key, v int, pad char(40), key (v))")
        done = 0
        while done < rows and (done < 100_000 or "ROWS" in os.environ or part.seconds_left() > 0):
            load(server, directory, done)
            done += BATCH
        took("loaded", done)
        ask(server, done)
        took("asked", done)
        # All rows are sorted, grouped, and put into a new index.
        assert server.query("select id from pressure.many order by pad desc, id limit 2", read_timeout=3600) == ((0,), (1,))
        took("sorted", done)
        expected = (done + VALUES - 1) // VALUES
        [(groups, most)] = server.query("select count(*), max(n) from (select count(*) n from pressure.many group by v) g", read_timeout=3600)
        assert (groups, most) == (min(done, VALUES), expected), (groups, most)
        took("grouped", done)
        server.query("alter table pressure.many add key (pad, v)", read_timeout=3600)
        [(found,)] = server.query("select count(*) from pressure.many force index (pad) where pad = 'x' and v < 1000", read_timeout=3600)
        assert found == small_values(done, 0, 999), found
        took("indexed", done)
        # Many rows are changed, and then the process is killed.
        changed = min(done // 4, 1_000_000)
        server.query(f"update pressure.many set pad='y' where id < {changed}", read_timeout=3600)
        peak = memory_peak_bytes(server)
        part.numbers["rows in one table"] = max(part.numbers["rows in one table"], done)
        part.numbers["memory for them (MB)"] = max(part.numbers["memory for them (MB)"], peak >> 20)
        server.kill()
        server.spawn()
        limit(server)
        server.wait_until_ready()
        took("recovered", done)
        ask(server, done)
        assert server.query("select count(*) from pressure.many force index (pad) where pad = 'y'", read_timeout=3600) == ((changed,),)
        peak = max(peak, memory_peak_bytes(server))
        if peak > MEMORY_BYTES_MAX:
            raise Finding(f"the server took {peak >> 20} MB for {done} rows")
        check_for_panics(cluster)
    finally:
        cluster.close()


def limit(server):
    """Limits the writable private memory of the process, whatever its origin; not mapped files and the page cache."""
    resource.prlimit(server.process.pid, resource.RLIMIT_DATA, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))


def load(server, directory, start):
    file = Path(directory) / "rows.txt"
    file.write_text("".join(f"{id}\t{id * 7919 % VALUES}\tx\n" for id in range(start, start + BATCH)))
    server.query(f"load data local infile '{file}' into table pressure.many", local_infile=True, read_timeout=3600)


def small_values(rows, first, last):
    """Returns how many of the first `rows` rows have a value from `first` to `last`."""
    whole, rest = divmod(rows, VALUES)
    return whole * (last - first + 1) + sum(first <= id * 7919 % VALUES <= last for id in range(rest))


def ask(server, rows):
    assert server.query("select count(*), min(id), max(id) from pressure.many", read_timeout=3600) == ((rows, 0, rows - 1),)
    wanted = rows // 2
    assert server.query(f"select id from pressure.many where v = {wanted * 7919 % VALUES} and id = {wanted}") == ((wanted,),)
    [(sample,)] = server.query("select count(*) from pressure.many force index (v) where v between 500 and 1500")
    assert sample == small_values(rows, 500, 1500), sample


def took(what, rows):
    """Prints the progress of the full case."""
    if "ROWS" in os.environ:
        print(f"{time.strftime('%H:%M:%S')} {rows} rows {what}", flush=True)

