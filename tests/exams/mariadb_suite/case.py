"""A test of MariaDB's: its files, the options of its servers, and the features that it uses."""

import functools
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from mariadb_suite.configuration import Configuration, chosen, combinations_of, options_of

CHARSETS = ("armscii8|big5|cp1250|cp1251|cp1256|cp1257|cp850|cp852|cp866|cp932|dec8|eucjpms|euckr|gb2312|gbk|geostd8|greek|hebrew|hp8|keybcs2|koi8r|koi8u|"
            "latin2|latin5|latin7|macce|macroman|sjis|swe7|tis620|ucs2|ujis|utf16|utf16le|utf32")

# Features that Paceline lacks as a whole. A test that uses one says nothing about the others.
FEATURES = {
    "packages": r"\b(create|alter)\s+(or\s+replace\s+)?(definer\s*=\s*\S+\s+)?package\b",
    "Oracle's mode": r"sql_mode\s*=[^;]*\boracle\b",
    "partitions": r"\bpartition\s+by\b|have_partition\.inc",
    "full-text": r"\bfulltext\b|\bmatch\s*\(.*\bagainst\b",
    "system versioning": r"\bsystem\s+versioning\b|\bfor\s+system_time\b",
    "periods": r"\bperiod\s+for\b|\bwithout\s+overlaps\b",
    "XA": r"^\s*(eval\s+|send\s+|--\s*send\s+)?xa\s+(start|begin|end|prepare|commit|recover|rollback)\b",
    "character sets": rf"\b(character\s+set|charset|char\s+set|set\s+names|using|convert\(.*using|collate|_client|_connection|_server|_results)\s*=?\s*'?({CHARSETS})(_\w+)?\b"
                      rf"|\b_({CHARSETS})\s*(x|b|0x)?['\"0]|have_({CHARSETS})|default-character-set=({CHARSETS})",
    "spatial": r"\b(geometry|point|linestring|polygon|geometrycollection|multipoint)\b|\bspatial\b|\bst_\w+\(|have_geometry",
}
SEARCHES = {name: re.compile(pattern, re.I | re.M) for name, pattern in FEATURES.items()}
INCLUDED = re.compile(r"^\s*(?:--\s*)?source\s+([^\s;]+)", re.I | re.M)
# mysql-test-run leaves out tests that include these, unless told otherwise.
LEFT_OUT = {"have_debug.inc", "have_debug_sync.inc", "big_test.inc", "have_example_plugin.inc"}


@functools.cache
def folders_of_suite(tree: Path, suite: str) -> tuple[Path, Path, Path]:
    """Returns the folders of a suite itself, of its tests and of its expected results: `t` and `r`, or all in one."""
    folder = tree / "main" if suite == "main" else tree / "suite" / suite
    tests = folder / "t"
    return (folder, tests, folder / "r") if tests.exists() else (folder, folder, folder)


