"""Backups in a bucket: the same as in a directory.

If a real service is available, `PACELINE_TEST_S3=s3://BUCKET/NAME` together with its AWS_… variables makes the last
test use it too. The objects that it writes stay there.
"""

import os
import signal
import subprocess
import uuid

import pytest

from support import backups
from support.backups import backup, binlog_position, on, refused, restore
from support.object_storage import ObjectStorage
from support.servers import BINARY
from support.waiting import let_run, wait_for


@pytest.fixture
def bucket():
    storage = ObjectStorage()
    yield storage
    storage.close()


def test_a_bucket(paceline, tmp_path, bucket):
    paceline.query("create database d", "create table d.t (id int primary key auto_increment, b longblob)")
    # A table file longer than one part of an upload, however well it is compressed.
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
    assert "it already contains a backup" in refused("backup", "--from", paceline.socket, "--to", place, environment=environment)
    status, printed, _ = backups.paceline("restore", "--from", place, "--check", environment=environment)
    assert status == 0 and "is undamaged" in printed
    assert restore(place, tmp_path / "restored", environment=environment) == binlog_position(paceline)
    restored = on(tmp_path / "restored", tmp_path / "server").start()
    try:
        assert restored.query("select count(*), sum(length(b)) from d.t") == paceline.query("select count(*), sum(length(b)) from d.t")
    finally:
        restored.close()
    # An object whose contents have changed.
    log = next(name for name in bucket.objects if "/log/" in name)
    content, written = bucket.objects[log]
    bucket.objects[log] = content[:100] + b"x" + content[101:], written
    assert "damaged" in refused("restore", "--from", place, "--datadir", tmp_path / "no", environment=environment)
    # A backup that was killed, on another host or on this one.
    process = subprocess.Popen([BINARY, "backup", "--from", paceline.socket, "--to", bucket.url("two")], stderr=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, env={**environment, "PATH": "/usr/bin"})
    while not any(name == "two/unfinished.json" for name in list(bucket.objects)):
        assert process.poll() is None
    process.kill()
    process.wait()
    backup(paceline, bucket.url("two"), environment=environment)
    assert restore(bucket.url("two"), tmp_path / "two", environment=environment) == binlog_position(paceline)
    missing = refused("restore", "--from", bucket.url("three"), "--datadir", tmp_path / "no2", environment=environment)
    assert "contains no complete backup" in missing


def test_several_objects_at_a_time(paceline, tmp_path, bucket):
    paceline.query("create database d", "create table d.t (id int primary key auto_increment, v int)")
    place, environment = bucket.url("slow"), bucket.environment
    backup(paceline, place, environment=environment)
    for number in range(12):
        paceline.query(f"insert into d.t (v) values ({number})")
        backup(paceline, place, "--incremental", environment=environment)
    wanted = binlog_position(paceline)

    def most(is_manifest):
        counts = [sum(name.endswith(".json") == is_manifest for name in names) for names in bucket.read_at_once]
        bucket.read_at_once.clear()
        return max(counts)

    bucket.delay = 0.2
    for options, expected in [((), range(4, 9)), (("--parallel", 3), [3]), (("--parallel", 1), [1])]:
        assert restore(place, tmp_path / f"restored{len(options)}{expected[0]}", *options, environment=environment) == wanted
        manifests = list(bucket.read_at_once)
        assert most(is_manifest=False) in expected, options
        bucket.read_at_once = manifests
        assert most(is_manifest=True) in range(4, 9)
    restored = on(tmp_path / "restored04", tmp_path / "server").start()
    try:
        assert restored.query("select count(*), sum(v) from d.t") == ((12, 66),)
    finally:
        restored.close()
    assert backups.paceline("restore", "--from", place, "--check", environment=environment)[0] == 0
    assert most(is_manifest=False) in range(4, 9)
    # A failure of one ends the others, and the directory does not count as complete.
    last = max(name for name in bucket.objects if "/log/" in name)
    kept = bucket.objects.pop(last)
    said = refused("restore", "--from", place, "--datadir", tmp_path / "no", environment=environment)
    assert "it is missing" in said and "is incomplete" in said
    assert (tmp_path / "no/paceline.unfinished").exists()
    bucket.objects[last] = kept
    # Interrupted while it reads objects.
    wait_for("the reads to end", lambda: not bucket.reading)
    bucket.read_at_once.clear()
    bucket.delay = 1
    command = [BINARY, "restore", "--from", place, "--datadir", tmp_path / "no"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    wait_for("a read of an object", lambda: any(not name.endswith(".json") for names in list(bucket.read_at_once) for name in names)
             or process.poll() is not None)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=10)
    assert process.returncode == 1 and printed == "" and "interrupted\n" in said and "is incomplete" in said, said
    assert (tmp_path / "no/paceline.unfinished").exists()


