"""A primary that stops hands over first; events and MEMORY tables after a change of the primary."""

import contextlib
import signal
import threading

import pymysql
import pytest
from support.clusters import Writer
from support.waiting import wait_for


@pytest.mark.parametrize("way", ["SIGTERM", "SHUTDOWN"])
def test_a_primary_that_stops_hands_over(clusters, way):
    cluster = clusters(3)
    writer = Writer(cluster)
    wait_for("some rows", lambda: len(writer.committed) > 50)
    old = cluster.primary()
    if way == "SIGTERM":
        assert old.stop() == 0
    else:
        old.query("shutdown")
        assert old.process.wait(timeout=120) == 0
    said = old.said()
    new = cluster.primary()
    assert new is not old
    assert f"cluster: {new.directory.name} becomes the primary before this server stops" in said
    assert f"cluster: handed over to {new.directory.name}" in said
    assert "not acknowledged by the cluster" not in said
    before = len(writer.committed)
    wait_for("rows after the change", lambda: len(writer.committed) > before + 50)
    writer.stop()
    old.start()
    expected = new.query("select i from t.n order by i")
    assert set(writer.committed) <= {number for (number,) in expected}
    cluster.wait_for_rows("select i from t.n order by i", expected)


def test_a_primary_that_stops_while_elections_are_paused_hands_over_too(clusters):
    cluster = clusters(3)
    cluster.command("pause")
    old = cluster.primary()
    assert old.stop() == 0
    assert "cluster: handed over to" in old.said()
    assert cluster.primary() is not old
    old.start()


def test_a_primary_without_another_server_just_stops(clusters):
    cluster = clusters(1)
    member = cluster.primary()
    assert member.stop() == 0
    assert "no other server has its whole log" in member.said()
    member.start()
    assert cluster.primary() is member


def test_events_run_on_the_primary_only_and_go_on_after_a_change(clusters):
    cluster = clusters(3, options=["--event-scheduler=on"])
    first = cluster.primary()
    first.query("create table t.runs (number int auto_increment primary key, server int)",
                "create event t.every_second on schedule every 1 second do insert into t.runs (server) values (@@server_id)",
                "create event t.late on schedule at now() + interval 1 hour do insert into t.runs (server) values (0)",
                "create event t.off on schedule every 1 second disable do insert into t.runs (server) values (-1)")
    states = (("every_second", "ENABLED"), ("late", "ENABLED"), ("off", "DISABLED"))
    cluster.wait_for_rows("select event_name, status from information_schema.events order by 1", states)
    runs = "select distinct server from t.runs order by number"
    servers = {member: member.query("select @@server_id")[0][0] for member in cluster.members}
    wait_for("runs on the first primary", lambda: first.query(runs) == ((servers[first],),))
    second = cluster.others()[0]
    cluster.command("switch", "--to", second.directory.name)
    count = "select count(*) from t.runs where server = %d"
    wait_for("runs on the second primary", lambda: second.query(count % servers[second])[0][0] > 1)
    before = second.query(count % servers[first])
    second.kill()
    third = cluster.primary()
    wait_for("runs on the third primary", lambda: third.query(count % servers[third])[0][0] > 1)
    if third is not first:
        assert third.query(count % servers[first]) == before
    second.start()
    # After a restart the definitions come from the log, or from a snapshot.
    cluster.wait_for_rows("select event_name, status from information_schema.events order by 1", states)
    third.query("drop event t.every_second")
    for member in cluster.members:
        assert "not completed" not in member.said() and "Event Scheduler: [" not in member.said()


