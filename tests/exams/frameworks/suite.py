"""What the runner asks of a suite, and what suites have in common: fetching packages, running a command."""

import os
import shutil
import signal
import subprocess
import tarfile
from pathlib import Path

from frameworks.outcome import Outcome, read_outcomes

RECORDERS = Path(__file__).resolve().parent / "recorders"
PROGRAMS = Path(__file__).resolve().parent / "programs"
FETCH_SECONDS_MAX = 900


class Unavailable(Exception):
    """A suite cannot be fetched or built here, and why."""


class Suite:
    """A test suite by other authors. A subclass says where it comes from and how a portion is run."""

    name: str
    # Options of both servers.
    server_options: list[str] = []
    # Whether a test passes only if its message, which is what it saw, is the control's.
    compares_messages = False

    def __init__(self, work: Path):
        self.work = work
        self.folder = work / self.name

    # For subclasses.

    def install(self):
        """Fetches everything into `self.folder`."""
        raise NotImplementedError

    def build(self):
        """Compiles what is the project's own, before every run."""

    def portions(self) -> list[str]:
        """Returns the parts that are run one after the other, each with its own limit of time."""
        return ["all"]

    def prepare_server(self, server):
        """Creates what the suite expects of a server: accounts, databases."""

    def run(self, portion: str, server, directory: Path, seconds_max: float) -> dict[str, Outcome]:
        """Runs a portion against a server, with files in `directory`, and returns the outcomes by test."""
        raise NotImplementedError

    # For all.

    def fetch(self):
        """Fetches what is not there yet, and compiles."""
        try:
            if not (self.folder / "complete").exists():
                shutil.rmtree(self.folder, ignore_errors=True)
                self.folder.mkdir(parents=True)
                self.install()
                (self.folder / "complete").touch()
            self.build()
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired, OSError) as error:
            printed = (getattr(error, "stdout", None) or b"").decode(errors="replace").strip()
            raise Unavailable(f"{str(error)[:300]}\n{printed[-1000:]}") from error

    def fetching(self, *command, **options):
        """Runs a command that fetches or builds something."""
        subprocess.run([*map(str, command)], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=FETCH_SECONDS_MAX, **({"cwd": self.folder} | options))

    def recorded(self, command: list, directory: Path, seconds_max: float, environment: dict[str, str] | None = None,
                 **options) -> dict[str, Outcome]:
        """Runs a command whose recorder (recorders/) writes outcomes to the file $EXAM_OUTCOMES. Python modules are also
        found in `directory`."""
        outcomes = directory / "outcomes.jsonl"
        outcomes.unlink(missing_ok=True)
        own = {"EXAM_OUTCOMES": str(outcomes), "PYTHONPATH": f"{RECORDERS}:{directory}"}
        status, printed = output(command, seconds_max, env={**os.environ, **own, **(environment or {})}, **options)
        found = read_outcomes(outcomes)
        if not found:
            print(printed[-3000:], flush=True)
        if status is None:
            print(f"not done after {seconds_max:.0f} s", flush=True)
        return found


class ProgramSuite(Suite):
    """A program of the project (programs/) that uses a driver or a framework as its users do, and records what each of its tests
    saw. Its folder is shared by the suites of one package manager."""

    compares_messages = True
    # The folder below programs/ and the work directory.
    program: str

    def __init__(self, work: Path):
        super().__init__(work)
        self.folder = work / self.program

    @property
    def source(self) -> Path:
        return PROGRAMS / self.program

    def copied(self, *names: str):
        """Copies files of the program into the folder."""
        for name in names:
            shutil.copy(self.source / name, self.folder / name)

    def command(self, server) -> list:
        """Returns the command that runs the program."""
        raise NotImplementedError

    def run(self, portion, server, directory: Path, seconds_max):
        environment = {"EXAM_PORT": str(server.port), "EXAM_SOCKET": str(server.socket), "EXAM_DIRECTORY": str(directory)}
        return self.recorded(self.command(server), directory, seconds_max, cwd=self.folder, environment=environment)


class PackagedProgramSuite(ProgramSuite):
    """A program whose packages are named by a file of its package manager."""

    # The file.
    manifest: str

    def install(self):
        self.copied(self.manifest)
        self.fetch_packages()

    def fetch_packages(self):
        """Lets the package manager fetch what the manifest names."""

    def build(self):
        if (self.source / self.manifest).read_bytes() != (self.folder / self.manifest).read_bytes():
            self.install()
        self.compile()

    def compile(self):
        """Prepares the program to be run."""
        raise NotImplementedError


class PythonSuite(Suite):
    """A suite with a virtual environment of its own."""

    # Requirements of pip, and the one whose source distribution has the tests.
    requirements: list[str]
    source: str

    @property
    def python(self) -> Path:
        return self.folder / "venv/bin/python"

    @property
    def tree(self) -> Path:
        """The unpacked source distribution."""
        [tree] = [path for path in (self.folder / "source").iterdir() if path.is_dir()]
        return tree

    def install(self):
        self.fetching("python3", "-m", "venv", "venv")
        pip = [self.python, "-m", "pip", "--disable-pip-version-check", "-q"]
        self.fetching(*pip, "install", "--upgrade", *self.requirements)
        # Only its metadata is built, with what the environment has: fetching build requirements as sources takes minutes.
        self.fetching(*pip, "download", "--no-deps", "--no-build-isolation", "--no-binary", self.source.split("==")[0], "-d", "source", self.source)
        [archive] = (self.folder / "source").iterdir()
        with tarfile.open(archive) as packed:
            packed.extractall(self.folder / "source", filter="data")


class DebianSource(Suite):
    """A suite in the source package of Debian's package."""

    # Name of the source package, and packages that the suite needs beside it.
    source: str
    packages: list[str] = []

    @property
    def tree(self) -> Path:
        """The unpacked source."""
        [tree] = [path for path in self.folder.iterdir() if path.is_dir() and path.name != "lists"]
        return tree

    def install(self):
        self.fetching("apt-get", "install", "-y", "-qq", "--no-install-recommends", *self.packages, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
        # Lists of our own: a machine rarely has those of sources.
        release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines())["VERSION_CODENAME"]
        (self.folder / "lists/partial").mkdir(parents=True)
        (self.folder / "sources.list").write_text(f"deb-src http://deb.debian.org/debian {release} main\n", encoding="utf-8")
        get = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={self.folder / 'sources.list'}", "-o", "Dir::Etc::sourceparts=-", "-o",
               f"Dir::State::lists={self.folder / 'lists'}"]
        self.fetching(*get, "update")
        self.fetching(*get, "source", "--download-only", "--tar-only", self.source)
        [archive] = self.folder.glob("*.orig.tar.*")
        with tarfile.open(archive) as packed:
            packed.extractall(self.folder, filter="data")


def output(command: list, seconds_max: float, **options) -> tuple[int | None, str]:
    """Runs a command. Returns its status, which is None if its time was over, and what it printed."""
    process = subprocess.Popen([*map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True, **options)
    try:
        printed = process.communicate(timeout=seconds_max)[0]
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        printed, status = process.communicate()[0], None
    return status, printed.decode(errors="replace")
