"""Servers for the tests of replication, single or as a chain."""

import pytest
from support.replication import change_master, replication_user, wait_for_replica
from support.servers import Paceline


@pytest.fixture
def servers(tmp_path):
    """Starts servers with their options, and stops them at the end."""
    started = []

    def start(kind, server_id, *options):
        server = kind(tmp_path / f"server-{len(started)}", f"--server-id={server_id}", *options)
        started.append(server)
        return server.start()

    yield start
    for server in started:
        server.close()


@pytest.fixture
def chain(request, servers):
    """Servers of these kinds, each the replica of the one before. Every second Paceline applies in parallel."""
    started = [servers(kind, number + 1, *(["--slave-parallel-threads=4"] if kind is Paceline and number % 2 else []))
               for number, kind in enumerate(request.param)]
    replication_user(started[0])
    for primary, replica in zip(started, started[1:]):
        change_master(replica, primary, master_use_gtid="slave_pos")
        replica.query("start slave")
        wait_for_replica(replica, primary)
    return started
