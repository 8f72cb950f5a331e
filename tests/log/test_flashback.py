"""`paceline binlog --flashback`: the text equals that of `mariadb-binlog --flashback`, and restores the tables'
earlier state."""

import subprocess

import pytest

from support.servers import BINARY, ROOT, MariaDb

SCRIPT = (ROOT / "tests/log/every_type.sql").read_text()
TOOLS = {"paceline": [str(BINARY), "binlog"], "mariadb": ["mariadb-binlog", "--no-defaults"]}


def run(kind, *arguments):
    return subprocess.run([*TOOLS[kind], *map(str, arguments)], capture_output=True, timeout=120)


def content(server):
    tables = [name for (name,) in server.query("show tables in every_type")]
    return {name: server.client("-N", "-e", f"select * from every_type.{name} order by 1, 2") for name in tables}


def log_files(server):
    if isinstance(server, MariaDb):
        return sorted((server.directory / "data").glob("bin.0*"))
    return server.log_files()


@pytest.mark.parametrize("kind", ["paceline", "mariadb"])
def test_every_type_goes_back(request, kind):
    server = request.getfixturevalue(kind)
    server.client("--default-character-set=utf8mb4", text=SCRIPT)
    # Generated columns and referenced tables cannot be changed directly.
    tables = ["integers", "decimals", "strings", "temporals", "sets", "wide", "no_key"]
    server.query("create table every_type.no_key (a int, b varchar(20))",
                 "insert into every_type.no_key values (1,'one'),(1,'one'),(2,'two'),(3,null)")
    assert {*tables} <= {*content(server)}
    for table in tables:
        server.query(f"create table every_type.{table}_saved like every_type.{table}", f"insert into every_type.{table}_saved select * from every_type.{table}")
    server.query("create table every_type.more (a int primary key, b text)", "insert into every_type.more values (1,'x'),(2,null)", "flush binary logs")
    before = content(server)
    for table in tables:
        key = "a" if table == "no_key" else "id"
        statements = [f"update {table} set {key}={key}+1000 order by {key} desc", f"delete from {table} limit 1",
                      f"insert into {table} select * from {table}_saved limit 3" if table != "wide" else f"insert into {table} (n1) values (90001),(90002)",
                      "savepoint s", f"update {table} set {key}={key}+7 where {key}>1000 order by {key} desc", f"delete from {table} where {key}<1000"]
        with server.connect(database="every_type") as connection, connection.cursor() as cursor:
            cursor.execute("set sql_mode=''")
            for statement in statements[:3]:
                cursor.execute(statement)
            cursor.execute("begin")
            for statement in statements[3:]:
                cursor.execute(statement)
            cursor.execute("commit")
    server.query("begin", "update every_type.more set b=repeat('long',10000)", "insert into every_type.more select a+10, b from every_type.more",
                 "update every_type.more m join every_type.no_key n set m.b='joined', n.b='joined'", "commit")
    assert content(server) != before
    server.query("flush binary logs")
    if kind == "mariadb":
        # Not compared: for compressed events, MariaDB's program writes a header of one kind with a checksum of the
        # other.
        server.query("set global log_bin_compress=1")
        server.query("update every_type.more set b=repeat('compressed',500)")
        server.query("set global binlog_checksum=none")
        server.query("update every_type.more set b=repeat('once more',500) where a>10", "delete from every_type.more where a=1")
        server.query("set global log_bin_compress=0")
        server.query("delete from every_type.more where a=2")
    server.query("flush binary logs")
    first, *others = log_files(server)[1:-1]
    for arguments in [[], ["-v"], ["-vv"], ["--table=wide"], ["--database=nowhere"], ["-D"]]:
        ours, theirs = run("paceline", "-B", *arguments, first), run("mariadb", "-B", *arguments, first)
        for number, (mine, other) in enumerate(zip(ours.stdout.splitlines(), theirs.stdout.splitlines())):
            assert mine == other, (arguments, number)
        assert (ours.stdout, ours.returncode) == (theirs.stdout, theirs.returncode), (arguments, ours.stderr, theirs.stderr)
    text = run("paceline", "--flashback", first, *others).stdout
    subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", str(server.socket)], input=text, check=True, timeout=120)
    after = content(server)
    for table, rows in before.items():
        assert after[table] == rows, table


def test_statements_with_text_are_undone_by_the_rows_beside_them(paceline):
    paceline.query("create database every_type", "create table every_type.t (a int auto_increment primary key, b text)",
                   "insert into every_type.t (b) values ('x'),('y')", "flush binary logs")
    before = content(paceline)
    paceline.query("set session binlog_format=statement", "use every_type", "set @v = 'z'", "update t set b=@v where a=1",
                   "insert into t (b) select b from t order by a", "begin", "delete from t where a=2", "insert into t (b) values (rand(3))", "commit",
                   "flush binary logs")
    assert content(paceline) != before
    done = run("paceline", "-B", log_files(paceline)[1])
    assert done.returncode == 0, done.stderr
    subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", str(paceline.socket)], input=done.stdout, check=True, timeout=120)
    assert content(paceline) == before


def test_what_cannot_be_undone_is_refused(mariadb):
    mariadb.query("create database d", "create table d.t (a int primary key, b text)", "insert into d.t values (1,'x')", "flush binary logs")
    mariadb.query("set session binlog_row_image=minimal", "update d.t set b='y'", "flush binary logs")
    mariadb.query("update d.t set b='z'", "create table d.u (a int)", "flush binary logs")
    mariadb.query("set session binlog_format=statement", "update d.t set b='s'", "flush binary logs")
    files = sorted((mariadb.directory / "data").glob("bin.0*"))
    for file, why in [(files[0], "not 'create database d'"), (files[1], "requires full row images"), (files[2], "not 'create table d.u (a int)'"),
                      (files[3], "not 'update d.t set b='s''")]:
        done = run("paceline", "-B", file)
        assert done.returncode == 1 and why in done.stderr.decode(), (file, done.stderr)
        # Nothing that could be executed by mistake.
        assert b"BINLOG '" not in done.stdout.split(b"'/*!*/;", 1)[1]
    # It does no harm if it is not selected.
    start = mariadb.query("select binlog_gtid_pos('bin.000003', 4)")[0][0]
    domain, server_id, number = start.split("-")
    done = run("paceline", "-B", f"--start-position={start}", f"--stop-position={domain}-{server_id}-{int(number) + 1}", files[2])
    assert done.returncode == 0 and done.stdout.count(b"BINLOG '") == 2
