#!/usr/bin/env python3
"""Measures access to a single table, compared with MariaDB: keyset pages, many ranges, groups by an index, covering
indexes, long IN lists, the catalogue.

    bench/access_paths.py [--only WORD] [--rounds N] [--rows N] [--factor X]

Both servers have the same rows and answer each query in turns, over a UNIX socket. The medians are printed side by
side, and both answers must be equal. Prepared statements are those of the protocol (mysql-connector with
`prepared=True`). With `--factor` the program fails if Paceline takes more than X times as long as MariaDB, except
where the two differ by less than 0.1 ms.
"""

import argparse
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import mysql.connector  # noqa: E402
from support.servers import MariaDb, Paceline  # noqa: E402

DATABASE = "d"
TABLES = 837
SEED = 20


class Query:
    """A query whose parameters change each time; `prepared` sends it as a prepared statement."""

    def __init__(self, name, text, parameters=lambda draw: (), prepared=False, ordered=True):
        self.name, self.text, self.parameters, self.prepared, self.ordered = name, text, parameters, prepared, ordered


def queries(rows):
    def near(draw, width):
        start = draw.randrange(1, rows - width)
        return start, start + width

    def many(draw, width):
        return tuple(bound for _ in range(10) for bound in near(draw, width))

    keyset = ("select id, c from page where c < {0} or (c = {0} and id < {1}) order by c desc, id desc limit 20")
    ranges = " or ".join(["k between %s and %s"] * 10)
    text_in = ",".join(str(7 * n + 3) for n in range(20_000))
    return [
        Query("keyset page", keyset.format("%s", "%s"), lambda draw: (c := draw.randrange(rows), c, draw.randrange(rows))),
        Query("keyset page, prepared", keyset.format("%s", "%s"), lambda draw: (c := draw.randrange(rows), c, draw.randrange(rows)), True),
        Query("keyset page by row order", "select id, c from page where (c, id) < (%s, %s) and c <= %s order by c desc, id desc limit 20",
              lambda draw: (c := draw.randrange(rows), draw.randrange(rows), c)),
        Query("page within a group", "select id, pad from sb where g = %s and id > %s order by id limit 20",
              lambda draw: (draw.randrange(50), draw.randrange(rows))),
        Query("10 random ranges, prepared", f"select count(k) from sb where {ranges}", lambda draw: many(draw, 5), True),
        Query("10 random points, prepared", f"select id, k, pad from sb where k in ({','.join(['%s'] * 10)}) order by id",
              lambda draw: tuple(draw.randrange(rows) for _ in range(10)), True),
        Query("10 random ranges", f"select count(k) from sb where {ranges}", lambda draw: many(draw, 5)),
        Query("DISTINCT by an index", "select distinct g from sb order by g"),
        Query("DISTINCT of text by an index", "select distinct s from sb order by s"),
        Query("COUNT(DISTINCT) by an index", "select count(distinct g) from sb"),
        Query("MAX of each group", "select g, max(k) from sb group by g"),
        Query("MIN and MAX of each group", "select g, min(k), max(k) from sb group by g"),
        Query("MAX of the key of each group", "select s, max(id) from sb group by s"),
        Query("DISTINCT of few rows a group", "select count(*) from (select distinct k from sb) as d"),
        Query("COUNT of a range", "select count(*) from sb where k between %s and %s", lambda draw: near(draw, 500)),
        Query("SUM of a range", "select sum(k) from sb where k between %s and %s", lambda draw: near(draw, 500)),
        Query("rows of a covering range", "select k, id from sb where k between %s and %s order by k, id", lambda draw: near(draw, 200)),
        Query("COUNT of a text", "select count(*) from sb where s = %s", lambda draw: (f"state {draw.randrange(20)}",)),
        Query("COUNT of a text and a range", "select count(*) from sb where s = %s and k < %s",
              lambda draw: (f"state {draw.randrange(20)}", draw.randrange(rows))),
        Query("GROUP BY a covering index", "select g, count(*) from sb group by g"),
        Query("COUNT of all", "select count(*) from sb"),
        Query("IN of 100 keys", f"select id, pad from sb where id in ({','.join(['%s'] * 100)})",
              lambda draw: tuple(draw.randrange(1, rows) for _ in range(100)), ordered=False),
        Query("IN of 100 keys, prepared", f"select id, pad from sb where id in ({','.join(['%s'] * 100)})",
              lambda draw: tuple(draw.randrange(1, rows) for _ in range(100)), True, ordered=False),
        Query("IN of 20,000 values, no index", f"select count(*) from plain where v in ({text_in})"),
        Query("SHOW FIELDS", "show fields from t%s", lambda draw: (draw.randrange(TABLES),)),
        Query("SHOW TABLE STATUS LIKE", "show table status like %s", lambda draw: (f"t{draw.randrange(TABLES)}",)),
        Query("SHOW INDEX", "show index from t%s", lambda draw: (draw.randrange(TABLES),)),
        Query("columns of a table", "select column_name, column_type from information_schema.columns "
              "where table_schema = 'd' and table_name = %s order by ordinal_position", lambda draw: (f"t{draw.randrange(TABLES)}",)),
        Query("whether a table is there", "select count(*) from information_schema.tables where table_schema = database() and table_name = %s",
              lambda draw: (f"t{draw.randrange(TABLES)}",)),
        Query("point select, prepared", "select pad from sb where id = %s", lambda draw: (draw.randrange(1, rows),), True),
    ]


