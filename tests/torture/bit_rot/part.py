"""Bit rot: flips single bits in every kind of data, in the log and in the table files. A server that starts on such
data and is asked for everything must return an error or the right answer, never a wrong one."""

import hashlib
import shutil
import subprocess
import time
from collections import defaultdict

import pymysql

from support import workload
from support.servers import Paceline
from torture.harness import Finding

from . import byte_kinds

OPTIONS = ["--paceline_log_block_size=1048576", "--paceline_block_cache_size=8388608", "--max_binlog_size=131072"]
START_SECONDS_MAX = 120


def run(part):
    for round in part.rounds():
        part.run_round(round, lambda directory, round=round: one_round(part, round, directory))


def one_round(part, round, directory):
    rng = part.rng(round)
    server = Paceline(directory / "server", *OPTIONS)
    logs, clean = fill(server, rng, clean=round % 2 == 0)
    kept = directory / "kept"
    shutil.copytree(server.datadir, kept)
    server.start()
    try:
        wanted = Answers(server, logs)
    finally:
        server.kill()
    by_kind = defaultdict(list)
    for byte_range in byte_kinds.of_directory(kept):
        by_kind[byte_range.kind].append(byte_range)
    part.numbers["kinds of bytes"] = max(part.numbers["kinds of bytes"], len(by_kind))
    for number, kind in enumerate(sorted(by_kind) * (1 if part.short else 8)):
        if part.seconds_left() < 0 and number >= len(by_kind):
            break
        if part.short and part.seconds_left() < 0 and number > 12:
            break
        byte_range = rng.choice(by_kind[kind])
        offset, bit = rng.randrange(byte_range.start, byte_range.end), rng.randrange(8)
        shutil.rmtree(server.datadir)
        shutil.copytree(kept, server.datadir)
        flip(server.datadir / byte_range.path, offset, bit)
        part.numbers["flips"] += 1
        what = f"{kind}: bit {bit} of byte {offset} of {byte_range.path} flipped, {'after a clean end' if clean else 'after a kill'}"
        outcome = check_state(server, wanted, logs, byte_range, what)
        part.numbers[outcome] += 1


def flip(path, offset, bit):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ (1 << bit)]))


def fill(server, rng, clean):
    """Fills a server with tables, indexes and several log files, partly flushed. Returns the names of the closed log
    files, and `clean`."""
    server.start()
    try:
        workload.create(server)
        server.query("create database rot character set utf8mb4",
                     "create table rot.t (id int primary key, a int, b varchar(100), c decimal(10,2), d datetime(3), key (a), unique key (b))",
                     "create table rot.no_key (a int, b text)", "create table rot.last (id int primary key)")
        with server.connect() as connection, connection.cursor() as cursor:
            for start in range(0, 3000, 500):
                rows = ", ".join(f"({id}, {id * 7 % 1000}, 'row {id} {'y' * (id % 60)}', {id}.25, '2026-01-01 00:00:00.5')"
                                 for id in range(start, start + 500))
                cursor.execute(f"insert into rot.t values {rows}")
                cursor.execute(f"insert into rot.no_key values ({start}, 'x'), ({start}, 'x')")
        load = workload.Load(server, 3, rng.random()).start()
        workload.for_a_while(rng, 0.5, 1)
        load.stop()
        # What is flushed now is in table files. If the server is killed, the rest is only in the log.
        assert server.stop() == 0
        server.start()
        server.query("update rot.t set a = a + 1 where id % 5 = 0", "delete from rot.t where id % 97 = 0", "alter table rot.t add column e int default 3",
                     "insert into rot.t values (100000, 1, 'behind the alter', 1, '2026-01-01', 2)")
        server.query("insert into rot.last values (1)")
        names = [row[0] for row in server.query("show binary logs")]
        if clean:
            assert server.stop() == 0
        return names[:-1], clean
    finally:
        server.close()


class Answers:
    """Answers to all queries on a server: its tables, read through every index, and its log."""

    STATEMENTS = [
        "select * from rot.t order by id", "select id, a from rot.t force index (a) where a >= 0 order by a, id",
        "select id, b from rot.t force index (b) where b > '' order by b", "select a, b, count(*) from rot.no_key group by a, b order by a",
        "show create table rot.t", "show create table load_test.history", "select count(*), sum(a), max(b) from rot.t",
        "select * from load_test.account order by id", "select * from load_test.counter order by worker",
        "select * from load_test.history order by worker, number", "show tables from rot", "show tables from load_test",
    ]
    LAST = "select * from rot.last"

    def __init__(self, server, logs):
        self.rows = {statement: server.query(statement) for statement in self.STATEMENTS}
        self.last = server.query(self.LAST)
        self.logs = {name: read_log(server, name) for name in logs}


def read_log(server, name):
    """Returns a hash of a closed log file as a replica would receive it. `None` if the server reports an error, which
    is allowed."""
    result = subprocess.run(["mariadb-binlog", "--no-defaults", "-uroot", "-S", str(server.socket), "-R", "--verify-binlog-checksum", "--protocol=socket",
                             name], capture_output=True, timeout=120)
    if result.returncode:
        return None
    # Lines in which the client speaks of itself.
    lines = [line for line in result.stdout.splitlines() if not line.startswith((b"# at ", b"/*!", b"#Warning"))]
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


def check_state(server, wanted, logs, byte_range, what):
    """Starts the server on damaged data and queries everything. Returns what happened."""
    mark = len(server.said())
    server.spawn()
    try:
        if not is_ready(server, what):
            return "refused to start"
        noticed = False
        for statement, rows in wanted.rows.items():
            noticed |= check(server, statement, rows, what)
        noticed |= check_last(server, wanted.last, byte_range, what, server.said()[mark:])
        for name, text in wanted.logs.items():
            found = read_log(server, name)
            if found is None:
                noticed = True
            elif found != text:
                raise Finding(f"{what}: the log file {name} reads otherwise, without an error")
        return "noticed while reading" if noticed else "right answers"
    finally:
        server.close()


def is_ready(server, what):
    deadline = time.monotonic() + START_SECONDS_MAX
    while True:
        try:
            server.connect().close()
            return True
        except (pymysql.err.MySQLError, OSError):
            status = server.process.poll()
            if status is not None:
                if status < 0:
                    raise Finding(f"{what}: the server died of signal {-status}: {server.said()[-500:]}") from None
                return False
            if time.monotonic() > deadline:
                raise Finding(f"{what}: the server neither starts nor gives up") from None
            # The pause of a loop that waits.
            time.sleep(0.02)


def check(server, statement, rows, what):
    """Returns whether the query failed. Raises if it returned a wrong answer."""
    try:
        found = server.query(statement)
    except (pymysql.err.MySQLError, OSError):
        return True
    if found != rows:
        raise Finding(f"{what}: {statement} gives {len(found)} rows, expected {len(rows)}: {[row for row in found if row not in rows][:2]}")
    return False


def check_last(server, rows, byte_range, what, said):
    """Like `check`, for the last group of the active file: it may be taken for a torn write, which the server cuts and
    reports."""
    try:
        found = server.query(Answers.LAST)
    except (pymysql.err.MySQLError, OSError):
        return True
    if found == rows:
        return False
    if byte_range.in_last_group and found == () and "torn" in said:
        return True
    raise Finding(f"{what}: the last transaction is gone: {found}")
