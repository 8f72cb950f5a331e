"""The lab's experiment that drives a server."""

import subprocess

from support.servers import BINARY

LAB = BINARY.parent / "paceline-lab"


def run(*arguments):
    return subprocess.run([LAB, "--quick", *arguments], capture_output=True, text=True)


def test_scheduling_measures_each_way(tmp_path):
    result = run("scheduling", "--server", BINARY, "--output", tmp_path)
    assert result.returncode == 0, result.stderr
    for way in ("handed from session to session", "one thread", "adaptive, the default", "no log"):
        assert f"| {way} " in result.stdout
    assert (tmp_path / "scheduling.svg").read_text().startswith("<svg")


def test_a_server_that_does_not_start_is_an_error(tmp_path):
    result = run("scheduling", "--server", "/bin/false", "--output", tmp_path)
    assert result.returncode == 1
    assert "the server does not start" in result.stderr
