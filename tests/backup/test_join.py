"""`paceline join`, row by row: one command turns an empty directory into a replica of a running MariaDB."""

import re
import threading

import pymysql
import pytest

from support import workload
from support.joining import Joined, allow_readers
from support.real_replicas import ACCOUNT, catch_up, check_same_tables, start_replica
from support.servers import ROOT, MariaDb
from support.waiting import let_run, wait_for

SCRIPT = (ROOT / "tests/log/every_type.sql").read_text()


@pytest.fixture
def primary(tmp_path):
    server = MariaDb(tmp_path / "primary", "--local-infile=1").start()
    allow_readers(server)
    yield server
    server.close()


@pytest.fixture
def joined(tmp_path, primary):
    server = Joined(tmp_path / "joined", primary)
    yield server
    server.close()


def fill(primary, rows, database="big"):
    """Fills a table with rows of about 200 bytes."""
    primary.query(f"create database {database}", f"use {database}",
                  "create table t (id int primary key auto_increment, k int, c varchar(200), key (k))",
                  f"insert into t (k, c) select seq % 1000, repeat(char(97 + seq % 26), 180) from seq_1_to_{rows}")


def test_every_type_under_load(primary, joined):
    """Copies while transactions and DDL run, then replicates, also after a kill -9 of either side."""
    primary.client("--default-character-set=utf8mb4", text=SCRIPT)
    # An exact float, rows that only a lenient mode accepts, an AUTO_INCREMENT counter ahead of the rows.
    primary.query("create database odd", "create table odd.t (id int auto_increment primary key, f float, d double, b bit(9), z datetime, "
                  "t timestamp null, e enum('','x'), s varchar(50) character set latin1, bin varbinary(300), check (b < 100)) "
                  "auto_increment=900",
                  "set sql_mode='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', check_constraint_checks=0",
                  r"insert into odd.t values (0, 0.1, 1e300/3, b'101010101', '0000-00-00', '2038-01-19 03:14:07', '', 'ä\t\n\\', "
                  r"0x00095C0A0DFF27225C4E), (500, 1.17549e-38, 0, 0, '2023-02-31 00:00:00', null, 'x', '\\N', '')")
    # Computed in a time zone other than that of the copy.
    primary.query("create table odd.made (id int primary key, ts timestamp, d date as (date(ts)) stored, f float as (id / 7) stored, b bit(4) as (id) stored, "
                  "v int as (id + 1) virtual, n varchar(10) as (nullif(id, 1)) stored)", "set time_zone='+02:00'",
                  "insert into odd.made (id, ts) values (1, '2024-01-02 01:00:00')", "set time_zone='-03:00'",
                  "insert into odd.made (id, ts) values (2, '2024-01-02 23:00:00')")
    fill(primary, 20_000)
    primary.query("create database busy", "create table busy.t (id int primary key, v int, c varchar(100), key (v))",
                  "use busy", "insert into busy.t select seq, 0, 'a' from seq_1_to_1000", "create table busy.sum (id int primary key, n int)",
                  "insert into busy.sum values (1, 0)")
    stop = threading.Event()

    def write(worker):
        with primary.connect(autocommit=False) as session, session.cursor() as cursor:
            number = 0
            while not stop.is_set():
                number += 1
                try:
                    cursor.execute(f"update busy.t set v = v + 1, c = repeat('x', {number % 90}) where id = {(number * 7 + worker * 13) % 1000 + 1}")
                    cursor.execute("update busy.sum set n = n + 1")
                    session.commit()
                except pymysql.err.OperationalError as error:
                    assert error.args[0] in (1205, 1213), error
                    session.rollback()

    workers = [threading.Thread(target=write, args=(worker,)) for worker in range(3)]
    for worker in workers:
        worker.start()
    try:
        let_run(0.3)
        joined.start()
        # A consistent state: every transaction has changed one row and the sum.
        assert "snapshot of" in joined.said() and "is complete" in joined.said(), joined.said()
        primary.query("create table busy.later (a int primary key)", "insert into busy.later values (1)")
        let_run(0.3)
        joined.kill()
        joined.start()
        let_run(0.3)
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    catch_up(joined, primary)
    assert check_same_tables(primary, joined) > 21_000
    assert joined.query("select sum(v) from busy.t") == joined.query("select n from busy.sum")
    assert joined.query("select @@gtid_binlog_state") == primary.query("select @@gtid_binlog_state")
    odd = "select f + 0e0, d, b + 0, hex(bin), hex(s), cast(z as char) from odd.t"
    assert joined.query(odd) == primary.query(odd)
    made = "select d, f + 0e0, b + 0, v, n from odd.made order by id"
    assert joined.query(made) == primary.query(made)
    assert [row[1].split("AUTO_INCREMENT=")[1].split()[0] for row in joined.query("show create table odd.t")] == ["900"]
    # It keeps its state over a clean shutdown, and can become a primary.
    assert joined.stop() == 0
    joined.start()
    primary.query("insert into busy.later values (2)")
    catch_up(joined, primary)
    primary.kill()
    joined.query("stop slave", "reset slave all", "insert into busy.later values (3)")
    assert joined.query("select * from busy.later") == ((1,), (2,), (3,))


