"""`paceline binlog` compared with MariaDB's own program: the same text for the same files, and logs that can be
restored."""

import json
import subprocess

import pymysql
import pytest

from support.servers import BINARY, ROOT

SCRIPT = (ROOT / "tests/log/every_type.sql").read_text()
OPTIONS = [[], ["-v"], ["-vv"], ["--base64-output=decode-rows", "-vv"], ["--short-form"], ["--database=every_type"],
           ["--database=other"], ["--table=wide", "-v"], ["--verify-binlog-checksum"], ["--skip-annotate-row-events"],
           ["--disable-log-bin"], ["-H"], ["-H", "-v", "--table=wide"], ["--offset=7"], ["--set-charset=utf8mb4"], ["--skip-print-row-count"],
           ["--skip-print-row-event-positions"], ["--print-table-metadata"], ["--print-table-metadata", "-vv", "-H"],
           ["--rewrite-db=every_type->other", "-v"], ["--rewrite-db=every_type->ev`ery", "--rewrite-db=every_type->b", "-H"],
           ["--rewrite-db= every_type -> same_lengt h", "--database=every_type"], ["--rewrite-db=every_type->other", "--database=other"],
           ["--rewrite-db=every_type->other", "--short-form"]]


def tool(*arguments):
    """Returns the program's output, its error messages, and its exit status."""
    done = subprocess.run([str(BINARY), "binlog", *map(str, arguments)], capture_output=True, timeout=120)
    return done.stdout, done.stderr.decode(), done.returncode


def reference(*arguments):
    done = subprocess.run(["mariadb-binlog", "--no-defaults", *map(str, arguments)], capture_output=True, timeout=120)
    return done.stdout, done.returncode


def same(*arguments):
    printed, said, status = tool(*arguments)
    expected, expected_status = reference(*arguments)
    for number, (ours, theirs) in enumerate(zip(printed.splitlines(), expected.splitlines())):
        assert ours == theirs, (arguments, number)
    assert printed == expected and status == expected_status, (arguments, said)
    return printed


def statements(server):
    """Statements that only a log in statement format contains, if the server writes one."""
    server.query("create table every_type.said (a int primary key, b text)", "set session binlog_format=statement",
                 "set @text='é', @whole=5, @exact=1.50, @real=1.5e0, @nothing=null",
                 "insert into every_type.said values (1,@text),(2,@whole),(3,@exact),(4,@real),(5,@nothing),(6,rand()),(7,now(6))",
                 "insert into every_type.wide (n1) values (1000)",
                 "insert into every_type.said values (88,last_insert_id())")


@pytest.fixture
def files(request):
    """A server of each kind after the workload, and its closed files."""
    server = request.getfixturevalue(request.param)
    server.client("--default-character-set=utf8mb4", text=SCRIPT)
    # All amounts of column metadata in table maps.
    for metadata in ("minimal", "full"):
        server.query("use every_type", f"set global binlog_row_metadata={metadata}",
                     *[f"update every_type.{table} set id=id+100 order by id desc" for table in ("decimals", "strings", "temporals", "sets")],
                     "insert into every_type.wide (n1) select max(n1)+1 from every_type.wide",
                     "create table if not exists prefix (a varchar(30) character set latin1, b int, primary key (b, a(5)))",
                     "create table if not exists signs (a int unsigned, b year, c tinyint, d bigint unsigned, e smallint)",
                     "insert into signs values (1, 2026, -1, 1, -1)",
                     f"insert into prefix values ('{metadata}', 1)")
    server.query("set global binlog_row_metadata=no_log", "flush binary logs")
    if request.param == "mariadb":
        statements(server)
        server.query("set session binlog_row_image=minimal", "update every_type.said set b='x' where a<3")
        server.query("set global log_bin_compress=1")
        server.query("update every_type.strings set h=repeat('long', 1000)")
        server.query("set global log_bin_compress=0")
        # A file without checksums. The next statements are in the following file.
        server.query("set global binlog_checksum=none")
        server.query("update every_type.said set b='y' where a<3", "set global log_bin_compress=1", "update every_type.strings set h=repeat('long', 900)",
                     "set global log_bin_compress=0")
        server.query("set global binlog_checksum=crc32")
    else:
        server.query("update every_type.has_key set b='x'", "update every_type.has_key set b='y'")
    # The active file is not included: it grows between two readers (checkpoints).
    server.query("flush binary logs", "flush binary logs")
    if request.param == "mariadb":
        return server, sorted((server.directory / "data").glob("bin.0*"))[:-1]
    return server, server.log_files()[:-1]


