"""Definitions that fill rows with AUTO_INCREMENT values or the time: replicas and recovery, which fill the rows
themselves, compute the same."""

import pytest
from support.replication import assert_same, wait_for_replica
from support.servers import MariaDb, Paceline


@pytest.mark.parametrize("chain", [(Paceline, MariaDb), (Paceline, Paceline), (MariaDb, Paceline)], indirect=True)
@pytest.mark.parametrize("definition", ["add id int auto_increment primary key", "add id int auto_increment primary key, modify b bigint",
                                        "modify n int auto_increment primary key",
                                        "add made datetime(6) not null default current_timestamp(6)"])
def test_rows_get_the_same_values(chain, definition):
    primary, replica = chain
    primary.query("create database d", "create table d.t (b int, n int)", "insert into d.t values (1, 0), (2, null), (3, 0)",
                  "set auto_increment_increment=10, auto_increment_offset=3", f"alter table d.t {definition}", "insert into d.t (b) values (4)")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    for server in chain:
        if isinstance(server, Paceline):
            server.kill()
            server.start()
    assert_same(primary, replica)