def test_snapshot_is_one_state_of_all_tables(primary, joined):
    """The copy alone, without replication: each transaction changes both tables, and other sessions read their
    snapshots."""
    primary.query("create database d", *[f"create table d.t{table} (id int primary key, v int)" for table in range(4)],
                  *[f"insert into d.t{table} values (1, 0)" for table in range(4)])
    stop = threading.Event()

    def write():
        with primary.connect(autocommit=False) as session, session.cursor() as cursor:
            while not stop.is_set():
                for table in range(4):
                    cursor.execute(f"update d.t{table} set v = v + 1")
                session.commit()

    worker = threading.Thread(target=write)
    worker.start()
    try:
        let_run(0.2)
        status, said = joined.run("--prepare-only")
    finally:
        stop.set()
        worker.join()
    assert status == 0, said
    joined.complete = True
    joined.start("--skip-slave-start")
    values = {joined.query(f"select v from d.t{table}")[0][0] for table in range(4)}
    assert len(values) == 1 and values != {0}
    joined.query("start slave")
    catch_up(joined, primary)
    assert check_same_tables(primary, joined) == 4


def test_a_primary_that_logs_only_its_own(tmp_path, paceline):
    """Tests MariaDB's default (log_slave_updates=OFF) with an account that may not see its connections."""
    plain = MariaDb(tmp_path / "plain", "--skip-log-slave-updates").start()
    joined = Joined(tmp_path / "joined", plain)
    try:
        allow_readers(plain)
        plain.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
        assert "it is a replica that does not log" not in joined.run("--prepare-only")[1]
        joined.complete = True
        joined.start()
        catch_up(joined, plain)
        joined.close()
        # A primary that is itself a replica.
        start_replica(plain, paceline)
        paceline.query("create database e")
        wait_for("the primary to replicate", lambda: plain.query("show databases like 'e'"))
        joined = Joined(tmp_path / "again", plain)
        assert "it is a replica that does not log what it replicates" in joined.refuses()
        plain.query("stop slave")
        status, said = joined.run("--prepare-only")
        assert status == 0 and "note: it was a replica" in said, said
    finally:
        joined.close()
        plain.close()


def test_a_killed_join_looks_incomplete_and_can_be_repeated(primary, joined):
    """After a kill -9 in the middle, nothing looks complete, and a second run completes it."""
    fill(primary, 400_000)
    joined.join_options += ["--parallel=1"]
    joined.spawn()
    wait_for("the copy", lambda: "snapshot of" in joined.said())
    let_run(0.3)
    joined.kill_halfway()
    joined.check_whole(400_000)


def test_ddl_while_tables_wait(primary, joined):
    fill(primary, 400_000)
    primary.query("create table big.small (a int primary key)", "insert into big.small values (1)")
    joined.join_options += ["--parallel=1"]
    joined.spawn()
    wait_for("the copy", lambda: "snapshot of" in joined.said())
    primary.query("alter table big.small force")
    assert joined.process.wait(60) == 1
    assert re.search(r"table big\.small: it was redefined on the primary before it could be copied \(error 1412 .*\); run the command again", joined.said())
    joined.start()
    catch_up(joined, primary)
    assert check_same_tables(primary, joined) == 400_001


@pytest.mark.parametrize("ddl", ["rename table a to x, b to a, x to b", "alter table a change v w varchar(20), change w v varchar(20), algorithm=instant",
                                 "alter table a drop column w, algorithm=instant; alter table a add column w varchar(20), algorithm=instant"])
