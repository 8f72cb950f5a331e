"""Waiting in tests: for a condition, or to see that nothing happens. No other file of the tests calls time.sleep without a comment."""

import time

WAIT_SECONDS_MAX = 60


def wait_for(what, condition, seconds=WAIT_SECONDS_MAX, pause_seconds=0.02):
    """Waits until the condition gives something that is true, and returns it."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(pause_seconds)


def stays(what, condition, seconds):
    """Checks that the condition holds, and goes on holding for so many seconds: proves that something does not happen."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert condition(), f"it did not stay so: {what}"
        time.sleep(0.05)


def let_run(seconds):
    """Lets what was started run on: a load, so that there is something to check, or up to a moment at which it is disturbed."""
    time.sleep(seconds)
