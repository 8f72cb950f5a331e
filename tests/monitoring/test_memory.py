"""Memory: what it is used for adds up to the process's own figure, and `paceline_memory_limit` bounds the whole."""

import contextlib
import threading
from pathlib import Path

import pymysql
import pytest
from support.servers import Paceline
from support.waiting import wait_for

MIB = 1 << 20


def server_of(directory, *options):
    return Paceline(directory / "server", "--max-connections=2000", *options)


@pytest.fixture
def server(tmp_path):
    server = server_of(tmp_path, "--paceline-memtable-size=16M").start()
    server.query("create database d")
    yield server
    server.close()


def parts(server):
    rows = server.query("select purpose, bytes, limit_bytes from information_schema.paceline_memory")
    return {purpose: (int(size), limit) for purpose, size, limit in rows}


def resident(server, *names):
    """Returns memory of the process by the system's count, in bytes."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    values = dict(line.split(":", 1) for line in lines)
    return sum(int(values[name].split()[0]) << 10 for name in names)


def filled(server, table, engine, rows=100_000):
    step = 50_000
    inserts = [f"insert into d.{table} select seq, sha2(seq, 512) from d.seq_{begin + 1}_to_{begin + step}" for begin in range(0, rows, step)]
    server.query(f"create table d.{table} (a int primary key, b varchar(200)) engine={engine}", *inserts)


@contextlib.contextmanager
def connections(server):
    with contextlib.ExitStack() as opened:
        for _ in range(700):
            opened.enter_context(server.connect()).cursor().execute("select 1")
        yield ["connections"]


@contextlib.contextmanager
def block_cache(server):
    filled(server, "t", "innodb", 300_000)
    server.query("select count(b) from d.t where b <> ''")
    yield ["block_cache"]


@contextlib.contextmanager
def memtables(server):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("create table d.t (a int primary key, b varchar(2000))")
        for number in range(10):
            values = ", ".join(f"({number * 500 + row}, repeat('{row}', 500))" for row in range(500))
            cursor.execute(f"insert into d.t values {values}")
    yield ["memtables"]


@contextlib.contextmanager
def memory_table(server):
    filled(server, "m", "memory")
    yield ["memory_tables"]


@contextlib.contextmanager
def row_locks(server):
    filled(server, "t", "innodb")
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("begin")
        cursor.execute("select count(b) from d.t where b <> '' for update")
        yield ["row_locks"]


@contextlib.contextmanager
def transaction_changes(server):
    server.query("create table d.t (a int primary key, b varchar(2000))")
    with contextlib.ExitStack() as opened:
        for number in range(4):
            cursor = opened.enter_context(server.connect()).cursor()
            cursor.execute("begin")
            cursor.execute(f"insert into d.t select seq, repeat('x', 1000) from d.seq_{number * 5000 + 1}_to_{number * 5000 + 5000}")
        yield ["transaction_changes"]


@contextlib.contextmanager
def session_data(server):
    with contextlib.ExitStack() as opened:
        for _ in range(8):
            cursor = opened.enter_context(server.connect()).cursor()
            cursor.execute("set @a = repeat('a', 12000000)")
        yield ["session_data"]


@contextlib.contextmanager
def catalog(server):
    columns = ", ".join(f"column_{number} int" for number in range(40))
    with server.connect() as connection, connection.cursor() as cursor:
        for number in range(1500):
            cursor.execute(f"create table d.t{number} ({columns}, key(column_1), key(column_2))")
    yield ["catalog"]


LOADS = [connections, block_cache, memtables, memory_table, row_locks, transaction_changes, session_data, catalog]


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.__name__)
def test_the_parts_add_up_to_the_process(server, load):
    idle = parts(server)
    with load(server) as grown:
        found = parts(server)
        for purpose in grown:
            assert found[purpose][0] > idle[purpose][0] + 4 * MIB, found

        def unaccounted():
            """Returns what is wrong, or nothing."""
            found, process = parts(server), resident(server, "VmRSS")
            total = sum(size for size, _ in found.values())
            is_right = abs(total - process) < process / 10 and found["other"][0] < process / 10
            return None if is_right else f"{found} of {process}"

        # A transaction's changes are freed soon after it has ended.
        try:
            wait_for("memory with a purpose", lambda: not unaccounted(), 5)
        except AssertionError:
            pytest.fail(unaccounted())


def test_performance_schema_shows_the_same(server):
    filled(server, "m", "memory")
    summary = server.query("select event_name, current_number_of_bytes_used from performance_schema.memory_summary_global_by_event_name")
    theirs = {name.removeprefix("memory/paceline/"): int(size) for name, size in summary}
    ours = {purpose: size for purpose, (size, _) in parts(server).items()}
    assert theirs.keys() == ours.keys()
    # These do not change by themselves.
    for purpose in ("memory_tables", "catalog", "memtables"):
        assert theirs[purpose] == ours[purpose] > 0, (purpose, theirs, ours)
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("set @a = repeat('a', 5000000)")
        table = "performance_schema.memory_summary_by_user_by_event_name"
        held = server.query(f"select current_number_of_bytes_used from {table} where user = 'root'")
        assert 5_000_000 < held[0][0] < 6_000_000
        cursor.execute("select memory_used from information_schema.processlist where id = connection_id()")
        assert 5_000_000 < cursor.fetchone()[0] < 6_000_000


def test_block_cache_and_memtables_are_fitted_to_the_limit(tmp_path):
    server = server_of(tmp_path, "--paceline-memory-limit=192M", "--paceline-memtable-size=8M").start()
    try:
        cache, memtables = server.query("select @@paceline_block_cache_size, @@paceline_memtable_size")[0]
        assert (cache, memtables) == (96 * MIB, 8 * MIB)
        assert "paceline_block_cache_size: 1073741824 is lowered to 100663296" in server.said()
        assert "paceline_memtable_size" not in server.said()
    finally:
        server.close()


LIMIT = 224 * MIB


class Greedy(threading.Thread):
    """Takes more and more, in its own connection, until a statement fails."""

    def __init__(self, server, statements):
        super().__init__()
        self.server, self.statements, self.error, self.done = server, statements, None, 0

    def run(self):
        with self.server.connect(max_allowed_packet=64 * MIB) as connection, connection.cursor() as cursor:
            for statement in self.statements:
                try:
                    cursor.execute(statement)
                    self.done += 1
                except pymysql.err.MySQLError as error:
                    self.error = error.args[0]
                    return


def test_the_limit_holds_under_every_load_at_once(tmp_path):
    server = server_of(tmp_path, f"--paceline-memory-limit={LIMIT}", "--paceline-memtable-size=4M",
                       "--paceline-block-cache-size=48M", "--max-session-mem-used=1G").start()
    try:
        server.query("create database d")
        filled(server, "t", "innodb", 400_000)
        server.query("create table d.m (a int auto_increment primary key, b varchar(2000)) engine=memory")
        rows = ",".join(["(repeat('x', 2000))"] * 500)
        loads = [
            [f"set @v{number} = repeat('a', 2000000)" for number in range(200)],
            [f"set @v{number} = repeat('a', 500000)" for number in range(800)],
            [f"insert into d.m (b) values {rows}"] * 400,
            ["select count(distinct concat(a.b, b.b)) from d.t a, d.t b where b.a < 4"] * 2,
        ]
        threads = [Greedy(server, statements) for statements in loads]
        for thread in threads:
            thread.start()
        highest, served = 0, 0
        while any(thread.is_alive() for thread in threads):
            highest = max(highest, resident(server, "RssAnon"))
            # Neighbours of the greedy are served: root is exempt from the refusal of new connections.
            assert server.query("select b from d.t where a = 17")
            served += 1
        assert served > 10
        assert highest < LIMIT, highest
        errors = [thread.error for thread in threads]
        assert set(errors[:2]) <= {1041, None} and errors[2] in {1114, 1041}, errors
        # Everything comes back when the sessions have ended.
        server.query("drop table d.m")
        room = lambda: int(parts(server)["session_data"][1])
        wait_for("memory for sessions", lambda: room() > 16 * MIB, 30)
        server.query("set @a = repeat('a', 4000000)")
    finally:
        server.close()


def test_new_connections_are_refused_when_nothing_can_give_way(server):
    server.query("create user u")
    used = resident(server, "RssAnon")
    with server.connect() as root:
        server.query(f"set global paceline_memory_limit = {used // MIB // 2 * MIB}")
        with pytest.raises(pymysql.err.OperationalError) as refused:
            server.connect(user="u")
        assert refused.value.args[0] == 1041
        assert "new connections are refused" in server.said()
        # Who can put it right gets in.
        with server.connect(), root.cursor() as cursor:
            cursor.execute("select 1")
            cursor.execute("set global paceline_memory_limit = 0")
    server.connect(user="u").close()


def test_the_process_list_has_the_maximum_of_a_session(server):
    big = ("select count(*) from (select distinct seq, repeat('x', 100) from seq_1_to_20000) x")
    shown = "select memory_used, max_memory_used from information_schema.processlist where id = {}"
    server.query("create database if not exists d")
    with server.connect(database="d") as connection, connection.cursor() as cursor:
        cursor.execute("select connection_id()")
        shown = shown.format(cursor.fetchone()[0])
        cursor.execute(big)
        (used, most), = server.query(shown)
        assert used < 200_000 and most > 2_000_000
        cursor.execute("select 1")
        assert server.query(shown)[0][1] == most
        cursor.execute("show session status like 'Max_memory_used'")
        assert int(cursor.fetchone()[1]) == most
        assert int(server.query("show global status like 'Max_memory_used'")[0][1]) >= most
        # As in MariaDB.
        cursor.execute("flush status")
        assert server.query(shown)[0][1] < 1_000_000


def test_the_memory_of_a_session_is_its_connection_data_locks_and_changes(server):
    shown = "select memory_used, max_memory_used from information_schema.processlist where id = {}"
    by_thread = ("select substring_index(event_name, '/', -1), current_number_of_bytes_used from performance_schema.memory_summary_by_thread_by_event_name "
                 "where thread_id = {}")
    server.query("create table d.t (a int primary key, b varchar(2000))", "insert into d.t select seq, repeat('x', 1000) from d.seq_1_to_5000")
    with server.connect(database="d") as connection, connection.cursor() as cursor:
        number = connection.thread_id()
        used = lambda: server.query(shown.format(number))[0]
        idle, most = used()
        assert 10_000 < idle <= most < 200_000
        cursor.execute("begin")
        cursor.execute("insert into t select seq, repeat('y', 1000) from seq_5001_to_10000")
        changed, most = used()
        assert changed > idle + 5_000_000 and most >= changed
        parts_of_session = dict(server.query(by_thread.format(number)))
        assert parts_of_session["transaction_changes"] > 5_000_000 and sum(parts_of_session.values()) == changed
        cursor.execute("show session status like 'Memory_used'")
        assert int(cursor.fetchone()[1]) >= changed
        cursor.execute("rollback")
        assert used()[0] < 200_000
        cursor.execute("begin")
        cursor.execute("select count(b) from t where b <> '' for update")
        assert used()[0] > idle + 5000 * 50
        assert dict(server.query(by_thread.format(number)))["row_locks"] > 5000 * 50
        cursor.execute("commit")
        cursor.execute("set @a = repeat('a', 5000000)")
        assert used()[0] > idle + 5_000_000
