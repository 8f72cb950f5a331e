"""`paceline archive --serve`: serves the log files of a dead primary."""

import shutil
import subprocess

import pytest

from conftest import fill, follow
from support.archive import OF_THE_LOG, Archive, Serving, events, gtids
from support.real_replicas import catch_up, check_same_tables
from support.servers import BINARY, MariaDb, Paceline
from support.waiting import let_run, wait_for


@pytest.fixture
def serve(tmp_path):
    running = []

    def begin(files, *options):
        server = Serving(tmp_path / f"serving{len(running)}", files, *options)
        running.append(server)
        server.start()
        return server

    yield begin
    for server in running:
        server.close()


def log_files(server):
    directory = server.directory / "data"
    return sorted(directory.glob("bin.0*") if isinstance(server, MariaDb) else directory.glob("binlog.[0-9]*[0-9]"))


@pytest.fixture
def orphaned(start, kind, tmp_path):
    """The files of a killed primary, of which nothing else is left, and a replica that has only a part of its log."""
    primary, replica = start(kind, 1), start(Paceline, 9)
    follow(replica, primary)
    fill(primary, 10)
    catch_up(replica, primary)
    replica.query("stop slave", "reset slave all")
    primary.query("flush binary logs")
    fill(primary, 10)
    primary.query("flush binary logs")
    fill(primary, 10)
    primary.position = primary.query("select @@gtid_binlog_pos")[0][0]
    primary.content = primary.query("select * from t.a")
    primary.kill()
    directory = tmp_path / "orphaned"
    directory.mkdir()
    for file in log_files(primary):
        shutil.copy(file, directory)
    shutil.rmtree(primary.directory / "data")
    return primary, replica, directory


def files_in(directory):
    return sorted(directory.glob("*.0*[0-9]"))


def test_a_replica_takes_the_rest_from_the_files(orphaned, serve, start):
    primary, replica, directory = orphaned
    before = {file.name: file.read_bytes() for file in directory.iterdir()}
    archive = serve(directory)
    assert archive.query("select @@gtid_binlog_pos") == ((primary.position,),)
    follow(replica, archive)
    wait_for("the replica to have everything", lambda: replica.query("select @@gtid_slave_pos") == ((primary.position,),))
    assert replica.query("select * from t.a") == primary.content
    # A new server reads everything, from the dead primary's first file and position.
    fresh = start(MariaDb, 10)
    first = files_in(directory)[0].name
    follow(fresh, archive, "no", f"master_log_file='{first}', master_log_pos=4")
    wait_for("the new server to have everything", lambda: fresh.query("select @@gtid_slave_pos") == ((primary.position,),))
    assert fresh.query("select * from t.a") == primary.content
    assert archive.stop() == 0
    assert {file.name: file.read_bytes() for file in directory.iterdir()} == before, "nothing is written there"


def test_a_torn_tail_is_left_out(orphaned, serve):
    primary, replica, directory = orphaned
    last = files_in(directory)[-1]
    whole = gtids(files_in(directory))
    ends, at = [], 4
    for kind, _, _, _, body in events(last):
        at += 19 + len(body) + 4
        if kind not in OF_THE_LOG:
            ends.append(at)
    # In the middle of the last transaction.
    last.write_bytes(last.read_bytes()[:ends[-1] - 10])
    archive = serve(directory)
    assert "was torn" in archive.said()
    assert archive.query("select @@gtid_binlog_pos") == ((whole[-2],),)
    follow(replica, archive)
    wait_for("the replica", lambda: replica.query("select @@gtid_slave_pos") == ((whole[-2],),))


def test_a_whole_data_directory(start, serve, tmp_path):
    """The space that the server has prepared for its next file is in the directory, but is not a file of the log."""
    primary, replica = start(Paceline, 1, options=["--max-binlog-size=262144", "--paceline-log-block-size=1048576"]), start(Paceline, 9)
    primary.query("create database t", "create table t.a (id int primary key auto_increment, v varchar(4000))")

    def prepared():
        named = {file.name for file in primary.log_files()}
        return [file for file in log_files(primary) if file.name not in named and not any(file.read_bytes())]

    def stays_prepared():
        primary.query("insert into t.a (v) values (repeat('x', 4000))")
        found = prepared()
        # A new file consists of zeros for a moment.
        let_run(0.2 if found else 0)
        return found and prepared() == found

    wait_for("room for the next file", stays_prepared)
    [(position,)] = primary.query("select @@gtid_binlog_pos")
    content = primary.query("select * from t.a")
    primary.kill()
    archive = serve(primary.datadir)
    assert archive.query("select @@gtid_binlog_pos") == ((position,),) and "room that was prepared" in archive.said()
    follow(replica, archive)
    wait_for("the replica to have everything", lambda: replica.query("select @@gtid_slave_pos") == ((position,),))
    assert replica.query("select * from t.a") == content
    # The files alone, without their index.
    copied = tmp_path / "copied"
    copied.mkdir()
    for file in log_files(primary):
        shutil.copy(file, copied)
    assert serve(copied).query("select @@gtid_binlog_pos") == ((position,),)
    # A file that the index lists but that is empty is damaged.
    last = log_files(primary)[-2]
    last.write_bytes(bytes(4096))
    log_files(primary)[-1].unlink()
    assert "does not begin as a binary log" in refused(primary.datadir)


def refused(directory, *options):
    command = [BINARY, "archive", "--serve", directory, "--port", "0", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0, done
    return done.stdout + done.stderr


def test_what_is_damaged_or_missing_is_named(orphaned, tmp_path):
    _, _, directory = orphaned
    files = files_in(directory)
    middle = files[1]
    content = bytearray(middle.read_bytes())
    content[len(content) // 2] ^= 4
    middle.write_bytes(content)
    assert middle.name in refused(directory)
    middle.unlink()
    said = refused(directory)
    assert "what is between them is missing" in said and files[2].name in said
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "there are no binary log files" in refused(empty)
    (directory / "other.000001").write_bytes(files[0].read_bytes())
    assert "--log-bin" in refused(directory)
    # The last file is damaged in the middle: valid events after the damage show that it is not a torn tail.
    for file in files[1:]:
        file.unlink(missing_ok=True)
    (directory / "other.000001").unlink()
    content = bytearray(files[0].read_bytes())
    content[len(content) // 2] ^= 4
    files[0].write_bytes(content)
    assert files[0].name in refused(directory)


def test_files_of_an_archive_compressed_or_not(start, serve, kind):
    primary = start(kind, 1)
    archive = start(Archive, primary)
    for _ in range(3):
        fill(primary, 10)
        archive.wait_for(primary)
        archive.query("flush binary logs")
    wait_for("files to be compressed", lambda: len(list(archive.datadir.glob("*.zst"))) == 3)
    archive.stop()
    serving = serve(archive.datadir)
    assert serving.query("select @@gtid_binlog_pos") == primary.query("select @@gtid_binlog_pos")
    replica = start(Paceline, 9)
    follow(replica, serving)
    catch_up(replica, primary)
    check_same_tables(primary, replica)
