"""TLS for clients: real ones, with and without certificates; requirements of accounts; refusals."""

import os
import socket
import ssl
import subprocess
import time

import mysql.connector
import pymysql
import pytest
from support.certificates import key, pem, shows
from support.servers import MariaDb, Paceline
from support.waiting import wait_for


@pytest.fixture(scope="module")
def secure(request, tmp_path_factory):
    """A server with a certificate that trusts client certificates of its authority."""
    kind = MariaDb if request.config.getoption("--server") == "mariadb" else Paceline
    server = kind(tmp_path_factory.mktemp("secure"), *shows("server", "ca"), "--bind-address=0.0.0.0").start()
    if kind is MariaDb:
        server.query("drop user if exists ''@localhost", "drop user if exists ''@'%'")
    server.query("create user plain@'%' identified by 'secret'", "create user bound@'%' identified by 'secret' require ssl",
                 "create user known@'%' identified by 'secret' require x509",
                 "create user exact@'%' require subject '/C=DE/O=Paceline/CN=client' and issuer '/C=DE/O=Paceline/CN=Test Authority'",
                 "create user other@'%' require subject '/CN=somebody else'",
                 "create user weak@'%' require cipher 'TLS_AES_128_GCM_SHA256'")
    yield server
    server.close()


def run(server, *arguments, user="plain", password="secret", statement="select 'here'", check=True):
    """Runs the `mariadb` client over TCP. Returns its output, or its error."""
    command = ["mariadb", "--no-defaults", f"-u{user}", f"-p{password}", "--protocol=tcp", "-h127.0.0.1", f"-P{server.port}", "-N", "-B",
               *map(str, arguments), "-e", statement]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if check:
        assert result.returncode == 0, result.stderr
        return result.stdout
    assert result.returncode != 0, result.stdout
    return result.stderr


def over_tcp(server, **options):
    return server.connect(**{"unix_socket": None, "host": "127.0.0.1", "port": server.port, "user": "plain", "password": "secret", **options})


def status(connection, name):
    with connection.cursor() as cursor:
        cursor.execute(f"show status like '{name}'")
        return cursor.fetchone()[1]


def test_mariadbs_client_shows_the_cipher(secure):
    told = run(secure, f"--ssl-ca={pem('ca')}", "--ssl-verify-server-cert", "-hlocalhost", statement="\\s")
    assert "Cipher in use is TLS_AES_256_GCM_SHA384" in told
    assert "Not in use" in run(secure, "--skip-ssl", statement="\\s")
    assert "Cipher in use is ECDHE-ECDSA-AES256-GCM-SHA384" in run(secure, "--ssl", "--tls-version=TLSv1.2", statement="\\s")
    # Also over the UNIX socket.
    told = secure.client("--ssl", "-e", "\\s")
    assert "Cipher in use is TLS_" in told


def test_a_client_that_trusts_another_authority_disconnects(secure):
    said = run(secure, f"--ssl-ca={pem('other-ca')}", "--ssl-verify-server-cert", check=False)
    assert "ERROR 2026" in said
    # The server's certificate is valid for localhost and 127.0.0.1.
    assert "ERROR 2026" in run(secure, f"--ssl-ca={pem('ca')}", "--ssl-verify-server-cert", "-h127.0.0.2", check=False)


def test_variables_and_status(secure):
    found = dict(secure.query("show variables where variable_name like 'ssl_%' or variable_name in ('have_ssl', 'have_openssl', 'tls_version', "
                              "'require_secure_transport')"))
    assert found == {"have_openssl": "YES", "have_ssl": "YES", "require_secure_transport": "OFF", "ssl_ca": str(pem("ca")), "ssl_capath": "",
                     "ssl_cert": str(pem("server")), "ssl_cipher": "", "ssl_crl": "", "ssl_crlpath": "", "ssl_key": str(key("server")),
                     "tls_version": "TLSv1.2,TLSv1.3"}
    names = {"Ssl_accepts", "Ssl_cipher", "Ssl_cipher_list", "Ssl_finished_accepts", "Ssl_server_not_after", "Ssl_session_cache_mode", "Ssl_version"}
    assert names <= {row[0] for row in secure.query("show global status like 'Ssl_%'")}
    context = ssl.create_default_context(cafile=pem("ca"))
    with over_tcp(secure, ssl=context) as connection:
        assert status(connection, "Ssl_version") == "TLSv1.3"
        assert status(connection, "Ssl_cipher").startswith("TLS_")
        assert status(connection, "Ssl_server_not_after") == connection._sock.getpeercert()["notAfter"]
        assert status(connection, "Ssl_server_not_before") == connection._sock.getpeercert()["notBefore"]
    with over_tcp(secure) as connection:
        assert (status(connection, "Ssl_version"), status(connection, "Ssl_cipher")) == ("", "")


