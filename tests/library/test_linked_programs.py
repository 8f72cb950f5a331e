"""Programs that others have written: with this library in the place of libmariadb3 they have the database in their process. An
option file names its directory."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"

PERL = """
use strict; use warnings; use DBI;
my $db = DBI->connect('DBI:mysql:', 'anybody', '', {RaiseError => 1, PrintError => 0, mysql_server_prepare => 1});
$db->do('CREATE DATABASE test_perl'); $db->do('USE test_perl');
$db->do('CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(30))');
my $insert = $db->prepare('INSERT INTO t (name) VALUES (?)');
$insert->execute("name $_") for 1 .. 3;
$db->begin_work; $db->do('DELETE FROM t'); $db->rollback;
my $rows = $db->selectall_arrayref('SELECT id, name FROM t ORDER BY id DESC');
print join(',', map { "$_->[0]=$_->[1]" } @$rows), "\\n";
eval { $db->do('SELECT * FROM nothing') }; print $db->err, "\\n";
print $db->selectrow_array('SELECT CURRENT_USER()'), "\\n";
$db->disconnect;
"""

PYTHON = """
import MySQLdb, MySQLdb.cursors
connection = MySQLdb.connect(host="localhost", charset="utf8mb4")
cursor = connection.cursor()
cursor.execute("CREATE DATABASE p")
cursor.execute("CREATE TABLE p.t (id INT PRIMARY KEY, name VARCHAR(20), at DATETIME, price DECIMAL(10,2))")
cursor.executemany("INSERT INTO p.t VALUES (%s, %s, '2026-11-27 13:00:00', %s)", [(1, "größer", "1.50"), (2, None, "2.25")])
connection.commit()
cursor.execute("SELECT * FROM p.t ORDER BY id")
print(cursor.fetchall())
other = MySQLdb.connect(db="p").cursor(MySQLdb.cursors.DictCursor)
other.execute("SELECT COUNT(*) AS rows_seen, CURRENT_USER() AS user FROM t")
print(other.fetchone())
try:
    cursor.execute("INSERT INTO p.t VALUES (1, '', NULL, 0)")
except MySQLdb.IntegrityError as error:
    print(error.args)
"""


def test_perls_dbd_mysql(library, tmp_path):
    environment = library.environment(tmp_path, tmp_path / "data", replace=True)
    output = library.run(["perl", "-e", PERL], env=environment)
    assert output == "3=name 3,2=name 2,1=name 1\n1146\nroot@localhost\n"


def test_mydumper_and_myloader(library, tmp_path):
    """Two C programs with several threads and a connection each. They name no database of this process."""
    source, copy = tmp_path / "source", tmp_path / "copy"
    count = "SELECT COUNT(*), SUM(LENGTH(v)), MAX(id) FROM a.t"
    fill = "CREATE DATABASE a; CREATE TABLE a.t (id INT PRIMARY KEY, v TEXT); INSERT INTO a.t SELECT seq, REPEAT('x', 1000) FROM a.seq_1_to_2000"
    program = tmp_path / "query"
    library.compile(PROGRAMS / "query.c", program)
    assert library.run([program, source, f"{fill}; {count}"]) == "2000 2000000 2000\n"
    for datadir, command in [(source, ["mydumper", "--database", "a", "--threads", "2", "--outputdir", tmp_path / "dump"]),
                             (copy, ["myloader", "--directory", tmp_path / "dump", "--threads", "2"])]:
        library.run(command, env=library.environment(tmp_path, datadir, replace=True))
    assert library.run([program, copy, count]) == "2000 2000000 2000\n"


def test_pythons_mysqlclient_built_with_this_library(library, tmp_path):
    modules = tmp_path / "modules"
    flags = {"MYSQLCLIENT_CFLAGS": " ".join(library.flags("--cflags")), "MYSQLCLIENT_LDFLAGS": " ".join(library.flags("--libs"))}
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-cache-dir", "--no-binary", "mysqlclient",
                    "--target", str(modules), "mysqlclient==2.2.7"], env={**os.environ, **flags}, check=True)
    environment = {**library.environment(tmp_path, tmp_path / "data"), "PYTHONPATH": str(modules)}
    output = library.run([sys.executable, "-c", PYTHON], env=environment)
    assert output == (
        "((1, 'größer', datetime.datetime(2026, 11, 27, 13, 0), Decimal('1.50')), "
        "(2, None, datetime.datetime(2026, 11, 27, 13, 0), Decimal('2.25')))\n"
        "{'rows_seen': 2, 'user': 'root@localhost'}\n"
        "(1062, \"Duplicate entry '1' for key 'PRIMARY'\")\n")
