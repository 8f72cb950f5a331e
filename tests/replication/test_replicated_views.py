"""Views through replication in both directions, after kill -9, and through dumps: the logged texts are MariaDB's."""

import pytest

from support.replication import change_master, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline

TABLES = [
    "create database shop character set utf8mb4", "use shop",
    "create table item (id int primary key, name varchar(40), price decimal(8,2), key (name))",
    "create table sold (item int, at datetime, amount int)",
    "insert into item values (1, 'bell', 12.5), (2, 'saddle', 49.9), (3, 'wheel', 90)",
    "insert into sold values (1, '2024-01-01', 2), (1, '2024-02-01', 3), (3, '2024-02-02', 1)",
]
VIEWS = [
    "create view dear as   select * from item where price > 20   with check option",
    "create or replace view revenue (name, total) as select i.name, sum(s.amount * i.price) from item i join sold s on s.item = i.id group by i.name",
    "create algorithm=merge sql security invoker view cheap as select id, name from item where not price > 20 order by name",
    "create view if not exists both_kinds as select name from cheap union select name from dear",
    "alter view dear as select id, upper(name) as name, price from item where price between 20 and 60",
    "create view doomed as select 1", "rename table doomed to gone", "drop view gone", "drop view if exists nowhere",
    "create definer='someone'@'else' view foreign_one as select 'it''s' as a",
]
NAMES = ("both_kinds", "cheap", "dear", "foreign_one", "revenue")


def shown(server):
    """Returns a server's descriptions of its views."""
    created = [server.query(f"show create view shop.{name}")[0][1] for name in NAMES]
    listed = server.query("select table_name, view_definition, check_option, is_updatable, definer, security_type, algorithm from "
                          "information_schema.views where table_schema = 'shop' order by 1")
    kinds = server.query("show full tables in shop")
    return created, listed, kinds


def rows(server):
    return [server.query(f"select * from shop.{name} order by 1") for name in ("both_kinds", "cheap", "dear", "revenue")]


def logged(server, file):
    """Returns the texts of the log's Query events about views."""
    events = server.query(f"show binlog events in '{file}'")
    return [event[5] for event in events if event[2] == "Query" and "view" in event[5].lower()]


@pytest.mark.parametrize("kinds", [(Paceline, MariaDb), (MariaDb, Paceline), (Paceline, Paceline)],
                         ids=lambda kinds: "-".join(kind.__name__.lower() for kind in kinds))
def test_views_are_replicated(kinds, tmp_path):
    primary, replica = (kind(tmp_path / name, f"--server-id={number}", *(["--log-bin=binlog"] if kind is MariaDb else []))
                        for number, (kind, name) in enumerate(zip(kinds, ("primary", "replica")), 1))
    try:
        primary.start()
        replica.start()
        replication_user(primary)
        change_master(replica, primary)
        replica.query("start slave")
        primary.query(*TABLES)
        primary.query(*VIEWS, database="shop")
        wait_for_replica(replica, primary)
        assert shown(replica) == shown(primary)
        assert rows(replica) == rows(primary)
        # A kill -9 changes nothing, even if only the log has them.
        for server in (replica, primary):
            server.kill()
        primary.start()
        replica.start()
        primary.query("alter view cheap as select * from item where price < 13", "insert into item values (4, 'pump', 11)", database="shop")
        wait_for_replica(replica, primary)
        assert shown(replica) == shown(primary)
        assert rows(replica) == rows(primary)
    finally:
        replica.close()
        primary.close()


@pytest.fixture
def both(tmp_path):
    ours = Paceline(tmp_path / "paceline", "--server-id=1", "--log-bin=binlog")
    theirs = MariaDb(tmp_path / "mariadb", "--log-bin=binlog")
    try:
        yield ours.start(), theirs.start()
    finally:
        ours.close()
        theirs.close()


def test_the_log_has_mariadbs_texts(both):
    for server in both:
        server.query("reset master")
        server.query(*TABLES)
        server.query(*VIEWS, database="shop")
        server.query("use mysql", "create view shop.far (a, `b c`) as select id, name from shop.item", "drop view shop.far")
    ours, theirs = (logged(server, "binlog.000001") for server in both)
    assert ours == theirs
    assert len(ours) > 10


def test_a_dump_with_views_can_be_loaded(both):
    """In both directions. A dump of the loaded data is the same dump."""
    ours, theirs = both
    arguments = ("--single-transaction", "--skip-comments", "--databases", "shop")
    for source, target in ((ours, theirs), (theirs, ours)):
        for server in both:
            server.query("drop database if exists shop")
        source.query(*TABLES)
        source.query(*VIEWS, database="shop")
        dump = source.client(*arguments, program="mariadb-dump")
        assert dump.count("ALGORITHM=") == len(NAMES)
        target.client(text=dump)
        assert shown(target) == shown(source)
        assert rows(target) == rows(source)
        assert target.client(*arguments, program="mariadb-dump") == dump


def test_views_outlive_kills_and_flushes(tmp_path):
    """Views in table files and views that are only in the log are the same after a restart."""
    server = Paceline(tmp_path / "paceline", "--server-id=1").start()
    try:
        server.query(*TABLES)
        server.query(*VIEWS, database="shop")
        server.query("create view shop.listed as select table_name, table_rows >= 0 as n from information_schema.tables where table_schema='shop'")
        before = shown(server), rows(server)
        for end in (server.kill, server.stop, server.kill):
            end()
            server.start()
            assert (shown(server), rows(server)) == before
            assert server.query("select table_name from shop.listed order by 1")
        server.query("drop database shop")
        server.kill()
        server.start()
        assert server.query("select * from information_schema.views where table_schema = 'shop'") == ()
        server.query("create database shop")
        assert server.query("show tables in shop") == ()
    finally:
        server.close()
