"""An item of the select list that has another value each time is evaluated once, also where MariaDB evaluates it again or
refuses the statement: a key of GROUP BY, groups that an index gives, an item that a subquery reads."""

import pytest

from support.servers import Paceline


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    ours = Paceline(tmp_path_factory.mktemp("paceline"), "--server-id=1")
    ours.start()
    ours.query("create database d")
    ours.query("create table d.t (a int primary key, b int, key(b))")
    ours.query("insert into d.t select seq, seq % 10 from d.seq_1_to_1000")
    yield ours
    ours.close()


GROUPED = "(select floor(rand() * 3) r, count(*) n from d.t group by r {rest}) x"


@pytest.mark.parametrize("rest", ["", "having r >= 0", "order by r desc"])
def test_each_group_shows_its_own_value(server, rest):
    found = server.query(f"select count(*), min(r), max(r), sum(n) from {GROUPED.format(rest=rest)}")
    assert list(found) == [(3, 0.0, 2.0, 1000)]


def test_a_group_of_several_keys_appears_once(server):
    groups = "select b, floor(rand() * 3) r, count(*) n from d.t group by b, 2"
    assert list(server.query(f"select count(*) from ({groups}) x group by b, r having count(*) > 1")) == []


def test_a_row_of_rollup_follows_the_groups_that_it_summarizes(server):
    rows = server.query("select floor(rand() * 3) r, count(*) from d.t group by r with rollup")
    assert [key for key, _ in rows] == [0.0, 1.0, 2.0, None]
    assert sum(count for _, count in rows[:-1]) == rows[-1][1] == 1000


def test_having_reads_what_is_shown_for_groups_in_index_order(server):
    found = server.query("select sum(r < .5) from (select a, rand() r from d.t group by a having r >= .5) x")
    assert list(found) == [(0,)]


def test_a_subquery_reads_what_is_shown(server):
    assert list(server.query("select sum(r <> s) from (select rand() r, (select r) s from d.t) x")) == [(0,)]
