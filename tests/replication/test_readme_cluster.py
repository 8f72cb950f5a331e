"""The README's ten steps from one server to a cluster of four, run as they stand there: only ports and the load's length differ."""

import os
import re
import signal
import subprocess
import uuid

import pytest
from support.servers import BINARY, ROOT, ReservedPort
from support.waiting import wait_for

HEADING = "## A cluster in ten steps"
LOAD_SECONDS = 25


def steps():
    """Returns the section's commands, each with the lines of its output."""
    section = (ROOT / "README.md").read_text().split(HEADING)[1].split("\n## ")[0]
    found = []
    for line in section.replace("\\\n", " ").splitlines():
        if line.startswith("    $ "):
            found.append((re.sub(r"\s+", " ", line.removeprefix("    $ ")), []))
        elif line.startswith("    "):
            found[-1][1].append(line.strip())
    return found


def shape(lines):
    """Returns lines without what differs between two runs: numbers, order, and how often connections were lost."""
    lines = [re.sub(r"(µs) .*", r"\1", re.sub(r"\d[\d.]*", "#", line)) for line in lines]
    return sorted(re.sub(r"\s+", " ", line).strip() for line in lines)


def primary(lines):
    """Returns the primary that a listing shows, if this is one."""
    return next((line.split()[0] for line in lines if " primary " in line), None)


class PortSeries:
    """Four free ports that differ in their last digit, which is 1 to 4."""

    def __init__(self):
        while True:
            self.ports = [ReservedPort()]
            self.beginning = self.ports[0].number // 10
            others = range(self.beginning * 10 + 1, self.beginning * 10 + 5)
            self.ports += [ReservedPort() for _ in others]
            if all(port.take(number) for port, number in zip(self.ports[1:], others) if number != self.ports[0].number):
                return


class Shell:
    """A bash that runs one command after the other."""

    def __init__(self, directory, environment):
        self.process = subprocess.Popen(["bash", "--noprofile", "--norc"], cwd=directory, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def run(self, command):
        """Returns status and output. What runs in the background has its output in files."""
        end = f"end-{uuid.uuid4()}"
        self.process.stdin.write(f"{command}\necho {end} $?\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith(end):
                return int(line.split()[1]), lines
            lines.append(line.rstrip("\n"))
        raise AssertionError(f"bash has ended: {lines}")

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def shell(short_path):
    (short_path / "bin").mkdir()
    (short_path / "bin/paceline").symlink_to(BINARY.absolute())
    (short_path / "empty").mkdir()
    client, peer, sql, messages = ReservedPort(), ReservedPort(), PortSeries(), PortSeries()
    client_url, peer_url = f"http://127.0.0.1:{client.number}", f"http://127.0.0.1:{peer.number}"
    etcd = {"ETCD_LISTEN_CLIENT_URLS": client_url, "ETCD_ADVERTISE_CLIENT_URLS": client_url, "ETCD_LISTEN_PEER_URLS": peer_url,
            "ETCD_INITIAL_ADVERTISE_PEER_URLS": peer_url, "ETCD_INITIAL_CLUSTER": f"default={peer_url}"}
    started = Shell(short_path / "empty", {**os.environ, **etcd, "PATH": f"{short_path / 'bin'}:{os.environ['PATH']}"})

    def adapt(command):
        for old, new in ((r"\b2379", client.number), (r"\b340(?=\d|\$)", sql.beginning), (r"\b350(?=\d|\$)", messages.beginning)):
            command = re.sub(old, str(new), command)
        return re.sub(r"--seconds \d+", f"--seconds {LOAD_SECONDS}", command)

    started.adapt = adapt
    yield started
    started.close()


def test_a_new_user_gets_from_one_server_to_four_and_loses_nothing_with_the_primary(shell):
    primaries = []
    for command, expected in steps():
        adapted, seen = shell.adapt(command), []

        def is_done(adapted=adapted, expected=expected, seen=seen):
            # A person looks again, too: a server may not be ready, the load not at its end.
            status, lines = shell.run(adapted)
            seen[:] = [status, *lines]
            is_same_primary = (primary(lines) == "n1") == (primary(expected) == "n1")
            return status == 0 and (not expected or shape(lines) == shape(expected) and is_same_primary)

        is_repeatable = expected or command.startswith("mariadb ")
        try:
            wait_for(command, is_done, seconds=60 if is_repeatable else 0.1, pause_seconds=0.2)
        except AssertionError:
            raise AssertionError(f"{command}:\nexpected {shape(expected)},\nfound    {seen}") from None
        primaries += [primary(expected)] if primary(expected) else []
    # Alone, with the others, and after the fault.
    assert len(primaries) == 3 and primaries[:2] == ["n1", "n1"] and primaries[2] != "n1", primaries
