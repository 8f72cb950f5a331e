"""Replication over the compressed protocol (`slave_compressed_protocol`) between Paceline and a real MariaDB, in both
directions, with and without acknowledgements."""

import threading

import pytest
from support.line import Line
from support.replication import assert_same, change_master, replication_user, slave_status, wait_for_replica
from support.servers import MariaDb, Paceline

KINDS = {"mariadb": MariaDb, "paceline": Paceline}
WRITERS, ROWS, PAD = 4, 100, 2000


class Counting(Line):
    """A proxy that counts the bytes of the server."""

    sent = 0

    def passed(self, data, from_server):
        if from_server:
            self.sent += len(data)
        return data


@pytest.fixture
def start(tmp_path):
    started = []

    def begin(kind, name, *options):
        server = KINDS[kind](tmp_path / name, *options)
        started.append(server)
        return server.start()

    yield begin
    for server in started:
        server.close()


def insert(primary, writer):
    with primary.connect() as connection, connection.cursor() as cursor:
        for number in range(ROWS):
            cursor.execute("insert into d.t values (%s, %s)", (writer * ROWS + number, "x" * PAD))


@pytest.mark.parametrize("semi_sync", ["OFF", "ON"])
@pytest.mark.parametrize("primary_kind, replica_kind", [("paceline", "paceline"), ("mariadb", "paceline"), ("paceline", "mariadb")])
def test_the_stream_is_compressed_and_complete(start, primary_kind, replica_kind, semi_sync):
    primary = start(primary_kind, "primary", "--server-id=1", f"--rpl-semi-sync-master-enabled={semi_sync}",
                    "--rpl-semi-sync-master-timeout=60000", "--rpl-semi-sync-master-wait-no-slave=OFF")
    replica = start(replica_kind, "replica", "--server-id=2", "--slave-compressed-protocol=ON", f"--rpl-semi-sync-slave-enabled={semi_sync}")
    line = Counting(primary.port)
    try:
        replication_user(primary)
        change_master(replica, primary, port=line.port, master_use_gtid="slave_pos")
        replica.query("start slave")
        primary.query("create database d", "create table d.t (i int primary key, v text)")
        wait_for_replica(replica, primary)
        writers = [threading.Thread(target=insert, args=(primary, number)) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        wait_for_replica(replica, primary)
        assert_same(primary, replica)
        status = slave_status(replica)
        assert (status["Slave_IO_Running"], status["Last_IO_Error"]) == ("Yes", "")
        assert 0 < line.sent < WRITERS * ROWS * PAD / 2
        if semi_sync == "ON":
            counts = dict(primary.query("show status like 'rpl_semi_sync_master_%_tx'"))
            assert int(counts["Rpl_semi_sync_master_yes_tx"]) >= WRITERS * ROWS, counts
    finally:
        line.close()
