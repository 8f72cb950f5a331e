"""`paceline binlog` reading from a server, following a log, and copying it, compared with MariaDB's own program."""

import os
import subprocess

import pytest

from support.servers import BINARY, MariaDb, Paceline
from support.waiting import wait_for

TOOLS = {"paceline": [str(BINARY), "binlog"], "mariadb": ["mariadb-binlog", "--no-defaults"]}


def run(kind, *arguments, environment=None, **options):
    return subprocess.run([*TOOLS[kind], *map(str, arguments)], capture_output=True, timeout=120, env={**os.environ, **(environment or {})}, **options)


def same(*arguments):
    ours, theirs = run("paceline", *arguments), run("mariadb", *arguments)
    for number, (mine, other) in enumerate(zip(ours.stdout.splitlines(), theirs.stdout.splitlines())):
        assert mine == other, (arguments, number)
    assert (ours.stdout, ours.returncode) == (theirs.stdout, theirs.returncode), (arguments, ours.stderr, theirs.stderr)
    return ours.stdout


def names(server):
    return [name for name, *_ in server.query("show binary logs")]


def path(server, name):
    directory = server.directory / "data" if isinstance(server, MariaDb) else server.datadir
    return next(directory.rglob(name))


def has_checkpoint(server):
    """Whether the last rotation is complete: then the new file has an event that says so."""
    [(file, *_)] = server.query("show master status")
    return any(event[2] == "Binlog_checkpoint" and file in event[5] for event in server.query(f"show binlog events in '{file}'"))


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    started = {}
    for name, kind in [("paceline", Paceline), ("mariadb", MariaDb)]:
        server = kind(tmp_path_factory.mktemp(name) / name)
        server.start()
        server.query("create database d", "create table d.t (a int primary key, b text)", "insert into d.t values (1,'x')", "flush binary logs",
                     "insert into d.t values (2,'y')", "set session gtid_domain_id=3", "update d.t set b='z'", "flush binary logs",
                     "insert into d.t values (3,repeat('long',10000))",
                     "create user reader@localhost identified by 'se cret'", "grant replication slave on *.* to reader@localhost", "flush binary logs")
        wait_for("the checkpoint of the last rotation", lambda: has_checkpoint(server))
        started[name] = server
    yield started
    for server in started.values():
        server.close()


both = pytest.mark.parametrize("kind", ["paceline", "mariadb"])


@both
def test_a_server_s_log_is_printed_as_mariadb_binlog_prints_it(servers, kind):
    server = servers[kind]
    files = names(server)
    remote = ["-R", "-uroot", "-S", server.socket]
    server_id = server.query("select @@server_id")[0][0]
    for arguments in [[files[0]], ["-v", files[1]], files[:3], ["--to-last-log", files[0]], ["-H", files[1]], ["-s", files[1]],
                      [f"--start-position=0-{server_id}-2", files[0]], [f"--start-position=0-{server_id}-2", "--to-last-log", files[0]],
                      ["--stop-position=600", files[0]], [f"--stop-position=0-{server_id}-4", "--to-last-log", files[0]],
                      ["--do-domain-ids=3", *files[:3]], ["--database=nowhere", files[0]]]:
        same(*remote, *arguments)
    # After a transaction that was filtered out, mariadb-binlog also omits the next file's Format description event;
    # ours never does.
    filtered = [run(tool, *remote, "--do-domain-ids=3", "--to-last-log", files[0]).stdout.splitlines() for tool in TOOLS]
    transactions = [[line for line in lines if b"\tGTID " in line] for lines in filtered]
    assert transactions[0] == transactions[1] != []
    assert sum(b"Start: binlog v 4" in line for line in filtered[0]) >= len(files)
    # An offset in the middle: the contents there are those of the file.
    text = run("paceline", path(server, files[1])).stdout.decode()
    offset = [line.split()[2] for line in text.splitlines() if line.startswith("# at ")][-3]
    assert f"# at {offset}" in same(*remote, f"--start-position={offset}", files[1]).decode()
    # Without a file: the whole log.
    everything = run("paceline", *remote)
    assert everything.returncode == 0 and everything.stdout.count(b"Start: binlog v 4") >= len(files)
    assert b"gtid_seq_no=1*" in everything.stdout


@both
def test_raw_copies(servers, kind, tmp_path):
    server = servers[kind]
    files = names(server)[:-1]
    done = run("paceline", "--raw", "--to-last-log", "-R", "-uroot", "-S", server.socket, f"--result-file={tmp_path}/copy-", files[0])
    assert done.returncode == 0, done.stderr
    theirs = run("mariadb", "--raw", "--to-last-log", "-R", "-uroot", "-S", server.socket, f"--result-file={tmp_path}/theirs-", files[0])
    assert theirs.returncode == 0, theirs.stderr
    for name in files:
        copy = (tmp_path / f"copy-{name}").read_bytes()
        assert copy == (tmp_path / f"theirs-{name}").read_bytes()
        if kind == "mariadb":
            assert copy == path(server, name).read_bytes()
        # A copy may omit records that only their own server reads; its transactions are those of the file.
        lines = [[line for line in run("paceline", "-v", file).stdout.splitlines() if b"GTID" in line or line.startswith(b"###")]
                 for file in (tmp_path / f"copy-{name}", path(server, name))]
        assert lines[0] == lines[1]


