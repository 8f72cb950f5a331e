"""A copy of MariaDB's test tree (Debian package mariadb-test), without parts that are not part of a test.

Nearly every replication test begins with `call mtr.add_suppression(…)`, a stored procedure that tells mysql-test-run
which lines of the error log to ignore. There is no mysql-test-run here, so these calls are removed from tests and from
expected results alike.
"""

import re
import shutil
from pathlib import Path

SOURCE = Path("/usr/share/mysql/mysql-test")
# Shared folders, and suites whose files tests of other suites include.
FOLDERS = ["include", "std_data", "main", "suite/rpl", "suite/innodb", "suite/binlog", "suite/multi_source"]
SUPPRESSION = re.compile(
    rb"^[ \t]*(?:set statement sql_log_bin=0 for\s+)?(?:--[ \t]*eval[ \t]+call[ \t]+mtr\.add_suppression\([^\n]*"
    rb"|(?:--[ \t]*)?(?:eval[ \t]+)?call[ \t]+mtr\.add_suppression\(.*?\)[ \t]*;[^\n]*)\n",
    re.I | re.M | re.S,
)


def without_suppressions(text: bytes) -> bytes:
    return SUPPRESSION.sub(b"", text)


def with_own_files(text: bytes) -> bytes:
    """Rewrites diff_tables.inc to use no files in a data directory, where Paceline allows no statement to write
    (docs/security.md)."""
    return text.replace(b"`SELECT @@datadir`", b"`SELECT '$MYSQLTEST_VARDIR/tmp'`")


def without_own_event(text: bytes) -> bytes:
    """Rewrites show_events.inc to begin after the third event that MariaDB has too: Paceline's log begins with an event
    of its own."""
    return text.replace(b"LIMIT 3, End_log_pos, 3", b"LIMIT 4, End_log_pos, 4")


def copy_tree(destination: Path, suites: set[str], kind: str) -> Path:
    """Copies what tests of these suites use to `destination` (about 80 MB, a few seconds) and returns it."""
    if not SOURCE.exists():
        raise SystemExit("MariaDB's tests are missing: install the Debian packages mariadb-test and mariadb-test-data")
    for folder in sorted({*FOLDERS, *(f"suite/{suite}" for suite in suites - {"main"})}):
        shutil.copytree(SOURCE / folder, destination / folder, symlinks=True)
    for path in destination.rglob("*"):
        if path.suffix in {".test", ".inc", ".result"} and path.is_file() and not path.is_symlink():
            text = path.read_bytes()
            shorter = without_suppressions(text)
            if path.name == "diff_tables.inc":
                shorter = with_own_files(shorter)
            if path.name == "show_events.inc" and kind == "paceline":
                shorter = without_own_event(shorter)
            if shorter != text:
                path.write_bytes(shorter)
    return destination