both = pytest.mark.parametrize("files", ["paceline", "mariadb"], indirect=True)


@both
def test_the_text_is_that_of_mariadb_binlog(files):
    _, files = files
    for options in OPTIONS:
        for file in files:
            same(*options, file)
        same(*options, *files)


@both
def test_parts_of_a_log(files):
    server, files = files
    [(state,)] = server.query("select @@gtid_binlog_pos")
    domain, server_id, last = state.split("-")
    gtid = f"{domain}-{server_id}-"
    whole = same(files[0]).decode("latin-1")
    offsets = [line.split()[2] for line in whole.splitlines() if line.startswith("# at ")]
    same(f"--stop-position={offsets[-1]}", files[0])
    group = whole.splitlines().index(f"/*M!100001 SET @@session.gtid_seq_no=20*//*!*/;")
    offset = [line for line in whole.splitlines()[:group] if line.startswith("# at ")][-1].split()[2]
    assert "SET @@session.gtid_seq_no=20*" in same(f"--start-position={offset}", files[0]).decode("latin-1")
    for bounds in [[f"--start-position={gtid}20"], [f"--stop-position={gtid}20"],
                   [f"--start-position={gtid}10", f"--stop-position={gtid}12"], [f"--server-id={server_id}"], ["--server-id=7"],
                   [f"--do-server-ids={server_id}"], ["--do-domain-ids=0"], ["--ignore-domain-ids=0"],
                   ["--start-datetime=2020-01-01 00:00:00"], ["--stop-datetime=2020-01-01 00:00:00"]]:
        same(*bounds, files[0])
    # Files before the one with the GTIDs are skipped.
    printed, _, status = tool(f"--start-position={gtid}{int(last) - 1}", *files)
    assert status == 0 and printed.count(b"gtid_seq_no=") == 1
    assert printed.count(b"Start: binlog v 4") < len(files)


@both
def test_a_log_that_was_printed_restores_with_its_gtids(files, mariadb, tmp_path):
    server, files = files
    from support.servers import MariaDb

    restored = MariaDb(tmp_path / "restored")
    restored.start()
    try:
        printed, said, status = tool(*files)
        assert status == 0, said
        subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", str(restored.socket)], input=printed, check=True, timeout=120)
        for (table,) in server.query("show tables in every_type"):
            statement = f"select * from every_type.{table} order by 1"
            assert restored.client("-N", "-e", statement) == server.client("-N", "-e", statement), table
        assert restored.query("select @@gtid_binlog_pos") == server.query("select @@gtid_binlog_pos")
    finally:
        restored.close()


@both
def test_another_database_gets_the_rows(files, paceline, mariadb):
    """The rewritten text can be executed by both servers."""
    server, files = files
    printed, said, status = tool("--rewrite-db=every_type->copied", "--database=every_type", files[0])
    assert status == 0, said
    assert printed == reference("--rewrite-db=every_type->copied", "--database=every_type", files[0])[0]
    rows = server.query("select count(*) from every_type.integers")
    for other in (paceline, mariadb):
        # CREATE DATABASE names the database in its text.
        other.query("create database if not exists copied character set utf8mb4", "drop database if exists every_type")
        text = printed.replace(b"create database every_type", b"create database if not exists copied")
        subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", str(other.socket)], input=text, check=True, timeout=120)
        assert other.query("select count(*) from copied.integers") == rows
        assert other.query("show databases like 'every_type'") == ()


