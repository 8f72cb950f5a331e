"""Replication over TLS between Paceline and a real MariaDB, in both directions, with certificates on both sides;
servers that a replica does not trust."""

import pytest
from support.certificates import key, pem, shows
from support.replication import assert_same, change_master, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

KINDS = {"mariadb": MariaDb, "paceline": Paceline}


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    started = []

    def begin(kind, server_id, *options):
        server = kind(tmp_path_factory.mktemp("tls"), f"--server-id={server_id}", *options)
        started.append(server)
        return server.start()

    yield begin
    for server in started:
        server.close()


def prepare(primary):
    if isinstance(primary, MariaDb):
        primary.query("drop user if exists ''@localhost", "drop user if exists ''@'%'")
    primary.query("create user repl@'%' identified by 'secret' require ssl", "create user shown@'%' identified by 'secret' require x509",
                  "grant replication slave, binlog monitor on *.* to repl@'%'", "grant replication slave, binlog monitor on *.* to shown@'%'",
                  "create database d", "create table d.t (a int primary key, b longtext)")
    return primary


@pytest.fixture(scope="module")
def primaries(start):
    """A primary of each kind with a certificate, which trusts client certificates of its authority."""
    return {name: prepare(start(kind, number, *shows("server", "ca"), "--bind-address=0.0.0.0"))
            for number, (name, kind) in enumerate(KINDS.items(), 11)}


@pytest.fixture
def replica(start, request, tmp_path):
    kind = KINDS[request.param]
    server = kind(tmp_path / "replica", "--server-id=2").start()
    yield server
    server.close()


def quoted(path):
    return f"'{path}'"


CLIENT = {"master_ssl_cert": quoted(pem("client")), "master_ssl_key": quoted(key("client"))}
TRUST = {"master_ssl": 1, "master_ssl_ca": quoted(pem("ca")), "master_ssl_verify_server_cert": 1}


def follow(replica, primary, **settings):
    change_master(replica, primary, master_use_gtid="slave_pos", **settings)
    replica.query("start slave")


@pytest.mark.parametrize("replica, kind", [("paceline", "mariadb"), ("mariadb", "paceline"), ("paceline", "paceline")], indirect=["replica"])
def test_encrypted_with_certificates_on_both_sides(replica, kind, primaries):
    primary = primaries[kind]
    follow(replica, primary, master_user="'shown'", **TRUST, **CLIENT)
    # Small ones, and one that is larger than all of TLS's buffers.
    primary.query("insert into d.t select ifnull(max(a), 0) + 1, repeat('x', 100) from d.t",
                  "insert into d.t select max(a) + 1, repeat('y', 12000000) from d.t",
                  "insert into d.t select max(a) + 1, 'last' from d.t")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    status = slave_status(replica)
    assert [status[f"Master_SSL_{name}"] for name in ("Allowed", "CA_File", "CA_Path", "Cert", "Cipher", "Key", "Verify_Server_Cert", "Crl",
                                                      "Crlpath")] == [
        "Yes", str(pem("ca")), "", str(pem("client")), "", str(key("client")), "Yes", "", ""]
    [(command,)] = primary.query("select command from information_schema.processlist where user='shown'")
    assert command == "Binlog Dump"


@pytest.mark.parametrize("replica", ["paceline", "mariadb"], indirect=True)
@pytest.mark.parametrize("settings, number, said", [
    ({**TRUST, "master_ssl_ca": quoted(pem("other-ca"))}, 2026, "SSL connection error"),
    ({**TRUST, "master_ssl_ca": "'/nonexistent'"}, 2026, "SSL connection error"),
    ({**TRUST, "master_host": "'127.0.0.2'"}, 2026, "SSL connection error"),
    ({"master_ssl": 0}, 1045, "Access denied for user 'repl'"),
    ({**TRUST, "master_user": "'shown'"}, 1045, "Access denied for user 'shown'"),
])
def test_untrusted_primaries(replica, settings, number, said, primaries):
    follow(replica, primaries["paceline"], **settings)
    status = wait_for("an error", lambda: (status := slave_status(replica))["Last_IO_Errno"] and status)
    assert (status["Last_IO_Errno"], status["Slave_IO_Running"]) == (number, "Connecting")
    assert said in status["Last_IO_Error"] and "retry-time: 1" in status["Last_IO_Error"]


@pytest.mark.parametrize("replica", ["paceline"], indirect=True)
def test_invalid_certificates(replica, start):
    def error(primary, **settings):
        # A different account each time, so that the status shown belongs to this attempt.
        replica.query("stop slave", "reset slave all")
        follow(replica, primary, **{**TRUST, **settings})
        return wait_for("an error", lambda: (status := slave_status(replica))["Last_IO_Errno"] and status)["Last_IO_Error"]

    for name, said in [("expired", "Certificate not yet valid or expired (it was valid until Jan  1 00:00:00 2021 GMT)"),
                       ("elsewhere", "Hostname verification failed"), ("stranger", "Peer certificate is not trusted")]:
        server = prepare(start(Paceline, 21, *shows(name)))
        try:
            assert said in error(server)
        finally:
            server.close()
    plain = prepare(start(Paceline, 22, "--skip-ssl"))
    try:
        said = error(plain)
        assert "SSL connection error: SSL is required, but the server does not support it" in said
        # A replica that must encrypt sends nothing in clear: the primary has not even seen a name.
        assert "repl'@" not in plain.said()
    finally:
        plain.close()


@pytest.mark.parametrize("replica", ["paceline"], indirect=True)
def test_a_primary_with_its_own_certificate_is_trusted_by_the_password(replica, start):
    primary = prepare(start(Paceline, 31))
    primary.query("create user nopassword@'%' require ssl", "grant replication slave on *.* to nopassword@'%'")
    verify = {"master_ssl": 1, "master_ssl_verify_server_cert": 1}
    follow(replica, primary, master_user="'nopassword'", master_password="''", **verify)
    status = wait_for("an error", lambda: (status := slave_status(replica))["Last_IO_Errno"] and status)
    assert status["Last_IO_Errno"] == 2026 and "Peer certificate is not trusted" in status["Last_IO_Error"]
    replica.query("stop slave")
    follow(replica, primary, **verify)
    primary.query("insert into d.t values (1, 'one')")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    # And by an authority's certificate made as in MariaDB's guide: X.509 version 1, with the host name in the common
    # name. This primary has none of the first one's transactions, so the replica requests its log from the beginning.
    old = prepare(start(Paceline, 32, *shows("old")))
    replica.query("stop slave", "reset slave all", "set global gtid_slave_pos = ''")
    change_master(replica, old, master_use_gtid="slave_pos", **{**TRUST, "master_host": "'localhost'"})
    replica.query("start slave io_thread")
    wait_for("the receiver to be connected", lambda: slave_status(replica)["Slave_IO_Running"] == "Yes")
