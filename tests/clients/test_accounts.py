"""Logins: sockets, lost passwords, guessed passwords, and the effect of changed privileges on open sessions."""

import os
import pwd
import socket
import stat
import subprocess

import pymysql
import pytest

from support.servers import BINARY, MariaDb, Paceline


class Secure(Paceline):
    """A server without any test options: every login needs an account."""

    accounts = []


def denied(connect, **options):
    """Returns the error's number and text. Fails if the login succeeds."""
    with pytest.raises(pymysql.MySQLError) as refused:
        connect(**options)
    return refused.value.args


def answer(cursor, statement):
    try:
        cursor.execute(statement)
    except pymysql.MySQLError as error:
        return error.args[0]
    return tuple(cursor.fetchall())


def as_nobody(*command):
    """Runs a command as an operating system user that is unrelated to the server."""
    nobody = pwd.getpwnam("nobody")
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[])


@pytest.mark.parametrize("kind", [Paceline, MariaDb], ids=["paceline", "mariadb"])
def test_localhost_comes_before_its_address(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start()
    try:
        # MariaDB's anonymous accounts of this host come before a named one of any host.
        server.query("delete from mysql.global_priv where user = ''", "flush privileges",
                     *(f"create user u@'{host}' identified by 'p'" for host in ("%", "127.0.0.1", "localhost")))
        for dropped, expected in (("none@none", "u@localhost"), ("u@localhost", "u@127.0.0.1"), ("u@127.0.0.1", "u@%")):
            server.query(f"drop user if exists {dropped}")
            found = server.query("select current_user()", user="u", password="p", host="127.0.0.1", port=server.port, unix_socket=None)
            assert found == ((expected,),)
    finally:
        server.close()


def test_a_new_directory_lets_in_the_systems_root(tmp_path):
    server = Secure(tmp_path / "server")
    server.start()
    assert server.query("select current_user(), user()") == (("root@localhost", "root@localhost"),)
    assert server.query("show create user") == (
        ("CREATE USER `root`@`localhost` IDENTIFIED VIA mysql_native_password USING 'invalid' OR unix_socket",),)
    refused = (1698, "Access denied for user 'root'@'localhost'")
    assert denied(server.connect, host="127.0.0.1", port=server.port, unix_socket=None) == refused
    assert denied(server.connect, host="127.0.0.1", port=server.port, unix_socket=None, password="invalid") == refused
    server.socket.chmod(0o777)
    for directory in (tmp_path, *tmp_path.parents):
        if directory.stat().st_mode & stat.S_IXOTH == 0:
            directory.chmod(directory.stat().st_mode | stat.S_IXOTH)
    other = as_nobody("mariadb", "--no-defaults", "-uroot", "-S", server.socket, "-e", "select 1")
    assert "ERROR 1698 (28000): Access denied for user 'root'@'localhost'" in other.stderr
    # New accounts admit exactly the users that they name, and root still can log in.
    server.query("create user nobody@localhost identified via unix_socket", "create user app@'%' identified by 'secret'")
    assert as_nobody("mariadb", "--no-defaults", "-S", server.socket, "-Ne", "select current_user()").stdout == "nobody@localhost\n"
    assert server.query("select 1", user="app", password="secret", host="127.0.0.1", port=server.port, unix_socket=None)
    server.kill()
    server.start("--initialize-insecure")
    assert denied(server.connect, host="127.0.0.1", port=server.port, unix_socket=None) == refused
    server.close()


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_several_methods_are_tried_in_their_order(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start()
    server.query("create user b1@localhost identified via unix_socket",
                 "create user b2@localhost identified via unix_socket or mysql_native_password using password('x')",
                 "create user b3@localhost identified via mysql_native_password using password('x') or unix_socket",
                 "create user b4@localhost identified via unix_socket as 'root'",
                 "create user b5@localhost identified via unix_socket or mysql_native_password")
    for user, password, expected in [("b1", "", 1698), ("b1", "x", 1698), ("b2", "", 1698), ("b2", "x", None), ("b2", "y", 1045), ("b3", "x", None),
                                     ("b3", "y", 1698), ("b3", "", 1698), ("b4", "", 1698), ("b5", "", None), ("b5", "x", 1045)]:
        if expected is None:
            assert server.query("select current_user()", user=user, password=password) == ((f"{user}@localhost",),)
        else:
            assert denied(server.connect, user=user, password=password)[0] == expected, (user, password)
    server.close()


def test_a_lost_password(tmp_path):
    server = Secure(tmp_path / "server")
    server.start()
    server.query("alter user root@localhost identified by 'forgotten'")
    server.stop()
    script = tmp_path / "reset.sql"
    script.write_text("-- One and a half statements.\nalter user root@localhost\n  identified by 'new'; select * from information_schema.tables;\n")
    server.spawn("--init-file", str(script))
    wait_for_login(server, password="new")
    assert denied(server.connect)[0] == 1045
    server.stop()
    # It stops at the first failure; the server starts nevertheless.
    script.write_text("create database before_it;\ncreate procedure before_it.p() select 1;\ncall before_it.p();\nnonsense;\ncreate database after_it;\n")
    server.spawn("--init-file", str(script))
    wait_for_login(server, password="new")
    assert "the statements after it are not run" in server.said() and "1064" in server.said()
    assert [row for row in server.query("show databases", password="new") if row[0].endswith("_it")] == [("before_it",)]
    server.stop()
    server.spawn("--init-file", str(tmp_path / "not there"))
    assert server.process.wait(timeout=60) == 1
    assert "cannot read" in server.said()
    # Without any accounts.
    server.spawn("--skip-grant-tables")
    wait_for_login(server)
    with server.connect(user="anybody", password="anything") as session, session.cursor() as cursor:
        assert answer(cursor, "select current_user()") == (("@",),)
        assert answer(cursor, "show variables like 'skip_grant_tables'") == (("skip_grant_tables", "ON"),)
        for statement in ("alter user root@localhost identified by 'z'", "create user x", "drop user root@localhost", "show grants",
                          "grant select on *.* to root@localhost", "set password = password('x')", "show create user root@localhost"):
            assert answer(cursor, statement) == 1290, statement
        assert answer(cursor, "create database d") == ()
        # There are no accounts, so none is missing.
        assert answer(cursor, "create definer=nobody@nowhere view d.v as select 1") == answer(cursor, "show warnings") == ()
        assert answer(cursor, "select count(*) from information_schema.user_privileges") == ((0,),)
        assert answer(cursor, "show status like 'Acl_users'") == (("Acl_users", "0"),)
        assert answer(cursor, "drop view d.v") == ()
        assert answer(cursor, "flush privileges") == ()
        assert answer(cursor, "alter user root@localhost identified by 'newest'") == ()
    assert denied(server.connect, user="anybody")[0] == 1045
    assert server.query("select current_user()", password="newest") == (("root@localhost",),)
    server.close()


def wait_for_login(server, **options):
    connect, server.connect = server.connect, lambda **given: type(server).connect(server, **{**options, **given})
    try:
        server.wait_until_ready()
    finally:
        server.connect = connect


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_effects_of_a_change_on_open_sessions(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start()
    server.query("create database d1", "create database d2", "create table d1.t (a int)", "create user u1@localhost", "grant select on d1.* to u1@localhost",
                 "grant select on d2.* to u1@localhost")
    select = "select * from d1.t"
    inside, outside = (server.connect(user="u1", database=database).cursor() for database in ("d1", None))
    assert answer(inside, select) == answer(outside, select) == ()
    server.query("revoke select on d1.* from u1@localhost")
    # Privileges on the current database stay until the next USE; those on any other change at once.
    assert answer(inside, select) == () and answer(outside, select) == 1142
    assert answer(inside, "use d1") == 1044 and answer(inside, select) == ()
    assert answer(inside, "use d2") == () and answer(inside, select) == 1142
    server.query("grant select on d1.* to u1@localhost")
    assert answer(inside, select) == ()
    outside = server.connect(user="u1", database="d1").cursor()
    server.query("grant insert on d1.* to u1@localhost")
    assert answer(outside, "insert into t values (1)") == 1142
    assert answer(outside, "use d1") == () and answer(outside, "insert into t values (1)") == ()
    server.query("revoke insert on d1.* from u1@localhost")
    assert answer(outside, "insert into d1.t values (1)") == ()
    assert answer(outside, "use d2") == () and answer(outside, "insert into d1.t values (1)") == 1142
    # Global privileges are those at login.
    server.query("grant insert on *.* to u1@localhost")
    assert answer(outside, "insert into d1.t values (1)") == 1142
    session = server.connect(user="u1", database="d1").cursor()
    server.query("revoke insert on *.* from u1@localhost")
    assert answer(session, "insert into t values (1)") == ()
    assert answer(session, "show grants")[0] == ("GRANT USAGE ON *.* TO `u1`@`localhost`",)
    # A prepared statement is checked at each execution.
    prepared = server.connect(user="u1").cursor()
    assert answer(prepared, f"prepare s from '{select} limit 1'") == () and answer(prepared, "execute s") == ((1,),)
    server.query("revoke select on d1.* from u1@localhost")
    assert answer(prepared, "execute s") == 1142
    server.query("grant select on d1.* to u1@localhost")
    inside, outside = (server.connect(user="u1", database=database).cursor() for database in ("d1", None))
    server.query("drop user u1@localhost")
    assert answer(inside, "select count(*) from t") == ((3,),) and answer(outside, select) == 1142
    assert answer(inside, "use d1") == 1044 and answer(inside, "show grants") == 1141
    assert answer(inside, "select current_user()") == (("u1@localhost",),)
    server.close()


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_wrong_passwords_block_an_account(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start()
    server.query("set global max_password_errors = 3", "create user u1@localhost identified by 'p'", "create user s1@localhost identified by 'p'",
                 "grant connection admin on *.* to s1@localhost")

    def outcome(password, user="u1"):
        try:
            server.connect(user=user, password=password).close()
        except pymysql.MySQLError as error:
            return error.args
        return None

    blocked = (4150, "User is blocked because of too many credential errors; unblock with 'ALTER USER / FLUSH PRIVILEGES'")
    wrong = (1045, "Access denied for user 'u1'@'localhost' (using password: YES)")
    assert [outcome(password) for password in "xxpxxxpx"] == [wrong, wrong, None, wrong, wrong, wrong, blocked, blocked]
    server.query("flush privileges")
    assert [outcome(password) for password in "pxxxp"] == [None, wrong, wrong, wrong, blocked]
    server.query("alter user u1@localhost identified by 'q'")
    assert [outcome(password) for password in "qxxxq"] == [None, wrong, wrong, wrong, blocked]
    # It unblocks the account although it changes nothing.
    server.query("alter user u1@localhost account unlock")
    assert [outcome(password) for password in "qxxxq"] == [None, wrong, wrong, wrong, blocked]
    server.query("set global max_password_errors = 10")
    assert outcome("q") is None
    server.query("set global max_password_errors = 2")
    assert [outcome(password, "s1") for password in "xxxp"][3] is None
    server.close()


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_broken_logins_block_a_host(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start()
    server.query("set global max_connect_errors = 3", "create user u2@'127.0.0.2' identified by 'p'")
    there = {"host": "127.0.0.1", "port": server.port, "bind_address": "127.0.0.2", "unix_socket": None, "user": "u2", "password": "p"}

    def broken(nonsense):
        connection = socket.socket()
        connection.bind(("127.0.0.2", 0))
        connection.connect(("127.0.0.1", server.port))
        greeting = connection.recv(1000)
        if nonsense:
            connection.sendall(b"\x05\0\0\x01abcde")
            connection.settimeout(20)
            while connection.recv(1000):
                pass
        connection.close()
        return greeting

    for _ in range(4):
        assert denied(server.connect, **{**there, "password": "x"})[0] == 1045
    for _ in range(2):
        broken(True)
    server.query("select 1", **there)
    for _ in range(3):
        assert broken(True)[4] == 10
    blocked = "Host '127.0.0.2' is blocked because of many connection errors; unblock with 'mariadb-admin flush-hosts'"
    assert denied(server.connect, **there) == (1129, blocked)
    # Nothing is known about the client yet: the error has no SQLSTATE.
    assert broken(False)[4:] == b"\xff\x69\x04" + blocked.encode()
    # Logins from the server's own host are never counted.
    server.query("select 1")
    server.client("flush-hosts", program="mariadb-admin")
    server.query("select 1", **there)
    server.close()


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_explain_of_a_view_shows_no_table_that_may_not_be_read(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start()
    server.query("create database hidden", "create database pub", "create table hidden.t (a int)", "insert into hidden.t values (1)",
                 "create view pub.v as select a from hidden.t", "create view pub.w as select a from pub.v",
                 "create sql security invoker view pub.i as select a from hidden.t", "create table pub.own (a int)",
                 "create view pub.o as select a from pub.own", "create user u1@localhost", "grant select on pub.* to u1@localhost")
    explained = [f"explain {query}" for query in ("select * from pub.v", "select * from pub.w", "select * from pub.i", "select * from (select * from pub.v) x",
                                                  "select 1 from pub.own where exists (select * from pub.v)")]

    def numbers(*statements):
        with server.connect(user="u1") as session, session.cursor() as cursor:
            return [answer(cursor, statement) if isinstance(answer(cursor, statement), int) else 0 for statement in statements]

    own = "explain select * from pub.o"
    assert numbers(*explained, own) == [1345] * 6
    assert numbers("select * from pub.v", "desc pub.v") == [0, 0]
    server.query("grant show view on pub.* to u1@localhost")
    assert numbers(*explained, own) == [1345] * 5 + [0]
    server.query("grant select on hidden.* to u1@localhost")
    assert numbers(*explained, own) == [0] * 6
    server.query("revoke show view on pub.* from u1@localhost")
    assert numbers(*explained, own) == [1345] * 6
    assert numbers("show engine innodb status") == [1227]
    server.close()


def test_a_name_cannot_forge_a_line_of_the_log(paceline):
    name = "x'\n2026-01-01T00:00:00.000000Z  INFO shutdown complete\r\x1b[2J"
    assert denied(paceline.connect, user=name, password="p")[0] == 1045
    assert "\\n2026-01-01T00:00:00.000000Z  INFO shutdown complete\\r\\x1b[2J" in paceline.said()
    assert not [line for line in paceline.said().splitlines() if line.startswith("2026-01-01T00:00:00")]


def test_files_are_closed_to_others(tmp_path):
    os.umask(0)
    try:
        server = Paceline(tmp_path / "server")
        server.datadir.mkdir(mode=0o755)
        server.datadir.chmod(0o755)
        server.start()
        server.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)", "flush binary logs")
        assert "had the permissions 0755" in server.said()
        directories = [server.datadir, *(path for path in server.datadir.rglob("*") if path.is_dir())]
        files = [path for path in server.datadir.rglob("*") if path.is_file()]
        assert stat.S_IMODE(server.datadir.stat().st_mode) == 0o750 and len(files) > 8
        assert not [path for path in directories + files if path.stat().st_mode & 0o007]
        backup = tmp_path / "backup"
        done = subprocess.run([BINARY, "backup", "--user=root", f"--from=127.0.0.1:{server.port}", f"--to={backup}"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert stat.S_IMODE(backup.stat().st_mode) == 0o700
        assert not [path for path in backup.rglob("*") if path.stat().st_mode & 0o007]
        new = Paceline(tmp_path / "new")
        new.start()
        assert stat.S_IMODE(new.datadir.stat().st_mode) == 0o700
        new.close()
        # SELECT's output file is readable by others.
        server.query(f"select 1 into outfile '{tmp_path}/out'")
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o644
        server.close()
    finally:
        os.umask(0o022)


def test_statements_touch_no_file_of_the_data_directory(paceline, tmp_path):
    datadir = paceline.datadir
    with paceline.connect(local_infile=False) as session, session.cursor() as cursor:
        cursor.execute("create database d")
        cursor.execute("use d")
        cursor.execute("create table t (a text)")
        for name in (f"{datadir}/out", "out", "./out", f"{datadir}/tables/out", f"{tmp_path}/link/out"):
            (tmp_path / "link").is_symlink() or (tmp_path / "link").symlink_to(datadir)
            assert answer(cursor, f"select 1 into outfile '{name}'") == 1290, name
        assert answer(cursor, f"load data infile '{datadir}/binlog.index' into table t") == 1290
        assert answer(cursor, f"select 1 into outfile '{tmp_path}/out'") == ()


def test_only_an_empty_directory_becomes_a_data_directory(tmp_path):
    def start(directory):
        server = Paceline(tmp_path / "server", datadir=directory)
        server.spawn()
        status = server.process.wait(timeout=60)
        return status, server.said()

    before = sorted(os.listdir("/etc"))
    status, said = start("/etc")
    assert status == 1 and "is not empty" in said and sorted(os.listdir("/etc")) == before
    used = tmp_path / "used"
    used.mkdir()
    (used / "something").write_text("")
    assert start(used)[0] == 1
    (used / "something").unlink()
    (used / "lost+found").mkdir()
    server = Paceline(tmp_path / "other", datadir=used)
    server.start()
    server.close()


def test_mariadb_upgrade_finds_nothing_to_do(paceline):
    databases = [name for (name,) in paceline.query("show databases")]
    assert databases == ["information_schema", "mysql", "performance_schema", "sys"]
    said = subprocess.run(["mariadb-upgrade", "--no-defaults", "-uroot", "-S", paceline.socket], capture_output=True, text=True)
    assert said.returncode == 0 and "There is no need to run" in said.stdout, said
    with paceline.connect() as session, session.cursor() as cursor:
        assert answer(cursor, "create view mysql.user as select 1") == 1050
        assert answer(cursor, "create or replace view mysql.user as select 1") == 1347
        assert answer(cursor, "use sys") == () and answer(cursor, "show tables") == ()
        assert answer(cursor, "select domain_id, sub_id, server_id, seq_no from mysql.gtid_slave_pos") == ()
        assert answer(cursor, "insert into mysql.gtid_slave_pos values (1, 1, 1, 1)") == 1036
    assert paceline.query("select user from mysql.user where host = 'localhost'") == (("root",),)
    # A dump of everything can be loaded.
    dump = paceline.client("--all-databases", "--single-transaction", program="mariadb-dump")
    paceline.client(text=dump)


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_a_client_that_compresses(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start()
    text = "create database d; use d; create table t (a int primary key, b longtext);\n"
    text += "".join(f"insert into t values ({n}, repeat('ab{n}', 100000));\n" for n in range(5))
    # A statement longer than one frame, in both directions.
    text += f"set max_statement_time = 0; insert into t values (9, '{'x' * 3_000_000}');\n"
    server.client("--compress", text=text)
    shown = server.client("--compress", "--ssl=0", "-Ne", "select a, length(b), md5(b) from d.t; select b from d.t where a = 9")
    assert shown == server.client("-Ne", "select a, length(b), md5(b) from d.t; select b from d.t where a = 9")
    assert len(shown) > 3_000_000
    (tmp_path / "rows").write_text("".join(f"{n}\tloaded\n" for n in range(10, 100_000)))
    server.client("--compress", "--local-infile=1", "d", "-e", f"load data local infile '{tmp_path}/rows' into table t")
    assert server.query("select count(*) from d.t where b = 'loaded'") == ((99_990,),)
    if kind is Paceline:
        server.client("--compress", "--ssl", "d", "-e", "select * from t limit 1000")
    assert "doing" in server.client("--compress", "-e", "select 'doing'; show processlist; do sleep(0.01)")
    dump = server.client("--compress", "d", program="mariadb-dump")
    assert dump.count("loaded") == 99_990
    server.close()


@pytest.mark.parametrize("kind", [Paceline, MariaDb], ids=["paceline", "mariadb"])
@pytest.mark.parametrize("uses_socket", [False, True], ids=["password", "unix_socket"])
def test_mariadb_secure_installation(kind, uses_socket, tmp_path):
    server = kind(tmp_path / "server")
    server.start()
    try:
        server.query("create or replace user ''@localhost, ''@'%', root@'%'", "create database if not exists test", "grant all on test.* to ''@'%'",
                     "grant select on `test\\_%`.* to root@'%'")
        options = tmp_path / "client.cnf"
        options.write_text(f"[client]\nsocket={server.socket}\n")
        answers = ["", "y", "n"] if uses_socket else ["", "n", "y", "secret", "secret"]
        done = subprocess.run(["mariadb-secure-installation", f"--defaults-file={options}"], input="\n".join([*answers, "y", "y", "y", "y", ""]),
                              capture_output=True, text=True, cwd=tmp_path, timeout=60)
        assert done.returncode == 0 and "Thanks for using MariaDB" in done.stdout, done
        assert "Failed" not in done.stdout and "ERROR" not in done.stderr, done
        password = {} if uses_socket else {"password": "secret"}
        accounts = server.query("select user, host from mysql.user where user in ('', 'root') and host not in ('::1', '127.0.0.1')", **password)
        assert accounts == (("root", "localhost"),)
        assert server.query("select user from mysql.db where db in ('test', 'test\\\\_%')", **password) == ()
        assert server.query("show databases like 'test'", **password) == ()
        assert server.query("select user()", **password) == (("root@localhost",),)
        refused = {"password": "other", "host": "127.0.0.1", "port": server.port, "unix_socket": None} if uses_socket else {"password": ""}
        with pytest.raises(pymysql.MySQLError):
            server.query("select 1", **refused)
    finally:
        server.close()


@pytest.mark.parametrize("kind", [Paceline, MariaDb], ids=["paceline", "mariadb"])
def test_a_password_changed_as_a_row_counts_after_flush_privileges(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start()

    def counting():
        """Returns the passwords with which the account can log in."""
        found = []
        for password in ("old", "new", "newest"):
            try:
                server.query("do 1", user="u", password=password)
                found.append(password)
            except pymysql.MySQLError as error:
                assert error.args[0] == 1045
        return found

    def change(password):
        server.query(f"update mysql.global_priv set priv=json_set(priv, '$.authentication_string', password('{password}')) where user='u'")

    try:
        server.query("delete from mysql.global_priv where user = ''", "flush privileges", "create user u@localhost identified by 'old'")
        change("new")
        assert counting() == ["old"]
        change("newest")
        assert counting() == ["old"]
        server.query("flush privileges")
        assert counting() == ["newest"]
        change("old")
        server.query("alter user u@localhost identified by 'new'")
        assert counting() == ["new"]
        change("newest")
        server.stop()
        server.start()
        assert counting() == ["newest"]
    finally:
        server.close()


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_without_names_of_hosts_an_account_of_localhost_is_for_the_socket(kind, tmp_path):
    server = kind(tmp_path / "server", "--skip-name-resolve", "--skip-show-database")
    server.start()
    server.query("create user here@localhost", "create user here@'127.0.0.1'", "create user local@localhost", "create user any@'%'")
    over_tcp = {"host": "127.0.0.1", "port": server.port, "unix_socket": None}
    assert server.query("select current_user()", user="here", **over_tcp) == (("here@127.0.0.1",),)
    assert server.query("select current_user()", user="here") == (("here@localhost",),)
    assert server.query("select current_user(), substring_index(user(), '@', -1)", user="any", **over_tcp) == (("any@%", "127.0.0.1"),)
    assert denied(server.connect, user="local", **over_tcp)[0] == 1045
    # Databases are shown to those with the privilege alone.
    assert ("mysql",) in server.query("show databases")
    assert answer(server.connect(user="any", **over_tcp).cursor(), "show databases") == 1227
    server.query("grant show databases on *.* to any@'%'")
    assert ("mysql",) in server.query("show databases", user="any", **over_tcp)
    assert server.query("show variables like 'skip_name_resolve'") == (("skip_name_resolve", "ON"),)
    server.close()


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_limits_on_connections_of_a_user(kind, tmp_path):
    server = kind(tmp_path / "server", "--max-user-connections=9")
    server.start()
    server.query("create user u@localhost", "create user admin@localhost", "grant connection admin on *.* to admin@localhost",
                 "create user own@localhost with max_user_connections 1")
    server.query("set global max_user_connections=1")
    try:
        first = server.connect(user="u")
        assert denied(server.connect, user="u")[0] == 1203
        # Administrators are not limited, unless their accounts are.
        several = [server.connect(user="admin") for _ in range(3)]
        server.query("alter user admin@localhost with max_user_connections 2")
        assert denied(server.connect, user="admin") == (1226, "User 'admin' has exceeded the 'max_user_connections' resource (current value: 2)")
        own = server.connect(user="own")
        assert denied(server.connect, user="own")[0] == 1226
        # A negative number allows none.
        for session in (first, own, *several):
            session.close()
        server.query("set global max_user_connections=-1", "alter user own@localhost with max_user_connections -1")
        assert server.query("select @@global.max_user_connections") == ((-1,),)
        assert denied(server.connect, user="u")[0] == 1203
        assert denied(server.connect, user="own") == (1226, "User 'own' has exceeded the 'max_user_connections' resource (current value: -1)")
        assert server.query("show create user own@localhost") == (("CREATE USER `own`@`localhost` WITH MAX_USER_CONNECTIONS -1",),)
        assert server.query("select max_user_connections from mysql.user where user = 'own'") == ((-1,),)
        server.query("alter user own@localhost with max_user_connections 0")
        assert denied(server.connect, user="own")[0] == 1203
    finally:
        server.query("set global max_user_connections=0")
    assert server.query("select 1", user="own") == ((1,),)
    server.close()
