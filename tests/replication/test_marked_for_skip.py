"""`SET skip_replication=1` marks transactions; `replicate_events_marked_for_skip` filters them out, on either side."""

import subprocess

import pymysql
import pytest
from support.replication import change_master, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

KINDS = {"ours": Paceline, "mariadb": MariaDb}


@pytest.fixture(params=["ours-ours", "ours-mariadb", "mariadb-ours"])
def pair(request, tmp_path):
    """A primary, and a server that is not yet its replica."""
    primary, replica = request.param.split("-")
    servers = [KINDS[primary](tmp_path / "primary", "--server-id=1", "--log-bin=bin").start(),
               KINDS[replica](tmp_path / "replica", "--server-id=2", "--log-bin=bin").start()]
    replication_user(servers[0])
    yield servers
    for server in servers:
        server.close()


def start(replica):
    replica.query("start slave")
    wait_for("the connection to run", lambda: slave_status(replica)["Slave_SQL_Running"] == slave_status(replica)["Slave_IO_Running"] == "Yes")


def marked_and_not(server):
    """Returns the marked and the unmarked parts of a server's log, as mariadb-binlog shows them."""
    files = server.log_files() if isinstance(server, Paceline) else sorted(server.directory.glob("data/bin.0*[0-9]"))
    text = subprocess.run(["mariadb-binlog", "--no-defaults", "--base64-output=decode-rows", "-v", *map(str, files)], capture_output=True,
                          text=True, check=True).stdout
    marked, plain = [], []
    for part in ("0*/" + text).split("/*!50521 SET skip_replication="):
        (marked if part.startswith("1") else plain).append(part)
    return "".join(marked), "".join(plain)


def test_marked_transactions(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (a int primary key, b varchar(20))")
    change_master(replica, primary, master_use_gtid="slave_pos")
    here = []
    for number, wanted in enumerate(("replicate", "filter_on_slave", "filter_on_master", "replicate")):
        replica.query(f"set global replicate_events_marked_for_skip={wanted}")
        start(replica)
        primary.query("set skip_replication=1", f"insert into d.t values ({number}, 'marked')", f"create table d.marked_{number} (a int primary key)",
                      "begin", f"insert into d.t values ({number + 10}, 'marked')", f"update d.t set a=a+10 where a={number + 10}", "commit")
        primary.query(f"insert into d.t values ({number + 100}, 'plain')")
        wait_for_replica(replica, primary)
        replica.query("stop slave")
        here += [number, number + 20] if wanted == "replicate" else []
    assert [row[0] for row in replica.query("select a from d.t where b='marked' order by a")] == sorted(here)
    assert [row[0] for row in replica.query("select a from d.t where b='plain' order by a")] == [100, 101, 102, 103]
    assert [row[0] for row in replica.query("show tables in d like 'marked%'")] == ["marked_0", "marked_3"]
    # The replica preserves the marks: its own replicas may want to filter.
    replica.query("flush binary logs")
    primary.query("flush binary logs")
    for server, numbers in ((primary, (0, 1, 2, 3)), (replica, (0, 3))):
        marked, plain = marked_and_not(server)
        for number in numbers:
            for sign in (f"create table d.marked_{number} ", f"@1={number}\n", f"@1={number + 20}\n"):
                assert sign in marked and sign not in plain, (sign, number)
            assert f"@1={number + 100}\n" in plain and f"@1={number + 100}\n" not in marked


def test_inside_a_transaction(pair):
    primary, _ = pair
    primary.query("create database d", "create table d.t (a int primary key)")
    with primary.connect(autocommit=False) as session, session.cursor() as cursor:
        cursor.execute("insert into d.t values (1)")
        with pytest.raises(pymysql.err.OperationalError) as refused:
            cursor.execute("set skip_replication=1")
        assert refused.value.args[0] == 1929