def fill(server, rows):
    server.query("create database d character set utf8mb4")
    with server.connect(database=DATABASE) as session, session.cursor() as cursor:
        cursor.execute("create table sb (id int primary key auto_increment, k int not null, g int not null, s varchar(20), pad varchar(120) not null, "
                       "key k (k), key gk (g, k), key sk (s, k))")
        cursor.execute("create table page (id int primary key auto_increment, c int not null, t varchar(80), key c (c))")
        cursor.execute("create table plain (id int primary key auto_increment, v int)")
        draw = random.Random(SEED)
        for start in range(0, rows, 1000):
            count = min(1000, rows - start)
            values = [(draw.randrange(rows), draw.randrange(50), f"state {draw.randrange(20)}", "x" * 120) for _ in range(count)]
            cursor.execute("insert into sb (k, g, s, pad) values " + ",".join(map(str, values)))
            cursor.execute("insert into page (c, t) values " + ",".join(f"({draw.randrange(rows // 3)}, 'title')" for _ in range(count)))
        for start in range(0, 8000, 1000):
            cursor.execute("insert into plain (v) values " + ",".join(f"({draw.randrange(200_000)})" for _ in range(1000)))
        for number in range(TABLES):
            cursor.execute(f"create table t{number} (id int primary key, a varchar(20), b int, key (b))")
        cursor.execute("analyze table sb, page, plain")
        cursor.fetchall()


class Client:
    def __init__(self, server):
        connect = {"user": "root", "unix_socket": str(server.socket), "database": DATABASE, "use_pure": True, "autocommit": True}
        self.connection = mysql.connector.connect(**connect)
        self.plain = self.connection.cursor()
        self.prepared = self.connection.cursor(prepared=True)

    def time(self, query, parameters):
        """Returns the time in microseconds, and the rows."""
        cursor = self.prepared if query.prepared else self.plain
        begun = time.perf_counter()
        cursor.execute(query.text, parameters)
        rows = cursor.fetchall()
        return (time.perf_counter() - begun) * 1e6, rows


def measure(query, clients, rounds):
    """Returns the medians of both servers in microseconds, and whether the answers were equal."""
    times, same = [[], []], True
    draw = random.Random(SEED)
    # Fewer rounds for slow queries.
    first = [client.time(query, query.parameters(random.Random(1)))[0] for client in clients]
    rounds = max(3, min(rounds, int(3e6 / max(1, max(first)))))
    for _ in range(rounds):
        parameters = query.parameters(draw)
        answers = []
        for side, client in enumerate(clients):
            elapsed, rows = client.time(query, parameters)
            times[side].append(elapsed)
            answers.append(rows if query.ordered else sorted(rows))
        if "SHOW TABLE STATUS" in query.name or "SHOW INDEX" in query.name:
            answers = [[row[:2] for row in rows] for rows in answers]
        same &= answers[0] == answers[1]
    return [statistics.median(side) for side in times], same


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--rounds", type=int, default=200)
    arguments.add_argument("--rows", type=int, default=100_000)
    arguments.add_argument("--factor", type=float)
    options = arguments.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="access-paths-"))
    servers = [MariaDb(directory / "mariadb"), Paceline(directory / "paceline")]
    failed = []
    try:
        for server in servers:
            fill(server.start(), options.rows)
        clients = [Client(server) for server in servers]
        print(f"{'':34} | MariaDB µs | Paceline µs | factor")
        for query in queries(options.rows):
            if options.only not in query.name:
                continue
            (theirs, ours), same = measure(query, clients, options.rounds)
            print(f"{query.name:34} | {theirs:10,.0f} | {ours:11,.0f} | {ours / theirs:6.2f}{'' if same else '  DIFFERENT ANSWERS'}", flush=True)
            if not same or (options.factor and ours > options.factor * theirs and ours - theirs > 100):
                failed.append(query.name)
    finally:
        for server in servers:
            server.close()
        shutil.rmtree(directory)
    if failed:
        sys.exit(f"slower than allowed, or different: {', '.join(failed)}")


if __name__ == "__main__":
    main()