def test_pymysql_and_connector(secure):
    context = ssl.create_default_context(cafile=pem("ca"))
    secure.query("set global max_allowed_packet=67108864")
    with over_tcp(secure, ssl=context) as connection, connection.cursor() as cursor:
        # Much more than a TLS record, in both directions, and several packets of the protocol.
        text = os.urandom(10_000_000).hex()
        cursor.execute("select %s, length(%s)", (text, text))
        assert cursor.fetchone() == (text, 20_000_000)
    connection = mysql.connector.connect(host="127.0.0.1", port=secure.port, user="bound", password="secret", ssl_ca=str(pem("ca")),
                                         ssl_verify_cert=True, ssl_verify_identity=True, use_pure=True)
    cursor = connection.cursor(prepared=True)
    cursor.execute("select ?, ?", (1, "two"))
    assert cursor.fetchall() == [(1, "two")]
    connection.cmd_change_user("plain", "secret")
    cursor = connection.cursor()
    cursor.execute("select current_user()")
    assert cursor.fetchone()[0] == "plain@%"
    connection.close()


def test_what_accounts_require(secure):
    client = shows("client", "ca")
    denied = "ERROR 1045 (28000): Access denied for user '{}'@'localhost' (using password: YES)"
    assert run(secure, user="plain") == "here\n"
    for user in ("bound", "known", "exact", "other", "weak"):
        assert denied.format(user) in run(secure, "--skip-ssl", user=user, check=False, password="secret")
    assert run(secure, "--ssl", user="bound") == "here\n"
    assert denied.format("known") in run(secure, "--ssl", user="known", check=False)
    assert run(secure, *client, user="known") == "here\n"
    assert run(secure, *client, user="exact", password="") == "here\n"
    assert "ERROR 1045" in run(secure, *client, user="other", password="", check=False)
    assert "ERROR 1045" in run(secure, *client, user="weak", password="", check=False)
    for name in ("stranger", "expired"):
        said = run(secure, *shows(name, "ca"), user="known", check=False)
        assert "ERROR 20" in said, said
    # COM_CHANGE_USER checks too.
    connection = mysql.connector.connect(host="127.0.0.1", port=secure.port, user="plain", password="secret", ssl_disabled=True, use_pure=True)
    with pytest.raises(mysql.connector.Error) as error:
        connection.cmd_change_user("bound", "secret")
    assert error.value.errno == 1045
    # The connection stays with its user.
    cursor = connection.cursor()
    cursor.execute("select current_user()")
    assert cursor.fetchone() == ("plain@%",)
    connection.close()


def test_revocation_lists_and_authorities_that_do_not_hold(request, tmp_path):
    """If there are revocation lists, each authority needs one that is up to date. Authorities expire too."""
    kind = MariaDb if request.config.getoption("--server") == "mariadb" else Paceline
    authorities, lists = tmp_path / "ca.pem", tmp_path / "lists.pem"
    authorities.write_bytes(b"".join(pem(name).read_bytes() for name in ("ca", "slow-ca", "lapsed-ca")))
    lists.write_bytes(pem("revocations").read_bytes() + pem("slow-revocations").read_bytes())
    believed = {"client": True, "revoked": True, "slow": True, "slow-old": True, "lapsed": False}
    for crl, expected in [(None, believed),
                          (pem("revocations"), {**believed, "revoked": False, "slow": False, "slow-old": False}),
                          (lists, {**believed, "revoked": False, "slow": False, "slow-old": False})]:
        server = kind(tmp_path / f"server-{crl.stem if crl else None}", *shows("server"), f"--ssl-ca={authorities}", *([f"--ssl-crl={crl}"] if crl else [])).start()
        try:
            if kind is MariaDb:
                server.query("drop user if exists ''@localhost", "drop user if exists ''@'%'")
            server.query("create user known@'%' identified by 'secret' require x509")
            for name, is_in in expected.items():
                own = [f"--ssl-cert={pem(name)}", f"--ssl-key={key('slow' if name == 'slow-old' else name)}"]
                said = run(server, "--ssl", *own, user="known", check=is_in)
                assert said == "here\n" if is_in else "ERROR 20" in said, (name, crl)
        finally:
            server.close()


