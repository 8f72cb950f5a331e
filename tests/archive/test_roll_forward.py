"""A table was dropped by mistake and the primary's disk is lost: an old backup and the archive bring back everything
except the mistake."""

import re
import shutil
import subprocess

import pytest

from conftest import Content, fill
from support.archive import Archive
from support.backups import backup, paceline, restore
from support.real_replicas import replica_status
from support.servers import MariaDb, Paceline
from support.waiting import wait_for


def copy_of(server, directory):
    """Makes a backup: a copy of a stopped server's files."""
    server.stop()
    shutil.copytree(server.directory / "data", directory / "data")
    server.start()


@pytest.mark.parametrize("restored_kind", [MariaDb, Paceline], ids=["mariadb", "paceline"])
def test_everything_but_the_mistake(start, tmp_path, restored_kind):
    primary = start(restored_kind, 1)
    archive = start(Archive, primary)
    fill(primary, 10)
    archive.wait_for(primary)
    restored_at = primary.query("select @@gtid_binlog_pos")[0][0]
    copy_of(primary, tmp_path / "restored")
    fill(primary, 10)
    fill(primary, 5, "b")
    rows = primary.query("select * from t.a")
    primary.query("drop table t.a")
    fill(primary, 5, "b")
    position = archive.wait_for(primary)
    primary.kill()
    shutil.rmtree(primary.directory)
    # Find the transaction of the mistake in the archive's own files.
    command = ["mariadb-binlog", "--no-defaults", *map(str, archive.files())]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    before, dropped = None, None
    for gtid, statement in re.findall(r"GTID (\d+-\d+-\d+)(?:(?!GTID \d).)*?(DROP TABLE|COMMIT|CREATE)", text, re.S | re.I):
        if statement.upper() == "DROP TABLE":
            dropped = gtid
            break
        before = gtid
    assert before and dropped
    restored = start(restored_kind, 7, name="restored", content=Content.KEPT)
    restored.query(f"set global gtid_slave_pos='{restored_at}'")
    restored.query(f"change master to master_host='127.0.0.1', master_port={archive.port}, master_user='repl', master_password='secret', "
                   "master_use_gtid=slave_pos, master_connect_retry=1")
    restored.query(f"start slave until master_gtid_pos='{before}'")
    wait_for("the replica to come to the statement before", lambda: restored.query("select @@gtid_slave_pos") == ((before,),))
    assert restored.query("select * from t.a") == rows
    restored.query("stop slave", f"set global gtid_slave_pos='{dropped}'", "start slave")
    wait_for("the replica to come to the end", lambda: restored.query("select @@gtid_slave_pos") == ((position,),))
    assert restored.query("select * from t.a") == rows
    assert restored.query("select count(*) from t.b") == ((10,),)


def test_a_backup_rolls_forward_through_the_archive(start, tmp_path):
    """Follows the guide: restore a backup, connect it to the archive, START SLAVE UNTIL, skip the mistake, continue.
    The primary's disk is lost, and every acknowledged commit is restored."""
    storage = tmp_path / "storage"
    primary = start(Paceline, 1)
    archive = start(Archive, primary, options=["--to", storage, "--max-binlog-total-size", "1"])
    fill(primary, 10)
    backup(primary, tmp_path / "backup")
    primary.query("set global rpl_semi_sync_master_timeout=60000", "set global rpl_semi_sync_master_enabled=on")
    wait_for("the archive to acknowledge", lambda: primary.query("show status like 'Rpl_semi_sync_master_clients'")[0][1] == "1")
    fill(primary, 10)
    archive.query("flush binary logs")
    fill(primary, 5, "b")
    # Also data that rows do not show.
    primary.query("update t.a set v=concat(v, '!') where id > 15")
    rows = primary.query("select * from t.a")
    primary.query("drop table t.a")
    archive.query("flush binary logs")
    fill(primary, 5, "b")
    primary.kill()
    shutil.rmtree(primary.directory)
    wait_for("files to be in the storage only", lambda: archive.status("Paceline_archive_remote_files") == "2")
    # Find the transaction of the mistake.
    status, text, said = paceline("binlog", "--storage", storage, archive.datadir)
    assert status == 0, said
    found = re.search(r"GTID (\d+-\d+-\d+)(?:(?!GTID \d).)*?DROP TABLE", text, re.S | re.I)
    dropped = found.group(1)
    before = re.findall(r"GTID (\d+-\d+-\d+)", text[:found.start()])[-1]

    position = restore(tmp_path / "backup", tmp_path / "restored" / "data")
    restored = start(Paceline, 7, name="restored", content=Content.KEPT)
    assert restored.query("select @@global.gtid_slave_pos") == ((position,),)
    restored.query(f"change master to master_host='127.0.0.1', master_port={archive.port}, master_user='repl', master_password='secret', "
                   "master_use_gtid=slave_pos, master_connect_retry=1", f"start slave until master_gtid_pos='{before}'")
    wait_for("the replica to stop by itself", lambda: replica_status(restored)["Slave_SQL_Running"] == "No")
    assert restored.query("select @@global.gtid_slave_pos") == ((before,),)
    assert restored.query("select * from t.a") == rows
    restored.query("stop slave", f"set global gtid_slave_pos='{dropped}'", "start slave")
    last = archive.query("select @@global.gtid_binlog_pos")[0][0]
    wait_for("the replica to come to the end", lambda: restored.query("select @@global.gtid_slave_pos") == ((last,),))
    assert restored.query("select * from t.a") == rows
    assert restored.query("select count(*) from t.b") == ((10,),)
