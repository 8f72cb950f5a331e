"""The configuration that mysql-test-run gives a test's servers: a .cnf file with its includes, .opt files and
combinations.

The shared defaults (include/default_*.cnf) are not read. Those that a test can notice are in server_of_test.py.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

REFERENCE = re.compile(r"@((?:\w+\.)+)(#?[-\w]+)")
# Of the alternatives that mysql-test-run runs one after the other, this one is run here; if none is named, the first
# one with options.
PREFERRED = {"row", "binlogon", "unix", "64bit", "release", "nm", "clear", "16k", "dynamic", "strict_full_crc32", "orig", "1tpc", "covering", "undo0", "lcase_def",
             "nonparallel"}


@dataclass
class Configuration:
    """The groups of a .cnf file and its includes in order, with their settings."""

    groups: dict[str, list[tuple[str, str | None]]] = field(default_factory=dict)

    def read(self, path: Path, tree: Path):
        group = None
        for line in path.read_text(errors="replace").splitlines():
            line = line.strip()
            if line.startswith("!include "):
                name = line.split()[1]
                found = next((folder / name for folder in (path.parent, tree) if (folder / name).exists()), None)
                assert found is not None, f"{path} includes {name}, which does not exist"
                if not found.name.startswith("default_"):
                    self.read(found, tree)
            elif line.startswith("["):
                group = self.groups.setdefault(line.strip("[]"), [])
            elif line and group is not None and (not line.startswith("#") or line.startswith("#!")):
                name, equals, value = (part.strip() for part in line.partition("="))
                group.append((name, value.strip('"') if equals else None))

    def servers(self) -> list[int]:
        """Returns the numbers of the servers, in the order of their groups."""
        return [int(name.split(".")[1]) for name in self.groups if re.fullmatch(r"mysqld\.\d+", name)]

    def has_mark(self, server: int, mark: str) -> bool:
        """Returns whether a server's group has a line `#!MARK`."""
        return any(name == f"#!{mark}" for name, _ in self.groups.get(f"mysqld.{server}", []))

    def options(self, server: int, addresses: dict[str, str]) -> list[str]:
        """Returns the options of server number `server`; `addresses` has the values of references such as
        `@mysqld.2.port`."""
        settings = [setting for group in ("mysqld", "mariadb", f"mysqld.{server}") for setting in self.groups.get(group, [])]
        return [f"--{name}" if value is None else f"--{name}={resolved(value, addresses)}" for name, value in settings if not name.startswith("#")]

    def environment(self, addresses: dict[str, str]) -> dict[str, str]:
        return {name: resolved(value or "", addresses) for name, value in self.groups.get("ENV", [])}


def resolved(value: str, addresses: dict[str, str]) -> str:
    return REFERENCE.sub(lambda reference: addresses.get(reference[1] + reference[2], ""), value)


def options_of(text: str) -> list[str]:
    """Returns the options in an .opt file: separated by white space, kept together by quotes."""
    words = re.findall(r"""(?:[^\s"']+|"[^"]*"|'[^']*')+""", text)
    return [word.replace('"', "").replace("'", "") for word in words]


def combinations_of(text: str) -> dict[str, list[str]]:
    """Returns the alternatives in a .combinations file, each with its options."""
    found, options = {}, []
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            options = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            options.append("--" + re.sub(r"\s*=\s*", "=", line.removeprefix("--"), count=1))
    return found


def normalised(option: str) -> tuple[str, str]:
    name, _, value = option.partition("=")
    return name.removeprefix("--").removeprefix("loose-").replace("_", "-"), value.lower()


def chosen(alternatives: dict[str, list[str]], fixed: list[str]) -> str | None:
    """Returns the alternative to run: the one that a test's own options fix, else the preferred one."""
    set_by_test = {normalised(option) for option in fixed}
    for name, options in alternatives.items():
        if options and {normalised(option) for option in options} <= set_by_test:
            return name
    preferred = [name for name in alternatives if name in PREFERRED]
    return (preferred or [*alternatives, None])[0]
