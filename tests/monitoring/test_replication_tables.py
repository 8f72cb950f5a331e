"""The tables replication_… of performance_schema, beside those of a MariaDB replica of the same primary."""

import pytest
from support.servers import MariaDb, Paceline
from support.waiting import wait_for

TABLES = {
    "replication_connection_configuration": "channel_name, host, port, user, using_gtid, ssl_allowed, ssl_ca_file, "
                                            "ssl_verify_server_certificate, connection_retry_interval, heartbeat_interval, "
                                            "ignore_server_ids, repl_do_domain_ids, repl_ignore_domain_ids",
    "replication_applier_configuration": "channel_name, desired_delay",
    "replication_applier_status": "channel_name, service_state, remaining_delay, count_transactions_retries",
    "replication_applier_status_by_coordinator": "channel_name, service_state, last_error_number, last_error_message, "
                                                 "last_error_timestamp, last_seen_transaction",
}


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    primary = Paceline(tmp_path_factory.mktemp("primary"), "--server-id=1").start()
    ours = Paceline(tmp_path_factory.mktemp("ours"), "--server-id=2").start()
    theirs = MariaDb(tmp_path_factory.mktemp("theirs"), "--performance-schema=ON").start()
    primary.query("create user r identified by 'r'", "grant replication slave on *.* to r", "create database d",
                  "create table d.t (a int primary key)", "insert into d.t values (1)")
    for replica in (ours, theirs):
        replica.query(f"change master to master_host='127.0.0.1', master_port={primary.port}, master_user='r', "
                      "master_password='r', master_use_gtid=slave_pos, ignore_server_ids=(7), master_heartbeat_period=5, master_ssl=0, "
                      "master_ssl_verify_server_cert=0", "start slave")
    yield primary, ours, theirs
    for server in (theirs, ours, primary):
        server.close()


def read(server, table):
    return server.query(f"select {TABLES[table]} from performance_schema.{table}")


def applied(server, key):
    return lambda: server.query("select 1 from information_schema.tables where table_schema = 'd'") and server.query(f"select a from d.t where a = {key}")


def test_the_tables_are_mariadbs(servers):
    primary, ours, theirs = servers
    for replica in (ours, theirs):
        wait_for("the row", applied(replica, 1))
    for table in TABLES:
        wait_for(f"{table}: the same rows", lambda: read(ours, table) == read(theirs, table))
        assert read(ours, table)


def test_an_error_is_shown(servers):
    primary, ours, theirs = servers
    for replica in (ours, theirs):
        replica.query("set sql_log_bin = 0", "insert into d.t values (2)")
    primary.query("insert into d.t values (2)")
    table = "replication_applier_status_by_coordinator"
    for replica in (ours, theirs):
        wait_for("the applier to stop", lambda: read(replica, table)[0][1] == "OFF")
    for replica in (ours, theirs):
        name, state, number, message, at, gtid = read(replica, table)[0]
        assert (number, at.year > 2000) == (1062, True) and "Duplicate entry" in message
