"""One of MariaDB's tests: its files, what its servers are started with, and which parts of the language it uses."""

import re
from dataclasses import dataclass, field
from pathlib import Path

# A suite's tests and expected results stand in other folders than `main`'s.
SUITE_FOLDERS = {"main": ("main", "main"), "innodb": ("suite/innodb/t", "suite/innodb/r"), "rpl": ("suite/rpl/t", "suite/rpl/r")}

CHARSETS = ("armscii8|big5|cp1250|cp1251|cp1256|cp1257|cp850|cp852|cp866|cp932|dec8|eucjpms|euckr|gb2312|gbk|geostd8|greek|hebrew|hp8|keybcs2|koi8r|koi8u|"
            "latin2|latin5|latin7|macce|macroman|sjis|swe7|tis620|ucs2|ujis|utf16|utf16le|utf32")

# What Paceline refuses as a whole; a test that uses it says nothing about the rest.
FEATURES = {
    "routines": r"\b(create|alter)\s+(or\s+replace\s+)?(definer\s*=\s*\S+\s+)?(aggregate\s+)?(procedure|function|package)\b|^\s*call\s",
    "triggers": r"\bcreate\s+(or\s+replace\s+)?(definer\s*=\s*\S+\s+)?trigger\b",
    "events": r"\bcreate\s+(or\s+replace\s+)?(definer\s*=\s*\S+\s+)?event\b|event_scheduler",
    "partitions": r"\bpartition\s+by\b|have_partition",
    "full-text": r"\bfulltext\b|\bmatch\s*\(.*\bagainst\b",
    "compound statements": r"^\s*(eval\s+|send\s+)?(begin\s+not\s+atomic|signal|resignal|get\s+(current\s+|stacked\s+)?diagnostics)\b",
    "sequences": r"\b(create|alter|drop)\s+(or\s+replace\s+)?(temporary\s+)?sequence\b",
    "roles": r"\b(create|drop|set|set\s+default)\s+(or\s+replace\s+)?role\b",
    "system versioning": r"\bsystem\s+versioning\b|\bfor\s+system_time\b",
    "periods": r"\bperiod\s+for\b|\bwithout\s+overlaps\b",
    "XA": r"^\s*(eval\s+|send\s+|--\s*send\s+)?xa\s+(start|begin|end|prepare|commit|recover|rollback)\b",
    "HANDLER": r"^\s*(eval\s+|send\s+)?handler\s+\S+\s+(open|read|close)\b",
    "types": r"\b(inet4|inet6|uuid)\s*(not\s+null|null|default|primary|unique|key|,|\))|\bas\s+(inet4|inet6|uuid)\b",
    "character sets": rf"\b(character\s+set|charset|char\s+set|set\s+names|using|convert\(.*using|collate|_client|_connection|_server|_results)\s*=?\s*'?({CHARSETS})(_\w+)?\b"
                      rf"|\b_({CHARSETS})\s*(x|b|0x)?['\"0]|have_({CHARSETS})|default-character-set=({CHARSETS})",
    "spatial": r"\b(geometry|point|linestring|polygon|geometrycollection|multipoint)\b|\bspatial\b|\bst_\w+\(|have_geometry",
}
# Of the statements that change rows through a view, the view's name is asked for.
VIEW = re.compile(r"\bcreate\s+(?:or\s+replace\s+)?(?:algorithm\s*=\s*\w+\s+)?(?:definer\s*=\s*\S+\s+)?(?:sql\s+security\s+\w+\s+)?view\s+"
                  r"(?:if\s+not\s+exists\s+)?([\w.`]+)", re.I)
CHANGE = r"\b(?:(?:insert|replace)(?:\s+ignore)?(?:\s+into)?|update(?:\s+ignore)?|delete(?:\s+from)?|into\s+table)\s+{view}(?![\w.`])"
SEARCHES = {name: re.compile(pattern, re.I | re.M) for name, pattern in FEATURES.items()}
INCLUDED = re.compile(r"^\s*(?:--\s*)?source\s+([^\s;]+)", re.I | re.M)
SERVER_GROUP = re.compile(r"^\[(?:mysqld|mariadbd|mariadb)(?:\.(\d+))?\]$")


def options_of(text: str) -> list[str]:
    """The options in an .opt file: separated by blanks, quotes keep them together."""
    words = re.findall(r"""(?:[^\s"']+|"[^"]*"|'[^']*')+""", text)
    return [word.replace('"', "").replace("'", "") for word in words]


@dataclass
class TestCase:
    """A test of a suite, found in a copy of the tree."""

    suite: str
    name: str
    tree: Path
    features: list[str] = field(default_factory=list)

    @property
    def full_name(self) -> str:
        return f"{self.suite}.{self.name}"

    @property
    def folder(self) -> Path:
        return self.tree / SUITE_FOLDERS[self.suite][0]

    @property
    def test_file(self) -> Path:
        return self.folder / f"{self.name}.test"

    @property
    def result_file(self) -> Path:
        return self.tree / SUITE_FOLDERS[self.suite][1] / f"{self.name}.result"

    @property
    def is_replicated(self) -> bool:
        return self.suite == "rpl"

    def options(self, server: int) -> list[str]:
        """What server number `server` (from 1) is started with, beyond the defaults."""
        found = []
        suffixes = [".opt", "-master.opt" if server == 1 else "-slave.opt"]
        for suffix in suffixes:
            path = self.folder / f"{self.name}{suffix}"
            if path.exists():
                found += options_of(path.read_text(errors="replace"))
        configuration = self.folder / f"{self.name}.cnf"
        if configuration.exists():
            found += self.group_options(configuration, server)
        return found

    @staticmethod
    def group_options(configuration: Path, server: int) -> list[str]:
        found, applies = [], False
        for line in configuration.read_text(errors="replace").splitlines():
            line = line.split("#")[0].strip()
            group = SERVER_GROUP.match(line)
            if group:
                applies = group[1] is None or int(group[1]) == server
            elif line.startswith("["):
                applies = False
            elif line and applies and not line.startswith("!") and "@" not in line:
                name, _, value = (part.strip() for part in line.partition("="))
                found.append(f"--{name}={value}" if value else f"--{name}")
        return found


def text_with_includes(case: TestCase, path: Path, seen: set[Path]) -> str:
    """The text of a test and of the files of its own suite that it includes; the shared folder's only serve."""
    if path in seen or not path.exists():
        return ""
    seen.add(path)
    text = path.read_text(errors="replace")
    parts = [text]
    for name in INCLUDED.findall(text):
        for candidate in (path.parent / name, case.folder / name, case.folder.parent / name, case.tree / name):
            if candidate.exists() and candidate.parent != case.tree / "include":
                parts.append(text_with_includes(case, candidate, seen))
                break
    return "\n".join(parts)


def changes_views(code: str) -> bool:
    """Whether a test inserts into, updates or deletes from a view that it makes."""
    views = set(VIEW.findall(code))
    return any(re.search(CHANGE.format(view=re.escape(view)), code, re.I) for view in views)


def find_cases(tree: Path, suite: str) -> list[TestCase]:
    """The tests of a suite in order of their names, with the features that each uses."""
    cases = []
    for path in sorted((tree / SUITE_FOLDERS[suite][0]).glob("*.test")):
        case = TestCase(suite, path.stem, tree)
        text = text_with_includes(case, path, set())
        code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        case.features = [name for name, search in SEARCHES.items() if search.search(code)]
        if changes_views(code):
            case.features.append("updatable views")
        if case.result_file.exists():
            cases.append(case)
    return cases
