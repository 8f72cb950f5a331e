"""pt-table-checksum finds the rows in which replicas differ: each server computes the checksums of its own rows."""

import shutil
import subprocess

import pytest

from support.replication import change_master, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline

DIFFERENCES_FOUND = 16


@pytest.mark.skipif(shutil.which("pt-table-checksum") is None, reason="needs the package percona-toolkit")
def test_differing_rows_of_two_kinds_of_replicas_are_found(servers):
    primary = servers(Paceline, 1)
    replicas = [servers(Paceline, 2), servers(MariaDb, 3)]
    replication_user(primary)
    for replica in replicas:
        change_master(replica, primary, master_use_gtid="slave_pos")
        replica.query("start slave")
    primary.query("create user tool@localhost identified by 'pt'", "grant all on *.* to tool@localhost", "create user tool@'%' identified by 'pt'",
                  "grant all on *.* to tool@'%'", "create database percona", "create database t",
                  "create table t.same (id int primary key, v varchar(40), d decimal(9, 3), f double, t timestamp null)",
                  "create table t.other (id int primary key auto_increment, v varchar(40) character set utf8mb4)",
                  "insert into t.same select seq, concat('row ', seq), seq / 7, seq / 7, '2026-01-01' from seq_1_to_2000",
                  "insert into t.other (v) select concat('größe ', seq) from seq_1_to_3000",
                  "create table percona.dsns (id int primary key auto_increment, parent_id int, dsn varchar(255) not null)", database="mysql")
    for replica in replicas:
        primary.query(f"insert into percona.dsns (dsn) values ('h=127.0.0.1,P={replica.port},u=tool,p=pt')")

    def compare():
        for replica in replicas:
            wait_for_replica(replica, primary)
        done = subprocess.run(["pt-table-checksum", f"h=127.0.0.1,P={primary.port},u=tool,p=pt", "--databases=t", "--chunk-size=500",
                               "--no-check-binlog-format", f"--recursion-method=dsn=h=127.0.0.1,P={primary.port},D=percona,t=dsns",
                               "--no-check-replication-filters", "--no-version-check", "--set-vars=innodb_lock_wait_timeout=5"],
                              capture_output=True, text=True, timeout=300)
        assert "rror" not in done.stdout.replace("ERRORS", "") + done.stderr, done.stdout + done.stderr
        return done

    done = compare()
    assert done.returncode == 0, done.stdout + done.stderr
    for number, replica in enumerate(replicas):
        replica.query("set sql_log_bin = 0", f"update t.other set v = 'differs' where id = {1000 * number + 700}")
    done = compare()
    assert done.returncode == DIFFERENCES_FOUND, done.stdout + done.stderr
    for number, replica in enumerate(replicas):
        found = replica.query("select tbl, chunk from percona.checksums where this_crc <> master_crc or this_cnt <> master_cnt")
        assert [table for table, _ in found] == ["other"], replica
    assert primary.query("select count(*) from percona.checksums where this_crc <> master_crc or this_cnt <> master_cnt") == ((0,),)
