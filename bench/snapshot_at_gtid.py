#!/usr/bin/env python3
"""Measures the cost of START TRANSACTION WITH CONSISTENT SNAPSHOT AT GTID, by the number of single-row updates after
the position.

    bench/snapshot_at_gtid.py [--transactions N,...]      (default: 0,1000,10000,100000; over a table of 100,000 rows with a secondary index)
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.servers import Paceline  # noqa: E402

ROWS = 100_000
ROWS_EACH = 1000
SUM = "select count(*), sum(k) from d.t"


def timed(cursor, statement):
    """Returns milliseconds and the result."""
    begun = time.perf_counter()
    cursor.execute(statement)
    return (time.perf_counter() - begun) * 1000, cursor.fetchall()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--transactions", default="0,1000,10000,100000")
    counts = sorted(int(count) for count in arguments.parse_args().transactions.split(","))
    directory = tempfile.mkdtemp(prefix="look-back-")
    server = Paceline(f"{directory}/server").start()
    try:
        server.query("create database d", "create table d.t (id int primary key auto_increment, k int, c varchar(100), key (k))")
        for _ in range(0, ROWS, ROWS_EACH):
            server.query("insert into d.t (k, c) values " + ",".join(f"({k}, repeat('x', 80))" for k in range(ROWS_EACH)))
        position = server.query("select @@gtid_binlog_pos")[0][0]
        expected = server.query(SUM)
        done = 0
        print("transactions taken back |  to begin | a scan of all rows | the same, as they are now")
        for count in counts:
            with server.connect(autocommit=False) as session, session.cursor() as cursor:
                while done < count:
                    cursor.execute(f"update d.t set k = k + 1 where id = {done % ROWS + 1}")
                    session.commit()
                    done += 1
                begin, _ = timed(cursor, f"start transaction with consistent snapshot at gtid '{position}'")
                scan, found = timed(cursor, SUM)
                assert found == expected, (found, expected)
                session.commit()
                now, _ = timed(cursor, SUM)
            print(f"{count:23,} | {begin:6.1f} ms | {scan:15.1f} ms | {now:.1f} ms")
    finally:
        server.close()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
