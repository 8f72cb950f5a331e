"""slave_run_triggers_for_rbr: rows of a primary fire triggers of the replica, as in MariaDB."""

import re
import subprocess

import pytest

from support.replication import change_master, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

TABLES = [
    "create database d",
    "create table d.t (a int primary key, b varchar(20), c double)",
    "create table d.keyless (a int, b varchar(20))",
    "create table d.marked (a int primary key, n int)",
    "create table d.heard (a int)",
    "create table d.parent (a int primary key)",
    "create table d.child (a int primary key, p int, foreign key (p) references d.parent (a) on delete cascade)",
    "create table d.notes (number int auto_increment primary key, note varchar(200))",
]
# The primary's own trigger: a replica repeats it only with ENFORCE. (A MariaDB replica goes wrong if such a trigger writes to another table: it
# takes the flag of the last table of the statement for that of all.)
PRIMARYS_TRIGGER = "create trigger d.marked before insert on d.marked for each row set new.n = new.n + 1"
TRIGGERS = [
    "create trigger d.t_bi before insert on d.t for each row set new.b = concat(new.b, '!')",
    "create trigger d.t_ai after insert on d.t for each row insert into d.notes (note) values (concat('insert ', new.a, ' ', ifnull(new.b, 'null')))",
    "create trigger d.t_bu before update on d.t for each row insert into d.notes (note) values (concat('update ', old.a, ' ', new.a, ' ', new.b))",
    "create trigger d.t_ad after delete on d.t for each row insert into d.notes (note) values (concat('delete ', old.a, ' ', old.b))",
    "create trigger d.k_ai after insert on d.keyless for each row insert into d.notes (note) values (concat('keyless ', new.a))",
    "create trigger d.k_au after update on d.keyless for each row insert into d.notes (note) values (concat('keyless ', old.a, ' ', new.a))",
    "create trigger d.k_ad after delete on d.keyless for each row insert into d.notes (note) values (concat('keyless gone ', old.a))",
    "create trigger d.c_ad after delete on d.child for each row insert into d.notes (note) values (concat('child ', old.a))",
]
CHANGES = [
    "insert into d.t values (1, 'one', 1.5), (2, 'two', 0.1), (3, null, null)",
    "update d.t set b = concat(b, '+') where a < 3",
    "update d.t set a = a + 10",
    "delete from d.t where a = 12",
    "insert into d.keyless values (1, 'x'), (1, 'x'), (2, null)",
    "update d.keyless set a = 5 where a = 1",
    "delete from d.keyless where a = 5 limit 1",
    "insert into d.marked values (1, 0), (2, 10)",
    "insert into d.parent values (1), (2)",
    "insert into d.child values (10, 1), (11, 1), (12, 2)",
    "delete from d.child where a = 10",
]


def rows(server):
    return [server.query(f"select * from d.{table} order by 1, 2") for table in ("t", "keyless")] + [
        server.query("select * from d.marked order by a"), server.query("select * from d.child order by a"), server.query("select note from d.notes order by number")]


@pytest.mark.parametrize("primary_kind", [MariaDb, Paceline], ids=["mariadb", "paceline"])
@pytest.mark.parametrize("value", ["NO", "YES", "LOGGING", "ENFORCE"])
def test_triggers_run_as_on_a_mariadb_replica(primary_kind, value, tmp_path):
    primary = primary_kind(tmp_path / "primary", "--server-id=1", "--log-bin=bin", *(["--binlog-format=row"] if primary_kind is MariaDb else [])).start()
    replicas = [kind(tmp_path / kind.__name__.lower(), f"--server-id={number}", "--log-bin=bin", "--log-slave-updates", f"--slave-run-triggers-for-rbr={value}").start()
                for number, kind in ((2, Paceline), (3, MariaDb))]
    try:
        replication_user(primary)
        primary.query(*TABLES, PRIMARYS_TRIGGER)
        for replica in replicas:
            change_master(replica, primary, master_use_gtid="slave_pos")
            replica.query("start slave")
            wait_for_replica(replica, primary)
            replica.query("set sql_log_bin=0", *TRIGGERS)
        primary.query(*CHANGES)
        primary.query("start transaction", "insert into d.t values (100, 'all', 3)", "update d.t set b = 'or' where a = 100", "insert into d.parent values (9)",
                      "delete from d.t where a = 100", "insert into d.t values (101, 'kept', 4)", "commit")
        for replica in replicas:
            wait_for_replica(replica, primary)
        ours, theirs = map(rows, replicas)
        assert ours == theirs
        notes = [note for note, in ours[-1]]
        assert ("insert 1 one!" in notes) == (value != "NO")
        assert ours[2] == (((1, 2), (2, 12)) if value == "ENFORCE" else ((1, 1), (2, 11)))
        # A restart replays the log without running triggers: their rows are in it.
        replicas[0].kill()
        replicas[0].start()
        assert rows(replicas[0]) == ours
    finally:
        for server in [*replicas, primary]:
            server.close()