@dataclass
class TestCase:
    """A test of a suite, in a copy of the tree."""

    suite: str
    name: str
    tree: Path
    features: list[str] = field(default_factory=list)

    @property
    def full_name(self) -> str:
        return f"{self.suite}.{self.name}"

    @property
    def folder(self) -> Path:
        return folders_of_suite(self.tree, self.suite)[1]

    @property
    def suite_folder(self) -> Path:
        return folders_of_suite(self.tree, self.suite)[0]

    @property
    def test_file(self) -> Path:
        return self.folder / f"{self.name}.test"

    @functools.cached_property
    def files(self) -> list[Path]:
        """Returns the test and all files that it includes, included files first."""
        found = {}
        self.add_files(self.test_file, found)
        return list(found)

    def add_files(self, path: Path, found: dict[Path, None], above: frozenset[Path] = frozenset()):
        if path in found or path in above:
            return
        for included in included_files(path, (self.suite_folder, self.folder, self.tree)):
            self.add_files(included, found, above | {path})
        found[path] = None

    @property
    def is_left_out(self) -> bool:
        """Returns whether mysql-test-run would not run it here."""
        return any(path.name in LEFT_OUT for path in self.files)

    @functools.cached_property
    def configuration(self) -> Configuration:
        path = self.folder / f"{self.name}.cnf"
        if not path.exists():
            path = self.suite_folder / "my.cnf"
        if not path.exists():
            is_replicated = any(file.name == "master-slave.inc" for file in self.files)
            path = self.tree / ("suite/rpl/my.cnf" if is_replicated else "include/default_my.cnf")
        configuration = Configuration()
        configuration.read(path, self.tree)
        return configuration

    @property
    def servers(self) -> list[int]:
        return self.configuration.servers() or [1]

    def options_of_files(self, role: str) -> list[str]:
        """Returns the options in the .opt files beside the test and its includes; `role` is master or slave."""
        found = []
        for file in self.files:
            found += options_of(text_beside(file, ".opt") + " " + text_beside(file, f"-{role}.opt"))
        return found

    @functools.cached_property
    def combination(self) -> dict[str, list[str]]:
        """Returns the chosen alternative of each group of combinations, with its options."""
        fixed = [option for option in self.options_of_files("master") if option in self.options_of_files("slave")]
        found = {}
        of_suite = self.suite_folder / "combinations"
        texts = [text_of(of_suite)] if of_suite.exists() else []
        for text in [*texts, *(text_beside(file, ".combinations") for file in self.files)]:
            alternatives = combinations_of(text)
            name = chosen(alternatives, fixed)
            if name is not None and not found.keys() & alternatives.keys():
                found[name] = alternatives[name]
        return found

    def options(self, server: int, addresses: dict[str, str]) -> list[str]:
        """Returns the options of server number `server`, beyond the defaults."""
        role = "slave" if self.configuration.has_mark(server, "use-slave-opt") else "master"
        of_files = [option for option in self.options_of_files(role) if not option.startswith("--timezone=")]
        of_suite = options_of(text_of(path)) if (path := self.suite_folder / "suite.opt").exists() else []
        of_combination = [option for options in self.combination.values() for option in options]
        return [*self.configuration.options(server, addresses), *of_combination, *of_suite, *of_files]

    @functools.cached_property
    def time_zone(self) -> str | None:
        """Returns the value of TZ for the servers and the test."""
        for option in reversed(self.options_of_files("master")):
            if option.startswith("--timezone="):
                return option.partition("=")[2]
            if option.startswith("--default-time-zone="):
                return "GMT-8"
        return None

    def script(self, server: int) -> Path | None:
        """Returns the script to run before a server is started."""
        for role in ("master", "slave"):
            path = self.folder / f"{self.name}-{role}.sh"
            if self.configuration.has_mark(server, f"run-{role}-sh") and path.exists():
                return path
        return None

    @functools.cached_property
    def result_files(self) -> list[Path]:
        """Returns the files with the expected result: a .result file, and a .rdiff file to apply to it if there is
        one."""
        folder = folders_of_suite(self.tree, self.suite)[2]
        found = []
        for path in folder.glob(f"{self.name}*"):
            names = path.name.removeprefix(self.name).rpartition(".")[0].split(",")
            if path.suffix in (".result", ".rdiff") and names[0] == "" and set(names[1:]) <= self.combination.keys():
                found.append((-len(names), names, path.suffix == ".rdiff", path))
        paths = [path for *_, path in sorted(found)]
        if not paths or paths[0].suffix == ".result":
            return paths[:1]
        return [path for path in paths if path.suffix == ".result"][:1] + paths[:1]

    def expected(self, work: Path) -> str:
        """Returns the output that MariaDB's tree expects."""
        base, *difference = self.result_files
        if difference:
            patched = work / "expected.result"
            subprocess.run(["patch", "--silent", f"--output={patched}", str(base), str(difference[0])], check=True)
            base = patched
        return base.read_text(errors="surrogateescape")


@functools.cache
def text_of(path: Path) -> str:
    return path.read_text(errors="replace")


@functools.cache
def text_beside(path: Path, suffix: str) -> str:
    """Returns the text of the file with the same name and another suffix; empty if there is none."""
    beside = path.parent / f"{path.stem}{suffix}"
    return text_of(beside) if beside.exists() else ""


@functools.cache
def included_files(path: Path, folders: tuple[Path, ...]) -> list[Path]:
    """Returns the files that a file includes, searched beside it and in `folders`."""
    found = []
    for name in INCLUDED.findall(text_of(path)):
        candidates = (folder / name for folder in (path.parent, *folders))
        included = next((candidate for candidate in candidates if candidate.exists()), None)
        if included is not None:
            found.append(included)
    return found


def text_with_includes(case: TestCase, path: Path, seen: set[Path]) -> str:
    """Returns the text of a test and of its included files, except those of the shared folder, which are only
    helpers."""
    if path in seen:
        return ""
    seen.add(path)
    text = text_of(path)
    parts = [text]
    for included in included_files(path, (case.suite_folder, case.folder, case.tree)):
        if included.parent != case.tree / "include":
            parts.append(text_with_includes(case, included, seen))
    return "\n".join(parts)


def disabled(folder: Path) -> set[str]:
    """Returns the tests of a suite that are currently disabled in MariaDB."""
    path = folder / "disabled.def"
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return {line.split(":")[0].strip() for line in lines if ":" in line and not line.startswith("#")}


def find_cases(tree: Path, suite: str) -> list[TestCase]:
    """Returns the tests of a suite in the order of their names, with the features that each one uses."""
    cases = []
    folder_of_suite, folder, folder_of_results = folders_of_suite(tree, suite)
    not_run = disabled(folder_of_suite)
    with_results = {re.split("[.,]", path.name)[0] for path in folder_of_results.glob("*.result")}
    for path in sorted(folder.glob("*.test")):
        case = TestCase(suite, path.stem, tree)
        if case.name not in with_results or case.name in not_run or case.is_left_out:
            continue
        text = text_with_includes(case, path, set())
        code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        case.features = [name for name, search in SEARCHES.items() if search.search(code)]
        cases.append(case)
    return cases
