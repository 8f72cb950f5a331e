"""The memory that sessions collect is limited: a statement beyond the limit gets an error, the server and all other
sessions continue, and all memory is released."""

import struct
import threading

import pymysql
import pytest
from pymysql.constants import COMMAND
from support.servers import Paceline
from support.waiting import wait_for

SERVER_LIMIT = 24 << 20
DISTINCT = "select count(distinct concat(a.c, b.c)) from d.s a, d.s b where b.id < 100"
PAIRS = "select count(*) from (select a.c x, b.c y from d.s a, d.s b) t"
OUT_OF_MEMORY, OPTION_PREVENTS = 1041, 1290


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Paceline(tmp_path_factory.mktemp("memory"), f"--paceline_session_memory_max={SERVER_LIMIT}").start()
    server.query("create database d", "create table d.s (id int primary key, c char(128) not null)",
                 "insert into d.s values " + ", ".join(f"({number}, sha2({number}, 512))" for number in range(1000)),
                 "set global log_bin_trust_function_creators = 1",
                 "create aggregate function d.rows_of_group(x varchar(200)) returns int "
                 "begin declare n int default 0; declare continue handler for not found return n; "
                 "loop fetch group next row; set n = n + 1; end loop; end")
    yield server
    server.close()


def error_of(cursor, statement):
    with pytest.raises(pymysql.err.MySQLError) as caught:
        cursor.execute(statement)
        cursor.fetchall()
    return caught.value.args


def session_bytes(cursor):
    cursor.execute("show session status like 'Memory_used'")
    return int(cursor.fetchone()[1])


def all_sessions_bytes(server):
    return int(server.query("show global status like 'Paceline_session_memory_bytes'")[0][1])


def wait_until_given_back(server):
    wait_for("the memory to be free again", lambda: all_sessions_bytes(server) <= 200_000, 20)


def test_statements_that_collect_without_end_do_not_end_the_server(server):
    answers = []

    def collect():
        with server.connect() as connection, connection.cursor() as cursor:
            answers.append(error_of(cursor, PAIRS)[0])

    threads = [threading.Thread(target=collect) for _ in range(4)]
    for thread in threads:
        thread.start()
    # Other sessions continue meanwhile, with small sorts and groups.
    with server.connect() as connection, connection.cursor() as cursor:
        while any(thread.is_alive() for thread in threads):
            cursor.execute("select count(distinct c), max(c) from d.s where id < 100")
            assert cursor.fetchone()[0] == 100
            cursor.execute("replace into d.s values (1, 'x')")
    for thread in threads:
        thread.join()
    assert answers == [OUT_OF_MEMORY] * 4
    wait_until_given_back(server)
    assert server.query(DISTINCT) == ((100_000,),)
    wait_until_given_back(server)
    resident = int(server.query("show global status like 'Memory_used'")[0][1])
    assert resident < 1 << 30, f"the process has {resident} bytes"


@pytest.mark.parametrize("statement", [
    PAIRS,
    "select distinct a.c, b.c from d.s a, d.s b limit 1000000, 1",
    "select count(*) from (select a.id x, b.id y from d.s a, d.s b limit 1000000) t",
    "select count(*) from (select a.c x from d.s a union select concat(a.c, b.c) from d.s a, d.s b) t",
    "select length(json_objectagg(a.id * 10000 + b.id, a.c)) from d.s a, d.s b",
    "select d.rows_of_group(a.c) from d.s a, d.s b",
    "select sum(x) from (select row_number() over (order by a.id) x from d.s a, d.s b where b.id < 100) t",
    "select count(*) from d.s a where (a.c, a.id) not in (select concat(b.c, c.c), c.id from d.s b, d.s c)",
    "with recursive r as (select 1 n union all select n + 1 from r where n < 1000000) select count(*) from r",
    "select repeat('a', 4000000)" + ", repeat('a', 4000000)" * 10,
    "select replace(repeat('a', 4000000), 'a', repeat('b', 1000)) is null, json_quote(json_quote(repeat('\"', 4000000)))",
    "do @a := repeat('a', 9000000)",
    "select 1 in (" + ", ".join(map(str, range(2, 50_000))) + ")",
    "prepare p from 'select 1 in (" + ", ".join(map(str, range(2, 50_000))) + ")'",
], ids=lambda statement: statement[:60])
def test_a_sessions_own_limit(server, statement):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("set max_session_mem_used = 8000000, max_recursive_iterations = 10000000")
        number, message = error_of(cursor, statement)
        assert number == OPTION_PREVENTS
        assert message == ("The MariaDB server is running with the --max-session-mem-used=8000000 option so it cannot execute this "
                           "statement")
        assert session_bytes(cursor) < 200_000
        cursor.execute("select count(*) from d.s")
        assert cursor.fetchone() == (1000,)


