"""Functions of shared libraries: CREATE FUNCTION … SONAME. The scripts in native/ run against Paceline and a real MariaDB
with the same libraries: MariaDB's own example, and a probe that reports what it gets."""

import subprocess
import threading
from pathlib import Path

import pymysql
import pytest

from support.replication import change_master, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline
from support.side_by_side import differences

HERE = Path(__file__).parent / "native"
# Of Debian's package libmariadb-dev.
EXAMPLE = Path("/usr/share/doc/libmariadb-dev/examples/udf_example.c")
OPTIONS = ("--paceline-native-functions=ON",)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """A directory with the compiled libraries."""
    directory = tmp_path_factory.mktemp("plugins")
    directory.chmod(0o755)

    def compile_library(name, source, *options):
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-D_GNU_SOURCE", *options, "-o", directory / name, source], check=True)

    compile_library("probe.so", HERE / "probe.c")
    if EXAMPLE.exists():
        # It includes mysql.h, of which it needs nothing more.
        (directory / "mysql.h").touch()
        compile_library("udf_example.so", EXAMPLE, "-include", HERE / "example.h", f"-I{directory}")
    return directory


@pytest.fixture
def native(tmp_path, libraries):
    """A Paceline that loads libraries."""
    server = Paceline(tmp_path / "native", f"--plugin-dir={libraries}", *OPTIONS)
    server.start()
    server.query("create database t character set utf8mb4")
    yield server
    server.close()


def error_of(server, *statements, **options):
    """Returns number and text of the error of the last statement."""
    with pytest.raises(pymysql.MySQLError) as raised:
        server.query(*statements, **options)
    return raised.value.args


@pytest.mark.parametrize("script", ["example", "probe"])
def test_native_functions_work_as_in_mariadb(tmp_path, libraries, script):
    if script == "example" and not EXAMPLE.exists():
        pytest.skip("the package libmariadb-dev has the example")
    ours = Paceline(tmp_path / "paceline", "--server-id=100", "--log-bin=bin", f"--plugin-dir={libraries}", *OPTIONS)
    model = MariaDb(tmp_path / "mariadb", f"--plugin-dir={libraries}")
    try:
        for server in (ours, model):
            server.start()
            server.query("create database t character set utf8mb4")
        found = differences(ours, model, (HERE / f"{script}.sql").read_text(encoding="utf-8"), database="t")
        assert not found, "\n" + found
    finally:
        ours.close()
        model.close()


def test_libraries_are_loaded_only_with_the_option(tmp_path, libraries):
    server = Paceline(tmp_path / "off", f"--plugin-dir={libraries}")
    try:
        server.start()
        number, text = error_of(server, "create function bare returns integer soname 'probe.so'")
        assert number == 1290 and "--paceline-native-functions" in text
        number, _ = error_of(server, "set global paceline_native_functions = 1")
        assert number == 1238
    finally:
        server.close()


def test_functions_survive_a_restart_and_a_crash(native):
    native.query("create function an_int returns integer soname 'probe.so'",
                 "create aggregate function total returns string soname 'probe.so'", "create table t.r (a int)",
                 "insert into t.r values (an_int())")
    native.kill()
    native.start()
    assert native.query("select an_int(), (select total(a) from t.r)") == ((-5, b"-5 of 1 clears 1 adds 0 removes"),)
    native.stop()
    native.start()
    assert native.query("select name, ret, dl, type from mysql.func order by name") == (
        ("an_int", 2, "probe.so", "function"), ("total", 0, "probe.so", "aggregate"))
    native.stop()
    native.options = [option for option in native.options if option not in OPTIONS]
    native.start()
    assert error_of(native, "select an_int()")[0] == 1290
    native.query("drop function an_int")
    assert error_of(native, "select an_int()", database="t")[0] == 1305


def test_creating_needs_insert_and_dropping_needs_delete_on_mysql(native):
    native.query("create user u@localhost identified by 'p'", "grant all on t.* to u@localhost")
    account = {"user": "u", "password": "p"}
    assert error_of(native, "create function an_int returns integer soname 'probe.so'", **account)[0] == 1044
    native.query("grant insert on mysql.* to u@localhost")
    native.query("create function an_int returns integer soname 'probe.so'", **account)
    assert error_of(native, "create or replace function an_int returns integer soname 'probe.so'", **account)[0] == 1044
    assert error_of(native, "drop function an_int", **account)[0] == 1044
    assert native.query("select an_int()", **account) == ((-5,),)
    native.query("grant delete on mysql.* to u@localhost")
    native.query("drop function an_int", **account)


def test_a_suspicious_function_needs_its_option(tmp_path, libraries):
    server = Paceline(tmp_path / "suspicious", f"--plugin-dir={libraries}", "--allow-suspicious-udfs", *OPTIONS)
    try:
        server.start()
        server.query("create function bare returns integer soname 'probe.so'")
        assert server.query("select bare()") == ((7,),)
    finally:
        server.close()


def test_a_blocking_function_keeps_no_other_session_waiting(native):
    native.query("create function dawdle returns integer soname 'probe.so'")
    threads = [threading.Thread(target=native.query, args=("select dawdle(3000)",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        with native.connect() as connection, connection.cursor() as cursor:
            cursor.execute("select count(*) from information_schema.processlist where info like 'select dawdle%'")
            running = cursor.fetchone()[0]
            cursor.execute("select 1")
        assert any(thread.is_alive() for thread in threads), running
    finally:
        for thread in threads:
            thread.join()


def test_a_statement_is_killed_between_two_calls(native):
    native.query("create function dawdle returns integer soname 'probe.so'")
    number, _ = error_of(native, "set max_statement_time = 0.1", "select sum(dawdle(20)) from seq_1_to_100000", database="t")
    assert number == 1969


def test_rows_are_replicated_to_a_server_without_the_library(native, tmp_path):
    replica = Paceline(tmp_path / "replica", "--server-id=2")
    try:
        replica.start()
        native.query("create function an_int returns integer soname 'probe.so'", "create table t.r (id int primary key, a int)",
                     "insert into t.r values (1, an_int())", "update t.r set a = a + an_int()")
        replication_user(native)
        change_master(replica, native, master_use_gtid="slave_pos")
        replica.query("start slave")
        wait_for_replica(replica, native)
        assert replica.query("select * from t.r") == ((1, -10),)
        assert replica.query("select name from mysql.func") == (("an_int",),)
        assert error_of(replica, "select an_int()")[0] == 1290
    finally:
        replica.close()


def test_two_groups_at_once_get_their_own_values(native):
    native.query("create aggregate function total returns string soname 'probe.so'", "create table t.g (k int, v int)",
                 "insert into t.g select seq % 7, seq from t.seq_1_to_1000")
    rows = native.query("select k, sum(v), total(v), total(k) from t.g group by k order by k")
    assert [int(total.split(b" ")[0]) for _, _, total, _ in rows] == [int(expected) for _, expected, _, _ in rows]
