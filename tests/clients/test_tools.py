"""MariaDB's own command-line tools, unmodified."""

import re
import subprocess

import pytest

SCHEMA = """
create table parent (id int unsigned not null auto_increment primary key, name varchar(50) not null default '', unique key name (name))
    comment='it''s a comment';
create table every (id bigint primary key, a decimal(10,3), b double, c datetime(6), d timestamp(3) null, e blob, f text, g enum('x','y'),
    h set('p','q'), i bit(10), j json, k year, l time(2), m date, n varbinary(20), o char(5) not null default 'o', key a_b (a, b),
    key f (f(10)));
insert into parent (name) values ('one'), ('two'), ('thr''ee'), ('back\\\\slash'), ('new\\nline'), ('ünïcödé 😀');
insert into every values (1, 1.5, 1e100, '2026-11-20 01:02:03.456789', '2026-11-20 01:02:03.456', x'00ff0a27225c', 'text', 'x', 'p,q', b'1010101010',
    '{"a": 1}', 2026, '-10:11:12.34', '2026-11-20', x'00', 'abc');
insert into every (id) values (2), (-3);
"""


def table_rows(server, database):
    tables = [row[0] for row in server.query(f"show tables in {database}")]
    return {table: server.query(f"select * from {database}.{table} order by 1") for table in tables}


def test_mariadb_prints_tables_and_batches(database):
    out = database.client("-t", "-e", "select 1 as a, 'x' as b union all select null, 'ü'", "--default-character-set=utf8mb4")
    assert out == "+------+----+\n| a    | b  |\n+------+----+\n|    1 | x  |\n| NULL | ü  |\n+------+----+\n"
    out = database.client("t", "-N", "-B", text="create table a (b int);\ninsert into a values (1),(2);\nselect * from a;\n")
    assert out == "1\n2\n"


def test_mariadb_status_and_errors(database):
    assert re.search(r"Server version:\s+.*MariaDB", database.client("-e", "status"))
    result = subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", str(database.socket), "-e", "selec 1"], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.replace("--------------\nselec 1\n--------------\n\n", "").strip() == (
        "ERROR 1064 (42000) at line 1: You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server "
        "version for the right syntax to use near 'selec 1' at line 1")


def test_mariadb_admin(server):
    def admin(*arguments):
        return server.client(*arguments, program="mariadb-admin")

    assert admin("ping") == "mysqld is alive\n"
    assert re.search(r"Uptime: \d+  Threads: \d+  Questions: \d+", admin("status"))
    assert "root" in admin("processlist")
    assert re.search(r"max_connections\s+\|", admin("variables"))
    assert re.search(r"Threads_connected\s+\|", admin("extended-status"))
    assert "MariaDB" in admin("version")
    admin("create", "made_by_admin")
    assert ("made_by_admin",) in server.query("show databases")
    admin("--force", "drop", "made_by_admin")
    assert ("made_by_admin",) not in server.query("show databases")
    admin("flush-tables")
    admin("flush-logs")
    victim = server.connect()
    [(number,)] = query(victim, "select connection_id()")
    admin("kill", str(number))
    with pytest.raises(Exception):
        query(victim, "select 1")
    admin("password", "secret")
    with pytest.raises(Exception):
        server.connect()
    server.client("-psecret", "shutdown", program="mariadb-admin")
    assert server.process.wait(timeout=60) == 0


