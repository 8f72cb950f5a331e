"""Fixtures of the tests of monitoring."""

import contextlib
import itertools

import pytest
from support.devtools import Browser
from support.servers import Paceline, ReservedPort


@pytest.fixture
def serve(tmp_path):
    """Starts servers with an HTTP address, and stops them at the end. `http` is its URL on this machine."""
    numbers = itertools.count(1)
    with contextlib.ExitStack() as started:
        def start(*options, host="127.0.0.1", ready=True):
            number, port = next(numbers), ReservedPort()
            server = Paceline(tmp_path / f"server-{number}", f"--server-id={number}", f"--http-address={host}:{port.number}", *options)
            started.callback(server.close)
            server.reserved_http_port, server.http_port = port, port.number
            server.http = f"http://127.0.0.1:{port.number}"
            if ready:
                server.start()
            else:
                server.spawn()
            return server

        yield start


@pytest.fixture
def browse(tmp_path):
    with contextlib.ExitStack() as opened:
        def start(url):
            browser = Browser(tmp_path / "browser", url)
            opened.callback(browser.close)
            return browser

        yield start
