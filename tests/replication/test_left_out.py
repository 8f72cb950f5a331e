"""Objects that a replica does not have, or may leave out (`paceline_replicate_leave_out`): the rows are replicated
all the same."""

import pytest
from support.replication import assert_same, change_master, gtid_position, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

DEFINITIONS = {
    "triggers": ["create trigger d.t before insert on d.t for each row set new.v = concat(new.v, '!')", "insert into d.t values (1, 'one')", "drop trigger d.t"],
    "routines": ["create procedure d.p() insert into d.t values (2, 'two')", "alter procedure d.p comment 'x'", "call d.p()",
                 "create function d.f() returns int deterministic return 7", "insert into d.t values (d.f(), 'f')", "drop procedure d.p", "drop function d.f"],
    "events": ["create event d.e on schedule every 1 day do select 1", "alter event d.e disable", "drop event d.e"],
}
ACCOUNTS = {
    "roles": ["create role r", "create user u@localhost", "grant r to u@localhost", "set default role r for u@localhost", "revoke r from u@localhost", "drop role r", "drop user u@localhost"],
    "privileges": ["create user v@localhost", "grant select, insert (v) on d.t to v@localhost", "revoke select on d.t from v@localhost", "drop user v@localhost"],
}


@pytest.fixture
def pair(servers):
    primary, replica = servers(MariaDb, 1, "--log-bin=b", "--binlog-format=ROW"), servers(Paceline, 2)
    replication_user(primary)
    primary.query("create database d", "create table d.t (id int primary key, v varchar(20))")
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    wait_for_replica(replica, primary)
    return primary, replica


@pytest.mark.parametrize("kind", ["triggers", "routines", "events"])
def test_programs_are_left_out_if_wished(pair, kind):
    primary, replica = pair
    replica.query(f"set global paceline_replicate_leave_out='{kind}'")
    primary.query(*DEFINITIONS[kind][:-1])
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    assert "left out: " in replica.said()
    assert replica.query("select count(*) from mysql.proc where db = 'd'") == ((0,),)
    assert replica.query("select count(*) from information_schema.triggers") == replica.query("select count(*) from mysql.event") == ((0,),)


@pytest.mark.parametrize("kind", ACCOUNTS)
def test_accounts_are_replicated_unless_they_are_left_out(pair, kind):
    primary, replica = pair
    kept = [statement for statement in ACCOUNTS[kind] if not statement.startswith(("drop", "revoke"))]
    primary.query(*kept)
    wait_for_replica(replica, primary)
    shown = {"roles": "show grants for u@localhost", "privileges": "show grants for v@localhost"}[kind]
    assert replica.query(shown) == primary.query(shown)
    primary.query(*[statement for statement in ACCOUNTS[kind] if statement not in kept])
    wait_for_replica(replica, primary)
    replica.query(f"set global paceline_replicate_leave_out='{kind}'")
    primary.query(*ACCOUNTS[kind])
    wait_for_replica(replica, primary)
    assert gtid_position(replica) == gtid_position(primary)
    assert "left out: " in replica.said()


def test_its_value(pair):
    _, replica = pair
    assert replica.query("select @@paceline_replicate_leave_out") == (("",),)
    replica.query("set global paceline_replicate_leave_out='events,triggers'")
    assert replica.query("select @@paceline_replicate_leave_out") == (("TRIGGERS,EVENTS",),)
    with pytest.raises(Exception, match="1231"):
        replica.query("set global paceline_replicate_leave_out='tables'")


def test_statements_that_call_what_was_left_out_stop(pair):
    """Rows written by a function are replicated as rows. A statement that calls it cannot be executed here, and must
    not be skipped."""
    primary, replica = pair
    replica.query("set global paceline_replicate_leave_out='routines'")
    primary.query("create function d.f() returns int deterministic return 7", "set statement binlog_format=statement for insert into d.t values (d.f(), 'f')")
    status = wait_for("the replica to stop", lambda: (found := slave_status(replica)) and int(found["Last_SQL_Errno"]) and found)
    assert int(status["Last_SQL_Errno"]) == 1305, status["Last_SQL_Error"]
    assert replica.query("select count(*) from d.t") == ((0,),)


def test_statements_that_may_have_fired_triggers_stop(pair):
    """Rows that a trigger changes are in the log only in row format. In statement format they would be missing here."""
    primary, replica = pair
    replica.query("set global paceline_replicate_leave_out='triggers'")
    primary.query("create table d.u (id int primary key)", "create trigger d.tr after insert on d.t for each row insert into d.u values (new.id)",
                  "insert into d.t values (1, 'rows')")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    primary.query("set session binlog_format=mixed", "insert into d.t values (2, 'statement')")
    status = wait_for("the replica to stop", lambda: (found := slave_status(replica)) and int(found["Last_SQL_Errno"]) and found)
    assert int(status["Last_SQL_Errno"]) == 1235 and "may have fired triggers" in status["Last_SQL_Error"], status["Last_SQL_Error"]
    assert replica.query("select id from d.t") == ((1,),)


def test_the_primary_decides_how_a_statement_is_logged(pair):
    primary, replica = pair
    primary.query("set statement binlog_format=statement for insert into d.t values (1, 'one')",
                  "set statement binlog_format=mixed, sql_mode='' for create table d.u (a int)")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