def test_what_is_missing_stops_the_replica_as_in_mariadb(tmp_path):
    primary = MariaDb(tmp_path / "primary", "--server-id=1", "--log-bin=bin", "--binlog-format=row").start()
    replicas = [kind(tmp_path / kind.__name__.lower(), f"--server-id={number}", "--slave-run-triggers-for-rbr=YES").start() for number, kind in ((2, Paceline), (3, MariaDb))]
    try:
        replication_user(primary)
        primary.query(*TABLES)
        told = []
        for replica in replicas:
            change_master(replica, primary, master_use_gtid="slave_pos")
            replica.query("start slave")
            wait_for_replica(replica, primary)
            replica.query("set sql_log_bin=0", *TRIGGERS[:4])
        primary.query("insert into d.t values (1, 'one', 1), (2, 'two', 2)")
        for replica in replicas:
            wait_for_replica(replica, primary)
            replica.query("set sql_log_bin=0", "delete from d.t where a = 1", "insert into d.t values (5, 'taken', 5)")
        primary.query("update d.t set b = 'x' where a = 1")
        for replica in replicas:
            wait_for("the replica to stop", lambda: slave_status(replica)["Slave_SQL_Running"] == "No")
            status = slave_status(replica)
            told.append((status["Last_SQL_Errno"], status["Last_SQL_Error"].split(";")[0]))
            replica.query("set global slave_exec_mode='IDEMPOTENT'", "start slave")
            wait_for_replica(replica, primary)
            replica.query("set global slave_exec_mode='STRICT'")
        assert told[0] == told[1] and int(told[0][0]) == 1032
        # The triggers' own errors, too.
        for replica in replicas:
            replica.query("set sql_log_bin=0", "create trigger d.refuse before delete on d.t for each row signal sqlstate '45000' set message_text='not here'")
        primary.query("delete from d.t where a = 2")
        for replica in replicas:
            wait_for("the replica to stop", lambda: slave_status(replica)["Slave_SQL_Running"] == "No")
            assert "not here" in slave_status(replica)["Last_SQL_Error"]
            assert replica.query("select count(*) from d.t where a = 2") == ((1,),)
            replica.query("set sql_log_bin=0", "drop trigger d.refuse", "start slave")
            wait_for_replica(replica, primary)
            assert replica.query("select count(*) from d.t where a = 2") == ((0,),)
    finally:
        for server in [*replicas, primary]:
            server.close()


def test_the_log_says_which_tables_have_triggers(tmp_path):
    described = []
    for kind in (Paceline, MariaDb):
        server = kind(tmp_path / kind.__name__.lower(), "--server-id=1", "--log-bin=bin", *(["--binlog-format=row"] if kind is MariaDb else [])).start()
        try:
            server.query(*TABLES, "create trigger d.marked after insert on d.marked for each row insert into d.heard values (new.a)",
                         "insert into d.marked values (1, 1)", "insert into d.parent values (1)")
            [(file, *_)] = server.query("show master status")
            listed = subprocess.run(["mariadb-binlog", "-R", "-h127.0.0.1", f"-P{server.port}", "-uroot", "-vv", file], check=True, capture_output=True, text=True).stdout
            maps = [line.split("Table_map: ")[1] for line in listed.splitlines() if "Table_map: " in line]
            described.append({(line.split(" mapped")[0], "has triggers" in line) for line in maps})
        finally:
            server.close()
    assert described[0] == described[1] == {("`d`.`marked`", True), ("`d`.`heard`", False), ("`d`.`parent`", False)}


def pair_of_replicas(tmp_path, *options):
    return [kind(tmp_path / kind.__name__.lower(), f"--server-id={number}", "--log-bin=bin", "--log-slave-updates", *options).start()
            for number, kind in ((2, Paceline), (3, MariaDb))]


def replicate(primary, replica, *local):
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    wait_for_replica(replica, primary)
    replica.query("set sql_log_bin=0", *local)


# What is done on the replica, what on the primary, the error of its rows, and how the replica is put right.
FAILURES = [
    (["insert into d.t values (5, 'taken', 5)"], "insert into d.t values (4, 'x', 1), (5, 'y', 1), (6, 'z', 1)", 1062, "delete from d.t where a = 5"),
    (["create trigger d.refuse before insert on d.t for each row begin if new.a = 11 then signal sqlstate '45000' set message_text = 'not here'; end if; end"],
     "insert into d.t values (10, 'x', 1), (11, 'y', 1), (12, 'z', 1)", 1644, "drop trigger d.refuse"),
    (["delete from d.keyless where a = 8"], "update d.keyless set b = 'new' where a in (7, 8, 9)", 1032, "insert into d.keyless values (8, 'x')"),
]


