"""Faults of a cluster's machines and network, in short: each fault once. `make torture` goes on with random ones."""

import random
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support.namespaces import Network, why_impossible, why_no_delays
from support.slow_links import Delay
from support.waiting import wait_for
from torture.cluster import logs
from torture.cluster.logs import Group
from torture.harness import Finding
from torture.isolation.history import Kind, Status, Transaction

RUN = Path(__file__).parent / "run.py"
IDS = {"a": {7}, "b": {8}}


@pytest.fixture
def network():
    impossible = why_impossible()
    if impossible:
        pytest.skip(impossible)
    network = Network()
    yield network
    network.close()


def test_each_fault_of_a_cluster_loses_nothing(network, tmp_path, seed):
    evidence = tmp_path / "evidence"
    result = subprocess.run([sys.executable, RUN, "--seed", str(seed), "--time", "1", "--short", "--only", "cluster", "--evidence", evidence],
                            capture_output=True, text=True, timeout=900)
    print(result.stdout, result.stderr)
    assert result.returncode == 0, f"seed {seed}:\n{result.stdout[-4000:]}"
    assert " committed, " in result.stdout


def arrive(sender, receiver):
    """Returns how many of 200 packets arrive."""
    with receiver.entered():
        to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sender.entered():
        origin = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with to, origin:
        to.bind((receiver.address, 999))
        to.settimeout(0.3)
        arrived = 0
        for _ in range(200):
            origin.sendto(b"packet", (receiver.address, 999))
        try:
            while True:
                to.recv(10)
                arrived += 1
        except TimeoutError:
            return arrived


def test_the_network_loses_what_it_is_told_to_lose(network):
    one, other, third = (network.machine(name) for name in ("one", "other", "third"))
    assert arrive(one, other) == 200
    network.cut({("one", "other")})
    assert (arrive(one, other), arrive(other, one), arrive(third, other)) == (0, 200, 200)
    network.split({"one", "third"}, {"other"})
    assert (arrive(one, other), arrive(other, one), arrive(third, one)) == (0, 0, 200)
    network.set_loss(0.3)
    assert 100 < arrive(third, one) < 180
    network.heal()
    assert (arrive(one, other), arrive(other, third)) == (200, 200)


@pytest.fixture
def delays():
    missing = why_no_delays()
    if missing:
        pytest.skip(missing)


def arrivals(sender, receiver, count=200, seconds=0.5):
    """Sends numbered packets at once. Returns number and seconds of each that arrives, in order."""
    with receiver.entered():
        to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sender.entered():
        origin = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    arrived, start = [], time.monotonic()
    with to, origin:
        to.bind((receiver.address, 999))
        to.settimeout(seconds)
        for number in range(count):
            origin.sendto(number.to_bytes(4), (receiver.address, 999))
        try:
            while len(arrived) < count:
                arrived.append((int.from_bytes(to.recv(10)), time.monotonic() - start))
        except TimeoutError:
            pass
    return arrived


def test_the_network_delays_what_it_is_told_to_delay(network, delays):
    one, other, third = (network.machine(name) for name in ("one", "other", "third"))
    network.slow_down({"one": Delay(100)})
    for pair in ((one, other), (third, one)):
        arrived = arrivals(*pair, seconds=5)
        assert [number for number, _ in arrived] == list(range(200))
        assert min(seconds for _, seconds in arrived) > 0.1
    # The time of others is their own; on a busy machine it may last.
    wait_for("a packet between others", lambda: min(seconds for _, seconds in arrivals(other, third, seconds=5)) < 0.1)
    network.slow_down({"one": Delay(100), "other": Delay(100)})
    assert min(seconds for _, seconds in arrivals(one, other, seconds=5)) > 0.2
    network.slow_down({"one": Delay(0, rise_milliseconds_per_second=1000, milliseconds_max=400)})
    wait_for("the delay to grow", lambda: min((seconds for _, seconds in arrivals(one, other, 1, seconds=5)), default=0) > 0.4)
    network.heal()
    wait_for("a packet without delay", lambda: min(seconds for _, seconds in arrivals(one, other, seconds=5)) < 0.1)


def test_jitter_reorders_packets_and_a_rate_limits_them(network, delays):
    one, other = network.machine("one"), network.machine("other")
    network.slow_down({"one": Delay(1, jitter_milliseconds=50)})
    arrived = [number for number, _ in arrivals(one, other, seconds=5)]
    assert sorted(arrived) == list(range(200)) != arrived
    # 46 bytes of headers and content each, more than a second's worth: the rest finds the queue full.
    network.slow_down({"one": Delay(0, bytes_per_second=2000)})
    arrived = arrivals(one, other, seconds=5)
    assert 40 < len(arrived) < 60 and arrived[-1][1] > 0.9, arrived


def test_a_stream_through_a_slow_network_arrives_whole(network, delays):
    one, other = network.machine("one"), network.machine("other")
    network.slow_down({"one": Delay(2, jitter_milliseconds=3)})
    sent = random.Random(1).randbytes(1_000_000)
    with other.entered():
        listener = socket.create_server((other.address, 999))
    received = []

    def receive():
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as stream:
            received.append(stream.read())

    receiver = threading.Thread(target=receive)
    with listener:
        receiver.start()
        with one.entered():
            sender = socket.create_connection((other.address, 999))
        with sender:
            sender.sendall(sent)
        receiver.join(60)
    assert received == [sent]


def test_namespaces_leave_the_machine_as_it_was(network):
    # A namespace of its own: the machine's own interfaces are not there.
    assert network.machine("one").run("ip", "-brief", "link").split()[0::4][0] == "lo"
    assert "switch" not in Path("/proc/net/dev").read_text()


def log(*groups):
    return [Group(f"0-{server_id}-{number}", server_id, epoch, elements) for number, (server_id, epoch, elements) in enumerate(groups)]


def acknowledged(site, element):
    return Transaction(1, site, 0.0, 1.0, Status.COMMITTED, [(Kind.APPEND, 0, element)])


def test_logs_that_are_one_history_have_no_finding():
    whole = log((7, 4, []), (7, 0, [1]), (8, 5, []), (8, 0, [2]))
    assert logs.check({"a": whole, "b": whole[1:]}, IDS, [acknowledged("a", 1), acknowledged("b", 2)]) == 2


@pytest.mark.parametrize("groups, transactions", [
    ([(7, 4, []), (8, 0, [1])], []),
    ([(7, 4, []), (8, 4, [])], []),
    ([(7, 4, []), (7, 0, [1]), (8, 5, [])], [acknowledged("b", 1)]),
    ([(7, 4, []), (7, 0, [1])], [acknowledged("a", 2)]),
], ids=["a transaction of no primary", "two primaries of an epoch", "acknowledged by another server", "acknowledged and not there"])
def test_what_logs_must_not_have_is_found(groups, transactions):
    with pytest.raises(Finding):
        logs.check({"a": log(*groups)}, IDS, transactions)


def test_logs_that_differ_are_found():
    with pytest.raises(Finding):
        logs.check({"a": log((7, 4, []), (7, 0, [1])), "b": log((7, 4, []), (7, 0, [2]))}, IDS, [])
