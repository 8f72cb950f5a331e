"""Fixtures of the archive's tests."""

import enum

import pytest

from support.archive import Archive
from support.real_replicas import allow_replicas, change_master
from support.servers import MariaDb, Paceline


class Content(enum.Enum):
    """Whether a server starts with an empty log or with the existing contents of its directory."""
    NEW = 1
    KEPT = 2


@pytest.fixture
def start(tmp_path):
    """Starts servers, each in its own directory, and stops them at the end: start(MariaDb, 1), start(Archive,
    primary, options=…)."""
    servers = []

    def begin(kind, *arguments, options=(), name=None, content=Content.NEW):
        directory = tmp_path / (name or f"{kind.__name__.lower()}{len(servers)}")
        if kind is Archive:
            server = Archive(directory, *arguments, options=options)
        else:
            server = kind(directory, f"--server-id={arguments[0]}", *options)
        servers.append(server)
        server.start()
        if kind is not Archive and content is Content.NEW:
            server.query("reset master")
            allow_replicas(server)
        return server

    yield begin
    for server in servers:
        server.close()


@pytest.fixture(params=[MariaDb, Paceline], ids=["mariadb", "paceline"])
def kind(request):
    """Kind of the primary."""
    return request.param


def fill(server, rows=20, table="a", domain=0):
    server.query("create database if not exists t",
                 f"create table if not exists t.{table} (id int primary key auto_increment, v varchar(200))")
    with server.connect() as session, session.cursor() as cursor:
        cursor.execute(f"set session gtid_domain_id={domain}")
        for number in range(rows):
            cursor.execute(f"insert into t.{table} (v) values ('row {number}')")


def follow(replica, source, use_gtid="slave_pos", more=""):
    change_master(replica, source, use_gtid, more)
    replica.query("start slave")
