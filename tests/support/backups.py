"""`paceline backup` and `paceline restore`, and servers on restored directories."""

import os
import re
import subprocess

from support.servers import BINARY, Paceline


def paceline(*arguments, environment=None):
    """Runs a command. Returns its exit status, its output, and its messages."""
    result = subprocess.run([str(BINARY), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                            env={**os.environ, **(environment or {})})
    return result.returncode, result.stdout, result.stderr


def backup(server, place, *options, environment=None):
    """Makes a backup, which must succeed. Returns its output."""
    status, printed, said = paceline("backup", "--from", server.socket, "--to", place, *options, environment=environment)
    assert status == 0, said
    return printed


def restore(place, datadir, *options, environment=None):
    """Restores a backup, which must succeed. Returns the GTID position that it reports."""
    status, printed, said = paceline("restore", "--from", place, "--datadir", datadir, *options, environment=environment)
    assert status == 0, said
    assert not (datadir / "paceline.unfinished").exists()
    return re.search(r"all transactions up to '(.*?)'", printed).group(1)


def refused(*arguments, environment=None):
    """Runs a command that must fail, and returns its messages."""
    status, printed, said = paceline(*arguments, environment=environment)
    assert status == 1 and printed == "", (status, printed, said)
    return said


def on(datadir, directory, *options, server_id=50):
    """Returns a server on a restored data directory, and checks that it needs no long recovery."""
    return Paceline(directory, f"--server-id={server_id}", *options, datadir=datadir)


def binlog_position(server):
    return server.query("select @@global.gtid_binlog_pos")[0][0]


def checksums(server, *skip):
    """Returns CHECKSUM TABLE and the definition of every user table."""
    found = {}
    tables = server.query("select table_schema, table_name from information_schema.tables where table_type='BASE TABLE' and table_schema "
                          "not in ('mysql', 'information_schema', 'performance_schema', 'sys') order by 1, 2")
    for database, table in tables:
        if (database, table) in skip:
            continue
        [(_, checksum)] = server.query(f"checksum table `{database}`.`{table}` extended")
        [(_, definition)] = server.query(f"show create table `{database}`.`{table}`")
        found[database, table] = checksum, re.sub(r" AUTO_INCREMENT=\d+", "", definition)
    return found


def state_at(primary, directory, position, *skip):
    """Returns the contents of the primary's tables at a GTID position. They come from a replica that starts with the
    first transaction and stops there, which is independent of backups."""
    from support.real_replicas import allow_replicas, change_master
    from support.waiting import wait_for

    replica = Paceline(directory, "--server-id=60")
    replica.start()
    try:
        allow_replicas(primary)
        change_master(replica, primary)
        replica.query(f"start slave until master_gtid_pos='{position}'")
        wait_for(f"the replica to come to {position}",
                 lambda: replica.query(f"select master_gtid_wait('{position}', 0.5)")[0][0] == 0)
        return checksums(replica, *skip)
    finally:
        replica.close()
