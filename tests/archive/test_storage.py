"""Closed files: compressed, copied to object storage, read from there, and deleted in time."""

import os
import shutil
import subprocess

import pymysql
import pytest

from conftest import fill, follow
from support.archive import Archive, gtids
from support.real_replicas import catch_up, check_same_tables, wait_for_io_error
from support.servers import Paceline
from support.waiting import stays, wait_for


@pytest.fixture
def storage(tmp_path):
    return tmp_path / "storage"


def close_files(primary, archive, count=3):
    """Closes files that are each longer than the part that a stub keeps."""
    for _ in range(count):
        fill(primary, 20)
        rows = ", ".join(f"('{os.urandom(60_000).hex()}')" for _ in range(4))
        primary.query("create table if not exists t.long_rows (id int primary key auto_increment, v longtext)",
                      f"insert into t.long_rows (v) values {rows}")
        archive.wait_for(primary)
        archive.query("flush binary logs")


def number(archive, name):
    return int(archive.status(f"Paceline_archive_{name}"))


def test_compressed_files_are_served(start):
    primary = start(Paceline, 1)
    archive = start(Archive, primary)
    close_files(primary, archive)
    wait_for("files to be compressed", lambda: number(archive, "compressed_files") == 3)
    replica = start(Paceline, 9)
    follow(replica, archive)
    catch_up(replica, primary)
    check_same_tables(primary, replica)
    # zstd itself can read them, and the result is a log file.
    for file in sorted(archive.datadir.glob("*.zst")):
        subprocess.run(["zstd", "-q", "-d", file, "-o", file.with_suffix(".plain")], check=True)
    assert gtids(sorted(archive.datadir.glob("*.plain")))[0] == "0-1-1"
    archive.kill()
    for left in archive.datadir.glob("*.plain"):
        left.unlink()
    (archive.datadir / "archive.000002.zst.tmp").write_bytes(b"half")
    archive.start()
    fill(primary, 2)
    catch_up(replica, primary)
    assert not (archive.datadir / "archive.000002.zst.tmp").exists()


def test_object_storage_and_back(start, storage):
    primary = start(Paceline, 1)
    archive = start(Archive, primary, options=["--to", storage, "--max-binlog-total-size", "1"])
    close_files(primary, archive)
    wait_for("files to be in the storage only", lambda: number(archive, "remote_files") == 3)
    assert len(list(storage.glob("*.zst"))) == 3 and not list(archive.datadir.glob("*.zst"))
    # One replica starts at the beginning, one by a GTID in the middle.
    replica = start(Paceline, 9)
    follow(replica, archive)
    catch_up(replica, primary)
    check_same_tables(primary, replica)
    assert archive.query("select binlog_gtid_pos('archive.000002', 4)")[0][0].startswith("0-1-")
    # A start reads only the stubs.
    archive.kill()
    storage.rename(storage.with_name("away"))
    storage.mkdir()
    archive.start()
    fill(primary, 3)
    archive.wait_for(primary)
    late = start(Paceline, 10)
    follow(late, archive)
    assert wait_for_io_error(late)[0] == 1236
    archive.stop()
    shutil.rmtree(storage)
    storage.with_name("away").rename(storage)
    # An object with a file's name that is a different file is never replaced.
    archive.start()
    [(active, *_)] = archive.query("show master status")
    other = storage / f"{active}.zst"
    other.write_bytes(b"of another archive")
    close_files(primary, archive, 1)
    wait_for("the archive to complain", lambda: "another archive writes" in archive.status("Paceline_archive_keeper_error"))
    assert other.read_bytes() == b"of another archive"
    # Nor is one of the same length: its beginning and end tell them apart, also after a restart of the archive.
    archive.stop()
    [file] = archive.datadir.glob(f"{active}.zst")
    for at in 0, -20:
        content = bytearray(file.read_bytes())
        content[at] ^= 1
        other.write_bytes(content)
        archive.start()
        wait_for("the archive to complain", lambda: "with other content" in archive.status("Paceline_archive_keeper_error"))
        assert other.read_bytes() == content
        archive.stop()
    other.write_bytes(file.read_bytes())
    archive.start()
    wait_for("the file to go", lambda: not file.exists())
    assert archive.status("Paceline_archive_keeper_error") == "" and other.exists()


