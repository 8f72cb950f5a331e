"""Fixtures: the client library with the server in it, and programs that are compiled with it."""

import os
import subprocess
from pathlib import Path

import pytest
from support.servers import BINARY

ROOT = Path(__file__).parent.parent.parent


class Library:
    """libpaceline in a directory that is laid out like /usr."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.path = directory / "lib/libpaceline.so.1"

    def flags(self, *kinds):
        """Returns what pkg-config says to a program's build."""
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.directory / "lib/pkgconfig")}
        command = ["pkg-config", *kinds, "paceline"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    def compile(self, source: Path, to: Path):
        """Compiles a C program."""
        subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", str(source), *self.flags("--cflags", "--libs"), "-pthread",
                        "-o", str(to)], check=True)

    def environment(self, directory: Path, datadir: Path, replace=False):
        """Returns an environment in which programs find the library and, by an option file in `directory`, a database; with
        `replace` in the place of libmariadb3 too, for programs that were linked with that."""
        libraries = self.directory / "lib"
        if replace:
            libraries = directory / "libraries"
            libraries.mkdir(exist_ok=True)
            (libraries / "libmariadb.so.3").unlink(missing_ok=True)
            (libraries / "libmariadb.so.3").symlink_to(self.path)
        (directory / "my.cnf").write_text(f"[embedded]\ndatadir = {datadir}\n")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MYSQL_", "MARIADB_"))}
        return {**environment, "LD_LIBRARY_PATH": str(libraries), "MYSQL_HOME": str(directory), "HOME": str(directory)}

    def run(self, command, **options):
        """Runs a program and returns its output. Its messages are the test's."""
        usual = {"env": {**os.environ, "LD_LIBRARY_PATH": str(self.path.parent)}, "stdout": subprocess.PIPE, "text": True, "check": True,
                 "timeout": 120}
        return subprocess.run(command, **{**usual, **options}).stdout


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    directory = tmp_path_factory.mktemp("library")
    # The server's part beside the program, both of one build.
    heart = BINARY.with_name("libpaceline_heart.a")
    subprocess.run(["tools/build_libpaceline.sh", "--to", str(directory), "--heart", str(heart)], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    return Library(directory)
