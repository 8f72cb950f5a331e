"""`paceline demo`: what it shows works, and nothing of it is left, whatever its end."""

import os
import pty
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from support.servers import BINARY
from support.waiting import wait_for


def processes(directory):
    """Returns the command lines of the processes that were given a path in a directory, by process id."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if f"{directory}/" in arguments:
            found[int(process.name)] = arguments
    return found


class Demo:
    """A running demo. `temporary` is the directory for temporary files."""

    def __init__(self, directory, temporary):
        self.out, self.process, self.temporary = directory / "out", None, temporary
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}

    def spawn(self, *options):
        """Starts the process without waiting until it is ready."""
        with open(self.out, "w") as out:
            self.process = subprocess.Popen([BINARY, "demo", *options], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            env=self.environment)

    def start(self, *options):
        self.spawn(*options)
        wait_for("the demo to be ready", lambda: "Ctrl-C ends it." in self.said() or self.process.poll() is not None)
        assert self.process.poll() is None, self.said()
        return self

    def said(self):
        return self.out.read_text()

    def directories(self):
        return list(self.temporary.iterdir())

    def process_of(self, name):
        [number] = [number for number, arguments in processes(self.temporary).items() if name in arguments]
        return number

    def nothing_is_left(self):
        return not self.directories() and not processes(self.temporary)


@pytest.fixture
def demo(tmp_path, short_path):
    demo = Demo(tmp_path, short_path)
    yield demo
    if demo.process is not None:
        demo.process.kill()
        demo.process.wait()
    wait_for("the end of all processes", lambda: not processes(demo.temporary))


def test_the_commands_that_are_shown_work(demo, tmp_path):
    """And Ctrl-C ends it, as closing the terminal and a system that shuts down do (the next test)."""
    demo.start()
    said = demo.said()
    for name in ("primary", "replica", "archive"):
        assert re.search(rf"^  {name}   127\.0\.0\.1:\d+   \S+/{name}\.sock", said, re.M), said
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "paceline").symlink_to(Path(BINARY).resolve())
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    commands = re.findall(r"^  ((?:mariadb|paceline|curl|tail) .*)$", said, re.M)
    assert len(commands) == 8
    answers = {}
    for command in commands:
        # These two are left by a key.
        if not command.startswith(("tail", "paceline top")):
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, env={**os.environ, "PATH": path},
                                  input="select count(*) > 0 from workload_bank.transfer\n")
            assert done.returncode == 0, (command, done)
            answers[command] = done.stdout
    prompt, replica, archive, check, metrics, lag = answers.values()
    assert prompt.split()[-1] == "1"
    assert all(text.count("_Running: Yes") == 2 for text in (replica, archive)), (replica, archive)
    assert check.count(": right") == 3
    assert "paceline_commit_seconds" in metrics
    demo.process.send_signal(signal.SIGINT)
    assert demo.process.wait(timeout=60) == 0
    assert demo.nothing_is_left()
    ended = demo.said().removeprefix(said)
    assert "the sum of all balances is 1000000: right" in ended and "All processes are stopped" in ended


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_after_a_signal(demo, number):
    demo.start().process.send_signal(number)
    assert demo.process.wait(timeout=60) == 0
    assert demo.nothing_is_left()


def test_a_demo_ends_by_itself(demo):
    demo.spawn("--seconds=1", "--rate=50")
    assert demo.process.wait(timeout=60) == 0
    assert demo.nothing_is_left()


@pytest.mark.parametrize("name", ["primary", "replica", "archive", "workload"])
def test_the_death_of_a_process_ends_the_demo_with_its_last_messages(demo, name):
    demo.start()
    os.kill(demo.process_of({"workload": " workload "}.get(name, f"/{name} ")), signal.SIGKILL)
    assert demo.process.wait(timeout=60) == 1
    shown = {"workload": "load"}.get(name, name)
    assert f"the {shown} has ended (signal: 9 (SIGKILL)). Its last messages:\n    " in demo.said(), demo.said()
    assert demo.nothing_is_left()


def test_nothing_is_left_of_a_killed_demo(demo):
    demo.start()
    assert len(processes(demo.temporary)) == 5
    demo.process.kill()
    wait_for("the end of all processes, and of the directory", demo.nothing_is_left)


def test_a_killed_cleaner_does_not_matter(demo):
    demo.start()
    os.kill(demo.process_of("--clean-up"), signal.SIGKILL)
    demo.process.terminate()
    assert demo.process.wait(timeout=60) == 0
    assert demo.nothing_is_left()


@pytest.mark.parametrize("cleaner", ["lives", "is killed"])
def test_a_kept_directory_has_all_data(demo, cleaner):
    demo.start("--keep")
    if cleaner == "is killed":
        os.kill(demo.process_of("--clean-up"), signal.SIGKILL)
    demo.process.terminate()
    assert demo.process.wait(timeout=60) == 0
    assert not processes(demo.temporary)
    [kept] = demo.directories()
    assert f"Kept: {kept}" in demo.said()
    for path in ("primary/tables", "replica/tables", "archive", "load.log", "primary.log"):
        assert (kept / path).exists(), path
    shutil.rmtree(kept)


class Terminal:
    """A demo in a terminal of its own."""

    def __init__(self, demo):
        self.output = b""
        self.process, self.screen = pty.fork()
        if self.process == 0:
            os.execve(BINARY, [str(BINARY), "demo"], {**demo.environment, "TERM": "xterm"})
        os.set_blocking(self.screen, False)

    def shows(self, text):
        try:
            self.output += os.read(self.screen, 65536)
        except (BlockingIOError, OSError):
            pass
        return re.search(text, self.output.decode(errors="replace"))

    def type(self, text):
        os.write(self.screen, text.encode())

    def wait(self):
        _, status = wait_for("the end of the demo", lambda: (found := os.waitpid(self.process, os.WNOHANG))[0] and found)
        return os.waitstatus_to_exitcode(status)


@pytest.fixture
def terminal(demo):
    terminal = Terminal(demo)
    wait_for("a prompt", lambda: terminal.shows(r"primary \[workload_bank\]> "))
    yield terminal
    wait_for("the end of all processes", lambda: not processes(demo.temporary))


def test_a_terminal_has_a_prompt_whose_end_ends_the_demo(demo, terminal):
    terminal.type("select 41 + count(*) as answer from account where id = 1;\r")
    wait_for("the answer", lambda: terminal.shows(r"\|     42 \|"))
    terminal.type("exit\r")
    wait_for("the end", lambda: terminal.shows("All processes are stopped"))
    assert terminal.wait() == 0
    assert demo.nothing_is_left()


def test_nothing_is_left_after_the_terminal_is_closed(demo, terminal):
    os.close(terminal.screen)
    assert terminal.wait() == 0
    assert demo.nothing_is_left()


def test_a_killed_demo_ends_its_prompt(demo, terminal):
    assert any("mariadb" in arguments for arguments in processes(demo.temporary).values())
    os.kill(terminal.process, signal.SIGKILL)
    assert terminal.wait() == -signal.SIGKILL
    wait_for("the end of all processes, and of the directory", demo.nothing_is_left)