@both
def test_accounts_and_addresses(servers, kind, tmp_path):
    server = servers[kind]
    [first, *_] = names(server)
    expected = run("paceline", "-R", "-S", server.socket, "-uroot", first).stdout
    port = ["-R", "-h", "127.0.0.1", "-P", server.port, first]
    options = tmp_path / "client.cnf"
    options.write_text(f"[mysqld]\nuser=nobody\n[client]\nuser=reader\npassword='se cret'\nhost=127.0.0.1\nport={server.port}\n")
    for arguments, environment in [(["-ureader", "-pse cret", *port], None), (["--user=reader", "--password=se cret", *port], None),
                                   (["-ureader", *port], {"MYSQL_PWD": "se cret"}), ([f"--defaults-file={options}", "-R", first], None),
                                   (["--protocol=tcp", "-ureader", "-pse cret", "-R", first], {"MYSQL_TCP_PORT": str(server.port)}),
                                   (["-uroot", "--read_from_remote_server", first], {"MYSQL_UNIX_PORT": str(server.socket)})]:
        done = run("paceline", *arguments, environment=environment)
        assert done.returncode == 0 and done.stdout == expected, (arguments, done.stderr)
    asked = run("paceline", "-ureader", "-p", *port, input=b"se cret\n")
    assert asked.stdout == expected and b"Enter password" in asked.stderr
    for arguments, why in [(["-ureader", "-pwrong", *port], "Access denied"), (["-uroot", "-S", "/nowhere.sock", "-R", first], "Failed on connect"),
                           (["-uroot", "-S", server.socket, "-R", "nope.000001"], "Could not find first log file name"),
                           (["--raw", first], "only works with --read-from-remote-server"), (["--verify", "-R", first], "with --raw first")]:
        done = run("paceline", *arguments)
        assert done.returncode != 0 and why in done.stderr.decode(), (arguments, done.stderr)


class Follower:
    """A tool that follows a log, with the output so far."""

    def __init__(self, output, *arguments):
        self.output = output
        self.process = subprocess.Popen([*TOOLS["paceline"], *map(str, arguments)], stdout=output.open("wb"), stderr=subprocess.PIPE)

    def wait_for(self, text, count=1):
        def has_come():
            assert self.process.poll() is None, self.process.stderr.read()
            return self.output.read_bytes().count(text) >= count

        wait_for(text, has_come, 30)

    def close(self):
        self.process.terminate()
        self.process.wait()


@pytest.mark.parametrize("way", ["server", "file", "json"])
def test_a_log_is_followed(paceline, tmp_path, way):
    paceline.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    [first] = names(paceline)
    where = ["-R", "-uroot", "-S", paceline.socket, first] if way == "server" else [path(paceline, first)]
    follower = Follower(tmp_path / "followed", "-v", "--stop-never", *(["--json"] if way == "json" else []), *where)
    inserted = b'"kind":"insert"' if way == "json" else b"### INSERT INTO"
    try:
        follower.wait_for(inserted, 1)
        paceline.query("insert into d.t values (2)")
        follower.wait_for(inserted, 2)
        paceline.query("flush binary logs", "insert into d.t values (3)")
        follower.wait_for(inserted, 3)
        if way != "server":
            # A crash leaves a file without an end; the log continues in the next file.
            paceline.kill()
            paceline.start()
            paceline.query("insert into d.t values (4)")
            follower.wait_for(inserted, 4)
    finally:
        follower.close()


def test_a_file_that_is_being_written_ends_at_its_last_event(paceline):
    """Readers beside a writer: each sees only whole transactions, and at least those that existed at its start."""
    paceline.query("create database d", "create table d.t (a int auto_increment primary key, b varchar(200))")
    file = path(paceline, names(paceline)[0])
    with paceline.connect() as connection, connection.cursor() as cursor:
        for number in range(200):
            cursor.execute("insert into d.t (b) values (repeat('x',200)),(repeat('y',200))")
            if number % 10 == 0:
                done = run("paceline", "--verify", file)
                assert done.returncode == 0, done.stderr
                text = run("paceline", file)
                assert text.returncode == 0 and text.stdout.count(b"gtid_seq_no=") == number + 3
                assert run("paceline", "-", input=file.read_bytes()).stdout.count(b"gtid_seq_no=") == number + 3


@both
def test_files_behind_the_last_one_named(servers, kind):
    """--to-last-log without a server."""
    server = servers[kind]
    files = [path(server, name) for name in names(server)[:-1]]
    through = run("paceline", "--to-last-log", files[0]).stdout
    assert through.startswith(run("paceline", *files).stdout.split(b"# End of log file")[0])
    assert run("paceline", files[0]).stdout.count(b"Start: binlog") == 1


@both
def test_standard_input(servers, kind):
    server = servers[kind]
    file = path(server, names(server)[1])
    content = file.read_bytes()
    for arguments in [["-"], ["-v", "-"], ["--stop-position=500", "-"]]:
        ours, theirs = run("paceline", *arguments, input=content), run("mariadb", *arguments, input=content)
        assert ours.stdout == theirs.stdout, arguments
    assert run("paceline", "-", input=content).stdout == run("paceline", file).stdout
    assert run("paceline", "-", input=content[:-7]).returncode == 1


def test_a_server_is_named_as_other_commands_name_it(servers):
    server = servers["paceline"]
    wanted = run("paceline", "-R", "-uroot", "-S", server.socket, "--stat").stdout
    assert wanted
    for host in (f"127.0.0.1:{server.port}", server.socket):
        found = run("paceline", "-R", "-uroot", "--host", host, "--stat")
        assert (found.stdout, found.stderr) == (wanted, b"")
    refused = run("paceline", "-R", "-uroot", "--host", "127.0.0.1:x")
    assert refused.returncode == 1 and b"'127.0.0.1:x' is not an address" in refused.stderr
