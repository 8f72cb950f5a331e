"""slave_run_triggers_for_rbr: rows of a primary fire triggers of the replica, as in MariaDB."""

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