def test_requirements_are_shown_and_changed(secure):
    def shown(user):
        [(create,)] = secure.query(f"show create user {user}@'%'")
        return create, secure.query(f"show grants for {user}@'%'")[0][0]

    secure.query("create user r@'%' require ssl with max_user_connections 3")
    assert shown("r") == ("CREATE USER `r`@`%` REQUIRE SSL WITH MAX_USER_CONNECTIONS 3",
                          "GRANT USAGE ON *.* TO `r`@`%` REQUIRE SSL WITH MAX_USER_CONNECTIONS 3")
    # A statement without REQUIRE keeps the requirement.
    secure.query("grant select on *.* to r@'%'", "alter user r@'%' with max_user_connections 0")
    assert shown("r") == ("CREATE USER `r`@`%` REQUIRE SSL", "GRANT SELECT ON *.* TO `r`@`%` REQUIRE SSL")
    secure.query("alter user r@'%' require cipher 'c' and subject 'it''s' issuer '/CN=i'")
    assert shown("r")[0] == "CREATE USER `r`@`%` REQUIRE ISSUER '/CN=i' SUBJECT 'it''s' CIPHER 'c'"
    assert secure.query("select ssl_type, ssl_cipher, x509_issuer, x509_subject from mysql.user where user='r'") == (
        ("SPECIFIED", "c", "/CN=i", "it's"),)
    secure.query("alter user r@'%' require issuer 'only'")
    assert shown("r")[0] == "CREATE USER `r`@`%` REQUIRE ISSUER 'only'"
    with pytest.raises(pymysql.err.MySQLError) as error:
        secure.query("alter user r@'%' require subject 'a' subject 'b'")
    assert error.value.args == (1225, "Option 'SUBJECT' used twice in statement")
    secure.query("grant usage on *.* to r@'%' require x509")
    assert shown("r")[0] == "CREATE USER `r`@`%` REQUIRE X509"
    secure.query("alter user r@'%' require none")
    assert shown("r")[0] == "CREATE USER `r`@`%`"
    secure.query("drop user r@'%'")


def test_requirements_outlive_a_restart(tmp_path):
    server = Paceline(tmp_path / "p").start()
    try:
        server.query("create user r@'%' require issuer '/CN=i'", "create user s@'%' require x509")
        before = server.query("show create user r@'%'"), server.query("show create user s@'%'")
        server.kill()
        server.start()
        assert (server.query("show create user r@'%'"), server.query("show create user s@'%'")) == before
    finally:
        server.close()


def test_require_secure_transport(secure):
    secure.query("set global require_secure_transport=1")
    try:
        said = run(secure, "--skip-ssl", check=False)
        assert "ERROR 1045 (28000): Access denied for user 'plain'@'localhost' (using password: YES)" in said
        assert run(secure, "--ssl") == "here\n"
        # A UNIX socket is secure.
        assert secure.query("select 1") == ((1,),)
    finally:
        secure.query("set global require_secure_transport=0")


def test_flush_ssl(tmp_path):
    certificate, private = tmp_path / "c.pem", tmp_path / "c.key"

    def install(name):
        certificate.write_bytes(pem(name).read_bytes())
        private.write_bytes(key(name).read_bytes())

    def shown(server):
        """Returns the name in the certificate that the server shows to a client."""
        context = ssl.create_default_context(cafile=pem("ca"))
        context.check_hostname = False
        with over_tcp(server, user="root", password="", ssl=context) as connection:
            return dict(pair for [pair] in connection._sock.getpeercert()["subject"])["commonName"]

    install("server")
    server = Paceline(tmp_path / "p", f"--ssl-cert={certificate}", f"--ssl-key={private}").start()
    try:
        assert shown(server) == "server"
        install("elsewhere")
        assert shown(server) == "server"
        server.query("flush ssl")
        assert shown(server) == "elsewhere"
        assert server.query("show status like 'Ssl_accepts'") == (("Ssl_accepts", "1"),)
        private.write_text("nothing")
        with pytest.raises(pymysql.err.MySQLError) as error:
            server.query("flush local ssl")
        assert error.value.args[0] == 1105 and "Failed to refresh SSL, error: Unable to get private key" in error.value.args[1]
        assert shown(server) == "elsewhere"
    finally:
        server.close()


