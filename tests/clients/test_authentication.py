"""Authentication methods: what accounts store of a password, and logins of MariaDB's clients and replicas by each."""

import re
import subprocess
from pathlib import Path

import mysql.connector
import pymysql
import pytest
from support.replication import change_master, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline

KINDS = [Paceline, MariaDb]
# Debian has MariaDB's plugins for servers and for clients in two directories. A replica needs both.
PLUGINS = [Path("/usr/lib/mysql/plugin/auth_ed25519.so"), Path("/usr/lib/x86_64-linux-gnu/libmariadb3/plugin/client_ed25519.so")]


def start(kind, directory, *options):
    if kind is MariaDb:
        plugins = directory / "plugins"
        plugins.mkdir(parents=True)
        for plugin in PLUGINS:
            (plugins / plugin.name).symlink_to(plugin)
        options = [*options, f"--plugin-dir={plugins}", "--plugin-load-add=auth_ed25519"]
    server = kind(directory, *options)
    server.start()
    if kind is MariaDb:
        server.query("drop user if exists ''@localhost", "drop user if exists ''@'%'")
    return server


def login(server, user, password, *options):
    """Logs in by MariaDB's client. Returns CURRENT_USER(), or the number of the error."""
    command = ["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{server.port}", f"-u{user}", f"--password={password}", *options]
    done = subprocess.run([*command, "-Ne", "select current_user()"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else int(done.stderr.split()[1])


@pytest.mark.parametrize("kind", KINDS)
def test_ed25519(kind, tmp_path):
    server = start(kind, tmp_path / "server")
    server.query("create user a@'%' identified via ed25519 using password('secret')",
                 "create user b@'%' identified via ed25519 using 'ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY'",
                 "create user c@'%' identified via ed25519",
                 "create user d@'%' identified via ed25519 using password('e') or mysql_native_password using password('n')",
                 "create user f@'%' identified via mysql_native_password using password('n') or ed25519 using password('e')")
    for user, password, expected in [("a", "secret", "a@%"), ("a", "Secret", 1045), ("a", "", 1045), ("b", "secret", "b@%"), ("c", "", 1045),
                                     ("d", "e", "d@%"), ("d", "n", "d@%"), ("d", "", 1045), ("f", "e", "f@%"), ("f", "n", "f@%"), ("f", "x", 1045)]:
        assert login(server, user, password, "--skip-ssl") == expected, (user, password)
    # The client names the method at once; the server's data for it comes only then.
    assert login(server, "a", "secret", "--default-auth=client_ed25519") == "a@%"
    assert login(server, "d", "n", "--default-auth=client_ed25519") == "d@%"
    server.query("set password for a@'%' = password('new')", "set password for d@'%' = password('new')")
    assert [login(server, user, "new") for user in "ad"] == ["a@%", "d@%"]
    assert login(server, "a", "secret") == 1045
    log = [row[5] for row in server.query("show binlog events") if row[2] == "Query"]
    assert any("SET PASSWORD FOR 'a'@'%'='" in text and "*" not in text for text in log)
    if kind is Paceline:
        assert not any("secret" in text for text in log)
        # They are the same after a recovery.
        server.kill()
        server.start()
        assert login(server, "a", "new") == "a@%"
    server.close()


@pytest.mark.parametrize("primary_kind, replica_kind", [(Paceline, MariaDb), (MariaDb, Paceline), (Paceline, Paceline)])
def test_a_replica_logs_in_by_ed25519_and_repeats_what_is_done_to_accounts(primary_kind, replica_kind, tmp_path):
    primary = start(primary_kind, tmp_path / "primary", "--server-id=1")
    replica = start(replica_kind, tmp_path / "replica", "--server-id=2")
    primary.query("create user repl@'%' identified via ed25519 using password('secret')",
                  "grant replication slave, binlog monitor on *.* to repl@'%'")
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    primary.query("create user a@'%' identified via unix_socket or ed25519 using password('x')",
                  "create user b@'%' identified via ed25519 using password('x')",
                  "set password for a@'%' = password('y')",
                  "alter user b@'%' identified via mysql_native_password using password('z') or ed25519 using password('zz')")
    wait_for_replica(replica, primary)
    assert slave_status(replica)["Slave_IO_Running"] == "Yes"
    shown = "select user, json_remove(priv, '$.password_last_changed', '$.version_id') from mysql.global_priv where user in ('a', 'b')"
    for user in "ab":
        assert replica.query(f"show create user {user}") == primary.query(f"show create user {user}")
    assert login(replica, "a", "y") == "a@%" and login(replica, "b", "zz") == "b@%"
    assert len(replica.query(shown)) == 2
    replica.close()
    primary.close()


def connector(server, **options):
    options = {"host": "127.0.0.1", "port": server.port, "connection_timeout": 20, **options}
    with mysql.connector.connect(**options) as connection, connection.cursor() as cursor:
        cursor.execute("select current_user()")
        return cursor.fetchall()[0][0]


def refused(server, **options):
    with pytest.raises(mysql.connector.Error) as error:
        connector(server, **options)
    return error.value.errno


def test_caching_sha2_password(tmp_path):
    server = start(Paceline, tmp_path / "server")
    server.query("create user s@'%' identified via caching_sha2_password using password('secret')",
                 "create user e@'%' identified via caching_sha2_password",
                 "create user o@'%' identified via mysql_native_password using password('n') or caching_sha2_password using password('c')",
                 "create user m@'%' identified via caching_sha2_password using '$A$005$0123456789abcdefghijaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'")
    # What is stored is what is logged, and a salt is used once.
    [(shown,)] = server.query("show create user s")
    [hash_of_s] = re.findall(r"USING '(\$A\$005\$.{63})'$", shown)
    log = [row[5] for row in server.query("show binlog events") if row[2] == "Query"]
    assert any(hash_of_s in text for text in log) and not any("secret" in text for text in log)
    assert server.query("select plugin, authentication_string from mysql.user where user = 's'") == (("caching_sha2_password", hash_of_s),)
    # Without encryption only a password that is known from an earlier login is accepted: it is not sent in clear.
    clear, encrypted = {"ssl_disabled": True}, {"ssl_disabled": False}
    assert refused(server, user="s", password="secret", **clear) in (1045, 2026, 2061)
    assert refused(server, user="s", password="wrong", **encrypted) == 1045
    assert connector(server, user="s", password="secret", **encrypted) == "s@%"
    assert connector(server, user="s", password="secret", **clear) == "s@%"
    assert connector(server, user="s", password="secret", auth_plugin="caching_sha2_password", **clear) == "s@%"
    assert refused(server, user="s", password="wrong", **clear) in (1045, 2026, 2061)
    assert refused(server, user="s", password="", **encrypted) == 1045
    assert connector(server, user="e", password="", **clear) == "e@%"
    assert refused(server, user="e", password="x", **encrypted) == 1045
    assert refused(server, user="m", password="x", **encrypted) == 1045
    for password in "nc":
        assert connector(server, user="o", password=password, **encrypted) == "o@%"
    # MariaDB's own client, over the UNIX socket too.
    assert login(server, "s", "secret", "--ssl") == "s@%" and login(server, "s", "wrong", "--ssl") == 1045
    server.query("flush privileges")
    socket_login = ["mariadb", "--no-defaults", "-S", str(server.socket), "-us", "--password=secret", "--skip-ssl", "-Ne", "select current_user()"]
    assert subprocess.run(socket_login, capture_output=True, text=True).stdout == "s@%\n"
    # A new password ends what is known of the old one.
    server.query("set password for s@'%' = password('new')")
    assert refused(server, user="s", password="secret", **clear) in (1045, 2026, 2061)
    assert connector(server, user="s", password="new", **encrypted) == "s@%"
    server.kill()
    server.start()
    assert connector(server, user="s", password="new", **encrypted) == "s@%"
    with pytest.raises(pymysql.err.MySQLError, match="Password hash should be 70 characters long"):
        server.query("create user x identified via caching_sha2_password using 'short'")
    # Statements that MariaDB's users begin with: the methods are there.
    server.query("install soname 'auth_ed25519'", "install plugin if not exists ed25519 soname 'auth_ed25519'")
    with pytest.raises(pymysql.err.MySQLError, match="Plugin 'ed25519' already installed"):
        server.query("install plugin ed25519 soname 'auth_ed25519'")
    server.close()


def test_a_replica_logs_in_by_caching_sha2_password(tmp_path):
    primary = start(Paceline, tmp_path / "primary", "--server-id=1")
    replica = start(Paceline, tmp_path / "replica", "--server-id=2")
    primary.query("create user repl@'%' identified via caching_sha2_password using password('secret')",
                  "grant replication slave, binlog monitor on *.* to repl@'%'")
    change_master(replica, primary, master_use_gtid="slave_pos", master_ssl=1)
    replica.query("start slave")
    primary.query("create user a@'%' identified via caching_sha2_password using password('x')", "set password for a@'%' = password('y')")
    wait_for_replica(replica, primary)
    assert replica.query("show create user a") == primary.query("show create user a")
    assert connector(replica, user="a", password="y") == "a@%"
    replica.close()
    primary.close()
