"""TPC-H: the 22 queries must have MariaDB's answers, each within three times its time.

Options: --scale 0.1 (600,000 rows of lineitem), --runs 3 (the best one counts), --only 5,8 (some of the queries),
--ratio 3 (limit of the ratio), --keep DIRECTORY (keeps and reuses the data and the servers' directories), --plans
(both EXPLAINs of each failed query).
"""

import argparse
import contextlib
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pymysql

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

import data  # noqa: E402
from support.servers import MariaDb, Paceline  # noqa: E402
from support.side_by_side import statements_of  # noqa: E402

TABLES = ["region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem"]
SECONDS_MAX = 600
# Below this, times cannot be told from those of the connection.
SECONDS_NOTICED = 0.002


def queries(scale):
    """Returns the texts by number."""
    text = (HERE / "queries.sql").read_text(encoding="ascii").replace("{fraction}", f"{0.0001 / scale:.10f}".rstrip("0"))
    pieces = re.split(r"^-- Q(\d+)\n", text, flags=re.M)
    return {int(number): query.strip().rstrip(";") for number, query in zip(pieces[1::2], pieces[2::2])}


def load(server, files):
    """Creates and fills the tables. Returns the time."""
    started = time.monotonic()
    options = {"database": "tpch", "local_infile": True, "read_timeout": SECONDS_MAX}
    server.query("create database tpch character set utf8mb4 collate utf8mb4_general_ci")
    server.query(*statements_of((HERE / "schema.sql").read_text(encoding="ascii")), **options)
    for table in TABLES:
        server.query(f"load data local infile '{files / table}.tbl' into table {table} character set ascii fields terminated by '|'", **options)
        server.query(f"analyze table {table}", **options)
    return time.monotonic() - started


def answer(server, query, runs):
    """Returns the rows, or the error's text, and the best time."""
    best = float("inf")
    with server.connect(database="tpch", read_timeout=SECONDS_MAX) as connection, connection.cursor() as cursor:
        for _ in range(runs):
            started = time.monotonic()
            try:
                cursor.execute(query)
                rows = cursor.fetchall()
            except pymysql.MySQLError as error:
                return str(error), 0.0
            best = min(best, time.monotonic() - started)
    return rows, best


def plan(server, query):
    with server.connect(database="tpch", read_timeout=SECONDS_MAX) as connection, connection.cursor() as cursor:
        cursor.execute("explain " + query)
        return "\n".join("    " + " | ".join("" if value is None else str(value) for value in row) for row in cursor.fetchall())


def examine(ours, model, options):
    """Runs all queries on both. Returns the number of failed ones."""
    failed = 0
    print(f"{'':>4} {'MariaDB':>10} {'Paceline':>10} {'ratio':>7}")
    for number, query in queries(options.scale).items():
        if options.only and number not in options.only:
            continue
        expected, theirs_seconds = answer(model, query, options.runs)
        got, seconds = answer(ours, query, options.runs)
        ratio = max(seconds, SECONDS_NOTICED) / max(theirs_seconds, SECONDS_NOTICED)
        wrong = got != expected
        slow = ratio > options.ratio
        failed += wrong or slow
        verdict = "WRONG" if wrong else "slow" if slow else ""
        print(f"Q{number:<3} {theirs_seconds * 1000:>7.1f} ms {seconds * 1000:>7.1f} ms {ratio:>7.2f} {verdict}", flush=True)
        if wrong:
            print(f"    answer:   {str(got)[:600]}\n    expected: {str(expected)[:600]}")
        if options.plans and (wrong or slow):
            print(f"  MariaDB:\n{plan(model, query)}\n  Paceline:\n{plan(ours, query)}")
    return failed


def main():
    parser = argparse.ArgumentParser(prog="tests/exams/tpch")
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--ratio", type=float, default=3.0)
    parser.add_argument("--only", type=lambda text: [int(number) for number in text.split(",")])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--plans", action="store_true")
    options = parser.parse_args()
    directory = options.keep or Path(tempfile.mkdtemp(prefix="paceline-tpch-"))
    files = directory / f"scale-{options.scale}"
    servers = [MariaDb(directory / "mariadb", "--innodb-buffer-pool-size=1G", "--skip-log-bin"), Paceline(directory / "paceline")]
    with contextlib.ExitStack() as after:
        if not options.keep:
            after.callback(shutil.rmtree, directory, ignore_errors=True)
        if not (files / "lineitem.tbl").exists():
            files.mkdir(parents=True, exist_ok=True)
            data.write(files, options.scale)
        for server in servers:
            after.callback(server.close)
            server.start()
            after.callback(server.stop)
            if not server.query("show databases like 'tpch'"):
                print(f"loaded into {type(server).__name__} in {load(server, files):.1f} s", flush=True)
        model, ours = servers
        return examine(ours, model, options)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
