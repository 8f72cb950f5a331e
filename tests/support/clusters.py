"""Clusters: etcd, and servers that are members."""

import secrets
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pymysql

from support.archive import Archive
from support.servers import BINARY, Paceline, Program, ReservedPort
from support.waiting import wait_for

NAME = "test"


class Etcd:
    """A real etcd with one member."""

    def __init__(self, directory):
        self.directory, self.client, self.peer = directory, ReservedPort(), ReservedPort()
        self.url = f"http://127.0.0.1:{self.client.number}"
        self.process = None

    def start(self):
        peer = f"http://127.0.0.1:{self.peer.number}"
        with open(f"{self.directory}/etcd.log", "ab") as log:
            self.process = subprocess.Popen(
                ["etcd", f"--data-dir={self.directory}/etcd", f"--listen-client-urls={self.url}", f"--advertise-client-urls={self.url}",
                 f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}"],
                stdout=log, stderr=log)
        wait_for("etcd to answer", self.is_healthy)
        return self

    def is_healthy(self):
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=1) as answer:
                return b"true" in answer.read()
        except OSError:
            return False

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Member(Paceline):
    """A server of the cluster. Its name is that of its directory."""

    def __init__(self, directory, etcd, secret, datadir=None, options=()):
        super().__init__(directory, datadir=datadir)
        self.messages, self.http = ReservedPort(), ReservedPort()
        self.options = [f"--cluster={NAME}", f"--etcd={etcd.url}", f"--cluster-address=127.0.0.1:{self.messages.number}",
                        f"--cluster-secret-file={secret}", f"--cluster-member-name={self.directory.name}", "--bind-address=127.0.0.1",
                        f"--http-address=127.0.0.1:{self.http.number}", *options]

    def probe(self, path):
        """Returns status and text of a probe, or `None` if nothing answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http.number}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return None

    def has_rows(self, query, rows):
        """Returns whether the query gives these rows. A replica may not have the table yet."""
        try:
            return self.query(query) == rows
        except pymysql.err.ProgrammingError:
            return False

    def answers(self):
        try:
            return self.query("select 1") == ((1,),)
        except pymysql.err.Error:
            return False

    def cluster_status(self, **options):
        """Returns the rows of SHOW CLUSTER STATUS, by the members' names."""
        with self.connect(cursorclass=pymysql.cursors.DictCursor, **options) as connection, connection.cursor() as cursor:
            cursor.execute("show cluster status")
            return {row["Member"]: row for row in cursor.fetchall()}

    def is_primary(self):
        """Returns whether the server accepts writes. A server that does not answer does not."""
        try:
            return self.query("select @@global.read_only") == ((0,),)
        except pymysql.err.Error:
            return False


class ArchiveMember(Archive):
    """An archive of the cluster: a log holder that never leads."""

    def __init__(self, directory, etcd, secret):
        super().__init__(directory)
        self.messages = ReservedPort()
        self.options = [f"--cluster={NAME}", f"--etcd={etcd.url}", f"--cluster-address=127.0.0.1:{self.messages.number}",
                        f"--cluster-secret-file={secret}", f"--cluster-member-name={self.directory.name}"]

    def is_primary(self):
        return False


class Cluster:
    """A cluster of servers on this machine, and of archives, which are called `y` and `z`. `datadirs` has each server's data
    directory; by default they are in `directory`. All run this program. They are started one after the other, or `at_once`."""

    def __init__(self, directory, size, datadirs=None, options=(), archives=0, program=Program(), at_once=False):
        self.etcd, self.archives = Etcd(directory).start(), []
        secret = directory / "secret"
        self.secret = secrets.token_hex(16)
        secret.write_text(self.secret + "\n")
        secret.chmod(0o600)
        self.secret_file = secret
        names = "abcdefg"[:size]
        self.members = [Member(directory / name, self.etcd, secret, datadir, options)
                        for name, datadir in zip(names, datadirs or [None] * size)]
        for number, member in enumerate(self.members):
            member.program = program
            member.spawn()
            if at_once:
                continue
            member.wait_until_ready()
            wait_for(f"{member.directory.name} to be a log holder", lambda holders=number + 1: self.holders() == holders)
        if at_once:
            wait_for("all to be log holders", lambda: self.try_command("status").returncode == 0 and self.holders() == size)
            for member in self.members:
                member.wait_until_ready()
        self.archives = [ArchiveMember(directory / name, self.etcd, secret) for name in "yz"[:archives]]
        for number, archive in enumerate(self.archives):
            archive.program = program
            archive.start()
            wait_for(f"{archive.directory.name} to be a log holder", lambda holders=size + number + 1: self.holders() == holders)

    def try_command(self, *arguments):
        """Runs `paceline cluster`, which may fail."""
        return subprocess.run([BINARY, "cluster", *arguments, f"--cluster={NAME}", f"--etcd={self.etcd.url}"], capture_output=True, text=True,
                              timeout=120)

    def command(self, *arguments):
        """Runs `paceline cluster`. Returns its output."""
        done = self.try_command(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def holders(self):
        lines = self.command("status").splitlines()
        return sum(line.split()[1] in ("primary", "holder") for line in lines[1:] if len(line.split()) > 4)

    def primary(self):
        """Waits until there is a primary, and returns it."""
        return wait_for("a primary", lambda: next((member for member in self.members if member.is_primary()), None))

    def others(self):
        primary = self.primary()
        return [member for member in self.members if member is not primary]

    def wait_for_rows(self, query, rows, members=None):
        for member in members or self.members:
            wait_for(f"{member.directory.name} to have {rows}", lambda member=member: member.has_rows(query, rows))

    def close(self):
        for member in [*self.members, *self.archives]:
            member.close()
        self.etcd.close()


class Writer:
    """Inserts numbers into t.n, one a transaction, on whichever member takes them. Knows which were reported as committed.

    `servers` are the members, or whatever leads to them."""

    def __init__(self, cluster, servers=None):
        self.servers, self.committed, self.errors = servers or cluster.members, [], set()
        self.is_stopping = threading.Event()
        # A test that fails does not stop it.
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        number, turn, connection = 0, 0, None
        while not self.is_stopping.is_set():
            number += 1
            try:
                if connection is None:
                    connection = self.servers[turn % len(self.servers)].connect(read_timeout=10)
                connection.cursor().execute("insert into t.n values (%s)", (number,))
            except pymysql.err.Error as error:
                self.errors.add(error.args[0])
                turn, connection = turn + 1, None
                # The pause of a loop that waits for another primary.
                time.sleep(0.01)
                continue
            self.committed.append(number)

    def wait_for_more(self, count=30):
        """Waits until so many more rows are committed."""
        before = len(self.committed)
        wait_for("more rows", lambda: len(self.committed) > before + count)

    def stop(self):
        self.is_stopping.set()
        self.thread.join()
