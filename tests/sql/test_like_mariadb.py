"""The scripts in this folder, run against Paceline and a real MariaDB, statement by statement: both must give the
same answers."""

from pathlib import Path

import pytest

from support.servers import MariaDb, Paceline
from support.side_by_side import differences

SCRIPTS = sorted(Path(__file__).parent.glob("*.sql"))


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """Both servers, with equal settings where they are visible in answers."""
    ours = Paceline(tmp_path_factory.mktemp("paceline"), "--server-id=100", "--log-bin=bin")
    model = MariaDb(tmp_path_factory.mktemp("mariadb"))
    try:
        ours.start()
        model.start()
        yield ours, model
    finally:
        ours.close()
        model.close()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_both_say_the_same(servers, script, tmp_path):
    ours, model = servers
    directories = (tmp_path / "ours", tmp_path / "theirs")
    for directory in directories:
        directory.mkdir(mode=0o777)
    for server in servers:
        server.query("create or replace database t character set utf8mb4")
    found = differences(ours, model, script.read_text(encoding="utf-8"), directories, database="t", local_infile=True)
    assert not found, "\n" + found
    # Files of SELECT … INTO OUTFILE. If the statement failed, MariaDB leaves a part of the file, Paceline does not.
    written, expected = ({path.name: path.read_bytes() for path in directory.iterdir()} for directory in directories)
    assert written == {name: content for name, content in expected.items() if not name.startswith("failed")}
