"""performance_schema.file_summary_by_event_name, file_summary_by_instance and file_instances: files of the log, beside MariaDB."""

import pymysql
import pytest
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

BINLOG = "wait/io/file/sql/binlog"
INDEX = "wait/io/file/sql/binlog_index"


@pytest.fixture
def server(tmp_path):
    server = Paceline(tmp_path / "server").start()
    server.query("create database d", "create table d.t (a int primary key, b varchar(1000))")
    # The first block of the log is written in the background.
    [(block,)] = server.query("select @@paceline_log_block_size")
    wait_for("the log's block", lambda: by_class(server)["sum_number_of_bytes_write"] >= block)
    yield server
    server.close()


def by_class(server, event=BINLOG):
    with server.connect(cursorclass=pymysql.cursors.DictCursor) as connection, connection.cursor() as cursor:
        cursor.execute(f"select * from performance_schema.file_summary_by_event_name where event_name = '{event}'")
        row, = cursor.fetchall()
        return {name.lower(): value for name, value in row.items()}


def test_a_commit_is_written_and_synced(server):
    before, position = by_class(server), server.query("show master status")[0][1]
    server.query("insert into d.t values (1, repeat('x', 1000))")
    after, written = by_class(server), server.query("show master status")[0][1] - position
    assert after["count_write"] == before["count_write"] + 1
    # The last block of the write is filled up.
    assert written <= after["sum_number_of_bytes_write"] - before["sum_number_of_bytes_write"] <= written + 4096
    assert after["count_misc"] > before["count_misc"]
    for kind in ("wait", "read", "write", "misc"):
        count = after["count_star" if kind == "wait" else f"count_{kind}"]
        least, average, most, total = (after[f"{what}_timer_{kind}"] for what in ("min", "avg", "max", "sum"))
        assert least <= average <= most <= total and (total > 0) == (count > 0)
    assert after["count_star"] == sum(after[f"count_{kind}"] for kind in ("read", "write", "misc"))


def test_reads_do_not_write(server):
    before = by_class(server)
    server.query("select * from d.t", "select * from d.t where a = 1")
    assert by_class(server)["count_star"] == before["count_star"]


def test_files_are_known_until_they_are_removed(server):
    instances = "select substring_index(file_name, '/', -1), event_name, open_count > 0 from performance_schema.file_instances order by 1"
    base = server.query("select @@log_bin_basename")[0][0]
    first = server.query("show binary logs")[0][0]
    assert (first, BINLOG, 1) in server.query(instances)
    assert server.query("select count(*) from performance_schema.file_instances where file_name like concat(@@log_bin_basename, '.%')")[0][0] > 1, base
    server.query("insert into d.t values (2, 'x')", "flush binary logs")
    second = server.query("show binary logs")[-1][0]
    assert any(row[0] == second for row in server.query(instances))
    total = by_class(server)["count_star"]
    server.query(f"purge binary logs to '{second}'")
    assert not any(row[0] == first for row in server.query(instances))
    assert by_class(server)["count_star"] >= total


def test_the_sum_of_the_files_is_that_of_the_class(server):
    files = server.query("select sum(count_star), sum(sum_number_of_bytes_write), count(distinct object_instance_begin), count(*) "
                         f"from performance_schema.file_summary_by_instance where event_name = '{BINLOG}'")[0]
    whole = by_class(server)
    assert files[:2] == (whole["count_star"], whole["sum_number_of_bytes_write"]) and files[2] == files[3] > 0


def test_truncate_empties_as_in_mariadb(server, tmp_path):
    mariadb = MariaDb(tmp_path / "mariadb", "--performance-schema=ON").start()
    answers = []
    for each in (server, mariadb):
        count = f"select sum(count_star) from performance_schema.file_summary_by_{{}} where event_name = '{INDEX}'"
        files, whole = each.query(count.format("instance"))[0][0], each.query(count.format("event_name"))[0][0]
        each.query("truncate table performance_schema.file_summary_by_instance")
        left = each.query(count.format("instance"))[0][0], each.query(count.format("event_name"))[0][0]
        each.query("truncate table performance_schema.file_summary_by_event_name")
        answers.append((files > 0, whole > 0, left, each.query(count.format("event_name"))[0][0]))
        with pytest.raises(pymysql.err.OperationalError) as refused:
            each.query("truncate table performance_schema.file_instances")
        answers[-1] += (refused.value.args,)
    mariadb.close()
    assert answers[0][:2] == answers[1][:2] == (True, True)
    assert answers[0][3:] == answers[1][3:] and answers[0][2][0] == answers[1][2][0] == 0


def test_nothing_is_timed_with_performance_schema_off(tmp_path):
    server = Paceline(tmp_path / "server", "--performance-schema=OFF").start()
    server.query("create database d")
    assert server.query("select * from performance_schema.file_summary_by_event_name") == ()
    assert server.query("select * from performance_schema.file_instances") == ()
    server.close()


def test_instruments_are_those_of_the_rows(server):
    instruments = "select name, timed from performance_schema.setup_instruments where name like 'wait/io/file/%'"
    events = "select event_name, 'YES' from performance_schema.file_summary_by_event_name"
    assert sorted(server.query(instruments)) == sorted(server.query(events))
