"""`paceline join`: a server that creates itself, and the account that it reads with."""

import os
import subprocess

from support.real_replicas import ACCOUNT, PASSWORD, allow_replicas, catch_up, check_same_tables
from support.servers import BINARY, Paceline

READER = "reader"


def allow_readers(primary, privileges="select, reload, trigger, show view"):
    allow_replicas(primary)
    for host in ("%", "localhost", "127.0.0.1"):
        primary.query("set session sql_log_bin=0", f"create or replace user {READER}@'{host}' identified by 'r''pw'",
                      f"grant {privileges} on *.* to {READER}@'{host}'")


class Joined(Paceline):
    """A replica that creates itself. When it is complete it is an ordinary server."""

    def __init__(self, directory, primary, *options, user=READER, password="r'pw"):
        super().__init__(directory)
        self.primary = primary
        self.join_options = [f"--user={user}", f"--replication-user={ACCOUNT}", *options]
        self.environment = dict(os.environ, PACELINE_PASSWORD=password, PACELINE_REPLICATION_PASSWORD=PASSWORD)
        self.complete = False
        # Port of the proxy in front of the primary.
        self.through = None

    def command(self):
        own = ["--datadir", self.datadir, "--port", self.port, "--socket", self.socket, "--server-id", 7, *self.accounts]
        if self.complete:
            return [BINARY, "server", *own]
        return ["env", f"PACELINE_PASSWORD={self.environment['PACELINE_PASSWORD']}", f"PACELINE_REPLICATION_PASSWORD={PASSWORD}",
                BINARY, "join", *own, *self.join_options, f"127.0.0.1:{self.through or self.primary.port}"]

    def wait_until_ready(self):
        super().wait_until_ready()
        self.complete = True

    def run(self, *more):
        """Runs the command. Returns its exit status and messages."""
        result = subprocess.run([*map(str, self.command()), *more], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        return result.returncode, result.stderr

    def kill_halfway(self):
        """Kills the command halfway with kill -9. Nothing may look complete then."""
        self.kill()
        self.complete = True
        assert "is not complete: 'paceline join' has not finished. Run that again" in self.refuses()
        self.complete = False

    def check_whole(self, rows):
        """Checks that a second run completes it, and that a complete replica is not touched."""
        self.start()
        catch_up(self, self.primary)
        assert check_same_tables(self.primary, self) == rows
        self.kill()
        self.complete = False
        assert "is not empty" in self.refuses()

    def refuses(self, *more):
        status, said = self.run(*more)
        assert status == 1, said
        return said