def test_a_wrong_account_and_a_missing_bucket_are_reported(paceline, tmp_path, bucket):
    stranger = {**bucket.environment, "AWS_ACCESS_KEY_ID": "stranger"}
    said = "InvalidAccessKeyId: The Access Key Id you provided does not exist in our records."
    for command in [("backup", "--from", paceline.socket, "--to", bucket.url("one")), ("restore", "--from", bucket.url("one"), "--check")]:
        told = refused(*command, environment=stranger)
        assert f"{bucket.url('one')}: cannot " in told and said in told and told.count("\n") == 1, told
    elsewhere = "s3://elsewhere/one"
    for command in [("backup", "--from", paceline.socket, "--to", elsewhere), ("restore", "--from", elsewhere, "--check")]:
        told = refused(*command, environment=bucket.environment)
        assert told.strip().endswith("s3://elsewhere/one: there is no such bucket"), told


def test_a_restarting_service_is_waited_for(paceline, tmp_path, bucket):
    paceline.query("create database d", "create table d.t (id int primary key auto_increment, b longblob)")
    for _ in range(20):
        paceline.query(f"insert into d.t (b) values (x'{os.urandom(1 << 20).hex()}')")
    environment = {**os.environ, **bucket.environment}
    backing_up = [BINARY, "backup", "--from", paceline.socket, "--user", "root", "--to", bucket.url("one"), "--rate-max", "10"]
    restoring = [BINARY, "restore", "--from", bucket.url("one"), "--datadir", tmp_path / "restored"]
    for command, part in ((backing_up, "partNumber=1"), (restoring, "")):
        bucket.requests.clear()
        bucket.delay = 0.5
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        wait = (lambda: any(part in query for _, _, query in list(bucket.requests))) if part else (lambda: bool(bucket.reading))
        wait_for("the request", lambda: wait() or process.poll() is not None)
        assert process.poll() is None
        bucket.is_away = True
        # Longer than a request is tried without a pause.
        let_run(6)
        bucket.is_away = False
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    bucket.delay = 0
    restored = on(tmp_path / "restored", tmp_path / "server").start()
    try:
        query = "select count(*), sum(crc32(b)) from d.t"
        assert restored.query(query) == paceline.query(query)
    finally:
        restored.close()


@pytest.fixture(params=["backup.json", "increment-000001.json"])
def next_manifest(request, paceline, bucket):
    """The manifest of the next backup to `one`: of a full one, or of an increment."""
    paceline.query("create database d", "create table d.t (id int primary key)", "insert into d.t values (1)")
    if request.param != "backup.json":
        backup(paceline, bucket.url("one"), environment=bucket.environment)
        paceline.query("insert into d.t values (2)")
    return request.param


def options_of(manifest):
    return [] if manifest == "backup.json" else ["--incremental"]


def check_whole(paceline, bucket, datadir, manifest):
    """Checks that the backup is complete and that failed attempts have left nothing."""
    assert {f"one/{manifest}", "one/backup.json"} <= set(bucket.objects) and "one/unfinished.json" not in bucket.objects
    status, _, said = backups.paceline("restore", "--from", bucket.url("one"), "--check", environment=bucket.environment)
    assert status == 0, said
    assert restore(bucket.url("one"), datadir, environment=bucket.environment) == binlog_position(paceline)


@pytest.mark.parametrize("luck", ["closed", "reset"])
def test_the_answer_to_a_manifest_is_lost(paceline, tmp_path, bucket, next_manifest, luck):
    bucket.unlucky = next_manifest, luck
    assert "can be restored" in backup(paceline, bucket.url("one"), *options_of(next_manifest), environment=bucket.environment)
    assert bucket.unlucky is None
    check_whole(paceline, bucket, tmp_path / "restored", next_manifest)


def test_a_manifest_comes_late(paceline, tmp_path, bucket, next_manifest):
    """The service is still processing it when the backup gives up; the backup's objects exist when it arrives."""
    bucket.unlucky = next_manifest, "late"
    environment = bucket.environment
    said = refused("backup", "--from", paceline.socket, "--to", bucket.url("one"), *options_of(next_manifest), environment=environment)
    assert "it is unknown whether the manifest was written" in said, said
    bucket.come_late()
    status, _, said = backups.paceline("restore", "--from", bucket.url("one"), "--check", environment=environment)
    assert status == 0, said
    assert restore(bucket.url("one"), tmp_path / "restored", environment=environment) == binlog_position(paceline)
    # The next increment removes the mark and continues.
    paceline.query("insert into d.t values (3)")
    backup(paceline, bucket.url("one"), "--incremental", environment=environment)
    check_whole(paceline, bucket, tmp_path / "again", next_manifest)


