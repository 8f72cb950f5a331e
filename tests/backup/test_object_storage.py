"""Backups in a bucket: the same as in a directory."""

import os
import subprocess

import pytest

from support import backups
from support.backups import backup, binlog_position, on, refused, restore
from support.object_storage import ObjectStorage
from support.servers import BINARY


@pytest.fixture
def bucket():
    storage = ObjectStorage()
    yield storage
    storage.close()


def test_a_bucket(paceline, tmp_path, bucket):
    paceline.query("create database d", "create table d.t (id int primary key auto_increment, b longblob)")
    # A table file longer than one part of an upload, however it is compressed.
    for _ in range(24):
        paceline.query(f"insert into d.t (b) values (x'{os.urandom(1 << 20).hex()}')")
    place, environment = bucket.url("servers/one"), bucket.environment
    backup(paceline, place, environment=environment)
    names = set(bucket.objects)
    assert "servers/one/backup.json" in names and "servers/one/unfinished.json" not in names
    assert any(name.startswith("servers/one/tables/rocksdb/") for name in names)
    assert any(request[0] == "PUT" and "partNumber=2" in request[2] for request in bucket.requests)
    assert bucket.uploads == {}
    paceline.query("insert into d.t (b) values ('later')")
    backup(paceline, place, "--incremental", environment=environment)
    assert "there is a backup already" in refused("backup", "--from", paceline.socket, "--to", place, environment=environment)
    status, printed, _ = backups.paceline("restore", "--from", place, "--check", environment=environment)
    assert status == 0 and "is as it was written" in printed
    assert restore(place, tmp_path / "restored", environment=environment) == binlog_position(paceline)
    restored = on(tmp_path / "restored", tmp_path / "server").start()
    try:
        assert restored.query("select count(*), sum(length(b)) from d.t") == paceline.query("select count(*), sum(length(b)) from d.t")
    finally:
        restored.close()
    # An object that is not what it was.
    log = next(name for name in bucket.objects if "/log/" in name)
    content, written = bucket.objects[log]
    bucket.objects[log] = content[:100] + b"x" + content[101:], written
    assert "damaged" in refused("restore", "--from", place, "--datadir", tmp_path / "no", environment=environment)
    # One that was killed, on another machine or this.
    process = subprocess.Popen([BINARY, "backup", "--from", paceline.socket, "--to", bucket.url("two")], stderr=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, env={**environment, "PATH": "/usr/bin"})
    while not any(name == "two/unfinished.json" for name in list(bucket.objects)):
        assert process.poll() is None
    process.kill()
    process.wait()
    backup(paceline, bucket.url("two"), environment=environment)
    assert restore(bucket.url("two"), tmp_path / "two", environment=environment) == binlog_position(paceline)
    missing = refused("restore", "--from", bucket.url("three"), "--datadir", tmp_path / "no2", environment=environment)
    assert "holds no whole backup" in missing
