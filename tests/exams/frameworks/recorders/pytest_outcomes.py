"""A plugin of pytest that writes each test's outcome to the file $EXAM_OUTCOMES."""

import json
import os

FILE = open(os.environ["EXAM_OUTCOMES"], "a", encoding="utf-8")


def pytest_runtest_logreport(report):
    if report.when == "call" or not report.passed:
        message = "" if report.passed else str(report.longrepr)[-700:]
        FILE.write(json.dumps({"test": report.nodeid, "outcome": report.outcome, "message": message}) + "\n")
        FILE.flush()