def test_ddl_that_the_primary_reads_over(primary, joined, ddl):
    """The rows still exist in the snapshot, but the primary returns them as rows of another table, or with other
    columns."""
    fill(primary, 400_000)
    primary.query("use big", *[f"create table {table} (id int primary key, v varchar(20), w varchar(20))" for table in "ab"],
                  "insert into a values (1, 'a', 'A')", "insert into b values (1, 'b', 'B')")
    joined.join_options += ["--parallel=1"]
    joined.spawn()
    wait_for("the copy", lambda: "snapshot of" in joined.said())
    primary.query("use big", *ddl.split("; "))
    assert joined.process.wait(60) == 1
    assert re.search(r"table big\.[ab]: it was redefined on the primary before it could be copied; run the command again", joined.said())
    joined.start()
    catch_up(joined, primary)
    assert check_same_tables(primary, joined) == 400_002


def test_nothing_is_silently_left_out(primary, joined):
    primary.query("create database shop", "use shop", "create table a (id int primary key, b int, key (b))",
                  "create table b (id int primary key, a int, constraint fk foreign key (a) references a (id))",
                  "create table c (id int primary key, a int, constraint del foreign key (a) references a (id) on delete cascade)",
                  "create table m (id int primary key) engine=myisam", "create view v as select * from a",
                  "create table p (id int primary key) partition by hash (id) partitions 4", "create sequence s",
                  "create trigger tr before insert on a for each row set new.b = 1", "create procedure pr() select 1",
                  "create event ev on schedule every 1 day do select 1", "insert into a values (1, 1)", "insert into b values (1, 1)")
    said = joined.refuses()
    for line in ("event shop.ev: the user lacks the privilege to read it (--leave-out=events)", "sequence shop.s",
                 "table shop.m: engine MyISAM has no transactions", "table shop.p: error "):
        assert f"\n  {line}" in said, said
    assert "nothing was copied" in said
    # Kinds of objects can be left out on request; tables only if they are not replicated either.
    joined.join_options += ["--leave-out=views,triggers,routines,events,foreign-keys", "--replicate-ignore-table=shop.c,shop.m,shop.p,shop.s"]
    # Triggers are left out only if the log contains rows.
    primary.query("set global binlog_format=mixed")
    assert "its binlog_format is MIXED" in joined.refuses()
    primary.query("set global binlog_format=row")
    joined.start()
    catch_up(joined, primary)
    assert joined.query("show tables in shop") == (("a",), ("b",))
    assert joined.query("select * from shop.a, shop.b") == ((1, 1, 1, 1),)
    assert "FOREIGN KEY" not in joined.query("show create table shop.b")[0][1]
    # What is left out of the copy is also left out of replication.
    assert joined.query("select @@paceline_replicate_leave_out") == (("TRIGGERS,ROUTINES,EVENTS",),)
    primary.query("create trigger shop.later before insert on shop.a for each row set new.b = 3", "insert into shop.a values (2, 2)",
                  "drop procedure shop.pr", "alter event shop.ev disable")
    catch_up(joined, primary)
    assert joined.query("select * from shop.a") == ((1, 1), (2, 3))


