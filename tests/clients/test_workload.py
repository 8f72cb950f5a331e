"""`paceline workload`: loads that check themselves, on Paceline and MariaDB."""

import json
import signal
import subprocess

import pytest

from support.servers import BINARY, Paceline
from support.waiting import wait_for

KINDS = ["bank", "key-value", "shop"]


def command(server, *arguments):
    return [str(BINARY), "workload", *map(str, arguments), "--socket", str(server.socket), "--user=root"]


def run(server, *arguments):
    return subprocess.run(command(server, *arguments), capture_output=True, text=True, timeout=120)


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def databases(server):
    return {name for (name,) in server.query("show databases")}


@pytest.mark.parametrize("kind", KINDS)
def test_each_load_runs_and_leaves_right_rows_on_both_servers(kind, paceline, mariadb):
    for server in (paceline, mariadb):
        before = databases(server)
        assert run(server, kind, "--prepare", "--rows=20").returncode == 0
        done = run(server, kind, "--seconds=1", "--threads=4", "--json")
        assert done.returncode == 0, done
        lines = objects(done.stdout)
        [summary] = [line for line in lines if "transactions" in line]
        assert summary["transactions"] > 0 and summary["errors"] == summary["lost_connections"] == {}
        assert 0 < summary["p50_us"] <= summary["p95_us"] <= summary["p99_us"]
        assert set(summary["retries"]) <= {"1020", "1205", "1213"}
        findings = [line for line in lines if "check" in line]
        assert len(findings) >= 2 and all(finding["right"] for finding in findings)
        checked = run(server, kind, "--check", "--json")
        # Only a run knows what it has committed.
        assert checked.returncode == 0 and objects(checked.stdout) == [line for line in findings if "is missing" not in line["check"]]
        assert run(server, kind, "--cleanup").returncode == 0
        assert databases(server) == before


def test_a_wrong_row_is_found(paceline):
    for kind, change in (("bank", "update workload_bank.account set balance = balance + 1 where id = 2"),
                         ("key-value", "update workload_key_value.item set version = version + 1 where id = 2"),
                         ("shop", "update workload_shop.product set stock = stock - 1 where id = 2")):
        assert run(paceline, kind, "--prepare", "--rows=5").returncode == 0
        paceline.query(change)
        done = run(paceline, kind, "--check")
        assert done.returncode == 1 and "WRONG: expected " in done.stdout, done
        assert "checks failed" in done.stderr


def test_a_load_survives_a_killed_server_and_ends_with_its_summary(paceline, tmp_path):
    out = tmp_path / "out"
    with open(out, "w") as stdout:
        load = subprocess.Popen(command(paceline, "bank", "--json", "--seconds=600"), stdout=stdout)
    try:
        def committed_lines():
            complete = out.read_text().rpartition("\n")[0]
            return [line for line in objects(complete) if line["transactions_per_second"] > 0]

        wait_for("a line of the load", committed_lines)
        paceline.kill()
        paceline.start()
        before = len(committed_lines())
        wait_for("lines after the restart", lambda: len(committed_lines()) > before + 1)
        load.send_signal(signal.SIGINT)
        assert load.wait(timeout=60) == 0
    finally:
        load.kill()
    lines = objects(out.read_text())
    [summary] = [line for line in lines if "transactions" in line]
    # 2013: the connection was lost; 2002: there was no server.
    assert "2013" in summary["lost_connections"] and summary["errors"] == {}
    assert [line["right"] for line in lines if "check" in line] == [True, True, True, True]


def test_databases_of_others_stay_as_they_are(paceline):
    paceline.query("create database shop", "create table shop.orders (id int primary key)")
    for action in ("--prepare", "--cleanup", "--check", "--seconds=1"):
        for database in ("shop", "mysql"):
            done = run(paceline, "shop", action, f"--database={database}")
            assert done.returncode == 1 and "was not created by `paceline workload`" in done.stderr, done
    assert paceline.query("show tables in shop") == (("orders",),)
    assert run(paceline, "bank", "--prepare", "--rows=5").returncode == 0
    assert "belongs to the load 'bank'" in run(paceline, "shop", "--cleanup", "--database=workload_bank").stderr
    assert "it has 5 rows" in run(paceline, "bank", "--prepare", "--rows=6").stderr
    # Another table in the load's database stays.
    paceline.query("create table workload_bank.own (id int)")
    assert run(paceline, "bank", "--cleanup").returncode == 0
    assert paceline.query("show tables in workload_bank") == (("own",),)