def test_a_server_without_a_certificate_makes_one(paceline):
    paceline.query("create user plain@'%' identified by 'secret'")
    assert paceline.query("select @@have_ssl, @@ssl_cert") == (("YES", ""),)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with over_tcp(paceline, ssl=context) as connection:
        assert status(connection, "Ssl_version") == "TLSv1.3"
        # The proof for clients of MariaDB 11.4 and later: 64 digits after a byte 1.
        assert len(connection._sock.getpeercert(binary_form=True)) > 200
    # A client that requires an authority's certificate rejects it.
    assert "ERROR 2026" in run(paceline, "--ssl", "--ssl-verify-server-cert", check=False)


def test_a_server_that_offers_no_tls(tmp_path):
    server = Paceline(tmp_path / "p", "--skip-ssl").start()
    try:
        assert server.query("select @@have_ssl") == (("DISABLED",),)
        server.query("create user plain@'%' identified by 'secret'")
        assert run(server) == "here\n"
        with pytest.raises(pymysql.err.OperationalError):
            over_tcp(server, ssl=ssl.create_default_context(cafile=pem("ca")))
    finally:
        server.close()


@pytest.mark.parametrize("options, problem", [
    (["--ssl-cert=/nonexistent", "--ssl-key=/nonexistent"], "Unable to get certificate from '/nonexistent'"),
    ([f"--ssl-cert={pem('server')}", f"--ssl-key={key('client')}"], "Private key does not match the certificate public key"),
    (["--ssl-cipher=AES128-SHA"], "Failed to set ciphers to use"),
    (["--tls-version=TLSv1.1"], "names no version that is safe"),
])
def test_settings_that_cannot_be_followed_stop_the_start(tmp_path, options, problem):
    server = Paceline(tmp_path / "p", *options)
    try:
        server.spawn()
        assert server.process.wait(timeout=60) == 1
        assert problem in server.said()
    finally:
        server.close()


def test_a_handshake_that_never_ends(tmp_path):
    server = Paceline(tmp_path / "p", "--connect-timeout=2").start()
    try:
        [(before,)] = server.query("select variable_value from information_schema.global_status where variable_name='Aborted_connects'")
        begun = time.monotonic()
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            greeting = raw.recv(4096)
            assert greeting[4] == 10
            # CLIENT_PROTOCOL_41, CLIENT_SSL and CLIENT_SECURE_CONNECTION; nothing follows.
            raw.sendall(b"\x20\0\0\x01" + (0x8A00).to_bytes(4, "little") + bytes(28))
            raw.settimeout(20)
            assert raw.recv(1) == b""
        assert 1 < time.monotonic() - begun < 10
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.recv(4096)
            raw.sendall(b"\x20\0\0\x01" + (0x8A00).to_bytes(4, "little") + bytes(28) + b"no handshake at all, but many more bytes")
            raw.settimeout(20)
            while raw.recv(100):
                pass
        [(after,)] = server.query("select variable_value from information_schema.global_status where variable_name='Aborted_connects'")
        assert int(after) == int(before) + 2
        assert "SSL connection error: received corrupt message" in server.said()
    finally:
        server.close()


def test_sessions_end_normally(secure):
    context = ssl.create_default_context(cafile=pem("ca"))
    victim = over_tcp(secure, ssl=context)
    secure.query(f"kill {victim.thread_id()}")
    with pytest.raises(pymysql.err.OperationalError):
        victim.query("select 1")
    sleeper = over_tcp(secure, ssl=context)
    sleeper.query("set wait_timeout=1")
    listed = f"select 1 from information_schema.processlist where id = {sleeper.thread_id()}"
    wait_for("the idle session to end", lambda: secure.query(listed) == ())
    with pytest.raises(pymysql.err.OperationalError):
        sleeper.query("select 1")
