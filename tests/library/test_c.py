"""Programs that use MariaDB's client API, with the server in their process."""

import re
import subprocess
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parent.parent.parent


def exported(path):
    output = subprocess.run(["readelf", "--dyn-syms", "--wide", str(path)], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"(?:FUNC|OBJECT) +GLOBAL +DEFAULT +[0-9]+ (\S+@\S+)", output))


def test_exported_symbols_and_their_versions_are_those_of_libmariadb3(library):
    command = ["pkg-config", "--variable=libdir", "libmariadb"]
    directory = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    of_mariadb = exported(Path(directory) / "libmariadb.so.3")
    assert len(of_mariadb) > 300
    assert exported(library.path) == of_mariadb | {"paceline_listen@@libpaceline_1", "paceline_stop_listening@@libpaceline_1"}


@pytest.mark.parametrize("name", ["life", "statements", "threads"])
def test_program(library, tmp_path, name):
    program = tmp_path / name
    library.compile(PROGRAMS / f"{name}.c", program)
    assert library.run([program, tmp_path / "data"]) == "done\n"


def test_errors_of_the_start_are_on_standard_error(library, tmp_path):
    program = tmp_path / "start"
    library.compile(PROGRAMS / "start.c", program)

    def started(*arguments):
        done = subprocess.run([program, *arguments], env=library.environment(tmp_path, tmp_path / "data"), capture_output=True, text=True)
        return done.returncode, done.stderr

    assert started("--no-defaults", f"--datadir={tmp_path}/data", "--sync-binlog=0") == (0, "")
    assert started("--no-defaults", "--sync-binlog=0") == (1, "libpaceline: option '--datadir' is needed: the directory of the database\n")
    assert started("--sync-binlock=0") == (1, "libpaceline: unknown option '--sync-binlock'\n")
    status, text = started("--no-defaults", f"--datadir={tmp_path}")
    assert status == 1 and "is not empty" in text
    assert started(f"--defaults-file={tmp_path}/nothing")[1].startswith("libpaceline: cannot read the configuration file")


def blocks(language):
    """Returns the blocks of a language in the document's part about C."""
    part = (ROOT / "docs/embedding.md").read_text().split("\n## C\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", part, re.S)


def test_the_program_of_the_documents_compiles_and_runs_as_written(library, tmp_path):
    (source,) = blocks("c")
    readme = (ROOT / "README.md").read_text()
    assert source in readme and blocks("console")[0] in readme
    (tmp_path / "music.c").write_text(source)
    environment = library.environment(tmp_path, tmp_path / "unused")
    environment["PKG_CONFIG_PATH"] = str(library.directory / "lib/pkgconfig")
    session = re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", blocks("console")[0], re.M)
    assert len(session) == 3
    for command, output in session:
        printed = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
        assert printed == output, command


def test_a_program_makes_no_socket_that_has_a_name(library, tmp_path):
    (source,) = blocks("c")
    (tmp_path / "music.c").write_text(source)
    library.compile(tmp_path / "music.c", tmp_path / "music")
    calls = tmp_path / "calls"
    library.run(["strace", "-f", "-o", calls, "-e", "trace=socket,socketpair,bind,listen,connect", tmp_path / "music"], cwd=tmp_path)
    found = re.findall(r"^\d+ +(\w+)\((.*)", calls.read_text(), re.M)
    assert "socketpair" in {call for call, _ in found}
    assert not {"bind", "listen"} & {call for call, _ in found}
    # libc asks the name service cache for the name of the user.
    assert all("/nscd/" in rest for call, rest in found if call == "connect")
