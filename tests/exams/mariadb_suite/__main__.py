#!/usr/bin/env python3
"""Runs MariaDB's own tests against Paceline, with MariaDB 10.11 as the control that decides which tests count.

    tests/exams/mariadb_suite [--suite main,innodb,rpl] [--server paceline|mariadb] [--test SUITE.NAME ...] [--report DIRECTORY]
    [--jobs N] [--seconds-max N] [--list FILE] [--whole] [--all-features] [--continue-on-error]

Each test runs with servers of its own, which start empty. A test counts if it uses no feature that Paceline lacks as
a whole (partitions, full-text, spatial, XA, system versioning) and the control passes it
here: these tests are listed in control/SUITE.txt. It passes if its output is what MariaDB's tree expects, except for
plans (see comparison.py). The report has a line of JSON for each test, and for each failed test the first lines that
differ.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pymysql

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from mariadb_suite.comparison import difference  # noqa: E402
from mariadb_suite.case import TestCase, find_cases  # noqa: E402
from mariadb_suite.server_of_test import ServerOfTest, servers_of_test  # noqa: E402
from mariadb_suite.tree import copy_tree  # noqa: E402

# Tests of a suite that count: those that the control passes.
CONTROL = Path(__file__).resolve().parent / "control"
SKIPPED = 62  # mysqltest's exit status for a test that does not apply here


# Of include/default_client.cnf.
CLIENTS = "".join(f"[{name}]\ndefault-character-set=latin1\n" for name in ("mysql", "mysqlshow", "mysqlimport", "mysqlcheck", "mysql_upgrade"))
CLIENTS += "[mysqltest]\nloose-skip-ssl\n[mysqlslap]\nloose-skip-ssl\n"


def control_of(suite: str, suffix: str = "") -> Path:
    return CONTROL / f"{suite.replace('/', '_')}{suffix}.txt"


def write_defaults(path: Path, servers: list[ServerOfTest]):
    """Writes the file by which clients find the servers: [client] for the first, [client.N] for each."""
    groups = [("client", servers[0]), *((f"client.{server.number}", server) for server in servers)]
    texts = [f"[{group}]\nuser=root\nhost=localhost\nport={server.server.port}\nsocket={server.server.socket}\n" for group, server in groups]
    path.write_text("".join(texts) + CLIENTS)


def addresses_of(servers: list[ServerOfTest], vardir: Path) -> dict[str, str]:
    """Returns the values of references in a configuration."""
    found = {"ENV.MYSQLTEST_VARDIR": str(vardir)}
    for server in servers:
        found[f"mysqld.{server.number}.port"] = str(server.server.port)
        found[f"mysqld.{server.number}.socket"] = str(server.server.socket)
    return found


def environment(case: TestCase, vardir: Path, servers: list[ServerOfTest]) -> dict[str, str]:
    """Returns the environment that mysql-test-run sets for tests."""
    first, second = servers[0], servers[min(1, len(servers) - 1)]
    defaults = f"--defaults-file={vardir / 'my.cnf'}"
    of_first, of_second = defaults, f"{defaults} --defaults-group-suffix=.{second.number}"
    told = {
        "LC_ALL": "C", "PATH": os.environ["PATH"], "HOME": str(vardir), "MYSQL_TEST_DIR": str(case.tree), "MYSQLTEST_VARDIR": str(vardir),
        "MYSQLTEST_REAL_VARDIR": str(vardir.resolve()), "MYSQL_TMP_DIR": str(vardir / "tmp"), "MTR_SUITE_DIR": str(case.suite_folder),
        "MTR_TEST_NAME": case.full_name, "USE_RUNNING_SERVER": "0", "MARIADB_DATADIR": str(first.server.directory / "data"),
        "MYSQL_BINDIR": "/usr", "MYSQL_SHAREDIR": "/usr/share/mysql", "MYSQL_CHARSETSDIR": "/usr/share/mysql/charsets",
        "SECURE_LOAD_PATH": str(case.tree / "std_data"), "DEFAULT_MASTER_PORT": "3306", "MTR_COMBINATIONS": ",".join(case.combination),
        "MASTER_MYPORT": str(first.server.port), "MASTER_MYSOCK": str(first.server.socket), "SLAVE_MYPORT": str(second.server.port),
        "SLAVE_MYSOCK": str(second.server.socket), "MYSQL": f"/usr/bin/mariadb {of_first}", "MYSQL_SLAVE": f"/usr/bin/mariadb {of_second}",
        "EXE_MYSQL": "/usr/bin/mariadb", "MYSQL_DUMP": f"/usr/bin/mariadb-dump {of_first}", "MYSQL_DUMP_SLAVE": f"/usr/bin/mariadb-dump {of_second}",
        "MYSQL_CHECK": f"/usr/bin/mariadb-check {of_first}", "MYSQL_SHOW": f"/usr/bin/mariadb-show {of_first}", "MYSQL_IMPORT": f"/usr/bin/mariadb-import {of_first}",
        "MYSQLADMIN": f"/usr/bin/mariadb-admin {of_first}", "MYSQL_BINLOG": f"/usr/bin/mariadb-binlog {defaults} --local-load={vardir / 'tmp'}",
        "MYSQL_UPGRADE": f"/usr/bin/mariadb-upgrade {of_first}", "MY_PERROR": "/usr/bin/perror", "REPLACE": "/usr/bin/replace",
        "MYSQL_MY_PRINT_DEFAULTS": "/usr/bin/my_print_defaults",
        "MYSQL_TZINFO_TO_SQL": "/usr/bin/mariadb-tzinfo-to-sql", "MYSQLD": "/usr/sbin/mariadbd", "MYSQL_SLAP": f"/usr/bin/mariadb-slap {of_first}", "BIG_TEST": "0", "UMASK": "0660", "UMASK_DIR": "0770",
        "MYSQL_TEST": f"/usr/bin/mariadb-test {defaults} --silent --tmpdir={vardir / 'tmp'} --logdir={vardir / 'log'} --database=test",
    }
    for name in case.combination:
        told[f"MTR_COMBINATION_{name.upper()}"] = "1"
    for server in servers:
        told[f"SERVER_MYPORT_{server.number}"] = str(server.server.port)
        told[f"SERVER_MYSOCK_{server.number}"] = str(server.server.socket)
        told[f"MYSQLD_DATADIR_{server.number}"] = str(server.server.directory / "data")
    if case.time_zone:
        told["TZ"] = case.time_zone
    return told | case.configuration.environment(addresses_of(servers, vardir))


def kill_group(process: subprocess.Popen):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run_test(case: TestCase, kind: str, work: Path, seconds_max: float, flags: list[str]) -> dict:
    """Runs one test with servers of its own, and returns its result."""
    started = time.monotonic()
    # Paths of UNIX sockets and paths in the output of tests must be short.
    vardir = Path(tempfile.mkdtemp(prefix="v", dir=work))
    for folder in ("tmp", "log"):
        (vardir / folder).mkdir(exist_ok=True)
    # Linked file by file, because servers can read only files below `vardir`.
    shutil.copytree(case.tree / "std_data", vardir / "std_data", copy_function=os.link)
    servers = servers_of_test(kind, case.servers, vardir)
    write_defaults(vardir / "my.cnf", servers)
    told = environment(case, vardir, servers)
    for server in servers:
        options = [re.sub(r"\$\{?(\w+)\}?", lambda name: told.get(name[1], ""), option) for option in case.options(server.number, addresses_of(servers, vardir))]
        server.configure(options, case.time_zone)
    outcome = {"test": case.full_name, "features": case.features, "options left out": sorted({name for server in servers for name in server.left_out})}

    def ended(how: str, difference: str) -> dict:
        # Changed in place, because `outcome` is extended below, when the servers have stopped.
        outcome.update(outcome=how, difference=difference)
        return outcome

    try:
        try:
            for server in servers:
                script = case.script(server.number)
                if script is not None:
                    subprocess.run(["/bin/sh", str(script)], env=told, cwd=case.tree, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
                server.start()
        except (AssertionError, pymysql.err.Error) as error:
            return ended("no start", str(error)[-2000:])
        answer = vardir / "answer.result"
        command = ["/usr/bin/mariadb-test", f"--defaults-file={vardir / 'my.cnf'}", "--silent", "--database=test", f"--tmpdir={vardir / 'tmp'}",
                   f"--logdir={vardir / 'log'}", f"--suite-dir={case.suite_folder}/",
                   f"--test-file={case.test_file}", "--record", f"--result-file={answer}", "--wait-for-pos-timeout=60", *flags]
        process = subprocess.Popen(command, cwd=case.tree, env=told, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            printed = process.communicate(timeout=seconds_max)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            kill_group(process)
            return ended("hangs", f"not done after {seconds_max:.0f} s")
        if process.returncode == SKIPPED:
            return ended("skipped", printed[-300:])
        expected = case.expected(vardir)
        given = answer.read_text(errors="surrogateescape") if answer.exists() else ""
        differing = difference(expected, given)
        if process.returncode != 0:
            return ended("fails", f"{printed[-1500:]}\n{differing}")
        return ended("differs" if differing else "passes", differing)
    finally:
        if outcome.get("outcome") not in ("passes", "skipped"):
            complaints = [f"server {server.number}: {line}" for server in servers for line in server.server.said().splitlines() if " ERROR " in line or "[ERROR]" in line]
            outcome["errors"] = complaints[-20:]
        for server in servers:
            crashed = server.server.process is not None and server.server.process.poll() not in (None, 0)
            if crashed or "panicked" in server.server.said():
                outcome["server"] = f"server {server.number} ended with {server.server.process.poll()}: {server.server.said()[-1500:]}"
            server.close()
        outcome["seconds"] = round(time.monotonic() - started, 1)
        shutil.rmtree(vardir, ignore_errors=True)


def listed(path: Path) -> set[str]:
    """Returns the tests that a file lists, one per line."""
    return {line.split("#")[0].strip() for line in path.read_text().splitlines()} - {""}


def known_reasons(suites: set[str]) -> dict[str, str]:
    """Returns the known reasons why tests of these suites do not pass."""
    reasons = {}
    for suite in suites:
        path = control_of(suite, "_known")
        for line in path.read_text().splitlines() if path.exists() else []:
            if line and not line.startswith("#"):
                name, _, reason = line.partition(": ")
                reasons[name] = reason
    return reasons


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="main,innodb,rpl")
    parser.add_argument("--server", choices=["paceline", "mariadb"], default="paceline")
    parser.add_argument("--test", nargs="*", default=[], help="only these, as SUITE.NAME")
    parser.add_argument("--list", type=Path, help="only the tests that this file names, a line each")
    parser.add_argument("--whole", action="store_true", help="all tests of a suite, not only those that control/SUITE.txt names")
    parser.add_argument("--report", type=Path, help="directory for results.jsonl and a .diff file of each test that fails")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds-max", type=float, default=90, help="time that a test may take before it counts as hanging")
    parser.add_argument("--continue-on-error", action="store_true", help="show all differences, not only those up to the first unexpected error")
    parser.add_argument("--all-features", action="store_true", help="also tests of features that Paceline refuses as a whole")
    arguments = parser.parse_args()

    work = Path(tempfile.mkdtemp(prefix="exam-"))
    chosen = set(arguments.test)
    if arguments.list:
        chosen |= listed(arguments.list)
    suites = {name.split(".")[0] for name in chosen} or set(arguments.suite.split(","))
    tree = copy_tree(work / "t", suites, arguments.server)
    cases = []
    for suite in sorted(suites):
        counting = control_of(suite)
        if chosen:
            names = chosen
        elif counting.exists() and arguments.server == "paceline" and not arguments.whole and not arguments.all_features:
            names = listed(counting)
        else:
            names = None
        for case in find_cases(tree, suite):
            if case.full_name in names if names is not None else arguments.all_features or not case.features:
                cases.append(case)
    if arguments.report:
        arguments.report.mkdir(parents=True, exist_ok=True)
    flags = ["--continue-on-error"] if arguments.continue_on_error else []
    counts = Counter()
    reasons = known_reasons(suites) if arguments.server == "paceline" else {}
    known, unexplained = 0, []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = [pool.submit(run_test, case, arguments.server, work, arguments.seconds_max, flags) for case in cases]
        for run in concurrent.futures.as_completed(runs):
            result = run.result()
            counts[result["outcome"]] += 1
            reason = reasons.get(result["test"])
            if result["outcome"] not in ("passes", "skipped"):
                known += reason is not None
                unexplained += [result["test"]] if reason is None else []
            elif reason is not None:
                print(f"{result['test']} is said not to pass: {reason}")
            print(f"{result['outcome']:<9} {result['test']}", flush=True)
            if arguments.report:
                with open(arguments.report / "results.jsonl", "a") as report:
                    report.write(json.dumps(result) + "\n")
                if result["outcome"] not in ("passes", "skipped"):
                    errors = "".join(f"{line}\n" for line in result.get("errors", []))
                    text = f"{result.get('server', '')}\n{result['difference']}\n{errors}"
                    (arguments.report / f"{result['test'].replace('/', '_')}.diff").write_text(text, errors="surrogateescape")
    shutil.rmtree(work, ignore_errors=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()))
    counted = sum(counts.values()) - counts["skipped"]
    if counted:
        print(f"{counts['passes']} of {counted} pass ({100 * counts['passes'] / counted:.1f} %); of {known} others the reason is known, of {len(unexplained)} not")
        if unexplained and reasons:
            print("not explained: " + " ".join(sorted(unexplained)))


if __name__ == "__main__":
    main()
