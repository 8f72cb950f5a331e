"""Behaviour common to all commands: hidden passwords, versions, configuration files."""

import subprocess
from pathlib import Path

import pytest

from support.servers import BINARY, Paceline


def run(*arguments):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def test_a_password_does_not_stay_in_the_arguments(tmp_path):
    server = Paceline(tmp_path / "server", "--server-id=1", "--report-password=geheim").start()
    try:
        assert server.query("select @@report_password") == (("geheim",),)
        arguments = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
        assert b"--report-password=x" in arguments and b"geheim" not in arguments
    finally:
        server.close()


@pytest.mark.parametrize("command", ["server", "join", "backup", "archive", "binlog", "promote", "restore", "rewind", "demo", "workload",
                                     "ganglia", "sys-schema", "top"])
def test_every_command_prints_its_version(command):
    result = run(command, "--version")
    assert result.returncode == 0 and result.stdout.startswith(f"paceline-{command} "), result


def test_a_file_of_which_nothing_is_read(tmp_path):
    """The file has only a section for MariaDB."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nserver_id=7\n")
    server = Paceline(tmp_path / "server", "--config", str(tmp_path / "my.cnf")).start()
    try:
        assert "my.cnf is read: [paceline] is what counts, and it has only [mysqld]" in server.said()
        assert server.query("select @@server_id") == ((1,),)
    finally:
        server.close()
    refused = run("backup", "--from", "127.0.0.1:1", "--to", tmp_path / "backup", "--defaults-file", tmp_path / "my.cnf", "--user=x")
    assert "warning: nothing of the configuration file" in refused.stderr and "[client] is what counts" in refused.stderr


def test_the_groups_of_the_help():
    """An option that does not concern TLS is not in the TLS group."""
    own, tls = run("backup", "--help").stdout.split("\nTLS:\n")
    for option in ("--to ", "--incremental", "--rate-max", "--from ", "--net-timeout"):
        assert option in own and option not in tls


def test_the_help_of_the_server_lists_its_variables_in_groups():
    usual, dynamic = run("server", "--help").stdout.split("\nSystem variables:\n")
    dynamic, fixed = dynamic.split("\nSystem variables, only at startup:\n")
    fixed, without_effect = fixed.split("\nSystem variables without effect here:\n")
    assert "--datadir <VALUE>" in usual and "[default: ./data]" in usual and "--initialize-insecure" in usual
    assert "--max-connections <N>" in dynamic and "10 to 100000 [default: 151]" in dynamic
    assert "--paceline-worker-threads <N>" in fixed and "--wsrep-provider <VALUE>" in without_effect
    short = run("server", "-h").stdout
    assert "--port <N>" in short and "--max-connections" not in short


@pytest.mark.parametrize(
    "argument, message",
    [
        ("--nonsense=1", "unknown option '--nonsense'"),
        ("--port", "option '--port' needs a value"),
        ("--version-comment=x", "'version_comment' cannot be chosen at start-up"),
        ("data", "unexpected argument 'data'; options start with --"),
        ("--max-connections=many", "--max-connections=many: Incorrect argument type to variable 'max_connections'"),
    ],
)
def test_a_refused_option_is_named(argument, message):
    result = run("server", argument)
    assert result.returncode == 2 and result.stderr.startswith(f"paceline server: {message}"), result