def query(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


@pytest.mark.parametrize("options", [[], ["--single-transaction", "--master-data=2", "--gtid"], ["--skip-extended-insert", "--complete-insert"],
                                     ["--hex-blob", "--skip-lock-tables"], ["--opt", "--add-drop-database", "--routines", "--events", "--triggers"]],
                         ids=lambda options: "+".join(options) or "plain")
def test_mariadb_dump_and_loading_it_back(database, options):
    database.client("t", "--default-character-set=utf8mb4", text=SCHEMA)
    before, creates = table_rows(database, "t"), {table: database.query(f"show create table t.{table}") for table in ("parent", "every")}
    dump = database.client(*options, "--databases", "t", program="mariadb-dump")
    assert "Dump completed" in dump
    if "--gtid" in options:
        [(position,)] = database.query("select @@gtid_binlog_pos")
        assert f"SET GLOBAL gtid_slave_pos='{position}'" in dump
    database.query("drop database t")
    database.client("--default-character-set=utf8mb4", text=dump)
    assert table_rows(database, "t") == before
    assert {table: database.query(f"show create table t.{table}") for table in ("parent", "every")} == creates


def test_mariadb_dump_all_databases(database):
    database.client("t", "--default-character-set=utf8mb4", text=SCHEMA)
    dump = database.client("--all-databases", "--single-transaction", program="mariadb-dump")
    assert "CREATE TABLE `every`" in dump


PROGRAMS = """
create table audit (id int auto_increment primary key, what varchar(60));
delimiter //
create procedure add_parent(in n varchar(50), out total int) comment 'it''s' begin insert into parent (name) values (n); select count(*) into total from parent; end//
create function twice(n int) returns int deterministic return n * 2//
create trigger logged after insert on parent for each row begin insert into audit (what) values (concat('new ', new.name)); end//
create trigger earlier after insert on parent for each row precedes logged set @x = 1//
create event tick on schedule every 1 day starts '2035-01-01 00:00:00' ends '2036-01-01 00:00:00' comment 'c' do begin insert into audit (what) values ('tick'); end//
create event brief on schedule at '2035-01-01 00:00:00' on completion preserve disable do select 1//
delimiter ;
"""


def test_mariadb_dump_of_programs(database, tmp_path):
    """Procedures, functions, triggers and events survive a dump, into the other server too."""
    from support.servers import MariaDb, Paceline

    database.client("t", "--default-character-set=utf8mb4", text=SCHEMA + PROGRAMS)
    dump = database.client("--routines", "--events", "--triggers", "--databases", "t", program="mariadb-dump")
    shown = ["show create procedure t.add_parent", "show create function t.twice", "show create event t.tick", "show create event t.brief",
             "select trigger_name, action_order, action_statement, event_object_table from information_schema.triggers where trigger_schema = 't'"]
    before = [database.query(statement) for statement in shown]
    for kind in (MariaDb, Paceline):
        other = kind(tmp_path / kind.__name__).start()
        try:
            other.client("--default-character-set=utf8mb4", text=dump)
            assert [other.query(statement) for statement in shown] == before
            other.query("call t.add_parent('loaded', @total)")
            assert other.query("select what from t.audit") == (("new loaded",),)
            assert re.search(r"t\.audit\s+OK", other.client("t", program="mariadb-check"))
        finally:
            other.close()


def test_mariadb_dump_position_is_exact_under_load(server, tmp_path):
    """A dump taken under load, plus the log from the position in the dump, equals the server's state."""
    from support import workload
    from support.servers import MariaDb

    if server.__class__.__name__ == "MariaDb":
        pytest.skip("the log is read from Paceline's directory")
    workload.create(server)
    load = workload.Load(server, workers=4, seed=7).start()
    workload.for_a_while(__import__("random").Random(7), 0.5, 1)
    dump = server.client("--single-transaction", "--master-data=2", "--databases", "load_test", program="mariadb-dump")
    workload.for_a_while(__import__("random").Random(8), 0.5, 1)
    load.stop()
    server.query("flush binary logs")
    file, position = re.search(r"MASTER_LOG_FILE='([^']+)', MASTER_LOG_POS=(\d+)", dump).groups()
    files = [path for path in server.log_files()[:-1] if path.name >= file]
    log = server.client(f"--start-position={position}", *files, program="mariadb-binlog")
    restored = MariaDb(tmp_path / "restored").start()
    try:
        restored.client(text=dump)
        restored.client(text=log)
        for table, key in [("counter", "worker"), ("history", "worker, number"), ("account", "id")]:
            statement = f"select * from load_test.{table} order by {key}"
            assert server.query(statement) == restored.query(statement), table
    finally:
        restored.close()


def test_mariadb_show_and_check(database):
    database.client("t", "--default-character-set=utf8mb4", text=SCHEMA)
    assert re.search(r"\| every\s+\|", database.client("t", program="mariadb-show"))
    assert re.search(r"\| name\s+\| varchar\(50\)", database.client("t", "parent", program="mariadb-show"))
    assert re.search(r"t\.every\s+OK", database.client("t", program="mariadb-check"))


def test_mariadb_slap(database):
    out = database.client("--auto-generate-sql", "--concurrency=8", "--iterations=2", "--number-of-queries=400", "--auto-generate-sql-load-type=mixed",
                          program="mariadb-slap")
    assert "Number of clients running queries: 8" in out
    database.client("--auto-generate-sql", "--auto-generate-sql-add-autoincrement", "--auto-generate-sql-secondary-indexes=2",
                    "--auto-generate-sql-unique-query-number=5", "--auto-generate-sql-load-type=update", "--concurrency=4", "--number-of-queries=200",
                    program="mariadb-slap")


@pytest.mark.parametrize("script", ["oltp_delete", "oltp_insert", "oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_update_index",
                                    "oltp_update_non_index", "oltp_write_only", "select_random_points", "select_random_ranges", "bulk_insert"])
@pytest.mark.parametrize("prepared", ["auto", "disable"])
def test_sysbench_prepares_runs_and_cleans_up(database, script, prepared):
    def sysbench(verb, *more):
        result = subprocess.run(["sysbench", script, "--mysql-user=root", f"--mysql-socket={database.socket}", "--mysql-db=t", f"--db-ps-mode={prepared}",
                                 *(["--tables=2", "--table-size=1000"] if script.startswith("oltp") else []),
                                 "--threads=4", "--events=400", "--time=10", *more, verb], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    sysbench("prepare")
    assert re.search(r"transactions:\s+[1-9]", sysbench("run")) or script == "bulk_insert"
    sysbench("cleanup")
    assert database.query("show tables in t") == ()
