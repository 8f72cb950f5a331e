"""Functions in WebAssembly: CREATE FUNCTION … LANGUAGE WASM AS …"""

import re
import subprocess
import threading
import time
from pathlib import Path

import pymysql
import pytest

from support.replication import change_master, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

GREETING = Path(__file__).parent / "wasm" / "greeting.c"
ADD = '(module (func (export "plus") (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1))))'
LOOP = '(module (func (export "spin") (result i64) (loop $l (br $l)) (i64.const 0)))'


@pytest.fixture(scope="module")
def greeting(tmp_path_factory):
    """The compiled example."""
    module = tmp_path_factory.mktemp("wasm") / "greeting.wasm"
    subprocess.run(["clang", "--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", "-o", module, GREETING], check=True)
    module.parent.chmod(0o755)
    return module


@pytest.fixture
def server(tmp_path):
    server = Paceline(tmp_path / "server", "--server-id=1", "--log-bin=bin")
    server.start()
    server.query("create database t character set utf8mb4")
    yield server
    server.close()


def one(server, statement):
    """Returns the value of a query of one row and column."""
    return server.query(statement, database="t")[0][0]


def error_of(server, *statements):
    """Returns number and text of the error of the last statement."""
    with pytest.raises(pymysql.MySQLError) as raised:
        server.query(*statements, database="t")
    return raised.value.args


def create(server, name, parameters, returns, module):
    server.query(f"create or replace function t.{name}({parameters}) returns {returns} language wasm as '{module}'", database="t")


def test_numbers_texts_and_null(server, greeting):
    create(server, "plus", "a int, b bigint", "bigint", ADD)
    assert server.query("select plus(40, 2), plus(-1, null), plus('12', 0.6)", database="t") == ((42, None, 13),)
    server.query("create table n (i int)", "insert into n values (1), (2), (null), (4)", database="t")
    assert server.query("select plus(i, 1) from n order by i", database="t") == ((None,), (2,), (3,), (5,))
    assert one(server, "select sum(plus(i, 1)) from n where plus(i, i) > 2") == 8
    server.query(f"create function greeting(name varchar(100)) returns varchar(120) language wasm as file '{greeting}'", database="t")
    assert one(server, "select greeting('wörld')") == "Hello, wörld!"
    assert one(server, "select greeting(i) from n where i = 2") == "Hello, 2!"
    assert one(server, "select greeting(date '2026-01-31')") == "Hello, 2026-01-31!"
    assert one(server, "select max(length(greeting(repeat('x', seq)))) from seq_1_to_100") == 108


def test_types_of_values_are_those_of_the_function(server):
    create(server, "big", "", "bigint unsigned", '(module (func (export "big") (result i64) (i64.const -1)))')
    assert one(server, "select big()") == 2**64 - 1
    create(server, "small", "", "tinyint", '(module (func (export "small") (result i64) (i64.const 300)))')
    assert error_of(server, "set sql_mode='STRICT_ALL_TABLES'", "select small()")[0] == 1264
    create(server, "real_of", "a decimal(10,2), b double", "double",
           '(module (memory (export "memory") 1) (func (export "allocate") (param i32) (result i32) (i32.const 8)) '
           '(func (export "real_of") (param i32 i32 f64) (result f64) '
           "(f64.add (local.get 2) (f64.convert_i32_u (i32.load8_u (local.get 0))))))")
    assert one(server, "select real_of(7.25, 0.5)") == ord("7") + 0.5


def test_a_function_reads_tables_in_its_statements_transaction(server, greeting):
    server.query("create table messages (id int primary key auto_increment, author int, body text, index by_author (author, id))",
                 "insert into messages (author, body) values (1, 'first'), (2, 'other'), (1, 'second'), (3, null)", database="t")
    server.query(f"create function latest_message(who int) returns text reads sql data language wasm as file '{greeting}'", database="t")
    assert server.query("select latest_message(1), latest_message(2), latest_message(9)", database="t") == (("second", "other", None),)
    other = server.connect(database="t")
    with other.cursor() as cursor:
        cursor.execute("start transaction with consistent snapshot")
        server.query("insert into messages (author, body) values (1, 'third')", database="t")
        cursor.execute("select latest_message(1)")
        assert cursor.fetchall() == (("second",),), "the transaction's snapshot"
        cursor.execute("insert into messages (id, author, body) values (100, 1, 'own')")
        cursor.execute("select latest_message(1)")
        assert cursor.fetchall() == (("own",),), "its own changes"
    other.close()
    assert one(server, "select latest_message(1)") == "third"


