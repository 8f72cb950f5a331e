"""The lab's experiments that drive servers."""

import os
import subprocess
import tempfile

import pytest

from support.servers import BINARY

LAB = BINARY.parent / "paceline-lab"


def run(*arguments, **environment):
    return subprocess.run([LAB, "--quick", *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **environment})


@pytest.fixture
def disk():
    """A directory that is not in memory: there MariaDB syncs nothing."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        yield directory


def rows(text):
    """Returns the rows of all tables, without their headings and rules, as lists of cells."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    rules = [number for number, cells in enumerate(lines) if set(cells[0]) == {"-"}]
    return [cells for number, cells in enumerate(lines) if number not in rules and number + 1 not in rules]


def number(cell):
    return float(cell.replace(",", ""))


def test_scheduling_measures_each_way(tmp_path):
    result = run("scheduling", "--server", BINARY, "--output", tmp_path)
    assert result.returncode == 0, result.stderr
    assert [row[0] for row in rows(result.stdout)] == ["handed from session to session", "one thread", "adaptive, the default", "no log"]
    assert (tmp_path / "scheduling.svg").read_text().startswith("<svg")


def test_fsyncs_of_the_kernel_are_those_of_the_server(tmp_path, disk):
    result = run("fsyncs", "--server", BINARY, "--clients", "1,8", "--queries", 160, "--directory", disk, "--output", tmp_path)
    assert result.returncode == 0, result.stderr + result.stdout
    syncs, rates = {}, {}
    for row in rows(result.stdout):
        if len(row) == 7:
            syncs[row[0], row[1]] = number(row[2]), number(row[4])
        elif len(row) == 5:
            rates[row[0], row[1]] = number(row[2])
    assert list(syncs) == list(rates) == [("Paceline", "1"), ("MariaDB", "1"), ("Paceline", "8"), ("MariaDB", "8")]
    assert all(rate > 0 for rate in rates.values())
    # A client alone shares no sync with another. Beside the queries there are some statements of mariadb-slap, and now
    # and then a sync that no commit waits for.
    kernel, status = syncs["Paceline", "1"]
    assert 160 <= status <= kernel <= status + 10 and status <= 180, result.stdout
    # MariaDB's own count has one of the two syncs of a commit.
    kernel, status = syncs["MariaDB", "1"]
    assert kernel >= 2 * 160 and 160 <= status <= kernel - 160, result.stdout
    # Eight share.
    assert syncs["Paceline", "8"][0] < syncs["Paceline", "1"][0], result.stdout
    assert ["mended", "26,092", "0.26", "6.10"] in rows(result.stdout)
    assert (tmp_path / "fsyncs.svg").read_text().startswith("<svg")
    assert os.listdir(disk) == []


def test_hot_row_measures_each_way(tmp_path, disk):
    result = run("hot-row", "--server", BINARY, "--clients", 8, "--window-ms", 500, "--directory", disk, "--output", tmp_path)
    assert result.returncode == 0, result.stderr
    ways = ("early release", "release after the sync", "MariaDB")
    rates = {row[0]: number(row[2]) for row in rows(result.stdout)}
    assert list(rates) == [f"{way}, {count}" for count in ("1 row", "10 rows") for way in ways]
    assert all(rate > 0 for rate in rates.values()), result.stdout
    assert (tmp_path / "hot-row.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("early_release", ["ON", "OFF"])
def test_updates_of_one_row_share_no_sync(early_release, paceline):
    """As docs/lab/hot-row.md says. It has to be changed if this ends."""
    paceline.query("create database d", "create table d.t (a int primary key, b int)", "insert into d.t values (1, 0)", "set global sync_binlog = 1",
                   f"set global paceline_early_lock_release = {early_release}")
    syncs = "show status like 'Innodb_data_fsyncs'"
    [(_, before)] = paceline.query(syncs)
    subprocess.run(["mariadb-slap", "--no-defaults", "--user=root", f"--socket={paceline.socket}", "--skip-ssl", "--create-schema=d", "--no-drop", "--concurrency=8",
                    "--number-of-queries=160", "--query=update t set b = b + 1 where a = 1"], check=True, capture_output=True)
    [(_, after)] = paceline.query(syncs)
    assert paceline.query("select b from d.t") == ((160,),)
    assert int(after) - int(before) >= 160


@pytest.mark.parametrize("experiment", ["fsyncs", "hot-row"])
def test_missing_programs_are_named(experiment, tmp_path):
    result = run(experiment, "--server", BINARY, "--mariadb", "/nonexistent/mariadbd", "--output", tmp_path, PATH="")
    assert result.returncode == 1
    missing = ["/nonexistent/mariadbd", "mariadb-install-db", *(["mariadb-slap", "strace"] if experiment == "fsyncs" else [])]
    assert f"there is no {' and no '.join(missing)} " in result.stderr


@pytest.mark.parametrize("command", [("scheduling", "--server", "/bin/false"),
                                     ("fsyncs", "--server", BINARY, "--mariadb", "/bin/false")])
def test_a_server_that_does_not_start_is_an_error(command, tmp_path):
    result = run(*command, "--output", tmp_path)
    assert result.returncode == 1
    assert "/bin/false: the server does not start" in result.stderr
