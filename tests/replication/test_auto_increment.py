"""Definitions that give rows their AUTO_INCREMENT values: a replica, which numbers the rows itself, comes to the same."""

import pytest
from support.replication import assert_same, wait_for_replica
from support.servers import MariaDb, Paceline


@pytest.mark.parametrize("chain", [(Paceline, MariaDb), (Paceline, Paceline), (MariaDb, Paceline)], indirect=True)
@pytest.mark.parametrize("definition", ["add id int auto_increment primary key", "add id int auto_increment primary key, modify b bigint",
                                        "modify n int auto_increment primary key"])
def test_rows_get_the_same_numbers(chain, definition):
    primary, replica = chain
    primary.query("create database d", "create table d.t (b int, n int)", "insert into d.t values (1, 0), (2, null), (3, 0)",
                  "set auto_increment_increment=10, auto_increment_offset=3", f"alter table d.t {definition}", "insert into d.t (b) values (4)")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
