"""`paceline top`: in a terminal with keys, and as plain text, on Paceline and MariaDB."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time

import pytest

from support.servers import BINARY
from support.waiting import wait_for

SECONDS_MAX = 60
LEAVES_SCREEN = b"\x1b[?1049l"
SHOWS_CURSOR = b"\x1b[?25h"


def command(server, *arguments, user="root"):
    return [str(BINARY), "top", "--socket", str(server.socket), f"--user={user}", *map(str, arguments)]


def text(server, *arguments, **options):
    done = subprocess.run(command(server, "--once", "--interval=1", *arguments, **options), capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 0, done
    return done.stdout


class Terminal:
    """The program in a terminal. `output` has all that it has written; a screen that is cleared is written completely."""

    def __init__(self, arguments, columns=150, lines=30):
        self.master, slave = pty.openpty()
        self.resize(columns, lines)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen(arguments, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.output = b""

    def resize(self, columns, lines):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            try:
                self.output += os.read(self.master, 1 << 16)
            except OSError:
                pass

    def shows(self, *texts, keys=""):
        """Presses keys and waits until the screen shows these texts. Only what has changed is sent, so it is drawn again."""
        os.write(self.master, keys.encode())
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            start = len(self.output)
            os.write(self.master, b"\x0c")
            quiet = time.monotonic() + 1
            while time.monotonic() < quiet:
                self.read(0.05)
                # Cells that are empty are not sent: the cursor moves over them.
                moved = re.sub(rb"\x1b\[[0-9;]*H", b" ", self.output[start:])
                screen = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", moved).decode(errors="replace")
                if all(text in screen for text in texts):
                    return screen
            assert self.process.poll() is None, self.output[-2000:]
            assert time.monotonic() < deadline, (texts, screen)

    def end(self, keys="", send=None):
        """Ends the program and checks that the terminal is as it was. Returns the exit status."""
        os.write(self.master, keys.encode())
        if send is not None:
            self.process.send_signal(send)
        deadline = time.monotonic() + SECONDS_MAX
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read(0.02)
        self.read(0.1)
        assert LEAVES_SCREEN in self.output and SHOWS_CURSOR in self.output.rpartition(LEAVES_SCREEN)[2]
        assert termios.tcgetattr(self.slave) == self.before
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal():
    started = []

    def start(arguments, **size):
        started.append(Terminal(arguments, **size))
        return started[-1]

    yield start
    for terminal in started:
        terminal.close()


@pytest.fixture
def waiting(request):
    """Sessions on a server: one holds a row, one waits for it. Returns their ids."""
    opened = []

    def wait(server):
        server.query("create database if not exists top_d", "create or replace table top_d.`größe` (a int primary key, b int)",
                     "insert into top_d.`größe` values (1, 1)")
        holder, waiter = server.connect(), server.connect()
        opened.extend([holder, waiter])
        holder.begin()
        holder.cursor().execute("update top_d.`größe` set b = 2")
        waiter.cursor().execute("set innodb_lock_wait_timeout = 1000")

        def update():
            try:
                waiter.cursor().execute("update top_d.`größe` set b = 3 /* \x1b[2J */")
            except Exception:
                pass

        thread = threading.Thread(target=update)
        thread.start()
        request.addfinalizer(thread.join)
        request.addfinalizer(lambda: server.query(f"kill {holder.thread_id()}") if alive(server, holder.thread_id()) else None)
        wait_for("the wait", lambda: server.query("select 1 from information_schema.innodb_lock_waits"))
        return holder.thread_id(), waiter.thread_id()

    yield wait


def alive(server, connection):
    return server.query(f"select 1 from information_schema.processlist where id = {connection}") != ()


def sections(shown):
    """Returns the text of each view by its title."""
    parts = re.split(r"^(Sessions|Statements|Locks|Transactions|Commits|Replication)$", shown, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def test_text_has_every_view_on_both_servers(paceline, mariadb, waiting):
    for server in (paceline, mariadb):
        holder, waiter = waiting(server)
        shown = text(server)
        assert "writable" in shown and "statements/s" in shown and "\x1b" not in shown
        views = sections(shown)
        [line] = [line for line in views["Locks"].splitlines() if line.startswith("row ")]
        assert re.search(rf"\b{waiter}\b.*\b{holder}\b.*Sleep, no statement.*`top_d`.`größe`.*update top_d.`größe` set b = 3", line), views
        assert re.search(rf"^ *{holder}  root@localhost *RUNNING", views["Transactions"], re.MULTILINE)
        assert "written to the log with one sync" in views["Commits"] and "feeds no replica" in views["Replication"]
        sessions = text(server, "--view=sessions", "--filter=SET B = 3")
        assert sections(sessions).keys() == {"Sessions"}
        assert re.search(rf"^ *{waiter}  root .*·\[2J", sessions, re.MULTILINE), sessions
        assert not re.search(rf"^ *{holder}  root", sessions, re.MULTILINE), sessions
        if server is paceline:
            assert "UPDATE `top_d` . `größe`" in views["Statements"] and re.search(r"^sync +\S+ ", views["Commits"], re.MULTILINE)
        else:
            assert "performance_schema may be OFF" in views["Statements"]


def test_what_a_missing_privilege_hides_is_said(paceline):
    paceline.query("create user top_nobody@localhost", "create user top_viewer@localhost", "grant process on *.* to top_viewer@localhost")
    shown = text(paceline, "--filter=nothing", user="top_nobody")
    assert ("information_schema.PACELINE_STATEMENTS: a privilege is missing: error 1227 (42000): Access denied; you need (at least one of) the "
            "PROCESS") in shown
    assert "SHOW ALL SLAVES STATUS: a privilege is missing" in shown and "perhaps only this account's own sessions" in shown
    views = sections(text(paceline, "--filter=nothing", user="top_viewer"))
    missing = {title for title, view in views.items() if "a privilege is missing" in view}
    assert missing == {"Locks", "Replication"} and "performance_schema.metadata_locks: a privilege" in views["Locks"]


def test_a_key_during_a_change_of_size_is_not_lost(paceline, terminal):
    screens = [terminal(command(paceline, "--interval=60")) for _ in range(10)]
    for screen in screens:
        screen.shows("1 Sessions")
    for number, screen in enumerate(screens):
        screen.resize(100 + number, 20)
        assert screen.end("q") == 0


def test_keys_and_a_kill_on_both_servers(paceline, mariadb, waiting, terminal):
    for server in (paceline, mariadb):
        holder, waiter = waiting(server)
        screen = terminal(command(server, "--interval=1"))
        screen.shows("1 Sessions", "update top_d.`größe` set b = 3 /* ·[2J")
        screen.shows("show or hide idle sessions", keys="?")
        screen.shows("nobody-has-this", keys="x/nobody-has-this")
        screen.shows("filter: nobody-has-this (Esc", keys="\r")
        screen.shows("PAUSED", "feeds no replica", keys=" 6")
        screen.shows("PAUSED", keys="1")
        screen.shows("every 1 s", "update top_d", keys=" /" + "\x7f" * 20 + "\r")
        screen.shows("sync", "commits/s:", keys="5")
        screen.shows("BLOCKER DOES", f"{holder}", keys="3")
        screen.shows(f"Kill the connection {holder}?", keys="k")
        screen.shows("nothing was killed", keys="n")
        assert alive(server, holder)
        screen.shows(f"KILL CONNECTION {holder}: done", keys="ky")
        wait_for("the end of the session", lambda: not alive(server, holder))
        screen.resize(30, 5)
        screen.shows("too small")
        screen.resize(120, 20)
        screen.shows("4 Transactions")
        assert screen.end("q") == 0


def test_the_terminal_is_restored_after_signals_and_a_stopped_server_is_said(paceline, terminal):
    for end in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        screen = terminal(command(paceline))
        screen.shows("1 Sessions")
        assert screen.end(send=end) == 0
    screen = terminal(command(paceline, "--interval=1"))
    screen.shows("1 Sessions")
    paceline.kill()
    screen.shows("trying again", "OLD")
    paceline.start()
    screen.shows("every 1 s", "q quit")
    assert screen.end("\x03") == 0


def test_without_a_terminal_or_a_server_it_says_why(paceline, tmp_path):
    done = subprocess.run(command(paceline), capture_output=True, text=True, timeout=SECONDS_MAX, stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and done.stderr == "paceline top: standard output is no terminal; --once or --batch print plain text\n"
    done = subprocess.run([BINARY, "top", "--once", "--socket", tmp_path / "none"], capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 1 and "cannot connect as 'root'" in done.stderr, done


def test_batch_ends_when_nobody_reads(paceline):
    with subprocess.Popen(command(paceline, "--batch", "--interval=1", "--view=commits"), stdout=subprocess.PIPE, text=True) as batch:
        titles = 0
        for line in batch.stdout:
            titles += line == "Commits\n"
            if titles == 2:
                break
        batch.stdout.close()
        assert batch.wait(timeout=SECONDS_MAX) == 0
