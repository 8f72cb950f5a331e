#!/usr/bin/env python3
"""Loads the schemas of applications from Debian's packages into Paceline and MariaDB, and compares.

    tests/exams/applications [--only zabbix,kea] [--work DIRECTORY] [--report DIRECTORY]

Each script is run by the command-line client on both servers. What the client prints (errors, warnings, numbers of
rows) and what mariadb-dump says about the database afterwards must be equal.
"""

import argparse
import contextlib
import difflib
import gzip
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from applications.packages import APPLICATIONS, Application  # noqa: E402
from support.servers import ROOT, MariaDb, Paceline  # noqa: E402

SECONDS_MAX = 300
DIFFERENCE_LINES_MAX = 12

# What Paceline says and MariaDB does not, by intent (docs/differences.md).
OWN_NOTES = re.compile(r"^(Note|Warning) \(Code (1105|1235|1287|1266|1478)\): .*\n", re.M)
TIMES = re.compile(r" \(\d+\.\d+ sec\)")
# The warnings stand below; their number counts the notes that are left out.
WARNINGS = re.compile(r", \d+ warnings?$|  Warnings: \d+$", re.M)
TEMPORARY_NAMES = re.compile(r"#sql-alter-[0-9a-f]+-[0-9a-f]+")
ENGINES = re.compile(r"ENGINE=\w+")


def fetch(application: Application, work: Path) -> Path:
    """Downloads and unpacks the application's package, once. Returns the folder."""
    folder = work / application.package
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(["apt-get", "download", "-qq", application.package], cwd=folder, check=True, stderr=subprocess.DEVNULL)
        [package] = folder.glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        (folder / "complete").touch()
    return folder


def version_of(path: Path) -> list:
    """Returns what sorts file names by the versions in them: 4.10 after 4.9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(path))]


def scripts(application: Application, folder: Path) -> list[Path]:
    """Returns the scripts in the order in which they are run, each once."""
    found = []
    for pattern in application.scripts:
        found += [path for path in sorted(folder.glob(pattern), key=version_of) if path.is_file() and path not in found]
    assert found, f"{application.name} has no scripts"
    return found


def run(server, arguments: list, text: bytes = b"") -> str:
    command = [arguments[0], "--no-defaults", "-uroot", "-S", str(server.socket), *arguments[1:]]
    done = subprocess.run(command, input=text, capture_output=True, timeout=SECONDS_MAX, check=False)
    return (done.stderr + done.stdout).decode(errors="surrogateescape")


def load(server, application: Application, script: Path) -> str:
    """Runs a script. Returns what the client printed."""
    text = gzip.decompress(script.read_bytes()) if script.suffix == ".gz" else script.read_bytes()
    printed = run(server, ["mariadb", "--force", "--verbose", "--verbose", "--show-warnings", "--default-character-set=utf8mb4",
                           "--init-command=set timestamp=1700000000, rand_seed1=1, rand_seed2=2", f"--database={application.name}"], text)
    printed = TEMPORARY_NAMES.sub("#sql-alter", printed)
    return WARNINGS.sub("", OWN_NOTES.sub("", TIMES.sub("", printed)))


def dump(server, application: Application) -> str:
    printed = run(server, ["mariadb-dump", "--routines", "--triggers", "--events", "--skip-comments", "--order-by-primary", "--skip-extended-insert",
                           "--hex-blob", application.name])
    return ENGINES.sub("ENGINE=InnoDB", printed)


def differing(ours: str, control: str) -> list[str]:
    """Returns the lines that differ."""
    if ours == control:
        return []
    # Only the neighbourhood of the first difference: difflib takes minutes for megabytes.
    left, right = control.splitlines(), ours.splitlines()
    first = next((i for i, pair in enumerate(zip(left, right)) if pair[0] != pair[1]), min(len(left), len(right)))
    start = max(first - 3, 0)
    return list(difflib.unified_diff(left[start:start + 400], right[start:start + 400], "MariaDB", "Paceline", lineterm="", n=2))[2:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of applications")
    parser.add_argument("--work", type=Path, default=ROOT / "target/exams/work", help="directory of what is fetched; it is reused")
    parser.add_argument("--report", type=Path, help="directory for the whole difference of each script")
    arguments = parser.parse_args()
    chosen = arguments.only.split(",") if arguments.only else [application.name for application in APPLICATIONS]

    directory = Path(tempfile.mkdtemp(prefix="exam-"))
    rows, failures = [], 0
    with contextlib.closing(MariaDb(directory / "mariadb")) as control, contextlib.closing(Paceline(directory / "paceline")) as ours:
        for server in (control, ours):
            server.start()
        for application in APPLICATIONS:
            if application.name not in chosen:
                continue
            folder = fetch(application, arguments.work)
            for server in (control, ours):
                server.query(f"create database {application.name} character set utf8mb4 collate utf8mb4_general_ci")
            differences = {}
            of_application = scripts(application, folder)
            for script in of_application:
                name = str(script.relative_to(folder))
                differences[name] = differing(load(ours, application, script), load(control, application, script))
            differences["dump"] = differing(dump(ours, application), dump(control, application))
            failed = {name: lines for name, lines in differences.items() if lines}
            for name, lines in failed.items():
                print(f"--- {application.name}: {name}", *lines[:DIFFERENCE_LINES_MAX], sep="\n", flush=True)
                if arguments.report:
                    arguments.report.mkdir(parents=True, exist_ok=True)
                    text = "".join(f"{line}\n" for line in lines)
                    (arguments.report / f"{application.name}.{name.replace('/', '_')}.diff").write_text(text, errors="surrogateescape")
            [[tables]] = control.query(f"select count(*) from information_schema.tables where table_schema = '{application.name}'")
            rows.append((application.name, len(of_application), tables, len(failed)))
            failures += len(failed)
    shutil.rmtree(directory, ignore_errors=True)
    print("| application | scripts | tables | differences |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
