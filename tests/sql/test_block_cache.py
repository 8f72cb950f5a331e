"""Counters of the block cache: what statements find in it, and what they read from table files."""

from support.servers import Paceline

READS = 400
NAMES = ("Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads", "Innodb_data_read", "Innodb_data_reads", "Innodb_pages_read",
         "Paceline_block_cache_hits", "Paceline_block_cache_misses")


def counters(server):
    shown = {name: int(value) for name, value in server.query("show global status") if name in NAMES}
    return tuple(shown[name] for name in NAMES)


def read(server):
    """Reads rows that are far from each other, one with each statement."""
    with server.connect(database="t") as session, session.cursor() as cursor:
        for number in range(READS):
            cursor.execute("select length(pad) from a where id = %s", (1 + number * 50,))
            assert cursor.fetchall() == ((500,),)


def test_blocks_that_are_read_from_files_are_told_from_those_in_the_cache(tmp_path):
    server = Paceline(tmp_path / "server").start()
    server.query("create database t", "use t", "create table a (id int primary key, pad varbinary(500))",
                 "insert into a select seq, random_bytes(500) from seq_1_to_20000")
    # A server that stops writes its table files, and one that starts has nothing in its cache.
    assert server.stop() == 0
    server.start()
    before = counters(server)
    read(server)
    cold = tuple(now - then for now, then in zip(counters(server), before))
    read(server)
    warm = tuple(now - then - first for now, then, first in zip(counters(server), before, cold))
    server.close()
    for requests, misses, read_bytes, reads, pages, hits, own_misses in (cold, warm):
        assert requests == hits + misses and misses == reads == pages == own_misses
        # A thread may not have told of its last reads.
        assert requests > READS / 2
    assert cold[1] > READS / 2 and cold[2] > cold[1] * 4096
    assert warm[1] < READS / 10