def test_a_scan_of_many_rows_is_complete_and_in_order(server):
    module = """(module
        (import "paceline" "table" (func $table (param i32 i32) (result i32)))
        (import "paceline" "index" (func $index (param i32 i32 i32) (result i32)))
        (import "paceline" "scan" (func $scan (param i32 i32 i32) (result i32)))
        (import "paceline" "next" (func $next (param i32) (result i32)))
        (import "paceline" "integer" (func $integer (param i32 i32) (result i64)))
        (memory (export "memory") 1) (data (i32.const 0) "rowsPRIMARY")
        (func (export "weighted") (param $backward i64) (result i64) (local $t i32) (local $c i32) (local $n i64) (local $sum i64)
            (local.set $t (call $table (i32.const 0) (i32.const 4)))
            (local.set $c (call $scan (local.get $t) (call $index (local.get $t) (i32.const 4) (i32.const 7))
                (i32.wrap_i64 (local.get $backward))))
            (block $end (loop $row
                (br_if $end (i32.eqz (call $next (local.get $c))))
                (local.set $n (i64.add (local.get $n) (i64.const 1)))
                (local.set $sum (i64.add (local.get $sum) (i64.mul (local.get $n) (call $integer (local.get $c) (i32.const 0)))))
                (br $row)))
            (local.get $sum)))""".replace("rows", "many")
    server.query("create table many (id int primary key, filler varchar(100))",
                 "insert into many select seq, repeat('x', 100) from seq_1_to_20000", database="t")
    create(server, "weighted", "backward int", "bigint", module)
    count = 20000
    assert one(server, "select weighted(0)") == sum(n * n for n in range(1, count + 1))
    assert one(server, "select weighted(1)") == sum(n * (count + 1 - n) for n in range(1, count + 1))


def test_scans_of_one_index_one_after_the_other_and_at_once(server):
    module = """(module
        (import "paceline" "table" (func $table (param i32 i32) (result i32)))
        (import "paceline" "index" (func $index (param i32 i32 i32) (result i32)))
        (import "paceline" "key_integer" (func $key (param i64)))
        (import "paceline" "scan" (func $scan (param i32 i32 i32) (result i32)))
        (import "paceline" "next" (func $next (param i32) (result i32)))
        (import "paceline" "integer" (func $integer (param i32 i32) (result i64)))
        (import "paceline" "close" (func $close (param i32)))
        (memory (export "memory") 1) (data (i32.const 0) "rowsby_author")
        (func $begin (param $t i32) (param $author i64) (param $backward i64) (result i32)
            (call $key (local.get $author))
            (call $scan (local.get $t) (call $index (local.get $t) (i32.const 4) (i32.const 9)) (i32.wrap_i64 (local.get $backward))))
        (func (export "digest") (param $authors i64) (param $backward i64) (result i64)
            (local $t i32) (local $author i64) (local $one i32) (local $other i32) (local $sum i64) (local $found i32)
            (local.set $t (call $table (i32.const 0) (i32.const 4)))
            (block $end (loop $each
                (br_if $end (i64.ge_s (local.get $author) (local.get $authors)))
                (local.set $one (call $begin (local.get $t) (local.get $author) (local.get $backward)))
                (local.set $other (call $begin (local.get $t) (local.get $author) (local.get $backward)))
                (block $last (loop $row
                    (local.set $found (call $next (local.get $one)))
                    (if (i32.ne (local.get $found) (call $next (local.get $other))) (then unreachable))
                    (br_if $last (i32.eqz (local.get $found)))
                    (if (i64.ne (call $integer (local.get $one) (i32.const 0)) (call $integer (local.get $other) (i32.const 0))) (then unreachable))
                    (local.set $sum (i64.rem_s (i64.add (i64.mul (local.get $sum) (i64.const 31)) (call $integer (local.get $one) (i32.const 0)))
                        (i64.const 1000003)))
                    (br $row)))
                (call $close (local.get $other))
                (call $close (local.get $one))
                (local.set $author (i64.add (local.get $author) (i64.const 1)))
                (br $each)))
            (local.get $sum)))"""

    def digest(rows, backward):
        total = 0
        for author in range(20):
            for row in sorted((row for row, by in rows if by == author), reverse=backward):
                total = (total * 31 + row) % 1000003
        return total

    server.query("create table `rows` (id int primary key, author int, index by_author (author, id))", database="t")
    rows = [(row, row * 7 % 23 % 20) for row in range(1, 300) if row * 7 % 23 % 20 not in (0, 3, 19)]
    server.query("insert into `rows` values " + ", ".join(map(str, rows)), database="t")
    create(server, "digest", "authors int, backward int", "bigint", module)
    for backward in (0, 1):
        assert one(server, f"select digest(20, {backward})") == digest(rows, bool(backward))
    # A transaction's own changes are seen, and so is what they hide.
    client = server.connect(database="t")
    with client.cursor() as cursor:
        cursor.execute("start transaction")
        cursor.execute("insert into `rows` values (1000, 0), (1001, 3), (1002, 19)")
        cursor.execute("delete from `rows` where author = 5")
        changed = [(row, by) for row, by in rows if by != 5] + [(1000, 0), (1001, 3), (1002, 19)]
        for backward in (0, 1):
            cursor.execute(f"select digest(20, {backward})")
            assert cursor.fetchall() == ((digest(changed, bool(backward)),),)
        cursor.execute("rollback")
        cursor.execute("set transaction isolation level serializable")
        cursor.execute("start transaction")
        cursor.execute("select digest(20, 1)")
        assert cursor.fetchall() == ((digest(rows, True),),)
    client.close()