def test_programs_come_over(primary, joined):
    """Triggers are not fired by the copied rows, and events do not run. An event whose time has passed does not come."""
    allow_readers(primary, "select, reload, trigger, show view, event")
    primary.query("create database shop", "use shop", "create table a (id int primary key, b varchar(40))", "create table log (id int auto_increment primary key, what varchar(90))",
                  "create function twice(x int) returns int deterministic return 2 * x", "create view v as select twice(id) d from a",
                  "create trigger first after insert on a for each row insert into log (what) values (concat('first ', new.id))",
                  "create trigger zero after insert on a for each row precedes first insert into log (what) values (concat('zero ', new.id))",
                  "set sql_mode='PIPES_AS_CONCAT'", "create trigger bi before insert on a for each row set new.b = 'x' || new.id",
                  "create procedure fill(n int) begin declare i int default 0; while i < n do insert into a values (i, null); set i = i + 1; end while; end",
                  "set time_zone = '+03:00'", "create event ev on schedule every 1 day starts '2030-01-01 00:00:00' do insert into log (what) values ('event')",
                  "set timestamp = 1000000000", "create event past on schedule at '2001-09-10 00:00:00' do select 1",
                  "create definer = reader@localhost event kept on schedule at '2001-09-10 00:00:00' on completion preserve comment 'ENABLE' do select 1",
                  "set timestamp = default", "call fill(3)")
    (before,) = primary.query("select default_collation_name from information_schema.schemata where schema_name = 'shop'")[0]
    primary.query("alter database shop collate latin1_bin")
    assert f"procedure shop.fill: it was created when its database had the collation {before}, which is now latin1_bin" in joined.refuses()
    primary.query(f"alter database shop collate {before}")
    joined.start()
    catch_up(joined, primary)
    assert check_same_tables(primary, joined) == 9
    assert joined.query("select * from shop.v order by d") == ((0,), (2,), (4,))
    for what in ("trigger shop.first", "trigger shop.zero", "trigger shop.bi", "procedure shop.fill", "function shop.twice"):
        assert joined.query(f"show create {what}")[0][:3] == primary.query(f"show create {what}")[0][:3]
    assert joined.query("select event_name, status, time_zone, definer from information_schema.events order by 1") == \
        primary.query("select event_name, 'SLAVESIDE_DISABLED', time_zone, definer from information_schema.events where event_name <> 'past' order by 1")
    joined.query("set sql_log_bin = 0", "insert into shop.a values (100, null)")
    assert joined.query("select what from shop.log order by id desc limit 2") == (("first 100",), ("zero 100",))
    assert joined.query("select b from shop.a where id = 100") == (("x100",),)


def test_views_that_may_not_be_seen(primary, joined):
    primary.query("create database shop", "create table shop.a (id int primary key)", "create view shop.v as select * from shop.a")
    allow_readers(primary, "select, reload, trigger")
    assert "\n  view shop.v: the user lacks the privilege SHOW VIEW (--leave-out=views)" in joined.refuses()
    joined.join_options += ["--leave-out=views"]
    joined.start()
    assert joined.query("show tables in shop") == (("a",),)


def test_views_come_over(primary, joined):
    """Includes views that read other views, whatever the order of their names."""
    primary.query("create database shop", "use shop", "create table a (id int primary key, b int)", "insert into a values (1, 1), (2, 2)",
                  "create view z as select * from a where id > 1 with local check option", "create view b (n) as select count(*) from z",
                  "create sql security invoker view e as select a.id, b.n from a, b", "create database only_views",
                  "create view only_views.v as select * from shop.e")
    joined.start()
    catch_up(joined, primary)
    for view in ("shop.z", "shop.b", "shop.e", "only_views.v"):
        assert joined.query(f"show create view {view}")[0][1] == primary.query(f"show create view {view}")[0][1]
        assert joined.query(f"select * from {view} order by 1") == primary.query(f"select * from {view} order by 1")
    primary.query("create view shop.later as select * from b", "drop view e", database="shop")
    catch_up(joined, primary)
    assert joined.query("show tables in shop") == (("a",), ("b",), ("later",), ("z",))


def test_foreign_keys_come_over(primary, joined):
    """Includes their actions, whose changes are not in the primary's log."""
    primary.query("create database shop", "use shop", "create table z (id int primary key, b int, key (b))",
                  "create table a (id int primary key, z int, constraint del foreign key (z) references z (id) on delete cascade)",
                  "create table b (id int primary key, a int, constraint fk foreign key (a) references a (id) on delete set null)",
                  "insert into z values (1, 1), (2, 2)", "insert into a values (1, 1), (2, 2)", "insert into b values (1, 1), (2, 2)")
    joined.start()
    for table in "zab":
        assert joined.query(f"show create table shop.{table}")[0][1] == primary.query(f"show create table shop.{table}")[0][1]
    primary.query("delete from shop.z where id = 1")
    catch_up(joined, primary)
    assert joined.query("select * from shop.a") == ((2, 2),)
    assert joined.query("select * from shop.b order by id") == ((1, None), (2, 2))
    assert check_same_tables(primary, joined) == 4


def test_renamed_database(primary, joined):
    primary.query("create database one", "create table one.t (a int primary key)", "insert into one.t values (1)")
    joined.join_options += ["--replicate-rewrite-db=one->two"]
    joined.start()
    primary.query("insert into one.t values (2)")
    catch_up(joined, primary)
    assert joined.query("select * from two.t") == ((1,), (2,))


