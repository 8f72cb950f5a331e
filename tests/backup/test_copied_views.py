"""Views after everything that copies a server's definitions: recovery, a backup with an increment, a replica that
joins by files or by rows."""

import pytest
from support.backups import paceline as command
from support.replication import replication_user, wait_for_replica
from support.servers import Paceline

VIEWS = {"w": "select id + 1 as n, v from d.t where id > 1", "x": "select * from d.w", "g": "select v, count(*) c from d.t group by v"}


@pytest.fixture
def server(tmp_path):
    server = Paceline(tmp_path / "server", "--server-id=1").start()
    replication_user(server)
    server.query("create user j@'127.0.0.1' identified by 'secret'", "grant all on *.* to j@'127.0.0.1' with grant option",
                 "create database d", "create table d.t (id int primary key, v varchar(20), key (v))", "insert into d.t values (1, 'one'), (2, 'two')",
                 *(f"create view d.{name} as {query}" for name, query in VIEWS.items()))
    yield server
    server.close()


def shown(server):
    return {name: (server.query(f"show create view d.{name}"), sorted(server.query(f"select * from d.{name}"))) for name in VIEWS}


def test_views_survive_recovery(server):
    before = shown(server)
    server.kill()
    server.start()
    assert shown(server) == before


def test_a_backup_and_its_increment(server, tmp_path):
    assert command("backup", "--from", server.socket, "--to", tmp_path / "backup")[0] == 0
    server.query("create or replace view d.g as select max(v) from d.t", "insert into d.t values (3, 'three')")
    before = shown(server)
    assert command("backup", "--incremental", "--from", server.socket, "--to", tmp_path / "backup")[0] == 0
    assert command("restore", "--from", tmp_path / "backup", "--datadir", tmp_path / "restored" / "data")[0] == 0
    restored = Paceline(tmp_path / "restored", "--server-id=2").start()
    try:
        assert shown(restored) == before
    finally:
        restored.close()


@pytest.mark.parametrize("how", [[], ["--copy=rows"]], ids=["files", "rows"])
def test_a_replica_that_joins(server, tmp_path, how):
    status, printed, said = command("join", f"127.0.0.1:{server.port}", "--user=j", "--password=secret", "--server-id=2", "--prepare-only",
                                    "--datadir", tmp_path / "joined" / "data", *how)
    assert status == 0, (printed, said)
    replica = Paceline(tmp_path / "joined", "--server-id=2").start()
    try:
        assert shown(replica) == shown(server)
        server.query("drop view d.g", "create view d.g as select 1", "rename table d.t to d.u", "rename table d.u to d.t")
        wait_for_replica(replica, server)
        assert shown(replica) == shown(server)
    finally:
        replica.close()