@pytest.mark.parametrize("definition", ["procedure other.p() select 1", "function other.f() returns int return 1",
                                        "event other.e on schedule every 1 day do select 1", "view other.v as select 1"])
def test_a_database_with_definitions_of_others_is_not_dropped(paceline, definition):
    assert run(paceline, "bank", "--prepare", "--rows=5", "--database=other").returncode == 0
    paceline.query(f"create {definition}")
    assert run(paceline, "bank", "--cleanup", "--database=other").returncode == 0
    assert "other" in databases(paceline)
    done = run(paceline, "bank", "--prepare", "--database=other")
    assert done.returncode == 1 and "was not created by `paceline workload`" in done.stderr, done


@pytest.mark.parametrize("rows", [-1, 0, 1, 2**40])
def test_an_impossible_number_of_rows_in_the_marker_is_an_error(paceline, rows):
    assert run(paceline, "bank", "--prepare", "--rows=5").returncode == 0
    paceline.query(f"update workload_bank.paceline_workload set row_count = {rows}")
    for action in ("--check", "--seconds=1"):
        done = run(paceline, "bank", action)
        assert done.returncode == 1 and "'paceline_workload' is not valid" in done.stderr, done


def test_a_preparation_that_was_interrupted_is_done_again(paceline):
    assert run(paceline, "bank", "--prepare", "--rows=5").returncode == 0
    paceline.query("update workload_bank.paceline_workload set is_complete = 0", "delete from workload_bank.account limit 3")
    assert "run it again" in run(paceline, "bank", "--check").stderr
    assert run(paceline, "bank", "--prepare", "--rows=7").returncode == 0
    assert run(paceline, "bank", "--check").returncode == 0
    assert paceline.query("select count(*) from workload_bank.account") == ((7,),)


def test_a_load_reads_its_login_from_an_option_file_and_reports_a_server_that_is_away(paceline, tmp_path):
    paceline.query("create user loader identified by 'secret'", "grant all on workload_bank.* to loader")
    options = tmp_path / "client.cnf"
    options.write_text(f"[client]\nuser=loader\npassword=secret\nhost=127.0.0.1\nport={paceline.port}\n")
    arguments = [str(BINARY), "workload", "bank", "--prepare", "--rows=5", "--defaults-file", str(options)]
    assert subprocess.run(arguments, timeout=60).returncode == 0
    refused = subprocess.run([*arguments, "--password=x"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1 and "Access denied for user 'loader'" in refused.stderr
    paceline.stop()
    away = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert away.returncode == 1 and "Connection refused" in away.stderr


def test_an_error_that_no_application_expects_fails_the_load(paceline):
    assert run(paceline, "bank", "--prepare", "--rows=5").returncode == 0
    paceline.query("create trigger workload_bank.refuse before insert on workload_bank.transfer for each row "
                   "signal sqlstate '45000' set message_text='no transfers today'")
    done = run(paceline, "bank", "--seconds=1", "--rate=20")
    assert done.returncode == 1 and "errors 1644:" in done.stdout and done.stdout.count(": right") == 4, done
    assert "transactions failed with unexpected errors; the first: " in done.stderr and "no transfers today" in done.stderr


def test_a_load_with_several_hosts_works_on_the_one_that_accepts_writes(paceline, tmp_path):
    replica = Paceline(tmp_path / "replica", "--read-only=1")
    try:
        replica.start()
        before = databases(replica)
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in (replica, paceline))
        load = [BINARY, "workload", "bank", "--hosts", hosts, "--rows=5", "--seconds=1", "--threads=2"]
        done = subprocess.run(load, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "is missing: right" in done.stdout, done
        assert databases(replica) == before and paceline.query("select count(*) from workload_bank.account") == ((5,),)
        paceline.stop()
        away = subprocess.run(load, capture_output=True, text=True, timeout=60)
        assert away.returncode == 1 and "none of the servers accepts writes" in away.stderr, away
    finally:
        replica.close()