def test_sorts_groups_and_distinct_counts_continue_in_files(server):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("set max_session_mem_used = 8000000")
        cursor.execute("select a.c, b.id from d.s a, d.s b where b.id < 50 order by b.id desc, a.c limit 45000, 1")
        assert cursor.fetchone()[1] == 4
        cursor.execute(DISTINCT.replace("100", "50"))
        assert cursor.fetchone() == (50_000,)
        cursor.execute("select b.id, a.id, count(*) from d.s a, d.s b where b.id < 40 group by 1, 2 with rollup")
        groups = cursor.fetchall()
        assert groups[0] == (0, 0, 1) and groups[1000] == (0, None, 1000) and groups[-1] == (None, None, 40_000)
        assert [group[:2] for group in groups[:-1]] == [(b, a) for b in range(40) for a in [*range(1000), None]]
        assert session_bytes(cursor) < 200_000


def test_state_between_statements_counts(server):
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("set max_session_mem_used = 8000000")
        for number in range(3):
            cursor.execute(f"set @v{number} = repeat('a', 2000000)")
        assert 6_000_000 < session_bytes(cursor) < 6_500_000
        assert error_of(cursor, "set @v4 = repeat('a', 2000000)")[0] == OPTION_PREVENTS
        cursor.execute("select length(@v0), length(@v4), length(@v1)")
        assert cursor.fetchone() == (2_000_000, None, 2_000_000)
        cursor.execute("set @v0 = 'a'")
        cursor.execute("set @v4 = repeat('a', 2000000)")
        # The long data of a statement's parameters.
        connection._execute_command(COMMAND.COM_STMT_PREPARE, "select length(?)")
        statement = struct.unpack("<I", connection._read_packet().read_all()[1:5])[0]
        connection._read_packet(), connection._read_packet(), connection._read_packet(), connection._read_packet()
        for _ in range(3):
            connection._execute_command(COMMAND.COM_STMT_SEND_LONG_DATA, struct.pack("<IH", statement, 0) + b"x" * 1_000_000)
        execution = struct.pack("<IBI", statement, 0, 1) + b"\0\1" + struct.pack("<H", 253)
        connection._execute_command(COMMAND.COM_STMT_EXECUTE, execution)
        with pytest.raises(pymysql.err.MySQLError) as caught:
            connection._read_packet()
        assert caught.value.args[0] == OPTION_PREVENTS
        cursor.execute("select length(@v1)")
        assert cursor.fetchone() == (2_000_000,)
        connection._execute_command(0x1F, b"")  # COM_RESET_CONNECTION
        connection._read_packet()
        assert session_bytes(cursor) < 100_000
    wait_until_given_back(server)


def test_the_limit_can_be_changed(server):
    try:
        server.query("set global paceline_session_memory_max = 20000000")
        with server.connect() as connection, connection.cursor() as cursor:
            refused = (OUT_OF_MEMORY, "Out of memory: a session may have as much as it leaves free of 20000000 bytes (paceline_session_memory_max, paceline_memory_limit)")
            assert error_of(cursor, "do @a := repeat('a', 11000000)") == refused
            cursor.execute("do @a := repeat('a', 9000000)")
            # 11 million bytes are left: the second session may have half of them, the third half of the rest, and so
            # on.
            with server.connect() as other, other.cursor() as others:
                assert error_of(others, "do @a := repeat('a', 6000000)") == refused
                others.execute("do @a := repeat('a', 5000000)")
                with server.connect() as third, third.cursor() as thirds:
                    assert error_of(thirds, "do @a := repeat('a', 4000000)") == refused
                    thirds.execute("do @a := repeat('a', 2000000)")
            cursor.execute("select length(@a)")
            assert cursor.fetchone() == (9_000_000,)
    finally:
        server.query(f"set global paceline_session_memory_max = {SERVER_LIMIT}")
    wait_until_given_back(server)