def test_bad_input_is_refused(paceline, tmp_path):
    paceline.query("create database d", "create table d.t (a int)", "insert into d.t values (1)", "flush binary logs")
    file = paceline.log_files()[0]
    for arguments, why in [
        (["/etc/passwd"], "not a binary log"),
        ([tmp_path / "nowhere"], "cannot read"),
        ([file, file], "Found out of order GTID. Got 0-1-1 after 0-1-"),
        (["--skip-force-if-open", paceline.log_files()[-1]], "was not closed properly"),
        (["--set-charset=utf8;drop", file], "not the name of a character set"),
        (["--start-position=0-1", file], "neither an offset nor a list of GTIDs"),
        (["--start-position=0-1-1,0-2-2", file], "names a domain twice"),
        (["--stop-datetime=yesterday", file], "not a date and time"),
        (["--start-position=0-1-77", file], "never reached expected GTID state of 0-1-77"),
        (["--base64-output=never", file], "only be restored from its encoded form"),
        (["--no-such-option", file], "--no-such-option"),
        (["--rewrite-db=a", file], "Expected syntax is FROM->TO"),
        (["--rewrite-db=->b", file], "Expected syntax is FROM->TO"),
        (["--rewrite-db=a->b", "--json", file], "cannot be used with"),
        ([], "Please provide the log file(s)"),
    ]:
        _, said, status = tool(*arguments)
        assert status != 0 and why in said, (arguments, said)
    damaged = bytearray(file.read_bytes())
    damaged[-50] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    assert tool(tmp_path / "damaged")[2] == 0
    _, said, status = tool("--verify-binlog-checksum", tmp_path / "damaged")
    assert status != 0 and "wrong checksum" in said
    (tmp_path / "short").write_bytes(file.read_bytes()[:-10])
    _, said, status = tool(tmp_path / "short")
    assert status != 0 and "the file ends in the event" in said


