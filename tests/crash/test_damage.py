"""Bit flips, truncation and missing files: a clear refusal or an error, never a wrong answer, and no further loss."""

import random
import shutil

import pymysql
import pytest

from support import workload

ROWS = 20_000


def flip(path, offset, bit):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ (1 << bit)]))


def refuses_to_start(server):
    """Starts the server, which must give up by itself. Returns its messages."""
    mark = len(server.said())
    server.spawn()
    assert server.process.wait(timeout=60) != 0
    return server.said()[mark:]


def filled_and_killed(server, seed):
    """Returns a server that was killed under load and has much to replay."""
    workload.create(server)
    load = workload.Load(server, workers=4, seed=seed).start()
    workload.for_a_while(random.Random(seed), 1, 2)
    server.kill()
    load.join()
    return load


def last_event(path):
    """Returns the end of the last event before the prepared zeros."""
    data = path.read_bytes()
    position = 4
    while position + 19 <= len(data):
        length = int.from_bytes(data[position + 9:position + 13], "little")
        if length < 19:
            break
        position += length
    return position


def test_flipped_bits_in_the_log_are_refused(paceline, seed, effort):
    load = filled_and_killed(paceline, seed)
    rng = random.Random(f"flip-{seed}")
    log = paceline.log_files()[-1]
    kept = paceline.datadir.with_name("kept")
    shutil.copytree(paceline.datadir, kept)
    end = last_event(log)
    for _ in range(max(5, int(20 * effort))):
        # Anywhere but in the last part, which cannot be told from a torn write.
        offset, bit = rng.randrange(4, end * 3 // 4), rng.randrange(8)
        flip(log, offset, bit)
        said = refuses_to_start(paceline)
        assert log.name in said, f"byte {offset} bit {bit}: {said}"
        assert "offset" in said.lower(), f"byte {offset} bit {bit}: {said}"
        shutil.rmtree(paceline.datadir)
        shutil.copytree(kept, paceline.datadir)
    paceline.start()
    workload.check(paceline, load)


def test_a_torn_tail_is_cut(paceline, seed, effort):
    filled_and_killed(paceline, seed)
    rng = random.Random(f"tail-{seed}")
    for _ in range(max(5, int(10 * effort))):
        # A crash leaves the beginning of the group that was being written, followed by zeros.
        log = paceline.log_files()[-1]
        end = last_event(log)
        with open(log, "r+b") as file:
            torn = rng.randrange(1, 60)
            file.seek(end - torn)
            file.write(bytes(torn))
        paceline.start()
        paceline.query("insert into load_test.history (worker, number) select 99, coalesce(max(number), 0) + 1 from load_test.history")
        paceline.kill()
    paceline.start()
    assert paceline.query("select sum(amount) from load_test.account") == ((workload.ACCOUNTS * workload.AMOUNT_EACH,),)


def test_flipped_bits_in_table_files_never_give_a_wrong_answer(paceline, seed, effort):
    paceline.query("create database rot", "create table rot.t (id int primary key, a int, b varchar(100), key (a))")
    with paceline.connect() as connection, connection.cursor() as cursor:
        for start in range(0, ROWS, 1000):
            cursor.executemany("insert into rot.t values (%s, %s, %s)",
                               [(id, id * 7 % 1000, f"row {id} " + "y" * (id % 80)) for id in range(start, start + 1000)])
    statements = ["select * from rot.t order by id", "select id from rot.t force index (a) where a between 100 and 200 order by id",
                  "select count(*), sum(a), min(b), max(b) from rot.t"]
    wanted = [paceline.query(statement) for statement in statements]
    assert paceline.stop() == 0
    kept = paceline.datadir.with_name("kept")
    shutil.copytree(paceline.datadir, kept)
    rng = random.Random(f"rot-{seed}")
    tables = sorted(path.relative_to(paceline.datadir) for path in paceline.datadir.rglob("*.sst"))
    assert tables
    noticed = 0
    for _ in range(max(8, int(25 * effort))):
        path = paceline.datadir / rng.choice(tables)
        flip(path, rng.randrange(path.stat().st_size), rng.randrange(8))
        paceline.spawn()
        try:
            paceline.wait_until_ready()
            for statement, rows in zip(statements, wanted):
                try:
                    assert paceline.query(statement) == rows, f"wrong answer after a flip in {path}"
                except pymysql.err.MySQLError:
                    noticed += 1
        except AssertionError as error:
            if "wrong answer" in str(error) or paceline.process.poll() is None:
                raise
            noticed += 1
        if paceline.process.poll() is None:
            paceline.kill()
        shutil.rmtree(paceline.datadir)
        shutil.copytree(kept, paceline.datadir)
    assert noticed, "no flip was ever noticed: the test does not reach the rows"


def test_missing_files_are_named(paceline, seed):
    load = filled_and_killed(paceline, seed)
    kept = paceline.datadir.with_name("kept")
    shutil.copytree(paceline.datadir, kept)
    log = paceline.log_files()[-1]
    [manifest] = paceline.datadir.rglob("MANIFEST-*")
    [index] = paceline.datadir.rglob("*.index")
    for missing in [log, manifest, index]:
        missing.unlink()
        said = refuses_to_start(paceline)
        assert missing.name in said or missing.name.split("-")[0] in said, f"{missing.name} is missing, and it said: {said}"
        shutil.rmtree(paceline.datadir)
        shutil.copytree(kept, paceline.datadir)
    paceline.start()
    workload.check(paceline, load)


def test_a_shutdown_does_not_wait_for_tables_that_cannot_be_written(paceline):
    paceline.query("create database d", "create table d.t (id int primary key)", "insert into d.t values (1)")
    shutil.rmtree(paceline.datadir / "tables")
    paceline.stop()
    assert "No such file or directory" in paceline.said()


@pytest.mark.parametrize("what", ["in use", "not a directory", "unknown option"])
def test_refused_starts_say_why(paceline, tmp_path, what):
    from support.servers import Paceline
    if what == "in use":
        second = Paceline(tmp_path / "second", datadir=paceline.datadir)
        assert "in use" in refuses_to_start(second)
        assert paceline.query("select 1") == ((1,),)
    elif what == "not a directory":
        file = tmp_path / "file"
        file.write_text("")
        assert str(file) in refuses_to_start(Paceline(tmp_path / "second", datadir=file / "data"))
    else:
        assert "no_such_variable" in refuses_to_start(Paceline(tmp_path / "second", "--no_such_variable=1"))