def test_rights_are_those_of_the_definer_or_of_the_caller(server, greeting):
    server.query("create table messages (id int primary key, author int, body text, index by_author (author, id))",
                 "insert into messages values (1, 1, 'secret')", database="t")
    server.query(f"create function latest_message(who int) returns text language wasm as file '{greeting}'", database="t")
    server.query("create user reader identified by 'p'", "grant execute on t.* to reader")
    reader = dict(user="reader", password="p", database="t")
    assert server.query("select latest_message(1)", **reader) == (("secret",),)
    server.query("alter function t.latest_message sql security invoker")
    with pytest.raises(pymysql.MySQLError) as raised:
        server.query("select latest_message(1)", **reader)
    assert raised.value.args[0] == 1142
    server.query("grant create routine on t.* to reader")
    with pytest.raises(pymysql.MySQLError) as raised:
        server.query(f"create function greeting(n text) returns text language wasm as file '{greeting}'", **reader)
    assert raised.value.args[0] == 1227, "a file needs FILE"


def test_a_function_that_does_harm_ends_its_own_statement_only(server):
    create(server, "spin", "", "bigint", LOOP)
    server.query("set global paceline_wasm_call_ms_max = 200")
    number, text = error_of(server, "select spin()")
    assert number == 1969 and "200 ms" in text
    number, text = error_of(server, "set max_statement_time = 0.1", "select spin()")
    assert number == 1969 and text == "Query execution was interrupted (max_statement_time exceeded)"
    for body, wanted in [("(unreachable)", "unreachable"), ("(drop (i32.load (i32.const 65536)))", "out of bounds"),
                         ("(drop (call $f))", "stack"), ("(drop (i32.div_s (i32.const 1) (i32.const 0)))", "divide by zero")]:
        create(server, "harm", "", "bigint", f'(module (memory 1) (func $f (export "harm") (result i64) {body} (i64.const 0)))')
        number, text = error_of(server, "select harm()")
        assert number == 1105 and wanted in text and text.startswith("Function t.harm: "), text
    assert one(server, "select 1") == 1
    # Memory: the function gets what the limit admits, and no more.
    server.query("set global paceline_wasm_memory_max = 1048576")
    create(server, "pages", "", "bigint", """(module (memory (export "memory") 1) (func (export "pages") (result i64) (local $n i64)
        (loop $l (if (i32.ne (memory.grow (i32.const 1)) (i32.const -1))
            (then (local.set $n (i64.add (local.get $n) (i64.const 1))) (br $l)))) (local.get $n)))""")
    assert one(server, "select pages()") == 15
    server.query("set global paceline_wasm_memory_max = 1073741824")
    number, text = error_of(server, "set max_session_mem_used = 8388608", "select pages()")
    assert number == 1290 and "--max-session-mem-used=8388608" in text
    assert one(server, "select 1") == 1


def test_a_running_function_can_be_killed_and_hurts_no_neighbour(server):
    create(server, "spin", "", "bigint", LOOP)
    errors = []

    def spin():
        try:
            server.query("select spin()", database="t")
        except pymysql.MySQLError as error:
            errors.append(error.args[0])

    threads = [threading.Thread(target=spin) for _ in range(4)]
    for thread in threads:
        thread.start()
    running = "select id from information_schema.processlist where info = 'select spin()'"
    wait_for("all to run", lambda: len(server.query(running)) == 4)
    begin = time.monotonic()
    for _ in range(50):
        server.query("select 1")
    assert time.monotonic() - begin < 10, "more functions than processors run, and others are served"
    for (session,) in server.query(running):
        server.query(f"kill query {session}")
    for thread in threads:
        thread.join()
    assert errors == [1317] * 4


