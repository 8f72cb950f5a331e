"""A runner for Django's tests that writes each test's outcome to the file $EXAM_OUTCOMES."""

import json
import os
import unittest

from django.test.runner import DiscoverRunner

FILE = open(os.environ["EXAM_OUTCOMES"], "a", encoding="utf-8")


class RecordingResult(unittest.TextTestResult):
    def record(self, test, outcome, message=""):
        FILE.write(json.dumps({"test": test.id(), "outcome": outcome, "message": str(message)[-700:]}) + "\n")
        FILE.flush()

    def addSuccess(self, test):
        super().addSuccess(test)
        self.record(test, "passed")

    def addError(self, test, err):
        super().addError(test, err)
        self.record(test, "failed", f"{err[0].__name__}: {err[1]}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.record(test, "failed", f"{err[0].__name__}: {err[1]}")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.record(test, "failed", f"{err[0].__name__}: {err[1]}")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.record(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.record(test, "passed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.record(test, "failed", "it was expected to fail")


class RecordingRunner(DiscoverRunner):
    def get_resultclass(self):
        return RecordingResult