def test_memory_tables_are_the_same_everywhere_after_a_change(clusters):
    cluster = clusters(3)
    first = cluster.primary()
    first.query("create table t.m (i int primary key, v int) engine=memory", "insert into t.m values (1, 1), (2, 2)")
    content = "select i, v from t.m order by i"
    cluster.wait_for_rows(content, ((1, 1), (2, 2)))
    # A planned change loses nothing, as long as no process has ended.
    second, third = cluster.others()
    cluster.command("switch", "--to", second.directory.name)
    assert second.query(content) == ((1, 1), (2, 2))
    second.query("insert into t.m values (3, 3)")
    cluster.wait_for_rows(content, ((1, 1), (2, 2), (3, 3)))
    # A replica that restarts lacks what was there before, and goes on.
    third.stop()
    third.start()
    second.query("update t.m set v = v + 10", "delete from t.m where i = 2", "insert into t.m values (4, 4)")
    cluster.wait_for_rows(content, ((1, 11), (3, 13), (4, 4)), [first, second])
    cluster.wait_for_rows(content, ((4, 4),), [third])
    # As the primary it has the same as all others.
    cluster.command("switch", "--to", third.directory.name)
    # It accepts writes when its own MEMORY tables, which lack rows, are empty everywhere.
    assert cluster.primary() is third
    third.query("insert into t.m values (5, 5)")
    cluster.wait_for_rows(content, ((5, 5),))
    # Once is enough.
    cluster.command("switch", "--to", first.directory.name)
    cluster.command("switch", "--to", third.directory.name)
    cluster.wait_for_rows(content, ((5, 5),))
    for member in cluster.members:
        with member.connect(cursorclass=pymysql.cursors.DictCursor) as connection, connection.cursor() as cursor:
            cursor.execute("show slave status")
            assert all(row["Last_SQL_Errno"] == 0 for row in cursor.fetchall())
    # A primary that is killed takes its rows with it; its successor has them.
    third.query("insert into t.m values (6, 6)")
    cluster.wait_for_rows(content, ((5, 5), (6, 6)))
    third.kill()
    new = cluster.primary()
    assert new.query(content) == ((5, 5), (6, 6))
    third.start()
    new.query("insert into t.m values (7, 7)")
    cluster.wait_for_rows(content, ((5, 5), (6, 6), (7, 7)), [first, second])
    cluster.wait_for_rows(content, ((7, 7),), [third])


def test_a_transaction_on_a_memory_table_does_not_keep_a_server_from_becoming_the_primary(clusters):
    cluster = clusters(3)
    primary, (target, _) = cluster.primary(), cluster.others()
    primary.query("create table t.m (i int primary key) engine=memory", "insert into t.m values (1)")
    content = "select i from t.m order by i"
    cluster.wait_for_rows(content, ((1,),))
    target.stop()
    target.start()
    primary.query("insert into t.m values (2)")
    cluster.wait_for_rows(content, ((2,),), [target])
    with target.connect() as reader, reader.cursor() as cursor:
        cursor.execute("begin")
        cursor.execute(content)
        cluster.command("switch", "--to", target.directory.name)
        assert cluster.primary() is target
        target.query("insert into t.n values (1)")
    cluster.wait_for_rows(content, ())
    target.query("insert into t.m values (3)")
    cluster.wait_for_rows(content, ((3,),))


def test_a_memory_table_that_is_locked_is_emptied_when_it_is_unlocked(clusters):
    cluster = clusters(3)
    primary, (target, _) = cluster.primary(), cluster.others()
    primary.query("create table t.m (i int primary key) engine=memory", "create table t.l (i int primary key) engine=memory", "insert into t.l values (1)",
                  "insert into t.m values (1)")
    content = "select i from t.m order by i"
    cluster.wait_for_rows(content, ((1,),))
    target.stop()
    target.start()
    with target.connect() as locker, locker.cursor() as cursor:
        cursor.execute("lock tables t.m read")
        cluster.command("switch", "--to", target.directory.name)
        assert cluster.primary() is target
        target.query("insert into t.l values (2)")
        cluster.wait_for_rows("select i from t.l", ((2,),))
        assert "a MEMORY table cannot be emptied yet" in target.said()
        cursor.execute("unlock tables")
    cluster.wait_for_rows(content, ())
    target.query("insert into t.m values (3)")
    cluster.wait_for_rows(content, ((3,),))
    # The other one was emptied once.
    cluster.wait_for_rows("select i from t.l", ((2,),))


def test_an_old_primary_that_is_told_to_stop_does_not_start_again_to_cut_its_log(clusters):
    """Its last transaction is in no other log. It learns of its successor while it stops."""
    cluster = clusters(3)
    old, others = cluster.primary(), cluster.others()
    for member in others:
        member.kill()
    with old.connect(read_timeout=60) as client:
        waiting = threading.Thread(target=lambda: ignore_errors(client, "insert into t.n values (1)"), daemon=True)
        waiting.start()
        wait_for("a commit that waits", lambda: old.query("show status like 'Paceline_cluster_waiting_commits'")[0][1] == "1")
        old.process.send_signal(signal.SIGSTOP)
        for member in others:
            member.spawn()
        wait_for("a successor", lambda: any(member.is_primary() for member in others))
        old.process.send_signal(signal.SIGTERM)
        old.process.send_signal(signal.SIGCONT)
        assert old.process.wait(timeout=60) == 0, old.said()[-3000:]
    old.start()
    cluster.primary().query("insert into t.n values (2)")
    cluster.wait_for_rows("select i from t.n", ((2,),))


def ignore_errors(client, statement):
    with contextlib.suppress(pymysql.err.Error):
        client.cursor().execute(statement)