def test_modules_that_do_not_fit_are_refused_when_they_are_created(server, tmp_path):
    for parameters, returns, module, wanted in [
        ("a int", "int", ADD, "must have the type"),
        ("a int, b int", "double", ADD, "must have the type"),
        ("a int, b int", "int", "(module)", "does not export the function plus"),
        ("a int, b int", "int", "nonsense", "the module is invalid"),
        ("a int, b text", "int", ADD, "must have the type"),
        ("", "int", '(module (import "env" "system" (func)) (func (export "plus") (result i64) (i64.const 0)))', "the server does not have"),
    ]:
        number, text = error_of(server, f"create function plus({parameters}) returns {returns} language wasm as '{module}'")
        assert number == 1123 and wanted in text, text
    assert error_of(server, "create function plus() returns int language wasm as file '/nowhere/x.wasm'")[0] in (13, 29, 1290)
    assert error_of(server, f"create procedure plus() language wasm as '{ADD}'")[0] == 1064
    assert error_of(server, f"create aggregate function plus(a int, b int) returns int language wasm as '{ADD}'")[0] == 1064
    assert error_of(server, "create function plus() returns int language java as 'x'")[0] == 1064
    assert error_of(server, "select plus(1, 2)")[0] == 1305


def test_the_definition_is_shown_dumped_replicated_and_lasts(server, tmp_path, greeting):
    server.query(f"create function greeting(name varchar(100)) returns varchar(120) deterministic language wasm as file '{greeting}'", database="t")
    text = server.query("show create function t.greeting")[0][2]
    assert f"LANGUAGE WASM AS x'{greeting.read_bytes().hex()}'" in text
    server.query("drop function t.greeting", text, database="t")
    replica = Paceline(tmp_path / "replica", "--server-id=2")
    replica.start()
    try:
        replication_user(server)
        change_master(replica, server, master_use_gtid="slave_pos")
        replica.query("start slave")
        server.query("create table g (x text)", "insert into g values (greeting('all'))", database="t")
        wait_for_replica(replica, server)
        assert one(replica, "select x from g") == "Hello, all!"
        assert one(replica, "select greeting('replica')") == "Hello, replica!"
    finally:
        replica.close()
    server.kill()
    server.start()
    assert one(server, "select greeting('again')") == "Hello, again!"
    server.query("create or replace function greeting(a int, b int) returns int language wasm as "
                 f"'{ADD.replace('plus', 'greeting')}'", database="t")
    assert one(server, "select greeting(1, 2)") == 3


def test_triggers_and_generated_rows_use_functions(server):
    create(server, "plus", "a int, b int", "int", ADD)
    server.query("create table w (a int, b int)", "create trigger w1 before insert on w for each row set new.b = plus(new.a, 1)",
                 "insert into w (a) values (1), (2)", database="t")
    assert server.query("select a, b from w order by a", database="t") == ((1, 2), (2, 3))
    server.query("create procedure p(out r int) begin set r = plus(20, 22); end", database="t")
    assert server.query("call p(@r)", "select @r", database="t") == ((42,),)


def test_the_example_of_the_documents(server, tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "functions.md").read_text().split("## Shared libraries")[0]
    [source] = re.findall(r"```c\n// double_it\.c\n(.*?)```", text, re.DOTALL)
    (tmp_path / "double_it.c").write_text(source)
    console = "$ clang" + text.split("$ clang", 1)[1].split("```")[0]
    module = tmp_path / "double_it.wasm"
    commands = [line[2:].replace("/tmp/double_it.wasm", str(module)) for line in console.splitlines() if line.startswith("$ ")]
    server.query("create database test")
    said = ""
    for command in commands:
        command = command.replace("mariadb ", f"mariadb --no-defaults -uroot --socket={server.socket} -t ")
        said += subprocess.run(command, shell=True, check=True, cwd=tmp_path, text=True, capture_output=True).stdout
    assert "|            42 |" in said and said in console, said


def test_a_dump_has_the_function(server, tmp_path):
    create(server, "plus", "a int, b int", "int", ADD)
    dump = subprocess.run(["mariadb-dump", "--no-defaults", "-uroot", f"--socket={server.socket}", "--routines", "t"],
                          check=True, capture_output=True, text=True).stdout
    server.query("drop function t.plus")
    subprocess.run(["mariadb", "--no-defaults", "-uroot", f"--socket={server.socket}", "t"], check=True, input=dump, text=True)
    assert one(server, "select plus(1, 2)") == 3
