"""UNIQUE keys on TEXT, for which MariaDB has hidden columns that are in its row events, and not in ours."""

import pytest
from support.replication import assert_same, wait_for_replica
from support.servers import MariaDb, Paceline


@pytest.mark.parametrize("chain", [(Paceline, MariaDb), (MariaDb, Paceline), (Paceline, Paceline)], indirect=True)
def test_rows_are_found_by_the_primary_key(chain):
    primary, replica = chain
    primary.query("create database d", "create table d.t (id int primary key, a text, b text, n int, unique (a), unique (b, n))",
                  "insert into d.t values (1, repeat('a', 5000), 'b', 1), (2, null, 'b', 2), (3, 'c', null, null)",
                  "update d.t set n = 10 * id", "update d.t set a = concat(a, 'x'), id = id + 10 where id < 3", "delete from d.t where id = 3",
                  "alter table d.t add c int after id", "replace into d.t values (13, 1, 'cx', 'b', 20)", "update d.t set c = 5")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)


@pytest.mark.parametrize("chain", [(MariaDb, Paceline), (Paceline, Paceline)], indirect=True)
def test_rows_are_found_without_a_primary_key(chain):
    """A MariaDB replica of ours does not find them (docs/differences.md)."""
    primary, replica = chain
    primary.query("create database d", "create table d.t (id int not null, a text, n int, unique (a))",
                  "insert into d.t values (1, repeat('a', 5000), 1), (2, null, 2), (3, 'c', 3)",
                  "update d.t set n = 10 * id", "update d.t set a = concat(a, 'x') where id < 3", "delete from d.t where id = 3")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
