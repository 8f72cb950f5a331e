"""Views with the privileges of their definer and of the account that uses them: Paceline gives the answers of a real
MariaDB."""

import pymysql
import pytest

from support.servers import MariaDb, Paceline

SETUP = [
    "create database open_one", "create database closed", "create table closed.t (a int primary key, b int)",
    "insert into closed.t values (1, 2), (2, 3)", "create table open_one.u (a int)", "insert into open_one.u values (1)",
    "create user owner@'%' identified by 'p', reader@'%' identified by 'p', maker@'%' identified by 'p', gone@'%' identified by 'p'",
    "create user writer@'%' identified by 'p', keeper@'%' identified by 'p'", "grant all on closed.* to keeper@'%'",
    "grant insert, update, delete on open_one.* to writer@'%'", "grant select on closed.* to writer@'%'",
    "grant select on closed.* to owner@'%'", "grant select, show view on open_one.* to reader@'%'",
    "grant select, create view on open_one.* to maker@'%'", "grant select on *.* to gone@'%'",
    "create definer=owner@'%' view open_one.of_owner as select a, b from closed.t",
    "create definer=owner@'%' sql security invoker view open_one.of_invoker as select a from closed.t",
    "create definer=reader@'%' view open_one.of_reader as select a from closed.t",
    "create definer=gone@'%' view open_one.of_gone as select a from closed.t",
    "create view open_one.of_root as select b from open_one.of_owner",
    "create sql security invoker view open_one.twice as select a from open_one.of_owner",
    "create sql security invoker view open_one.thrice as select a from open_one.of_invoker",
    "create definer=keeper@'%' view open_one.of_keeper as select a, b from closed.t where a > 0 with check option",
    "create definer=keeper@'%' sql security invoker view open_one.of_invoking_keeper as select a, b from closed.t",
    "create sql security invoker view open_one.within as select a, b from open_one.of_keeper",
    "drop user gone@'%'",
]
WRITES = ["insert into open_one.{} (a) values (7)", "insert into open_one.{} (a) values (-7)", "update open_one.{} set a = 8", "delete from open_one.{}"]
STATEMENTS = {
    "writer": [write.format(view) for view in ("of_owner", "of_keeper", "of_invoking_keeper", "within", "of_gone") for write in WRITES],
    "keeper": [write.format("of_keeper") for write in WRITES],
    "reader": ["select * from open_one.of_owner order by 1", "select * from open_one.of_invoker", "select * from open_one.of_reader",
               "select * from open_one.of_gone", "select * from open_one.of_root order by 1", "select * from open_one.twice order by 1",
               "select * from open_one.thrice", "select * from closed.t", "show create view open_one.of_owner",
               "create view open_one.mine as select 1", "drop view open_one.of_owner", "select o.a from open_one.u o join open_one.of_owner v on v.a = o.a",
               "alter view open_one.of_owner as select 1"],
    "maker": ["create view open_one.mine as select a from open_one.u", "create view open_one.wrong as select a from closed.t",
              "create or replace view open_one.mine as select 1", "create definer=owner@'%' view open_one.other as select 1",
              "show create view open_one.mine", "select * from open_one.mine", "drop view open_one.mine", "create view closed.v as select 1"],
}


def answers(server, user, statements):
    said = []
    for statement in statements:
        try:
            said.append((statement, server.query(statement, user=user, password="p")))
        except pymysql.MySQLError as error:
            said.append((statement, error.args))
    return said


@pytest.fixture
def servers(tmp_path):
    ours = Paceline(tmp_path / "paceline", "--server-id=100")
    theirs = MariaDb(tmp_path / "mariadb")
    try:
        for server in (ours.start(), theirs.start()):
            # An anonymous account of the installation would win over '%'.
            server.query("drop user if exists ''@localhost", f"drop user if exists ''@'{server.query('select @@hostname')[0][0]}'")
            server.query(*SETUP)
        yield ours, theirs
    finally:
        ours.close()
        theirs.close()


@pytest.mark.parametrize("user", STATEMENTS)
def test_view_privileges_are_mariadbs(servers, user):
    ours, theirs = (answers(server, user, STATEMENTS[user]) for server in servers)
    assert ours == theirs


def test_a_definer_that_no_longer_exists(servers):
    for server in servers:
        with pytest.raises(pymysql.MySQLError) as error:
            server.query("select * from open_one.of_gone")
        assert error.value.args == (1449, "The user specified as a definer ('gone'@'%') does not exist")