@both
def test_verify_finds_the_first_defect(files, tmp_path):
    _, files = files
    printed, said, status = tool("--verify", *files)
    assert status == 0, said
    assert b"no damage" in printed and b"holes in the numbers: 0" in printed
    # A file between two others is missing.
    _, said, status = tool("--verify", files[0], files[2])
    assert status != 0 and "the log continues in" in said
    content = files[0].read_bytes()
    offsets = [int(line.split()[2]) for line in tool(files[0])[0].decode("latin-1").splitlines() if line.startswith("# at ")]
    for damage in range(40, len(content), len(content) // 25):
        copy = bytearray(content)
        copy[damage] ^= 0x10
        (tmp_path / "damaged").write_bytes(copy)
        _, said, status = tool("--verify", tmp_path / "damaged")
        event = max(offset for offset in offsets if offset <= damage)
        assert status != 0 and f"offset {event}:" in said, (damage, said)
    (tmp_path / "cut").write_bytes(content[:-20])
    _, said, status = tool("--verify", tmp_path / "cut")
    assert status != 0 and "the file ends in" in said


@both
def test_zeros_are_the_end_of_a_file_in_use_only(files, tmp_path):
    _, [file, *_] = files
    content = file.read_bytes()
    offsets = [int(line.split()[2]) for line in tool(file)[0].decode("latin-1").splitlines() if line.startswith("# at ")]
    for offset in (offsets[0], offsets[1], offsets[len(offsets) // 2], offsets[-1]):
        damaged = bytearray(content[:offset] + bytes(len(content) - offset))
        (tmp_path / "damaged").write_bytes(damaged)
        for options in (["--verify"], [], ["--json"]):
            _, said, status = tool(*options, tmp_path / "damaged")
            assert status != 0 and f"offset {offset}: there are zeros" in said, (options, said)
        if offset == offsets[0]:
            continue
        # The state that a dead server leaves: a flag in the head, which no checksum covers, says that the file was
        # not closed.
        damaged[21] |= 1
        (tmp_path / "damaged").write_bytes(damaged)
        printed, said, status = tool("--verify", tmp_path / "damaged")
        assert status == 0 and b"no damage" in printed and b"in use, or not closed properly" in printed, said
        _, said, status = tool(tmp_path / "damaged")
        assert status == 0, said


def test_what_is_not_replicated_is_numbered_anew_at_each_start(paceline):
    for table in ("one", "two"):
        paceline.query("set session sql_log_bin=0", "create database if not exists here", f"create table here.{table} (a int)")
        paceline.query("create database if not exists everywhere", f"create table everywhere.{table} (a int)")
        paceline.stop()
        paceline.start()
    printed, said, status = tool(*paceline.log_files())
    assert status == 0, said
    for table in (b"here.one", b"here.two", b"everywhere.two"):
        assert b"create table " + table in printed
    numbers = [line.split(b"-")[2].split()[0] for line in printed.splitlines() if b"\tGTID 4294967295-" in line]
    assert numbers.count(b"1") >= 2, numbers
    assert tool("--verify", *paceline.log_files())[2] == 0


def test_what_is_not_replicated_stays_local(paceline, mariadb, tmp_path):
    """It is not replicated from a server that executes the text either. With positions it is selected together with
    its neighbours."""
    from support.servers import Paceline

    def local(number):
        paceline.query("set session sql_log_bin=0", f"insert into d.t values ({number}, 'local')", f"update d.t set v='kept' where a={number}")

    paceline.query("create database d", "create database other", "create table d.t (a int primary key, v varchar(20))")
    local(1)
    paceline.query("insert into d.t values (2, 'all')")
    middle = paceline.query("select @@gtid_binlog_pos")[0][0]
    local(3)
    paceline.query("set session skip_replication=1", "insert into d.t values (4, 'marked')")
    paceline.query("insert into d.t values (5, 'all')")
    end = paceline.query("select @@gtid_binlog_pos")[0][0]
    local(6)
    paceline.query("set session sql_log_bin=0", "create table other.x (a int)", "flush binary logs")
    local(7)
    files = paceline.log_files()
    # What follows a position begins in the file before.
    printed, said, status = tool("--json", f"--start-position={end}", *files)
    assert status == 0 and [json.loads(line)["after"]["@1"] for line in printed.splitlines()] == [6, 6, 7, 7], said
    other = Paceline(tmp_path / "other")
    try:
        other.start()
        for target in (other, mariadb):
            target.query("reset master")
            for bound in (f"--stop-position={middle}", f"--start-position={middle}"):
                printed, said, status = tool(bound, *files)
                assert status == 0, said
                subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", str(target.socket)], input=printed, check=True, timeout=120)
            assert target.query("select * from d.t") == paceline.query("select * from d.t")
            assert target.query("select @@gtid_binlog_state") == paceline.query("select @@gtid_binlog_state")
        printed, said, status = tool("-D", *files)
        assert status == 0 and printed.count(b"SQL_LOG_BIN=0") == 1 and printed.count(b"SQL_LOG_BIN=@OLD") == 1, said
        assert b"gtid_domain_id=4294967295" not in printed
        # The inverse statements are local too.
        printed, said, status = tool("--flashback", "--database=d", f"--start-position={middle}", *files)
        assert status == 0 and printed.count(b"SQL_LOG_BIN=0") == printed.count(b"SQL_LOG_BIN=@OLD") == 6, said
        for target in (other, mariadb):
            state = target.query("select @@gtid_binlog_pos")[0][0]
            subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", str(target.socket)], input=printed, check=True, timeout=120)
            assert target.query("select * from d.t") == ((1, "kept"), (2, "all"))
            assert int(target.query("select @@gtid_binlog_pos")[0][0].split("-")[2]) == int(state.split("-")[2]) + 2
    finally:
        other.close()


def test_json_has_a_line_for_each_row(mariadb):
    mariadb.query("set global binlog_row_metadata=full")
    mariadb.query("create database d", "create table d.t (id int unsigned primary key, name varchar(20), e enum('x','y'), b blob, n decimal(5,2))",
                  "insert into d.t values (4000000000,'é\"\\n','y',x'00ff',1.50),(2,null,null,null,null)", "update d.t set name='b' where id=2",
                  "delete from d.t where id=2", "create table d.other (a int)", "insert into d.other values (1)", "flush binary logs")
    file = mariadb.directory / "data/bin.000001"
    printed, said, status = tool("--json", "--table=t", "--database=d", file)
    assert status == 0, said
    lines = [json.loads(line) for line in printed.decode().splitlines()]
    first = {"id": 4000000000, "name": "é\"\n", "e": "y", "b": {"hex": "00ff"}, "n": "1.50"}
    empty = {"id": 2, "name": None, "e": None, "b": None, "n": None}
    assert [(line["kind"], line["before"], line["after"]) for line in lines] == [
        ("insert", None, first), ("insert", None, empty), ("update", empty, {**empty, "name": "b"}), ("delete", {**empty, "name": "b"}, None)]
    assert {(line["database"], line["table"]) for line in lines} == {("d", "t")}
    assert [line["gtid"] for line in lines] == ["0-100-3", "0-100-3", "0-100-4", "0-100-5"]


@both
def test_statistics_add_up(files):
    _, files = files
    printed, said, status = tool("--stat", *files)
    assert status == 0, said
    text = printed.decode()
    [line] = [line.split() for line in text.splitlines() if line.endswith("every_type.integers")]
    assert line[:3] == ["4", "3", "0"]
    events = tool(*files)[0]
    assert f"{events.count(b'gtid_seq_no=')} transactions in " in text


LOADS = """
create database loads;
use loads;
create table t (a int primary key, b varchar(2000), c int) engine=innodb;
create table m (a int primary key, b varchar(30)) engine=myisam;
set binlog_format=statement;
load data infile '{plain}' into table t (a, b);
load data infile '{plain}' replace into table t (a, b) set c=1;
load data concurrent infile '{plain}' ignore into table t (a, b);
load data infile '{plain}' replace into table every_type.said;
load data infile '{empty}' into table t;
set @v=1.5;
load data infile '{long}' into table t (a, @b) set b=concat(@b, @v), c=2;
load data infile '{plain}' into table m;
load data infile '{plain}' into table m;
create temporary table tmp like t;
load data infile '{empty}' into table tmp;
load data infile '{plain}' into table tmp;
begin;
load data infile '{other}' into table t (a, b);
insert into t values (-1, 'x', 3);
load data local infile '{other}' into table t (a, b);
commit;
flush binary logs;
"""


def test_load_data(mariadb, tmp_path):
    """Statements are printed with the names of files that are written. Names and contents are those of MariaDB's
    program."""
    files = {"plain": "1\tone\n2\ttwo\n", "other": "11\tone\n12\ttwo\n", "empty": "", "long": "".join(f"{n}\t{'x' * 100}\n" for n in range(100, 3000))}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    mariadb.query("create database every_type", "create table every_type.said (a int primary key, b text)", "set global local_infile=1")
    script = LOADS.format(**{name: tmp_path / name for name in files})
    with mariadb.connect(local_infile=True) as session, session.cursor() as cursor:
        failed = []
        for statement in script.strip().split(";\n"):
            try:
                cursor.execute(statement.strip().rstrip(";"))
            except pymysql.err.MySQLError as error:
                failed.append(error.args[0])
    assert failed == [1062, 1261], failed
    [file, *_] = sorted((mariadb.directory / "data").glob("bin.0*"))
    before = None
    for number, options in enumerate([*OPTIONS, ["--rewrite-db=loads->l`oads"], ["--database=loads"], ["--database=every_type", "-v"], None]):
        if options is None:
            # In the middle of the long file.
            at = next(line.split()[2] for line in before.splitlines() if line.startswith("# at ") and int(line.split()[2]) > 100_000)
            options = [f"--start-position={at}"]
        written = {}
        for which, run in (("ours", tool), ("real", reference)):
            directory = tmp_path / f"{which}{number}"
            directory.mkdir()
            (directory / "SQL_LOAD_MB-2-0").write_text("somebody's")
            done = run(*options, f"--local-load={directory}", file)
            assert done[-1] == 0, done
            written[which] = (done[0].replace(str(directory).encode(), b"DIRECTORY"), {path.name: path.read_bytes() for path in directory.iterdir()})
        (text, ours), (expected, real) = written["ours"], written["real"]
        assert text.splitlines() == expected.splitlines() and text == expected, options
        assert ours == real, options
        before = text.decode()
    assert "Append_block" in before and len(ours) < len(files) + 10
    printed, _, status = tool("--verify", file)
    assert status == 0 and b"no damage" in printed
    text = tool("--short-form", f"--local-load={tmp_path}", file)[0].decode()
    assert text.count("LOAD DATA") == 8
    text = tool(f"--local-load={tmp_path}", file)[0].decode()
    statements_there = text.count("error_code=") - text.count("\nCOMMIT\n/*!*/;")
    assert f" {statements_there} statements" in tool("--stat", file)[0].decode()
    assert tool("--json", file)[0] == b""
    printed, said, status = tool("--flashback", f"--local-load={tmp_path / 'nowhere'}", "--database=loads", file)
    assert status == 1 and "only row changes can be undone" in said
    printed, said, status = tool(f"--local-load={tmp_path / 'nowhere'}", file)
    assert status == 1 and f"Could not construct local filename {tmp_path / 'nowhere'}/SQL_LOAD_MB-" in said
