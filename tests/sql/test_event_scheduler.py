"""Events that run: as their definers, at most one run at a time, once more after a restart if they were missed."""

import time

import pymysql
import pytest

from support.servers import Paceline
from support.waiting import wait_for


@pytest.fixture
def server(tmp_path):
    server = Paceline(tmp_path / "server", "--event-scheduler=ON")
    server.start()
    server.query("create database d", "create table d.ran (id int auto_increment primary key, who varchar(80), what varchar(40))")
    yield server
    server.close()


def rows(server, what):
    [(count,)] = server.query(f"select count(*) from d.ran where what = '{what}'")
    return count


def events(server):
    return dict(server.query("select event_name, status from information_schema.events where event_schema = 'd'"))


def test_a_recurring_event_runs_as_its_definer(server):
    server.query("create user me@localhost", "grant all on d.* to me@localhost")
    server.query("create event e on schedule every 1 second do begin select 1; insert into ran (who, what) values (current_user(), 'e'); end",
                 user="me", database="d")
    wait_for("two runs", lambda: rows(server, "e") >= 2)
    assert server.query("select distinct who from d.ran") == (("me@localhost",),)
    [(last,)] = server.query("select last_executed from information_schema.events where event_name = 'e'")
    assert last is not None
    server.query("drop event d.e")
    assert events(server) == {}


def test_a_one_time_event_is_dropped_or_disabled(server):
    server.query("use d", "create event once on schedule at now() do insert into ran (what) values ('once')",
                 "create event kept on schedule at now() + interval 1 second on completion preserve do insert into ran (what) values ('kept')")
    wait_for("both runs", lambda: rows(server, "once") == rows(server, "kept") == 1)
    assert events(server) == {"kept": "DISABLED"}
    file = server.log_files()[-1]
    log = server.client(file, program="mariadb-binlog")
    assert "DROP EVENT IF EXISTS `d`.`once`" in log and "EVENT `d`.`kept` DISABLE" in log


def test_an_event_runs_that_is_created_anew_in_the_second_of_the_last_run(server):
    for number in range(5):
        server.query("use d", f"create event again on schedule at now() do insert into ran (what) values ('again{number}')")
        wait_for("the run", lambda: rows(server, f"again{number}") == 1)


def test_a_one_time_event_waits_for_a_running_one_of_its_name(server):
    server.query("use d", "create event slow on schedule at now() do begin insert into ran (what) values ('begun'); do sleep(3); end")
    wait_for("the first run", lambda: rows(server, "begun") == 1)
    server.query("use d", "create event slow on schedule at now() do insert into ran (what) values ('second')")
    wait_for("the second run", lambda: rows(server, "second") == 1)


def test_errors_are_in_the_servers_log(server):
    server.query("create user gone@localhost", "use d", "create event bad on schedule at now() do insert into nosuch values (1)",
                 "create definer = gone@localhost event orphan on schedule at now() do select 1",
                 "create definer = nobody@localhost event stranger on schedule at now() do select 1")
    wait_for("three failures", lambda: server.said().count("Event Scheduler: ") >= 3)
    said = server.said()
    assert "[root@localhost][d.bad] Table 'd.nosuch' doesn't exist" in said
    assert "[gone@localhost][d.orphan] execution failed, user no longer has EVENT privilege." in said
    assert "[nobody@localhost][d.stranger] execution failed, failed to authenticate the user." in said


def test_one_run_at_a_time(server):
    server.query("use d", "create event slow on schedule every 1 second do begin insert into ran (what) values ('begins'); "
                          "do sleep(100); end")
    [number] = wait_for("the run", lambda: [row[0] for row in server.query("show processlist") if row[1] == "root" and row[7] and "sleep(100)" in row[7]])
    # Two seconds in which the event is due again; no condition tells that nothing happens.
    time.sleep(2)
    assert rows(server, "begins") == 1
    server.query("alter event d.slow disable", f"kill {number}")
    wait_for("the end of the run", lambda: not [row for row in server.query("show processlist") if row[0] == number])


def test_it_can_be_switched_off_and_on(server):
    server.query("set global event_scheduler = off", "use d", "create event e on schedule every 1 second do insert into ran (what) values ('e')")
    # No condition tells that nothing happens.
    time.sleep(1.5)
    assert rows(server, "e") == 0
    server.query("set global event_scheduler = on")
    wait_for("a run", lambda: rows(server, "e") > 0)


def test_a_missed_one_time_event_runs_after_the_restart(server):
    server.query("set global event_scheduler = off", "use d", "create event once on schedule at now() + interval 1 second do insert into ran (what) values ('once')",
                 "create event ended on schedule every 1 second ends now() + interval 1 second do insert into ran (what) values ('ended')")
    server.kill()
    # The times of both events pass while the server is down.
    time.sleep(2)
    server.start()
    wait_for("the missed run", lambda: rows(server, "once") == 1)
    wait_for("the end of both", lambda: events(server) == {})
    assert rows(server, "ended") == 0


def test_the_scheduler_and_its_events_are_processes(server):
    processes = "select user, host, db, command, state, info from information_schema.processlist where user = 'event_scheduler' or info like 'select sleep%'"
    server.query("set global event_scheduler = off", "set global event_scheduler = on")
    daemon = ("event_scheduler", "localhost", None, "Daemon")
    assert server.query(processes)[0][:5] == (*daemon, "Waiting on empty queue")
    server.query("create event d.long_one on schedule every 1 hour do select sleep(100)")
    wait_for("the event to run", lambda: len(server.query(processes)) == 2)
    first, second = sorted(server.query(processes))
    assert first[:5] == (*daemon, "Waiting for next activation")
    assert (second[2], second[3], second[5]) == ("d", "Connect", "select sleep(100)")
    scheduler = server.query("select id from information_schema.processlist where user = 'event_scheduler'")[0][0]
    with pytest.raises(pymysql.err.Error) as raised:
        server.query(f"kill {scheduler}")
    assert raised.value.args[0] == 1094
    server.query("set global event_scheduler = off")
    assert [row[0] for row in server.query(processes)] == ["root"]
    server.query("drop database d")
