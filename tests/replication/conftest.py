"""Servers for the tests of replication: single, as a chain, or as a cluster."""

import pytest
from support.clusters import Cluster
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


@pytest.fixture
def clusters(tmp_path):
    """Makes clusters with a table t.n on all members, and ends them after the test. `ends` takes what else is to be ended then."""
    made = []

    def make(size, options=(), archives=0, columns="i int primary key", **more):
        cluster = Cluster(tmp_path, size, options=options, archives=archives, **more)
        made.append(cluster)
        cluster.primary().query("create database t", f"create table t.n ({columns})")
        # A reader or writer may come to any of them.
        cluster.wait_for_rows("select count(*) from information_schema.tables where table_schema = 't'", ((1,),))
        return cluster

    make.ends = made.append
    yield make
    for each in reversed(made):
        each.close()
