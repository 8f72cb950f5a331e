"""All variables and status values of MariaDB exist, with the same descriptions."""

import pytest

from support.servers import MariaDb, Paceline

DESCRIBED = """select lower(variable_name), variable_scope, variable_type, read_only, numeric_block_size, command_line_argument,
 numeric_min_value, numeric_max_value, enum_value_list, default_value from information_schema.system_variables"""
# Differences and their reasons.
OTHER_RANGES = {
    "gtid_domain_id": "the last domain is where the log keeps what is not replicated",
}
OTHER_DEFAULTS = {
    "bind_address": "only this machine, until somebody chooses otherwise",
    "binlog_format": "rows are the surest",
    "datadir": "a path",
    "aria_log_dir_path": "a path",
    "wsrep_data_home_dir": "a path",
    "wsrep_node_name": "the machine's name",
    "host_cache_size": "MariaDB sizes it by itself",
    "innodb_open_files": "MariaDB sizes it by itself",
    "thread_pool_size": "MariaDB counts the machine's cores",
    "table_open_cache_instances": "nothing is cached so",
    "thread_handling": "sessions share threads",
    "innodb_snapshot_isolation": "docs/variables.md",
    "performance_schema": "statements are counted unless somebody chooses otherwise",
    "sql_big_selects": "MariaDB's default follows max_join_size",
    "sync_binlog": "what is acknowledged is durable",
    "log_slave_updates": "a replica always logs",
    "port": "MariaDB's is 0 here and 3306 where it listens",
    "log_error": "MariaDB has a number there",
}


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    ours, model = Paceline(tmp_path_factory.mktemp("paceline")), MariaDb(tmp_path_factory.mktemp("mariadb"))
    try:
        ours.start()
        model.start()
        yield ours, model
    finally:
        ours.close()
        model.close()


def described(server):
    return {row[0]: row[1:] for row in server.query(DESCRIBED)}


def test_every_variable_of_mariadb_is_here_and_of_the_same_kind(servers):
    ours, model = (described(server) for server in servers)
    assert set(model) <= set(ours)
    different = {name: (ours[name][:8], model[name][:8]) for name in model
                 if ours[name][:8] != model[name][:8] and name not in OTHER_RANGES}
    assert different == {}


def test_defaults_are_mariadbs(servers):
    ours, model = (described(server) for server in servers)
    # Paths and files that MariaDB creates at start-up are empty, or specific to the server.
    different = {name: (ours[name][8], model[name][8]) for name in model
                 if ours[name][8] != model[name][8] and name not in OTHER_DEFAULTS and model[name][8] not in ("", None)}
    assert different == {}


def test_every_status_value_of_mariadb_is_here(servers):
    for scope in ("global", "session"):
        ours, model = ({row[0] for row in server.query(f"show {scope} status")} for server in servers)
        assert model - ours == set()
