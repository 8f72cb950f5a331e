#!/usr/bin/env python3
"""Runs MariaDB's own tests against Paceline, with MariaDB 10.11 as the control that says which tests count.

    tests/exams/mariadb_suite [--suite main,innodb,rpl] [--server paceline|mariadb] [--test SUITE.NAME ...] [--report DIRECTORY]
                              [--jobs N] [--seconds-max N] [--list FILE] [--all-features] [--keep]

Each test runs with servers of its own, started empty. A test counts when it uses nothing that Paceline refuses as a whole (routines,
triggers, events, partitions, full-text, spatial) and the control passes it here. It passes when what it prints is what MariaDB's tree
expects, but for plans (see comparison.py). The report has a line of JSON for each test, and for each that fails the first lines in which
the answer differs.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from mariadb_suite.comparison import difference  # noqa: E402
from mariadb_suite.case import TestCase, find_cases  # noqa: E402
from mariadb_suite.server_of_test import ServerOfTest  # noqa: E402
from mariadb_suite.tree import copy_tree  # noqa: E402

SKIPPED = 62  # mysqltest's exit status for a test that does not apply here


def client(name: str, server: ServerOfTest) -> str:
    return f"/usr/bin/{name} --no-defaults --user=root --host=localhost --socket={server.server.socket}"


def environment(case: TestCase, vardir: Path, servers: list[ServerOfTest]) -> dict[str, str]:
    """What mysql-test-run tells tests of their surroundings."""
    first, last = servers[0], servers[-1]
    told = {
        "LC_ALL": "C", "TZ": "MET", "PATH": os.environ["PATH"], "HOME": str(vardir), "MYSQL_TEST_DIR": str(case.tree), "MYSQLTEST_VARDIR": str(vardir),
        "MYSQLTEST_REAL_VARDIR": str(vardir.resolve()), "MYSQL_TMP_DIR": str(vardir / "tmp"), "MTR_SUITE_DIR": str(case.folder.parent),
        "MTR_TEST_NAME": case.full_name, "USE_RUNNING_SERVER": "0", "MARIADB_DATADIR": str(first.server.directory / "data"),
        "MYSQL_BINDIR": "/usr", "MYSQL_SHAREDIR": "/usr/share/mysql", "MYSQL_CHARSETSDIR": "/usr/share/mysql/charsets",
        "SECURE_LOAD_PATH": str(case.tree / "std_data"), "DEFAULT_MASTER_PORT": "3306", "MTR_COMBINATIONS": "",
        "MASTER_MYPORT": str(first.server.port), "MASTER_MYSOCK": str(first.server.socket), "SLAVE_MYPORT": str(last.server.port),
        "SLAVE_MYSOCK": str(last.server.socket), "MYSQL": client("mariadb", first), "MYSQL_SLAVE": client("mariadb", last),
        "EXE_MYSQL": "/usr/bin/mariadb", "MYSQL_DUMP": client("mariadb-dump", first), "MYSQL_DUMP_SLAVE": client("mariadb-dump", last),
        "MYSQL_CHECK": client("mariadb-check", first), "MYSQL_SHOW": client("mariadb-show", first), "MYSQL_IMPORT": client("mariadb-import", first),
        "MYSQLADMIN": client("mariadb-admin", first), "MYSQL_BINLOG": "/usr/bin/mariadb-binlog --no-defaults --local-load=" + str(vardir / "tmp"),
        "MYSQL_UPGRADE": client("mariadb-upgrade", first), "MY_PERROR": "/usr/bin/perror", "REPLACE": "/usr/bin/replace",
        "MYSQL_TEST": f"/usr/bin/mariadb-test --no-defaults --user=root --socket={first.server.socket} --tmpdir={vardir / 'tmp'} --silent",
    }
    for server in servers:
        told[f"SERVER_MYPORT_{server.number}"] = str(server.server.port)
        told[f"SERVER_MYSOCK_{server.number}"] = str(server.server.socket)
        told[f"MYSQLD_DATADIR_{server.number}"] = str(server.server.directory / "data")
    return told


def kill_group(process: subprocess.Popen):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run_test(case: TestCase, kind: str, work: Path, seconds_max: float) -> dict:
    """Runs one test with servers of its own and says how it ended."""
    started = time.monotonic()
    # Paths of UNIX sockets and what tests print of paths are short.
    vardir = Path(tempfile.mkdtemp(prefix="v", dir=work))
    for folder in ("tmp", "log", "std_data"):
        (vardir / folder).mkdir(exist_ok=True)
    numbers = [1, 2] if case.is_replicated else [1]
    servers = [ServerOfTest(kind, number, vardir, case.options(number), case.is_replicated) for number in numbers]
    outcome = {"test": case.full_name, "features": case.features, "options left out": sorted({name for server in servers for name in server.left_out})}

    def ended(how: str, difference: str) -> dict:
        # Changed in place: what is added below, when the servers have ended, is to be in it too.
        outcome.update(outcome=how, difference=difference)
        return outcome

    try:
        try:
            for server in servers:
                server.start()
        except AssertionError as error:
            return ended("no start", str(error)[-2000:])
        answer = vardir / "answer.result"
        command = ["/usr/bin/mariadb-test", "--no-defaults", "--silent", "--user=root", "--password=", "--host=localhost",
                   f"--socket={servers[0].server.socket}", f"--port={servers[0].server.port}", "--database=test", f"--tmpdir={vardir / 'tmp'}",
                   f"--logdir={vardir / 'log'}", f"--suite-dir={case.folder.parent if case.suite != 'main' else case.folder}",
                   f"--test-file={case.test_file}", "--record", f"--result-file={answer}", "--wait-for-pos-timeout=60"]
        process = subprocess.Popen(command, cwd=case.tree, env=environment(case, vardir, servers), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            printed = process.communicate(timeout=seconds_max)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            kill_group(process)
            return ended("hangs", f"not done after {seconds_max:.0f} s")
        if process.returncode == SKIPPED:
            return ended("skipped", printed[-300:])
        expected = case.result_file.read_text(errors="surrogateescape")
        given = answer.read_text(errors="surrogateescape") if answer.exists() else ""
        told = difference(expected, given)
        if process.returncode != 0:
            return ended("fails", f"{printed[-1500:]}\n{told}")
        return ended("differs" if told else "passes", told)
    finally:
        for server in servers:
            crashed = server.server.process is not None and server.server.process.poll() not in (None, 0)
            if crashed or "panicked" in server.server.said():
                outcome["server"] = f"server {server.number} ended with {server.server.process.poll()}: {server.server.said()[-1500:]}"
            server.close()
        outcome["seconds"] = round(time.monotonic() - started, 1)
        shutil.rmtree(vardir, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="main,innodb,rpl")
    parser.add_argument("--server", choices=["paceline", "mariadb"], default="paceline")
    parser.add_argument("--test", nargs="*", default=[], help="only these, as SUITE.NAME")
    parser.add_argument("--list", type=Path, help="only the tests that this file names, a line each")
    parser.add_argument("--report", type=Path, help="directory for results.jsonl and a .diff file of each test that fails")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds-max", type=float, default=90, help="time that a test may take before it counts as hanging")
    parser.add_argument("--all-features", action="store_true", help="also tests of features that Paceline refuses as a whole")
    arguments = parser.parse_args()

    work = Path(tempfile.mkdtemp(prefix="exam-"))
    tree = copy_tree(work / "t")
    chosen = set(arguments.test)
    if arguments.list:
        chosen |= {line.split("#")[0].strip() for line in arguments.list.read_text().splitlines()} - {""}
    suites = {name.split(".")[0] for name in chosen} or set(arguments.suite.split(","))
    cases = [case for suite in sorted(suites) for case in find_cases(tree, suite)]
    if chosen:
        cases = [case for case in cases if case.full_name in chosen]
    elif not arguments.all_features:
        cases = [case for case in cases if not case.features]
    if arguments.report:
        arguments.report.mkdir(parents=True, exist_ok=True)
    counts = Counter()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = [pool.submit(run_test, case, arguments.server, work, arguments.seconds_max) for case in cases]
        for run in concurrent.futures.as_completed(runs):
            result = run.result()
            counts[result["outcome"]] += 1
            print(f"{result['outcome']:<9} {result['test']}", flush=True)
            if arguments.report:
                with open(arguments.report / "results.jsonl", "a") as report:
                    report.write(json.dumps(result) + "\n")
                if result["outcome"] not in ("passes", "skipped"):
                    text = f"{result.get('server', '')}\n{result['difference']}\n"
                    (arguments.report / f"{result['test']}.diff").write_text(text, errors="surrogateescape")
    shutil.rmtree(work, ignore_errors=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()))
    counted = sum(counts.values()) - counts["skipped"]
    if counted:
        print(f"{counts['passes']} of {counted} pass ({100 * counts['passes'] / counted:.1f} %)")


if __name__ == "__main__":
    main()
