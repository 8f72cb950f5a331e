"""A CREATE TABLE … SELECT that cannot insert all of its rows: replicas are left without the table too."""

import pymysql
import pytest
from support.replication import assert_same, change_master, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline


@pytest.mark.parametrize("kind, options", [(Paceline, []), (MariaDb, ["--log-bin=b"])], ids=["paceline", "mariadb"])
def test_the_table_is_removed_from_replicas(servers, kind, options):
    primary, replica = servers(Paceline, 1), servers(kind, 2, *options)
    replication_user(primary)
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    primary.query("create database d")
    for definition in ("create table d.t (primary key (a)) select 1 a union all select 1", "create or replace table d.kept (a tinyint) select 300 a"):
        primary.query("create or replace table d.kept (z int)")
        with pytest.raises(pymysql.MySQLError):
            primary.query(definition)
    primary.query("create table d.t (primary key (a)) select 1 a union all select 2")
    wait_for_replica(replica, primary)
    assert replica.query("show tables from d") == (("t",),)
    assert_same(primary, replica)
