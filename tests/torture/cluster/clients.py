"""Clients of the cluster: they know the addresses of all servers, and find the primary by asking."""

import time

import pymysql

from torture.isolation import load

# Errors of a server without room on its disk.
FULL = {3, 1021, 1026, 1030, 28, 1114}
# Answer of a member that has not opened its tables yet, or has lost its quorum.
CLOSED = {1047}
# Times after which a client that gets no answer asks another server.
PATIENCE_SECONDS = [0.5, 1, 4]
# Group of the transactions that were begun at a primary.
PRIMARIES = "the primaries"


class ClusterClient(load.Client):
    """One session. It leaves a server that takes no writes, is silent or gone."""

    lost = load.Client.lost | FULL | CLOSED
    refusals = load.Client.refusals | FULL

    def is_current(self):
        return True

    def connect(self):
        servers = self.run.servers
        self.server = self.site or servers[self.rng.randrange(len(servers))]
        self.connection = self.server.dial(self.rng.choice(PATIENCE_SECONDS), database="iso")
        self.cursor = self.connection.cursor()
        [(is_read_only, server_id)] = self.ask("select @@global.read_only, @@server_id")
        # A server that was replaced has another number.
        self.run.ids.setdefault(self.server.name, set()).add(server_id)
        if self.site is None and is_read_only:
            raise pymysql.err.OperationalError(1290, "not the primary")
        self.ask(f"set session transaction isolation level {self.level}")
        self.ask("set session innodb_lock_wait_timeout=1")

    def failed(self, error):
        super().failed(error)
        if error.args[0] in load.TURNED_AWAY:
            # It is no primary any more.
            raise error

    def committed(self):
        super().committed()
        if self.open.writes():
            self.run.acknowledged(self.open.end)


class ClusterRun(load.Run):
    """Clients that write and read at the primary, and clients that only read, at each server."""

    client = ClusterClient

    def __init__(self, servers, level, rng, clients, readers, width):
        self.servers = servers
        # Numbers of the servers by name.
        self.ids = {}
        self.commits, self.last, self.longest_gap = 0, time.monotonic(), 0.0
        super().__init__(None, level, rng, clients, servers, readers, width)

    def acknowledged(self, at):
        """Counts a write that was reported as committed. Two at the same time may count as one."""
        self.longest_gap = max(self.longest_gap, at - self.last)
        self.commits, self.last = self.commits + 1, at

    def history(self):
        """Returns the transactions. Those at primaries are in one order of time, whichever server was the primary: what was
        acknowledged before one began is visible to it, or it is refused. For readers of one server that server's order holds."""
        for client in self.clients:
            for transaction in client.history:
                transaction.group = "" if client.site else PRIMARIES
        return super().history()