@pytest.mark.parametrize("skipped", ["OFF", "1062,1032,1644"])
def test_an_error_of_a_row_is_told_or_skipped_as_in_mariadb(skipped, tmp_path):
    primary = MariaDb(tmp_path / "primary", "--server-id=1", "--log-bin=bin", "--binlog-format=row").start()
    replicas = pair_of_replicas(tmp_path, "--slave-run-triggers-for-rbr=YES", f"--slave-skip-errors={skipped}")
    try:
        replication_user(primary)
        primary.query(*TABLES, "insert into d.keyless values (7, 'x'), (8, 'x'), (9, 'x')")
        for replica in replicas:
            replicate(primary, replica, *TRIGGERS)
        for prepared, change, error, mended in FAILURES:
            for replica in replicas:
                replica.query("set sql_log_bin=0", *prepared)
            primary.query(change)
            told = []
            for replica in replicas:
                if skipped == "OFF":
                    wait_for("the replica to stop", lambda: slave_status(replica)["Slave_SQL_Running"] == "No")
                    text = slave_status(replica)["Last_SQL_Error"]
                    # MariaDB also shows the condition that tells the trigger's line.
                    told.append(re.sub(r" At line 1 in d\.refuse, Error_code: 4094;", "", text))
                    replica.query("set sql_log_bin=0", mended, "start slave")
                    wait_for_replica(replica, primary)
                else:
                    wait_for_replica(replica, primary)
                    replica.query("set sql_log_bin=0", *([mended] if "trigger" in mended else []))
            assert len(set(told)) == (skipped == "OFF")
            assert all(f"Error_code: {error};" in text for text in told)
            assert rows(replicas[0]) == rows(replicas[1])
        counts = [replica.query("show global status like 'Slave_skipped_errors'") for replica in replicas]
        assert counts[0] == counts[1] == (("Slave_skipped_errors", "0" if skipped == "OFF" else "3"),)
    finally:
        for server in [*replicas, primary]:
            server.close()


def test_a_statement_of_several_tables_is_logged_with_its_text(tmp_path):
    """A trigger of the primary writes to another table after each row: events of both tables alternate. Only those of one fire triggers here."""
    primary = MariaDb(tmp_path / "primary", "--server-id=1", "--log-bin=bin", "--binlog-format=row").start()
    replicas = pair_of_replicas(tmp_path, "--slave-run-triggers-for-rbr=ENFORCE")
    try:
        replication_user(primary)
        primary.query(*TABLES, "create trigger d.marked after insert on d.marked for each row insert into d.heard values (new.a)")
        for replica in replicas:
            replicate(primary, replica, "drop trigger d.marked",
                      "create trigger d.marked after insert on d.marked for each row insert into d.notes (note) values (concat('marked ', new.a))",
                      "flush binary logs")
        primary.query("insert into d.marked values (1, 1), (2, 2), (3, 3)", "set binlog_annotate_row_events = 0", "insert into d.heard values (9)",
                      "insert into d.marked values (4, 4)")
        for replica in replicas:
            wait_for_replica(replica, primary)
            assert replica.query("select a from d.heard") == ((1,), (2,), (3,), (9,), (4,))
            assert replica.query("select note from d.notes order by number") == (("marked 1",), ("marked 2",), ("marked 3",), ("marked 4",))
        [(file, *_)] = replicas[0].query("show master status")
        listed = subprocess.run(["mariadb-binlog", "-R", "-h127.0.0.1", f"-P{replicas[0].port}", "-uroot", "-vv", file], check=True, capture_output=True, text=True).stdout
        texts = [line for line in listed.splitlines() if line.startswith("#Q>")]
        assert texts.count("#Q> insert into d.marked values (1, 1), (2, 2), (3, 3)") >= 1
        # Rows without a text get none of an earlier statement.
        last = listed.index("### INSERT INTO `d`.`heard`\n### SET\n###   @1=9 ")
        assert "values (1, 1)" not in listed[listed.rindex("GTID", 0, last):]
        before = rows(replicas[0])
        replicas[0].kill()
        replicas[0].start()
        assert rows(replicas[0]) == before
    finally:
        for server in [*replicas, primary]:
            server.close()


def test_rows_whose_columns_the_replica_lacks_fire_triggers(tmp_path):
    primary = MariaDb(tmp_path / "primary", "--server-id=1", "--log-bin=bin", "--binlog-format=row", "--binlog-row-image=minimal").start()
    replicas = pair_of_replicas(tmp_path, "--slave-run-triggers-for-rbr=YES")
    try:
        replication_user(primary)
        primary.query(*TABLES)
        for replica in replicas:
            replicate(primary, replica, *TRIGGERS, "alter table d.t drop column c")
        primary.query("insert into d.t values (1, 'one', 1)", "update d.t set c = 5", "update d.t set b = 'two', c = 6", "delete from d.t")
        for replica in replicas:
            wait_for_replica(replica, primary)
        ours, theirs = map(rows, replicas)
        assert ours == theirs
        assert ours[-1] == (("insert 1 one!",), ("update 1 1 one!",), ("update 1 1 two",), ("delete 1 two",))
    finally:
        for server in [*replicas, primary]:
            server.close()
