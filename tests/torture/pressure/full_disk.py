"""The disk becomes full under load. Commits get an error, or wait if there was space for the log but not for the
tables. Reads continue. When there is space again, everything continues. Then the power fails."""

import subprocess
import time

import pymysql

from support import workload
from support.servers import CrashFs, Paceline

FULL = {3, 1021, 1026, 1030, 28, 1114}


class Load(workload.Load):
    """A load that continues while the disk is full."""

    refused = 0

    def transaction(self, cursor, worker, number, rng):
        try:
            super().transaction(cursor, worker, number, rng)
        except pymysql.err.MySQLError as error:
            if error.args[0] in FULL:
                self.refused += 1
                # The disk is full for a while.
                time.sleep(0.01)
                raise pymysql.err.OperationalError(1205, "no room: try again") from error
            raise

    def run(self, worker, rng):
        # A refused commit was rolled back. It is retried with the same number.
        while not self.stopping.is_set():
            before = len(self.errors)
            super().run(worker, rng)
            mine = [error for error in self.errors[before:] if error[0] == worker and getattr(error[1], "args", [0])[0] in FULL]
            if not mine:
                return
            self.refused += len(mine)
            self.errors[:] = [error for error in self.errors if error not in mine]
            # The disk is full for a while.
            time.sleep(0.02)


def run(part, rng, directory):
    disk = CrashFs(directory / "disk")
    server = Paceline(directory / "server", "--max_binlog_size=1048576", "--paceline_log_block_size=1048576", "--paceline_memtable_size=1048576",
                      "--paceline_checkpoint_log_bytes=1048576", datadir=disk.mount_point / "data")
    try:
        server.start()
        workload.create(server)
        server.query("create table load_test.filler (id int primary key auto_increment, pad longtext)")
        load = Load(server, 4, rng.random()).start()
        for _ in range(1 if part.short else 3):
            workload.for_a_while(rng, 0.3, 0.8)
            assert disk.say(f"capacity {int(disk.say('used')) + (3 << 20)}") == "ok"
            fill(server)
            # Reads and sessions must continue.
            server.query("select count(*) from load_test.history", "select sum(amount) from load_test.account")
            assert server.process.poll() is None, "a full disk ended the server"
            assert disk.say(f"capacity {1 << 40}") == "ok"
            part.numbers["full disks"] += 1
            if not goes_on(server):
                part.numbers["stopped by one"] += 1
                break
        workload.for_a_while(rng, 0.2, 0.4)
        load.stop()
        if server.process.poll() is None:
            workload.check(server, load)
            server.kill()
        assert disk.say(f"crash {rng.randrange(1 << 32)}") == "ok"
        server.start()
        workload.check(server, load)
    finally:
        server.close()
        disk.close()


def goes_on(server):
    """Waits until the server writes again, or has stopped by itself and logged the reason: the tables could not be
    written, and the next start replays the log. Returns whether it writes."""
    deadline = time.monotonic() + 120
    while True:
        try:
            server.query("insert into load_test.filler (pad) values ('room again')", read_timeout=90)
            return True
        except pymysql.err.MySQLError as error:
            try:
                server.process.wait(timeout=5 if error.args[0] == 2013 else 0.05)
                assert "No space left on device" in server.said() and "the server stops" in server.said(), server.said()[-500:]
                return False
            except subprocess.TimeoutExpired:
                assert error.args[0] in FULL and time.monotonic() < deadline, f"there is room again: {error!r}"


def fill(server):
    """Writes until there is no space: a write is refused, or waits."""
    for _ in range(400):
        try:
            server.query("insert into load_test.filler (pad) values (repeat('x', 100000))", read_timeout=3)
        except pymysql.err.MySQLError as error:
            assert error.args[0] in FULL | {2013}, f"a full disk gives {error!r}"
            return
    raise AssertionError("the disk never filled")
