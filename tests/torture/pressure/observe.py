"""Observations of a server under pressure: its memory, and the durations of commits."""

import threading
import time

import pymysql


def memory_peak_bytes(server):
    """Returns the highest memory use of the process since its start."""
    with open(f"/proc/{server.process.pid}/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    raise AssertionError("the kernel does not say how much memory the process has")


class Committer:
    """A client that commits one row after the other and measures each commit."""

    def __init__(self, server, table="pressure.beat"):
        self.server, self.table = server, table
        server.query("create database if not exists pressure", f"create table if not exists {table} (id int primary key auto_increment)")
        self.stopping = threading.Event()
        self.durations, self.count, self.error = [], 0, None
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            with self.server.connect() as connection, connection.cursor() as cursor:
                while not self.stopping.is_set():
                    start = time.monotonic()
                    cursor.execute(f"insert into {self.table} values ()")
                    self.durations.append(time.monotonic() - start)
                    self.count += 1
                    # The pause of a loop that measures.
                    time.sleep(0.002)
        except (pymysql.err.MySQLError, OSError) as error:
            self.error = error

    def longest_ms(self):
        """Returns the longest duration since the last call."""
        durations, self.durations = self.durations, []
        return max(durations, default=0) * 1000

    def stop(self):
        self.stopping.set()
        self.thread.join(120)
        assert not self.thread.is_alive(), "a commit hangs"
        assert self.error is None, f"a commit beside it failed: {self.error!r}"
        found = self.server.query(f"select count(*) from {self.table}")[0][0]
        assert found == self.count, f"{self.count} commits were acknowledged, {found} are there"
