"""The general log, the slow query log, `pid_file`, `log_error`; variables and options without effect say so."""

import pymysql
import pytest

from support.servers import MariaDb, Paceline


def lines_of(path):
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_the_general_log_names_the_statements_of_clients(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start()
    server.query("set global general_log_file = 'asked.log'", "set global general_log = 1")
    log = tmp_path / "server/data/asked.log"
    with server.connect() as session, session.cursor() as cursor:
        cursor.execute("select 'one'")
        cursor.execute("set sql_log_off = 1")
        cursor.execute("select 'silent'")
    assert any(line.endswith(" Query\tselect 'one'") for line in lines_of(log))
    assert not any("silent" in line for line in lines_of(log))
    # Renamed and reopened.
    log.rename(tmp_path / "old")
    server.query("flush general logs", "select 'two'", "set global log_output = 'NONE'", "select 'three'")
    text = log.read_text()
    assert "select 'two'" in text and "three" not in text and "'two'" not in (tmp_path / "old").read_text()
    server.close()


@pytest.mark.parametrize("kind", [Paceline, MariaDb])
def test_the_slow_log_has_what_took_longer_than_long_query_time(kind, tmp_path):
    server = kind(tmp_path / "server")
    server.start("--slow-query-log=1", "--slow-query-log-file=slow.log", "--long-query-time=0.2")
    before = int(server.query("show global status like 'Slow_queries'")[0][1])
    server.query("select 'fast'", "select sleep(0.3)", "set slow_query_log = 0", "select sleep(0.31)")
    text = (tmp_path / "server/data/slow.log").read_text()
    assert "select sleep(0.3);" in text and "# Query_time: 0.3" in text and "SET timestamp=" in text
    assert "fast" not in text and "sleep(0.31)" not in text
    assert int(server.query("show global status like 'Slow_queries'")[0][1]) > before
    server.close()


def test_the_process_and_its_messages_are_where_the_options_say(tmp_path):
    server = Paceline(tmp_path / "server")
    server.start("--pid-file=own.pid", f"--log-error={tmp_path}/messages", "--innodb-flush-neighbors=0")
    messages = tmp_path / "messages.err"
    assert (tmp_path / "server/data/own.pid").read_text().strip() == str(server.process.pid)
    assert server.query("select @@log_error, @@pid_file") == ((str(messages), f"{tmp_path}/server/data/own.pid"),)
    assert "innodb_flush_neighbors" in messages.read_text() and "has no effect" in messages.read_text()
    server.stop()
    assert not (tmp_path / "server/data/own.pid").exists()
    server.close()


def test_what_has_no_effect_says_so(tmp_path):
    server = Paceline(tmp_path / "server")
    server.start()
    server.query("create database d")
    with server.connect() as session, session.cursor() as cursor:
        for statement, level in (
            ("set sql_mode = 'ORACLE'", "Warning"),
            ("set global log_output = 'TABLE'", "Warning"),
            ("set sql_auto_is_null = 1", "Warning"),
            ("set join_buffer_size = 1048576", "Note"),
            ("create table d.a (a int) row_format=compressed", "Note"),
            ("alter table d.a key_block_size=8", "Note"),
            ("create table d.b (a int) page_compressed=1", "Note"),
            ("create table d.c (a int) stats_persistent=1", "Note"),
            ("create table d.d (a text compressed)", "Note"),
        ):
            cursor.execute(statement)
            cursor.execute("show warnings")
            assert [(row[0], row[1]) for row in cursor.fetchall()] == [(level, 1235)], statement
        cursor.execute("create table d.e (a int) engine=myisam")
        cursor.execute("show warnings")
        assert cursor.fetchall() == (("Warning", 1266, "Using storage engine InnoDB for table 'e'"),)
        # A log must not be written to a file of the data directory.
        with pytest.raises(pymysql.MySQLError) as refused:
            cursor.execute("set global general_log_file = 'binlog.000001'")
        assert refused.value.args[0] == 1231
    server.close()
