"""The machines of a cluster under test: servers, archives, etcd, and one for the clients, each in a network namespace of its own."""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import urllib.request
from dataclasses import dataclass

import pymysql

from support.archive import Archive
from support.jumping_clock import JumpingClock
from support.namespaces import Network
from support.servers import BINARY, CrashFs, Paceline
from support.waiting import wait_for
from torture.harness import Finding
from torture.servers import CLIENT

NAME = "torture"
PORT, MESSAGES_PORT, ETCD_PORT, ETCD_PEER_PORT = 3306, 3307, 2379, 2380
CONNECT_SECONDS_MAX = 1
# On a busy machine. A longer wait counts as a cluster that does not recover.
RECOVERY_SECONDS_MAX = 90
SMALL = ["--paceline_log_block_size=1048576", "--paceline_block_cache_size=33554432", "--paceline_memtable_size=1048576",
         "--paceline_checkpoint_log_bytes=1048576", "--max_binlog_size=1048576"]


class EtcdMachine:
    """A member of etcd."""

    def __init__(self, machine, directory):
        self.machine, self.name, self.directory = machine, machine.name, directory
        self.url = f"http://{machine.address}:{ETCD_PORT}"
        self.peer = f"http://{machine.address}:{ETCD_PEER_PORT}"
        self.process, self.is_stopped = None, False

    def spawn(self, peers):
        cluster = ",".join(f"{each.name}={each.peer}" for each in peers)
        with open(self.directory / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                self.machine.inside("etcd", f"--name={self.name}", f"--data-dir={self.directory / self.name}", f"--listen-client-urls={self.url}",
                                    f"--advertise-client-urls={self.url}", f"--listen-peer-urls={self.peer}",
                                    f"--initial-advertise-peer-urls={self.peer}", f"--initial-cluster={cluster}"),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def is_healthy(self):
        with contextlib.suppress(OSError), self.machine.entered(), urllib.request.urlopen(f"{self.url}/health", timeout=1) as answer:
            return b"true" in answer.read()
        return False

    def hang(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGSTOP)
            self.is_stopped = True

    def go_on(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
        self.is_stopped = False

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
        self.is_stopped = False


@dataclass(frozen=True)
class Layout:
    """Members of a cluster, and the copies that a transaction needs. 0 copies are a majority."""

    servers: int
    archives: int = 0
    copies: int = 0
    zones: int = 1

    @classmethod
    def random(cls, rng):
        members, archives = rng.choice([3, 3, 4, 5]), rng.choice([0, 0, 1])
        return cls(members - archives, archives, copies=rng.choice([0, 0, *range(2, members)]), zones=rng.choice([1, 1, 2]))

    def __str__(self):
        copies = f"{self.copies} copies" if self.copies else "a majority of copies"
        return f"{self.servers} servers, {self.archives} archives, {copies} in {self.zones} zones"

    def zone(self, number):
        """Returns the zone of the member with this number."""
        return number % self.zones

    def acknowledges(self, numbers):
        """Returns whether these members are an acknowledgement quorum."""
        members = self.servers + self.archives
        return len(numbers) >= (self.copies or members // 2 + 1) and len({self.zone(number) for number in numbers}) >= self.zones

    def can_commit(self, numbers):
        """Returns whether these members can make one of them the primary, and commit. Servers have the first numbers."""
        rest = set(range(self.servers + self.archives)) - set(numbers)
        return self.acknowledges(numbers) and not self.acknowledges(rest) and any(number < self.servers for number in numbers)


class MemberMachine:
    """A member, with a disk that can be slow, full, or lose power, and a clock that can be wrong."""

    def settle(self, machine, etcd, secret, zone, options):
        """Puts the member, whose `disk` is mounted, on its machine."""
        self.machine, self.name = machine, machine.name
        self.clock = JumpingClock(self.directory)
        self.port, self.is_stopped = PORT, False
        self.options = ["--bind-address=0.0.0.0", f"--cluster={NAME}", f"--etcd={etcd}", f"--cluster-address={machine.address}:{MESSAGES_PORT}",
                        f"--cluster-secret-file={secret}", f"--cluster-member-name={self.name}", f"--cluster-zone={zone}", *options]

    def spawn(self, *more):
        with open(self.log, "ab") as log:
            self.log_before = log.tell()
            self.process = subprocess.Popen(self.machine.inside(*self.command(), *self.options, *more), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env={**os.environ, **self.clock.environment})

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def ended_by_itself(self):
        """Returns whether the process has ended, though nobody has killed it."""
        return self.process is not None and self.process.poll() is not None

    def has_ended_by_itself(self):
        """Returns whether the process has ended, though nobody has killed it. One that says that it stops may need a moment."""
        if self.process is not None and not self.is_stopped and self.has_said(b"the server stops"):
            wait_for(f"{self.name} to end", self.ended_by_itself, RECOVERY_SECONDS_MAX)
        return self.ended_by_itself()

    def kill(self):
        if self.process is not None:
            super().kill()
            self.process = None
        self.is_stopped = False

    def has_opened(self):
        """Returns whether the process has opened its tables to clients since it was spawned."""
        return self.has_said(b"ready for connections")

    def has_said(self, text):
        """Returns whether the process has said this since it was spawned."""
        with open(self.log, "rb") as log:
            log.seek(self.log_before)
            return text in log.read()

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def stop_running(self):
        self.process.send_signal(signal.SIGSTOP)
        self.is_stopped = True

    def go_on(self):
        if self.is_running():
            self.process.send_signal(signal.SIGCONT)
        self.is_stopped = False

    def close(self):
        self.kill()
        self.disk.close()
        self.clock.close()


class ArchiveMachine(MemberMachine, Archive):
    """An archive that is a member."""

    def __init__(self, machine, directory, etcd, secret, zone):
        self.disk = CrashFs(directory / machine.name / "disk")
        super().__init__(directory / machine.name)
        self.datadir = self.disk.mount_point / "data"
        self.settle(machine, etcd, secret, zone, [])

    def command(self):
        return [BINARY, "archive", "--datadir", self.datadir, "--port", self.port, "--socket", self.socket, "--user", self.user,
                "--password", self.password]

    def log_files(self):
        return self.files()

    def is_primary(self):
        return False


class ServerMachine(MemberMachine, Paceline):
    """A server that is a member."""

    def __init__(self, machine, directory, client, etcd, secret, zone, options):
        self.disk = CrashFs(directory / machine.name / "disk")
        super().__init__(directory / machine.name, datadir=self.disk.mount_point / "data")
        self.client_machine = client
        self.settle(machine, etcd, secret, zone, [*SMALL, *options])

    def dial(self, patience_seconds, **options):
        """Connects a client over the network. It gives up when no answer comes in time."""
        options = {"user": CLIENT, "connect_timeout": CONNECT_SECONDS_MAX, "autocommit": True, "charset": "utf8mb4", "ssl_disabled": True,
                   "read_timeout": patience_seconds, "write_timeout": patience_seconds, **options}
        with self.client_machine.entered():
            return pymysql.connect(host=self.machine.address, port=PORT, **options)

    def empty_disk(self):
        # A server that still copies another one has its directory under another name, or none.
        for directory in self.disk.mount_point.iterdir():
            shutil.rmtree(directory)
        # It is a new disk: a power failure does not bring back what was on the old one.
        root = os.open(self.disk.mount_point, os.O_RDONLY)
        os.fsync(root)
        os.close(root)

    def is_primary(self):
        """Returns whether the server accepts writes, as it says to somebody on its machine."""
        if not self.is_running() or self.is_stopped:
            return False
        try:
            return self.query("select @@global.read_only", read_timeout=2, connect_timeout=2) == ((0,),)
        except (pymysql.err.Error, OSError):
            return False


class Machines:
    """All machines."""

    def __init__(self, directory, layout, etcds, options):
        self.directory, self.layout = directory, layout
        self.network = Network()
        self.etcds, self.servers, self.archives = [], [], []
        # Names of servers that were removed from the log holders, or perhaps not.
        self.removed = set()
        # Those of them whose place another member takes, which adds itself.
        self.replaced = set()
        try:
            self.client = self.network.machine("client")
            for number in range(etcds):
                self.etcds.append(EtcdMachine(self.network.machine(f"etcd{number + 1}"), directory))
            self.start_etcd()
            self.secret = directory / "secret"
            self.secret.write_text(secrets.token_hex(16) + "\n")
            self.secret.chmod(0o600)
            self.etcd_urls = ",".join(etcd.url for etcd in self.etcds)
            for name in "abcdefg"[:layout.servers]:
                self.add(name, options)
            for name in "yz"[:layout.archives]:
                zone = layout.zone(len(self.members))
                self.archives.append(ArchiveMachine(self.network.machine(name), directory, self.etcd_urls, self.secret, zone).start())
                self.wait_for_holders()
            status, text = self.command("copies", str(layout.copies), "--zones", str(layout.zones))
            assert status == 0, text
            copies = f" of {len(self.members)} copies" + (f" in {layout.zones} zones" if layout.zones > 1 else "") + "\n"
            wait_for(f"{layout} to be needed", lambda: copies in self.command("status")[1], RECOVERY_SECONDS_MAX)
        except BaseException:
            self.close()
            raise

    def start_etcd(self):
        for etcd in self.etcds:
            if etcd.process is None:
                etcd.spawn(self.etcds)
        wait_for("etcd to answer", lambda: all(etcd.is_healthy() for etcd in self.etcds), RECOVERY_SECONDS_MAX)

    def add(self, name, options):
        """Starts another server. The first one founds the cluster and makes the clients' accounts."""
        zone = self.layout.zone(len(self.servers))
        server = ServerMachine(self.network.machine(name), self.directory, self.client, self.etcd_urls, self.secret, zone, options)
        self.servers.append(server)
        server.start()
        self.wait_for_holders()
        if len(self.servers) == 1:
            wait_for("the first primary", server.is_primary)
            server.query(f"create user {CLIENT}@'%'", f"grant select, insert, update, delete on *.* to {CLIENT}@'%'",
                         "create user definer@'%'", "grant all on iso.* to definer@'%'")

    @property
    def members(self):
        return [*self.servers, *self.archives]

    def wait_for_holders(self):
        wait_for("all members to be log holders", lambda: self.holders() == len(self.members), RECOVERY_SECONDS_MAX)

    def command(self, *arguments):
        """Runs `paceline cluster` on the clients' machine. Returns its status and its output."""
        done = subprocess.run(self.client.inside(BINARY, "cluster", *arguments, f"--cluster={NAME}", f"--etcd={self.etcd_urls}"),
                              capture_output=True, text=True, timeout=RECOVERY_SECONDS_MAX)
        return done.returncode, done.stdout + done.stderr

    def holders(self):
        status, text = self.command("status")
        return sum(line.split()[1] in ("primary", "holder") for line in text.splitlines()[1:] if len(line.split()) > 4) if status == 0 else 0

    def add_removed(self):
        """Makes log holders of all members again. Everything must work."""
        try:
            for name in sorted(self.removed - self.replaced):
                wait_for(f"{name} to be added", lambda name=name: self.command("add", name)[0] == 0, RECOVERY_SECONDS_MAX)
            if self.removed:
                self.wait_for_holders()
        except AssertionError as error:
            status = self.command("status", f"--cluster-secret-file={self.secret}")[1]
            raise Finding(f"{error}; removed: {sorted(self.removed)}, replaced: {sorted(self.replaced)}\n{status}") from None
        self.removed.clear()
        self.replaced.clear()

    def primary(self):
        """Returns a server that says that it is the primary, or `None`."""
        return next((server for server in self.servers if server.is_primary()), None)

    def names(self):
        return [each.name for each in (*self.members, *self.etcds)]

    def named(self, name):
        return next(each for each in (*self.members, *self.etcds) if each.name == name)

    def can_commit(self):
        """Returns whether the cluster must be able to commit now: enough members, a majority of etcd and the clients
        all run and reach each other. After a removal that is not known."""
        if self.removed:
            return False
        alive = {member.name: number for number, member in enumerate(self.members) if member.is_running() and not member.is_stopped}
        etcds = [etcd.name for etcd in self.etcds if etcd.process is not None and not etcd.is_stopped]
        network = self.network

        def connected(one, other):
            return one == other or not {(one, other), (other, one)} & network.cuts

        nodes = [name for name in (*alive, *etcds, "client") if name not in network.unplugged]
        if "client" not in nodes:
            return False
        for chosen in subsets(nodes):
            if "client" in chosen and all(connected(one, other) for one in chosen for other in chosen) \
                    and self.layout.can_commit([alive[name] for name in chosen if name in alive]) \
                    and sum(name in etcds for name in chosen) * 2 > len(self.etcds):
                return True
        return False

    def close(self):
        for member in self.members:
            member.close()
        for etcd in self.etcds:
            etcd.kill()
        self.network.close()


def subsets(names):
    for bits in range(1, 1 << len(names)):
        yield [name for number, name in enumerate(names) if bits >> number & 1]
