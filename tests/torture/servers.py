"""Servers of the torture suite: started with random options, connected as replicas, switched over."""

import re
import shutil
import subprocess
import time

import pymysql

from support.archive import Archive
from support.replication import slave_status
from support.servers import BINARY, MariaDb, Paceline

# A busy machine may be slow. A longer wait counts as a hang.
WAIT_SECONDS_MAX = 180
# A join may have to start again if tables are redefined meanwhile.
JOINS_MAX = 5
ACCOUNT, PASSWORD = "torture", "secret"
# Account of the load. Unlike root, it cannot write to a server with read_only.
CLIENT = "client"

# Options that change how the server works but never what a client sees.
OPTIONS = [
    ["--max_binlog_size=65536"], ["--sync_binlog=0"], ["--paceline_memtable_size=1048576"], ["--paceline_commit_leader=inline"],
    ["--paceline_commit_leader=thread"], ["--paceline_early_lock_release=OFF"],
    ["--paceline_checkpoint_log_bytes=1048576"], ["--slave_parallel_threads=4"],
]


def random_options(rng):
    return [option for choice in rng.sample(OPTIONS, rng.randrange(0, 4)) for option in choice]


def can_back_up():
    """Returns whether this program can make backups."""
    return "backup" in subprocess.run([BINARY, "--help"], capture_output=True, text=True, timeout=60).stdout


class Cluster:
    """A primary and the servers that follow it. Every server has the accounts that all of them use; they are created
    without logging."""

    def __init__(self, directory, rng):
        self.directory, self.rng = directory, rng
        self.servers, self.archives = [], []
        # A number is never reused, even if its server is gone.
        self.number = 1

    def start(self, kind=Paceline, *options, datadir=None, account=True):
        number = self.number
        name = f"s{number}"
        arguments = [f"--server-id={number}"]
        if kind is Paceline:
            arguments += ["--paceline_log_block_size=1048576", "--paceline_block_cache_size=33554432", "--max_connections=4000"]
            arguments += random_options(self.rng)
            server = Paceline(self.directory / name, *arguments, *options, datadir=datadir)
        else:
            server = MariaDb(self.directory / name, *arguments, "--innodb_buffer_pool_size=32M",
                             "--innodb_flush_log_at_trx_commit=0", "--sync_binlog=0", *options)
        server.name = name
        # Whether it is fed by an archive.
        server.is_archives = False
        # Whether its log begins at the point of a copy.
        server.is_copy = False
        # Whether its tables were created from another server's definitions. There, an index that a foreign key has
        # created is an ordinary index: it remains when a longer one is added.
        server.is_remade = False
        self.servers.append(server)
        self.number += 1
        server.start()
        if account:
            for host in ("localhost", "127.0.0.1"):
                server.query("set session sql_log_bin=0", f"create user if not exists {ACCOUNT}@'{host}' identified by '{PASSWORD}'",
                             f"grant all on *.* to {ACCOUNT}@'{host}'", f"create user if not exists {CLIENT}@'{host}'",
                             f"grant select, insert, update, delete, create, drop, alter, index on *.* to {CLIENT}@'{host}'")
        if kind is MariaDb:
            server.query("reset master")
        return server

    def follow(self, replica, primary):
        replica.query(f"change master to master_host='127.0.0.1', master_port={primary.port}, master_user='{ACCOUNT}', "
                      f"master_password='{PASSWORD}', master_connect_retry=1, master_use_gtid=slave_pos", "start slave")

    def follow_until(self, replica, primary, position):
        """Replicates from the beginning of the log up to a position, and waits until it is reached."""
        replica.query(f"change master to master_host='127.0.0.1', master_port={primary.port}, master_user='{ACCOUNT}', "
                      f"master_password='{PASSWORD}', master_use_gtid=slave_pos", f"start slave until master_gtid_pos='{position}'",
                      f"select master_gtid_wait('{position}', {WAIT_SECONDS_MAX})")

    def replica_of(self, primary, kind=Paceline, *options, **more):
        replica = self.start(kind, *options, **more)
        self.follow(replica, primary)
        return replica

    def back_up(self, server, to):
        """Makes a backup of a running server."""
        self.command("backup", "--from", server.socket, "--user", ACCOUNT, "--password", PASSWORD, "--to", to)

    def restored(self, backup):
        """Starts a server from a restored backup. It does not follow any server yet."""
        name = f"s{self.number}"
        self.command("restore", "--from", backup, "--datadir", self.directory / name / "data")
        server = self.start()
        server.is_copy = True
        return server

    def joined(self, primary):
        """Runs `paceline join` with an empty directory, by copying the primary's files or its rows, and starts the
        server, which then replicates. Returns the number of attempts and whether one succeeded: a copy of rows is
        refused whenever tables are redefined meanwhile."""
        number = self.number
        directory = self.directory / f"s{number}" / "data"
        copied = self.rng.choice(["files", "rows"])
        arguments = [f"127.0.0.1:{primary.port}", f"--user={ACCOUNT}", f"--password={PASSWORD}", f"--server-id={number}", "--prepare-only",
                     f"--datadir={directory}", f"--copy={copied}"]
        for tried in range(1, JOINS_MAX + 1):
            try:
                self.command("join", *arguments)
                server = self.start()
                server.is_copy, server.is_remade = True, copied == "rows"
                return tried, True
            except AssertionError as refusal:
                if not any(redefined in str(refusal) for redefined in ("error 1146", "run the command again", "too often to take a snapshot")):
                    raise
        shutil.rmtree(directory.parent)
        return tried, False

    def archived(self, primary):
        """Starts an archive that follows a server, whose commits then wait for the archive, and a replica of the archive."""
        directory = self.directory / f"archive{len(self.archives) + 1}"
        archive = Archive(directory, primary, account=(ACCOUNT, PASSWORD),
                          options=["--max-binlog-size", str(self.rng.choice([20_000, 1 << 20])), "--to", str(directory / "storage"),
                                   "--max-binlog-total-size", "100000"])
        archive.name = directory.name
        self.archives.append(archive)
        archive.start()
        wait_for_archive(primary)
        replica = self.start()
        replica.is_archives = True
        self.follow(replica, archive)
        return archive

    def command(self, *arguments):
        result = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=WAIT_SECONDS_MAX * 2)
        assert result.returncode == 0, f"paceline {' '.join(map(str, arguments))}: {result.stdout[-1000:]}{result.stderr[-1000:]}"

    def promote(self, candidate, old_primary, *others):
        """Makes `candidate` the primary. If there is an old primary, its acknowledged transactions are preserved and it
        follows the new one. If it is dead, the switch-over happens without it."""
        old = [f"--old-primary=127.0.0.1:{old_primary.port}"] if old_primary else []
        archives = [f"--archive=127.0.0.1:{archive.port}" for archive in self.archives]
        command = [BINARY, "promote", f"127.0.0.1:{candidate.port}", *[f"127.0.0.1:{other.port}" for other in others], *old, *archives,
                   f"--user={ACCOUNT}", f"--password={PASSWORD}", f"--replication-user={ACCOUNT}", f"--replication-password={PASSWORD}",
                   "--timeout=120"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS_MAX * 2)
        assert result.returncode == 0, f"the switch-over failed: {result.stdout}{result.stderr}"

    def rewound(self, old_primary, primary):
        """Rewinds a dead primary to what its successor has, and lets it follow. Returns the number of removed
        transactions; `None` if its tables hold some of them: then it is dropped from the cluster."""
        command = [BINARY, "rewind", f"127.0.0.1:{primary.port}", "--datadir", old_primary.datadir, f"--user={ACCOUNT}", f"--password={PASSWORD}"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS_MAX * 2)
        if "the tables contain transactions that" in result.stderr:
            self.servers.remove(old_primary)
            old_primary.close()
            return None
        assert result.returncode == 0, f"the old primary could not be rewound: {result.stdout}{result.stderr}"
        old_primary.start()
        old_primary.query(f"change master to master_host='127.0.0.1', master_port={primary.port}, master_user='{ACCOUNT}', "
                          f"master_password='{PASSWORD}', master_connect_retry=1, master_use_gtid=current_pos", "start slave")
        lacking = re.search(r"lacks (\d+) transaction", result.stdout)
        return int(lacking[1]) if lacking else 0

    def close(self):
        for server in self.servers + self.archives:
            server.close()