def test_nothing_is_deleted_before_it_is_copied(start, storage):
    primary = start(Paceline, 1)
    archive = start(Archive, primary, options=["--to", storage, "--max-binlog-total-size", "1"])
    storage.rename(storage.with_name("away"))
    storage.write_bytes(b"no directory")
    close_files(primary, archive)
    wait_for("the archive to complain", lambda: archive.status("Paceline_archive_keeper_error"))
    stays("every file is here", lambda: number(archive, "remote_files") == 0
          and len(list(archive.datadir.glob("archive.*[0-9].zst"))) + len(archive.files()) >= 4, 0.5)
    # Nor manually.
    with pytest.raises(pymysql.err.MySQLError) as refused:
        archive.query("purge binary logs to 'archive.000002'")
    assert refused.value.args[0] == 1378 and "is needed by the copy to object storage" in refused.value.args[1]
    replica = start(Paceline, 9)
    follow(replica, archive)
    catch_up(replica, primary)


def purge(primary):
    """Purges everything that the primary has logged so far."""
    [(position,)] = primary.query("select @@gtid_binlog_pos")
    primary.query("flush binary logs")
    [(newest, *_)] = primary.query("show master status")

    def has_purged():
        primary.query(f"purge binary logs to '{newest}'")
        return primary.query("show binary logs")[0][0] == newest

    wait_for("the primary to purge", has_purged)
    return position


def check_nothing_is_copied(storage):
    stays("nothing is copied", lambda: not list(storage.glob("*.zst")), 1)


@pytest.mark.parametrize("again", [False, True], ids=["goes-on", "is-started-again"])
def test_nothing_is_copied_before_the_log_has_begun(start, storage, tmp_path, again):
    """The primary, which has purged files, tells the archive where its log begins: the files closed until then are
    deleted, and other files get their names."""
    primary = start(Paceline, 1)
    fill(primary, 5)
    purged = purge(primary)
    primary.stop()
    archive = start(Archive, primary, options=["--to", storage, "--max-binlog-total-size", "1"])
    archive.query("flush binary logs")
    check_nothing_is_copied(storage)
    if again:
        archive.kill()
        archive.start()
        check_nothing_is_copied(storage)
    primary.start()
    close_files(primary, archive)
    wait_for("files to be in the storage only", lambda: number(archive, "remote_files") == 3)
    assert archive.status("Paceline_archive_keeper_error") == "" and archive.status("Paceline_archive_oldest") == purged
    for file in storage.glob("*.zst"):
        subprocess.run(["zstd", "-q", "-d", file, "-o", tmp_path / file.stem], check=True)
    [(last,)] = primary.query("select @@gtid_binlog_pos")
    expected = range(int(purged.split("-")[2]) + 1, int(last.split("-")[2]) + 1)
    assert gtids(sorted(tmp_path.glob("archive.0*"))) == [f"0-1-{sequence}" for sequence in expected]


def test_a_log_that_has_begun_with_nothing_begins_again(start, storage):
    """Nothing had been purged when the primary told where its log begins, and nothing has been logged since: the next
    start asks again."""
    primary = start(Paceline, 1)
    archive = start(Archive, primary, options=["--to", storage, "--max-binlog-total-size", "1"])
    wait_for("the archive to follow", lambda: archive.query("show slave status")[0][6] == "Yes")
    archive.query("flush binary logs")
    check_nothing_is_copied(storage)
    archive.stop()
    fill(primary, 5)
    purged = purge(primary)
    archive.start()
    close_files(primary, archive)
    wait_for("files to be in the storage only", lambda: number(archive, "remote_files") == 3)
    assert archive.status("Paceline_archive_keeper_error") == "" and archive.status("Paceline_archive_oldest") == purged


def test_without_a_storage_retention_purges(start):
    primary = start(Paceline, 1)
    archive = start(Archive, primary, options=["--max-binlog-total-size", "1"])
    close_files(primary, archive, 2)
    wait_for("files to go", lambda: len(archive.query("show binary logs")) == 1)
    replica = start(Paceline, 9)
    follow(replica, archive)
    code, text = wait_for_io_error(replica)
    assert code == 1236 and "have been purged" in text
    archive.kill()
    archive.start()
    assert archive.status("Paceline_archive_oldest").startswith("0-1-")


def test_the_archives_machine_is_gone(start, storage):
    primary = start(Paceline, 1)
    archive = start(Archive, primary, options=["--to", storage])
    close_files(primary, archive)
    fill(primary, 5)
    archive.wait_for(primary)
    wait_for("files to be copied", lambda: number(archive, "uploaded_files") == 3)
    archive.kill()
    shutil.rmtree(archive.directory)
    again = start(Archive, primary, options=["--to", storage])
    assert "going on behind 3 files" in again.said()
    fill(primary, 5)
    again.wait_for(primary)
    replica = start(Paceline, 9)
    follow(replica, again)
    catch_up(replica, primary)
    check_same_tables(primary, replica)
    # Files that had not been copied were requested from the primary again.
    assert len(gtids(again.files())) >= 10
