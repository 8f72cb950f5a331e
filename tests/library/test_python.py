"""The Python module: its wheel, in an environment of its own, with the database in the interpreter's process."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from support.servers import BINARY

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = Path(__file__).parent / "python"


class Installed:
    """An environment in which the wheel was installed."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.python = directory / "bin/python"

    def run(self, *command, **options):
        usual = {"env": {**os.environ, "PYTHONWARNINGS": "error::ResourceWarning", "PATH": f"{self.directory}/bin:{os.environ['PATH']}"},
                 "capture_output": True, "text": True, "timeout": 120}
        return subprocess.run([str(part) for part in command], **{**usual, **options})


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    directory = tmp_path_factory.mktemp("wheel")
    # The server's part beside the program, both of one build.
    library = BINARY.with_name("libpaceline_python.so")
    subprocess.run(["tools/build_python_wheel.sh", "--to", str(directory), "--library", str(library)], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    (wheel,) = directory.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    directory = tmp_path_factory.mktemp("environment")
    venv.create(directory, with_pip=True)
    # PyMySQL and the compliance suite are those of the tests' own environment, so that nothing is fetched.
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(directory), "platbase": str(directory)}))
    of_tests = Path(sysconfig.get_path("purelib"))
    for package in [*of_tests.glob("pymysql*"), of_tests / "dbapi20.py"]:
        (shutil.copytree if package.is_dir() else shutil.copy)(package, packages / package.name)
    subprocess.run([str(directory / "bin/pip"), "install", "-q", "--disable-pip-version-check", "--no-index", str(wheel)], check=True)
    return Installed(directory)


def test_the_wheel_is_for_all_versions_of_python_and_has_its_types_and_licence(wheel):
    assert re.fullmatch(r"paceline-[0-9.]+-cp310-abi3-(many)?linux\w+\.whl", wheel.name)
    listed = subprocess.run([sys.executable, "-m", "zipfile", "-l", str(wheel)], capture_output=True, text=True, check=True).stdout
    for file in ("paceline/py.typed", "paceline/_native.pyi", "paceline/_native.abi3.so", "licenses/LICENSE"):
        assert file in listed


@pytest.mark.parametrize("name", ["life", "rows"])
def test_program(installed, tmp_path, name):
    done = installed.run(installed.python, PROGRAMS / f"{name}.py", tmp_path / "data")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    # The close at the interpreter's end was a clean one.
    assert installed.run(installed.python, "-c", f"import paceline; paceline.open({str(tmp_path / 'data')!r}).close()").returncode == 0


def test_the_public_compliance_suite_of_db_api_2(installed, tmp_path):
    done = installed.run(installed.python, PROGRAMS / "compliance.py", tmp_path / "data")
    assert done.returncode == 0, done.stderr
    count = int(re.search(r"^Ran ([0-9]+) tests", done.stderr, re.M).group(1))
    assert count >= 36 and done.stderr.rstrip().endswith("OK"), done.stderr


def test_the_stubs_name_what_the_module_has(installed):
    """Each class of the stubs has the methods of the module's, with as many parameters."""
    program = """
import ast, sys, paceline._native as module
stubs = {node.name: node for node in ast.parse(open(sys.argv[1]).read()).body if isinstance(node, ast.ClassDef)}
classes = {name: found for name, found in vars(module).items() if isinstance(found, type)}
assert set(stubs) == set(classes), (set(stubs), set(classes))
for name, found in classes.items():
    in_stub = {node.name for node in stubs[name].body if isinstance(node, ast.FunctionDef)} - {"__new__"}
    own = {member for member in vars(found) if not member.startswith("__") or member in ("__enter__", "__exit__", "__iter__", "__next__")}
    assert in_stub == own, (name, in_stub ^ own)
"""
    done = installed.run(installed.python, "-c", program, ROOT / "crates/embedded_python/python/paceline/_native.pyi")
    assert done.returncode == 0, done.stderr


def test_the_program_of_the_documents_runs_as_written(installed, tmp_path):
    part = (ROOT / "docs/embedding.md").read_text().split("\n## Python\n")[1].split("\n## ")[0]
    source = re.findall(r"```python\n(.*?)```", part, re.S)[0]
    console = re.findall(r"```console\n(.*?)```", part, re.S)[0]
    readme = (ROOT / "README.md").read_text()
    assert source in readme and console in readme
    (tmp_path / "music.py").write_text(source)
    session = re.findall(r"^\$ (python.*)\n((?:[^$].*\n)*)", console, re.M)
    assert len(session) == 2
    for command, output in session:
        done = installed.run("sh", "-c", command, cwd=tmp_path)
        assert (done.stdout, done.stderr) == (output, ""), command
