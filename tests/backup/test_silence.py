"""Servers that stop answering while their connections stay open: the commands give up, say so, and leave nothing that
looks complete."""

import signal
import subprocess
import time

import pytest

from support.backups import paceline as run, refused
from support.joining import Joined, allow_readers
from support.line import Silent, Tampering
from support.servers import BINARY

TIMEOUT = "Got timeout reading communication packets: nothing has come for 1 s"


@pytest.fixture
def silent():
    peer = Silent()
    yield peer
    peer.close()


def test_before_the_first_word(tmp_path, silent):
    address = f"127.0.0.1:{silent.port}"
    for command in (["backup", "--from", address, "--to", tmp_path / "backup"], ["join", address, "--datadir", tmp_path / "joined", "--server-id=9"]):
        began = time.monotonic()
        assert TIMEOUT in refused(*command, "--net-timeout=1")
        assert time.monotonic() - began < 10
    assert not (tmp_path / "backup").exists() and not (tmp_path / "joined").exists()


def test_interrupted_while_nobody_answers(tmp_path, silent):
    process = subprocess.Popen([BINARY, "backup", "--from", f"127.0.0.1:{silent.port}", "--to", tmp_path / "backup"], stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "backup").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=10)
    assert process.returncode == 1
    assert said == "paceline backup: interrupted\nnothing was copied; run the same command again\n"
    assert not (tmp_path / "backup").exists()


def test_a_promotion(silent):
    """Its steps have a time limit of their own; an answer gets ten seconds more."""
    began = time.monotonic()
    assert "nothing has come for 11 s" in refused("promote", f"127.0.0.1:{silent.port}", "--replication-user=x", "--timeout=1")
    assert 10 < time.monotonic() - began < 30


@pytest.fixture
def line(paceline):
    proxy = Tampering(paceline.port)
    proxy.holds_after = 500_000
    paceline.query("create database d", "create table d.t (id int primary key, b longblob)",
                   *[f"insert into d.t values ({n}, repeat(char(65 + {n}), 1000000))" for n in range(6)])
    yield proxy
    proxy.close()


def test_in_the_middle_of_a_backup(paceline, line, tmp_path):
    place = tmp_path / "backup"
    paceline.query("create user b@'%' identified by 'b'", "grant reload, replication slave, select on *.* to b@'%'")
    access = ["backup", "--from", f"127.0.0.1:{line.port}", "--user=b", "--password=b", "--to", place]
    status, _, said = run(*access, "--net-timeout=1")
    assert status == 1 and TIMEOUT in said and "everything that it had written was removed" in said
    assert not (place / "backup.json").exists() and not list(place.rglob("*.sst"))
    # The server releases its files when the connection is closed.
    line.released.set()
    assert run(*access)[0] == 0
    paceline.query("insert into d.t values (100, 'x')")
    assert "It can be restored" in run(*access, "--incremental")[1]


@pytest.mark.parametrize("copied", ["files", "rows"])
def test_in_the_middle_of_a_join(paceline, line, tmp_path, copied):
    allow_readers(paceline, "select, reload, trigger, replication slave")
    joined = Joined(tmp_path / "joined", paceline, f"--copy={copied}", "--net-timeout=1")
    joined.through = line.port
    try:
        assert TIMEOUT in joined.refuses("--prepare-only")
        assert not joined.datadir.exists()
    finally:
        joined.close()


def test_a_lock_may_be_waited_for_longer(mariadb, tmp_path):
    """The server waits for conflicting DDL, and sends nothing meanwhile."""
    allow_readers(mariadb)
    mariadb.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    joined = Joined(tmp_path / "joined", mariadb, "--net-timeout=1", "--lock-timeout=6")
    with mariadb.connect() as holder, holder.cursor() as cursor:
        cursor.execute("backup stage start")
        said = joined.refuses("--prepare-only")
        assert "BACKUP STAGE START did not get its lock within 6 s" in said
        cursor.execute("backup stage end")
    status, said = joined.run("--prepare-only")
    assert status == 0, said