def test_what_cannot_be_joined_is_refused_with_the_reason(primary, joined, tmp_path):
    assert "its files cannot be copied: it is a MariaDB" in joined.refuses("--copy=files")
    assert "Access denied for user 'reader'" in Joined(tmp_path / "1", primary, password="wrong").refuses()
    assert "its server_id is 100 too" in joined.refuses("--server-id=100")
    wrong = Joined(tmp_path / "2", primary, "--replication-user=reader", "--replication-password=r'pw")
    wrong.join_options.remove(f"--replication-user={ACCOUNT}")
    assert "user 'reader' lacks the privilege REPLICATION SLAVE" in wrong.refuses()
    allow_readers(primary, "select, process")
    assert "user 'reader' lacks privileges on *.*: RELOAD, TRIGGER." in joined.refuses()
    allow_readers(primary)
    joined.datadir.mkdir()
    (joined.datadir / "precious").write_text("data")
    assert "is not empty" in joined.refuses()
    assert (joined.datadir / "precious").read_text() == "data"
    # If it cannot get the lock, it gives up and blocks no other session any more.
    with primary.connect() as other, other.cursor() as cursor:
        cursor.execute("backup stage start")
        (joined.datadir / "precious").unlink()
        assert "did not get its lock within 1 s" in joined.refuses("--lock-timeout=1")
        cursor.execute("backup stage end")
    primary.query("create database after")
    primary.stop()
    primary.start("--skip-log-bin")
    assert "it has no binary log" in joined.refuses()
    primary.stop()
    assert "Connection refused" in joined.refuses()
    assert list(joined.datadir.iterdir()) == []


def test_from_paceline(tmp_path, paceline, seed):
    """Copies the rows of a Paceline without any lock, while transactions and DDL continue."""
    paceline.client("--default-character-set=utf8mb4", text=SCRIPT)
    allow_readers(paceline)
    workload.create(paceline)
    load = workload.Load(paceline, 3, seed).start()
    joined = Joined(tmp_path / "joined", paceline, "--copy=rows")
    try:
        let_run(0.5)
        status, said = joined.run("--prepare-only")
        assert status == 0 and "no commit waited" in said, said
        paceline.query("create table load_test.later (a int primary key)", "insert into load_test.later values (1)")
        joined.complete = True
        joined.start()
        let_run(0.5)
        load.stop()
        catch_up(joined, paceline)
        assert check_same_tables(paceline, joined) > 20
        assert joined.query("select sum(amount) from load_test.account") == ((workload.ACCOUNTS * workload.AMOUNT_EACH,),)
        # A replica of this replica is served from the position of the copy on; before that it gets an error.
        assert joined.query("select @@gtid_binlog_state") == paceline.query("select @@gtid_binlog_state")
    finally:
        load.stop()
        joined.close()


def test_a_large_table_is_read_in_ranges(primary, joined):
    """Reads with several sessions that see the same state, while rows move from range to range."""
    primary.query("create database big", "create table big.t (id bigint, part int, c varchar(400), primary key (id, part))",
                  "use big", "insert into t select cast(seq as signed) * 1000 - 80000000, seq % 3, repeat(char(97 + seq % 26), 390) from seq_1_to_160000",
                  "create table big.u (id bigint unsigned primary key, c varchar(50))",
                  "insert into big.u values (0, 'least'), (18446744073709551615, 'greatest')", "analyze table big.t")
    stop = threading.Event()
    moved = []

    def move():
        with primary.connect() as session, session.cursor() as cursor:
            while not stop.is_set():
                # Move rows from one end to the other: a row read twice, or never, would be noticed.
                cursor.execute("update big.t set id = -id + 1 where id in (select id from (select min(id) id from big.t) t)")
                moved.append(cursor.rowcount)

    worker = threading.Thread(target=move)
    worker.start()
    primary.query("set global log_output='table', global general_log=1")
    try:
        joined.start()
    finally:
        stop.set()
        worker.join()
        primary.query("set global general_log=0")
    assert sum(moved) > 0
    asked = [row[0] for row in primary.query("select convert(argument using utf8mb4) from mysql.general_log where argument like "
                                                "'select `id`%from `big`.`t`%'")]
    assert len(asked) > 1 and all("FORCE INDEX (PRIMARY) WHERE `id`" in statement for statement in asked), asked
    catch_up(joined, primary)
    assert joined.query("select count(*), sum(id), sum(part) from big.t") == primary.query("select count(*), sum(id), sum(part) from big.t")
    assert joined.query("select * from big.u order by 1") == primary.query("select * from big.u order by 1")
