"""The archive as a server, and the events of binary log files as stored."""

import struct
from pathlib import Path

from support.real_replicas import ACCOUNT, PASSWORD
from support.servers import Server

GTID, FORMAT = 162, 15
# Rotate, Stop, Format_description, Binlog_checkpoint, Gtid_list, ignorable events.
OF_THE_LOG = {4, 3, 15, 161, 163, 28}


class Archive(Server):
    """`paceline archive` following servers; `options` are its own. `account` is used for every login, at the archive
    and at the servers."""

    def __init__(self, directory, *sources, options=(), account=(ACCOUNT, PASSWORD)):
        super().__init__(directory, *options)
        self.user, self.password = account
        self.sources = [source if isinstance(source, str) else f"127.0.0.1:{source.port}" for source in sources]
        self.datadir = self.directory / "data"

    def command(self):
        followed = [word for source in self.sources for word in ("--from", source)]
        return [self.program.path, "archive", *followed, "--datadir", self.datadir, "--port", self.port, "--socket", self.socket,
                "--bind-address", "127.0.0.1", "--user", self.user, "--password", self.password]

    def connect(self, **options):
        return super().connect(**{"user": self.user, "password": self.password, **options})

    def files(self):
        """Returns its log files, oldest first."""
        return sorted(self.datadir.glob("archive.[0-9]*[0-9]"))

    def status(self, name):
        [(_, value)] = self.query(f"show status like '{name}'")
        return value

    def wait_for(self, server, seconds=60):
        """Waits until everything that a server has logged by now is durable in the archive."""
        [(position,)] = server.query("select @@global.gtid_binlog_pos")
        [(reached,)] = self.query(f"select master_gtid_wait('{position}', {seconds})")
        assert reached == 0, (position, self.query("show all slaves status"), self.said()[-4000:])
        return position


class Serving(Archive):
    """An archive of another server's files."""

    def __init__(self, directory, files, *options):
        super().__init__(directory, options=options)
        self.files_of = files

    def command(self):
        return [self.program.path, "archive", "--serve", self.files_of, "--port", self.port, "--socket", self.socket, "--bind-address", "127.0.0.1",
                "--user", ACCOUNT, "--password", PASSWORD]


def events(path):
    """Returns type, timestamp, server id, flags and body of each event of a file, up to the zeros after the last one."""
    content = Path(path).read_bytes()
    at, checksum = 4, 4
    while at + 19 <= len(content):
        timestamp, kind, server_id, length, _, flags = struct.unpack_from("<IBIIIH", content, at)
        if kind == 0 or length < 19:
            return
        if kind == FORMAT:
            checksum = 4 if content[at + length - 5] else 0
        body = content[at + 19:at + length - checksum]
        yield kind, timestamp, server_id, flags, body
        at += length


def group_events(paths):
    """Returns the events of event groups in these files, in order, without those that are private to a Paceline."""
    found, is_local = [], False
    for path in paths:
        for event in events(path):
            if event[0] == GTID:
                is_local = event[4][8:12] == b"\xff\xff\xff\xff"
            if event[0] not in OF_THE_LOG and not is_local:
                found.append(event)
    return found


def gtids(paths):
    """Returns the GTIDs in these files, in order."""
    found = []
    for kind, _, server_id, _, body in group_events(paths):
        if kind == GTID:
            sequence, domain = struct.unpack_from("<QI", body)
            found.append(f"{domain}-{server_id}-{sequence}")
    return found
