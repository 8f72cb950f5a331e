"""A transaction that is larger than an archive's memory passes through a file and arrives complete."""

import re
import time
from pathlib import Path

import pytest

from conftest import follow
from support.archive import Archive
from support.real_replicas import catch_up
from support.servers import Paceline

ROWS, ROW_BYTES = 240, 500_000


def anonymous_peak(process, seconds, until):
    """Returns the process's peak of anonymous memory (without mapped files) until the condition holds."""
    peak, deadline = 0, time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline, "it takes for ever"
        status = Path(f"/proc/{process.pid}/status").read_text()
        peak = max(peak, int(re.search(r"RssAnon:\s+(\d+)", status).group(1)) << 10)
        # The pause of a loop that measures.
        time.sleep(0.02)
    return peak


@pytest.fixture
def large(start, kind):
    """A primary whose log contains a transaction of 120 MB."""
    primary = start(kind, 1)
    primary.query("set global max_allowed_packet=64*1024*1024")
    primary.query("create database t", "create table t.a (id int primary key, v longtext)")
    with primary.connect(autocommit=False) as session, session.cursor() as cursor:
        for first in range(0, ROWS, 20):
            cursor.execute("insert into t.a values " + ", ".join(f"({id}, repeat(char({97 + id % 26}), {ROW_BYTES}))" for id in range(first, first + 20)))
        session.commit()
    return primary


def test_it_passes_with_little_memory(start, large):
    archive = start(Archive, large, options=["--compression", "none"])
    wanted = large.query("select @@global.gtid_binlog_pos")
    peak = anonymous_peak(archive.process, 120, lambda: archive.query("select @@global.gtid_binlog_pos") == wanted)
    assert peak < 50 << 20, f"{peak >> 20} MB"
    assert not list(archive.datadir.glob("spill*"))
    # The log continues after it, and a restart after a crash finds all of it.
    large.query("insert into t.a values (-1, 'after')")
    archive.wait_for(large)
    archive.kill()
    archive.start()
    assert archive.query("select @@global.gtid_binlog_pos") == large.query("select @@global.gtid_binlog_pos")
    replica = start(Paceline, 9)
    follow(replica, archive)
    peak = anonymous_peak(archive.process, 120, lambda: replica.query("select @@global.gtid_slave_pos") == large.query("select @@global.gtid_binlog_pos"))
    assert peak < 50 << 20, f"{peak >> 20} MB"
    catch_up(replica, large)
    rows = "select count(*), sum(length(v)), sum(crc32(v)) from t.a"
    assert replica.query(rows) == large.query(rows)