def wait_for_archive(primary):
    """Makes a server's commits wait for replicas that acknowledge: archives do, others do not."""
    primary.query("set global rpl_semi_sync_master_timeout=3000", "set global rpl_semi_sync_master_enabled=on")


def logged(server):
    """Returns the last logged GTID of each domain of a server."""
    return server.query("select @@gtid_binlog_pos")[0][0]


def catch_up(replica, primary):
    """Waits until a replica has everything that its primary has logged so far."""
    wanted = what_it_waits_for(replica, logged(primary))
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while True:
        try:
            if replica.query(f"select master_gtid_wait('{wanted}', 1)")[0][0] == 0:
                return
        except pymysql.err.OperationalError as error:
            assert error.args[0] in (1317, 2013), error
        status = slave_status(replica)
        assert status, f"{replica.name} is no replica"
        for part in ("IO", "SQL"):
            number = int(status[f"Last_{part}_Errno"])
            assert number in (0, 1158, 2002, 2003, 2006, 2013, 1927), f"{replica.name} stopped with {number}: {status[f'Last_{part}_Error']}"
        assert time.monotonic() < deadline, f"{replica.name} does not come to {wanted}: {status}"


def what_it_waits_for(replica, position):
    """Returns the GTIDs of a position that a replica must replicate. Transactions that it wrote itself as a primary
    were never replicated: MASTER_GTID_WAIT would wait for them forever."""
    [(own, here)] = replica.query("select @@server_id, @@gtid_binlog_pos")
    return ",".join(gtid for gtid in position.split(",") if gtid not in here.split(",") or gtid.split("-")[1] != str(own))


def check_for_panics(cluster):
    """Raises if one of our servers has panicked or stopped by itself."""
    for server in cluster.servers + cluster.archives:
        if isinstance(server, (Paceline, Archive)):
            lines = [line for line in server.said().splitlines() if "panicked at" in line or "internal error" in line.lower()]
            assert not lines, f"{server.name} said: {lines[:3]}"
            assert server.process.poll() is None, f"{server.name} ended by itself with {server.process.returncode}"
