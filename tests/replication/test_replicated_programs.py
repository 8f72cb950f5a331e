"""Procedures, functions, triggers and events through replication in both directions, after kill -9, and through dumps:
the logged texts are MariaDB's."""

import pytest

from support.replication import change_master, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline

DEFINITIONS = [
    "create table t (id int primary key, v varchar(40))", "create table r (id int primary key)",
    "create table audit (id int auto_increment primary key, what varchar(80))",
    "create procedure   add_one (in n int, out total int) comment 'it''s one' begin insert into t values (n, 'one'); select count(*) into total from t; end",
    "create function twice (n int) returns int deterministic return n * 2",
    "create function doomed () returns varchar(10) charset latin1 no sql return 'x'",
    "create or replace function doomed () returns varchar(20) charset latin1 no sql deterministic return 'y'",
    "create trigger  logged after insert on t for each row insert into audit (what) values (concat('new ', new.id))",
    "create trigger earlier after insert on t for each row precedes logged set @x = 1",
    "create trigger moved after insert on r for each row set @x = 3",
    "create trigger gone before delete on t for each row set @x = 2", "drop trigger gone",
    "create definer = 'someone'@'else' procedure foreign_one () sql security invoker select 1",
    "alter procedure add_one comment 'changed' sql security invoker",
    "create procedure gone () select 1", "drop procedure gone", "drop procedure if exists nowhere", "drop function doomed",
    "create event tick on schedule every 1 day starts '2035-01-01 00:00:00' on completion preserve comment 'c' do insert into audit (what) values ('tick')",
    "create event brief on schedule at '2035-01-01 00:00:00' + interval 1 day do begin select 1; end",
    "alter event tick on schedule every 2 hour starts '2035-01-01 00:00:00' disable", "alter event tick enable",
    "create event gone on schedule every 1 day do select 1", "drop event gone",
    "rename table r to `r 2`",
    "create role keeper", "create definer=keeper function kept () returns int deterministic return 1", "create definer=keeper view by_role as select 1 as a",
]
CALLS = ["call add_one(1, @total)", "insert into t values (twice(5), 'ten')"]
SHOWN = ["show create procedure add_one", "show create procedure foreign_one", "show create function twice", "show create function kept", "show create view by_role", "show create trigger logged",
         "show create trigger earlier", "show create trigger moved", "select trigger_name, event_object_table, action_order, created from information_schema.triggers where trigger_schema = 'd'",
         "select name, type, created, modified, comment from mysql.proc where db = 'd'"]
EVENTS = "select event_name, execute_at, interval_value, interval_field, starts, ends, status, on_completion, created, last_altered, definer, originator " \
         "from information_schema.events where event_schema = 'd' order by 1"


def shown(server):
    return [server.query(statement, database="d") for statement in SHOWN]


def without(column, rows):
    return [row[:column] + row[column + 1:] for row in rows]


@pytest.mark.parametrize("kinds", [(Paceline, MariaDb), (MariaDb, Paceline), (Paceline, Paceline)],
                         ids=lambda kinds: "-".join(kind.__name__.lower() for kind in kinds))
def test_programs_are_replicated(kinds, tmp_path):
    primary, replica = (kind(tmp_path / name, f"--server-id={number}", *(["--log-bin=binlog", "--binlog-format=ROW"] if kind is MariaDb else []))
                        for number, (kind, name) in enumerate(zip(kinds, ("primary", "replica")), 1))
    try:
        primary.start()
        replica.start()
        replication_user(primary)
        change_master(replica, primary)
        replica.query("start slave")
        primary.query("create database d character set utf8mb4")
        if isinstance(primary, MariaDb):
            primary.query("set global log_bin_trust_function_creators = on")
        for statement in DEFINITIONS:
            primary.query(statement, database="d")
        primary.query(*CALLS, database="d")
        wait_for_replica(replica, primary)
        assert shown(replica) == shown(primary)
        assert replica.query("select what from d.audit") == primary.query("select what from d.audit") == (("new 1",), ("new 10",))
        status = 6
        here, there = primary.query(EVENTS), replica.query(EVENTS)
        assert without(status, here) == without(status, there)
        assert {row[status] for row in here} == {"ENABLED"} and {row[status] for row in there} == {"SLAVESIDE_DISABLED"}
        for server in (primary, replica):
            if isinstance(server, Paceline):
                before = shown(server), server.query(EVENTS)
                server.kill()
                server.start()
                assert (shown(server), server.query(EVENTS)) == before
    finally:
        primary.close()
        replica.close()
