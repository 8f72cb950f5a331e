"""`paceline binlog` reads archives: their files in any form, in object storage, and from a running archive."""

import subprocess

import pytest

from conftest import fill
from support.archive import Archive
from support.real_replicas import ACCOUNT, PASSWORD
from support.servers import BINARY
from support.waiting import wait_for


def binlog(*arguments):
    result = subprocess.run([BINARY, "binlog", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


def refused(*arguments):
    result = subprocess.run([BINARY, "binlog", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 1, result.stdout[-2000:]
    return result.stderr


def number(archive, name):
    return int(archive.status(f"Paceline_archive_{name}"))


@pytest.fixture
def filled(start, tmp_path, kind):
    """A primary and its archive with a file of each form: only in object storage, compressed, and active."""
    storage = tmp_path / "storage"
    primary = start(kind, 1)
    archive = start(Archive, primary, options=["--to", storage, "--max-binlog-total-size", "1"])
    fill(primary, 30)
    primary.query("create table t.long_rows (id int primary key, v longtext)",
                  "insert into t.long_rows values " + ", ".join(f"({id}, repeat(sha2({id}, 512), 400))" for id in range(1, 21)))
    archive.wait_for(primary)
    archive.query("flush binary logs")
    wait_for("the first file to be in the storage only", lambda: number(archive, "remote_files") == 1)
    archive.stop()
    archive.options = ["--to", str(storage)]
    archive.start()
    for rows in (10, 7):
        fill(primary, rows)
        archive.wait_for(primary)
        archive.query("flush binary logs")
    wait_for("files to be compressed", lambda: number(archive, "compressed_files") == 3)
    fill(primary, 3)
    archive.wait_for(primary)
    return primary, archive, storage


def test_every_form_of_a_file(filled, tmp_path):
    primary, archive, storage = filled
    rows = binlog("--json", "-R", "-h127.0.0.1", f"-P{primary.port}", f"-u{ACCOUNT}", f"-p{PASSWORD}").splitlines()
    assert len(rows) == 70
    directory = archive.datadir
    assert (directory / "archive.000001.stub").exists() and (directory / "archive.000002.zst").exists()
    # The whole log, from the directory with its storage, and from the running archive.
    assert binlog("--json", "--storage", storage, directory).splitlines() == rows
    assert binlog("--json", "-R", "-h127.0.0.1", f"-P{archive.port}", f"-u{ACCOUNT}", f"-p{PASSWORD}").splitlines() == rows
    named = [directory / "archive.000001", directory / "archive.000002.zst", directory / "archive.000003"]
    assert binlog("--json", "--storage", storage, "--to-last-log", *named).splitlines() == rows
    assert "--storage" in refused(directory)
    # Closed files are in the storage; the remaining rows are in the active file.
    for place in (storage, f"file://{storage}"):
        stored = binlog("--json", place).splitlines()
        assert stored == rows[:len(stored)] and len(stored) == 67
    assert binlog("--json", f"file://{storage}/archive.000002", f"file://{storage}/archive.000003.zst") == \
        binlog("--json", directory / "archive.000002", directory / "archive.000003")
    # A start by GTID reads only the heads of the files before the right one.
    [(middle,)] = archive.query("select binlog_gtid_pos('archive.000003', 4)")
    behind = binlog("--json", "--storage", storage, f"--start-position={middle}", directory).splitlines()
    assert len(behind) == 20 and rows[-20:] == behind
    assert binlog("--json", "--storage", storage, f"--stop-position={middle}", directory).splitlines() == rows[:-20]
    assert "no damage" in binlog("--verify", "--storage", storage, directory)
    # The text is that of MariaDB's tool for the file that zstd decompresses.
    plain = tmp_path / "archive.000002"
    subprocess.run(["zstd", "-q", "-d", directory / "archive.000002.zst", "-o", plain], check=True)
    text = subprocess.run(["mariadb-binlog", "--no-defaults", "-vv", plain], capture_output=True, text=True, check=True).stdout
    assert binlog("-vv", directory / "archive.000002.zst") == text


def test_a_storage_with_nothing_in_it_yet(filled, tmp_path):
    """An archive that has not closed a file has not copied any."""
    primary, _, _ = filled
    (tmp_path / "empty").mkdir()
    [index] = (primary.directory / "data").glob("*.index")
    files = [index.with_name(name.split("/")[-1]) for name in index.read_text().split()]
    assert binlog("--storage", tmp_path / "empty", *files) == binlog(*files)
    assert "no binary log files" in refused(f"file://{tmp_path / 'empty'}")


def test_damage_is_reported(filled):
    _, archive, _ = filled
    archive.stop()
    path = archive.datadir / "archive.000002.zst"
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + bytes([whole[100] ^ 4]) + whole[101:])
    assert "archive.000002" in refused("--verify", path)
    path.write_bytes(whole[:-1])
    assert "archive.000002" in refused(path)
    assert "archive.000009" in refused(archive.datadir / "archive.000009")
    assert "no binary log files" in refused(archive.directory)
