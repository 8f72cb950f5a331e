"""Commands over TLS: which certificates they trust and send, and that they send nothing unencrypted if they must
encrypt."""

import subprocess

import pytest
from support.archive import Archive
from support.certificates import key, pem, shows
from support.real_replicas import ACCOUNT, PASSWORD
from support.replication import change_master, wait_for_replica
from support.servers import BINARY, Paceline
from support.waiting import wait_for

TRUST = [f"--ssl-ca={pem('ca')}", "--ssl-verify-server-cert"]
CLIENT = [f"--ssl-cert={pem('client')}", f"--ssl-key={key('client')}"]


@pytest.fixture
def secure(tmp_path):
    server = Paceline(tmp_path / "secure", "--server-id=1", *shows("server", "ca")).start()
    for user, password in (("bound", "secret"), (ACCOUNT, PASSWORD)):
        server.query(f"create user {user}@'%' identified by '{password}' require x509", f"grant all on *.* to {user}@'%'")
    server.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    yield server
    server.close()


def run(*arguments, status=0):
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={"PACELINE_PASSWORD": "secret", "MYSQL_PWD": "secret", "PACELINE_REPLICATION_PASSWORD": "secret"})
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout if status == 0 else done.stderr


def test_binlog_reads_from_a_server(secure, tmp_path):
    remote = ["binlog", "-R", "-h127.0.0.1", f"-P{secure.port}", "-ubound", "-v"]
    assert "INSERT INTO `d`.`t`" in run(*remote, *TRUST, *CLIENT)
    assert "Access denied" in run(*remote, status=1)
    assert "Access denied" in run(*remote, *TRUST, status=1)
    assert "Peer certificate is not trusted" in run(*remote, f"--ssl-ca={pem('other-ca')}", *CLIENT, status=1)
    file = tmp_path / "client.cnf"
    file.write_text(f"[client]\nssl-ca={pem('ca')}\nssl_cert={pem('client')}\nssl-key={key('client')}\n")
    assert "INSERT INTO `d`.`t`" in run(*remote, f"--defaults-file={file}")


def test_backup_logs_in_with_a_client_certificate(secure, tmp_path):
    backup = ["backup", "--from", f"127.0.0.1:{secure.port}", "--user=bound", "--to", tmp_path / "b"]
    assert "Access denied" in run(*backup, status=1)
    assert "Hostname" not in run(*backup, *TRUST, *CLIENT)
    run("restore", "--from", tmp_path / "b", "--datadir", tmp_path / "restored")


def test_promote_and_its_connections(secure, tmp_path):
    """A replica with TLS becomes the primary. The old primary, which had no connection, gets the replica's TLS
    settings."""
    replica = Paceline(tmp_path / "replica", "--server-id=2", *shows("server", "ca")).start()
    try:
        replica.query("set global gtid_slave_pos=''")
        change_master(replica, secure, master_user="'bound'", master_ssl=1, master_ssl_ca=f"'{pem('ca')}'", master_ssl_verify_server_cert=1,
                      master_ssl_cert=f"'{pem('client')}'", master_ssl_key=f"'{key('client')}'", master_use_gtid="slave_pos")
        replica.query("start slave")
        wait_for_replica(replica, secure)
        told = run("promote", f"127.0.0.1:{replica.port}", f"--old-primary=127.0.0.1:{secure.port}", "--user=bound", "--replication-user=bound",
                   *TRUST, *CLIENT)
        assert f"127.0.0.1:{replica.port} is the primary" in told
        replica.query("insert into d.t values (2)")
        wait_for_replica(secure, replica)
        assert secure.query("select count(*) from d.t") == ((2,),)
    finally:
        replica.close()


def test_archive_between(secure, tmp_path):
    """The archive follows with a client certificate, and shows a certificate to a replica that verifies it."""
    options = [f"--master-ssl-ca={pem('ca')}", "--master-ssl-verify-server-cert", f"--master-ssl-cert={pem('client')}",
               f"--master-ssl-key={key('client')}", *shows("server")]
    archive = Archive(tmp_path / "archive", secure, options=options).start()
    replica = Paceline(tmp_path / "replica", "--server-id=3").start()
    try:
        change_master(replica, archive, master_user=f"'{ACCOUNT}'", master_password=f"'{PASSWORD}'", master_ssl=1, master_ssl_ca=f"'{pem('ca')}'", master_ssl_verify_server_cert=1,
                      master_use_gtid="slave_pos")
        replica.query("start slave")
        wait_for("the table", lambda: replica.query("select count(*) from information_schema.tables where table_schema='d'") == ((1,),))
        wait_for_replica(replica, secure)
        assert replica.query("select * from d.t") == ((1,),)
    finally:
        replica.close()
        archive.close()
