"""The fixed part of the exams of drivers, frameworks and change data capture: the programs of tests/exams/frameworks that need
seconds. Package managers fetch what a machine lacks, into a cache outside of the checkout."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAM = Path(__file__).resolve().parent.parent / "exams" / "frameworks"
# Together about three minutes on a machine that has the packages.
SUITES = ["java_mariadb", "java_mysql", "flyway", "liquibase", "debezium", "node_drivers", "sequelize", "typeorm", "knex", "zongji", "go_canal"]
SECONDS_MAX = 120


@pytest.mark.parametrize("suite", SUITES)
def test_a_program_sees_what_it_sees_on_mariadb(suite, tmp_path):
    done = subprocess.run([sys.executable, EXAM, "--suite", suite, "--report", tmp_path, "--seconds-max", str(SECONDS_MAX)], capture_output=True, text=True,
                          env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / f"{suite}.paceline.jsonl").exists(), done.stdout
