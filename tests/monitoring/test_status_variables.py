"""Status variables that name something real: each changes with it, as MariaDB's does."""

import socket

import pymysql
import pytest
from support.replication import change_master, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for


@pytest.fixture(params=[Paceline, MariaDb], ids=["paceline", "mariadb"])
def server(request, tmp_path):
    server = request.param(tmp_path / "server", "--server-id=1").start()
    yield server
    server.close()


def status(server, name):
    [(_, value)] = server.query(f"show global status like '{name}'")
    return value


def number(server, name):
    return int(status(server, name))


@pytest.mark.parametrize("compressed", [False, True])
def test_compression_says_whether_the_session_is_compressed(server, compressed):
    arguments = ["--batch", "--skip-column-names", "-e", "show session status like 'Compression'"]
    answer = server.client(*arguments, *(["--compress"] if compressed else []))
    assert answer.split() == ["Compression", "ON" if compressed else "OFF"]


def test_slave_connections_counts_registrations(server, tmp_path):
    before = number(server, "Slave_connections")
    replication_user(server)
    replica = Paceline(tmp_path / "replica", "--server-id=2").start()
    try:
        change_master(replica, server, master_use_gtid="slave_pos")
        replica.query("start slave")
        wait_for_replica(replica, server)
        replica.query("stop slave", "start slave")
        wait_for("the second registration", lambda: number(server, "Slave_connections") == before + 2)
    finally:
        replica.close()


def test_connections_that_end_before_their_login_are_counted(server):
    before = number(server, "Aborted_connects_preauth"), number(server, "Aborted_connects")
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.recv(1)
    wait_for("the count", lambda: number(server, "Aborted_connects_preauth") == before[0] + 1)
    wait_for("the other count", lambda: number(server, "Aborted_connects") == before[1] + 1)
    # A refused login is not one of them.
    with pytest.raises(pymysql.MySQLError):
        server.connect(user="nobody", password="wrong")
    wait_for("the count of logins", lambda: number(server, "Aborted_connects") == before[1] + 2)
    assert number(server, "Aborted_connects_preauth") == before[0] + 1


def test_a_durable_commit_is_a_sync_and_a_write_of_the_log(server):
    server.query("set global sync_binlog = 1", "create database d", "create table d.t (a int primary key)")
    names = ("Syncs", "Innodb_log_writes", "Innodb_log_write_requests")
    before = {name: number(server, name) for name in names}
    for value in range(5):
        server.query(f"insert into d.t values ({value})")
    if isinstance(server, Paceline):
        assert all(number(server, name) >= before[name] + 5 for name in names)
    else:
        # MariaDB counts after the reply.
        wait_for("the write", lambda: number(server, "Innodb_log_write_requests") > before["Innodb_log_write_requests"])