def test_a_manifest_never_comes(paceline, tmp_path, bucket, next_manifest):
    bucket.unlucky = next_manifest, "denied"
    place, environment = bucket.url("one"), bucket.environment
    said = refused("backup", "--from", paceline.socket, "--to", place, *options_of(next_manifest), environment=environment)
    assert "AccessDenied" in said and "it is unknown whether the manifest was written" in said, said
    if next_manifest == "backup.json":
        assert "contains no complete backup" in refused("restore", "--from", place, "--check", environment=environment)
    else:
        assert backups.paceline("restore", "--from", place, "--check", environment=environment)[0] == 0
    backup(paceline, place, *options_of(next_manifest), environment=environment)
    check_whole(paceline, bucket, tmp_path / "restored", next_manifest)


def interrupt_at_manifest(paceline, bucket, manifest, times):
    """Starts a backup and interrupts it `times` times while its manifest is on its way. The manifest arrives
    nevertheless."""
    bucket.unlucky = manifest, "held"
    command = [BINARY, "backup", "--from", paceline.socket, "--to", bucket.url("one"), *options_of(manifest)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **bucket.environment})
    assert bucket.held.wait(60)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        # A second signal that comes at once would be the same one.
        let_run(0.5)
    if times > 1:
        process.wait(timeout=10)
    bucket.released.set()
    printed, said = process.communicate(timeout=60)
    wait_for("the manifest", lambda: f"one/{manifest}" in bucket.objects, 10)
    return process.returncode, printed, said


def test_interrupted_at_the_manifest(paceline, tmp_path, bucket, next_manifest):
    """The interrupt comes too late: the backup is complete."""
    status, printed, said = interrupt_at_manifest(paceline, bucket, next_manifest, times=1)
    assert status == 0 and "can be restored" in printed, said
    check_whole(paceline, bucket, tmp_path / "restored", next_manifest)


def test_interrupted_twice_at_the_manifest(paceline, tmp_path, bucket, next_manifest):
    assert interrupt_at_manifest(paceline, bucket, next_manifest, times=2)[0] == 130
    assert backups.paceline("restore", "--from", bucket.url("one"), "--check", environment=bucket.environment)[0] == 0
    paceline.query("insert into d.t values (3)")
    backup(paceline, bucket.url("one"), "--incremental", environment=bucket.environment)
    check_whole(paceline, bucket, tmp_path / "restored", next_manifest)


def every_state(paceline, tmp_path, place):
    paceline.query("create database d", "create table d.t (id int primary key auto_increment, b longblob)")
    for _ in range(24):
        paceline.query(f"insert into d.t (b) values (x'{os.urandom(1 << 20).hex()}')")
    backup(paceline, place)
    wanted = {}
    for number in range(3):
        paceline.query(f"insert into d.t (b) values ('{number}')")
        wanted[binlog_position(paceline)] = paceline.query("select count(*), sum(crc32(b)) from d.t")
        backup(paceline, place, "--incremental")
    assert "it already contains a backup" in refused("backup", "--from", paceline.socket, "--to", place)
    assert backups.paceline("restore", "--from", place, "--check")[0] == 0
    for position, rows in wanted.items():
        directory = tmp_path / f"at {position}"
        assert restore(place, directory, "--until", position) == position
        restored = on(directory, tmp_path / f"server {position}").start()
        try:
            assert restored.query("select count(*), sum(crc32(b)) from d.t") == rows
        finally:
            restored.close()


def test_every_state_of_increments(paceline, tmp_path, bucket, monkeypatch):
    for name, value in bucket.environment.items():
        monkeypatch.setenv(name, value)
    every_state(paceline, tmp_path, bucket.url("one"))


if real := os.environ.get("PACELINE_TEST_S3"):

    def test_a_real_service(paceline, tmp_path, monkeypatch):
        place = f"{real}/{uuid.uuid4()}"
        every_state(paceline, tmp_path, place)
        missing = f"s3://{uuid.uuid4()}/one"
        assert "there is no such bucket" in refused("restore", "--from", missing, "--check")
        assert "there is no such bucket" in refused("backup", "--from", paceline.socket, "--to", missing)
        assert "InvalidAccessKeyId" in refused("restore", "--from", place, "--check", environment={"AWS_ACCESS_KEY_ID": "stranger"})
