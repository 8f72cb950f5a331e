"""Statements that a primary sends as text (binlog_format): the archive also keeps their rows, and sends only the text."""

import json

from conftest import follow
from support.archive import Archive
from support.backups import paceline
from support.real_replicas import catch_up
from support.servers import Paceline


def test_rows_of_a_text_are_kept_and_not_sent(start):
    primary = start(Paceline, 1)
    archive = start(Archive, primary, options=("--compression=none",))
    replica = start(Paceline, 2)
    primary.query("create database t", "create table t.a (id int primary key, v varchar(40))", "create table t.sums (n int primary key)",
                  "insert into t.a values (1, 'one'), (2, 'two')", "set session binlog_format = 'STATEMENT'", "update t.a set v = uuid()")
    archive.wait_for(primary)
    follow(replica, archive)
    catch_up(replica, primary)
    replica.query("set sql_log_bin = 0", "delete from t.a where id = 2")
    primary.query("set session binlog_format = 'STATEMENT'", "insert into t.sums select count(*) from t.a")
    catch_up(replica, primary)
    assert (primary.query("select n from t.sums"), replica.query("select n from t.sums")) == (((2,),), ((1,),))
    # What recovery needs is in the archive's files.
    directory = archive.files()[0].parent
    status, lines, said = paceline("binlog", "--json", directory)
    assert status == 0, said
    changes = [json.loads(line) for line in lines.splitlines()]
    after = [list(change["after"].values()) for change in changes if change["kind"] == "update"]
    assert sorted(after) == [list(row) for row in primary.query("select * from t.a order by id")]
    assert [list(change["after"].values()) for change in changes if change["table"] == "sums"] == [[2]]
    status, report, said = paceline("binlog", "--verify", directory)
    assert status == 0, report + said
