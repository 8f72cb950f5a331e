"""prometheus-mysqld-exporter reads a server as it reads MariaDB, and /metrics has its names."""

import subprocess
import urllib.error
import urllib.request

from support.servers import Paceline, ReservedPort
from support.waiting import wait_for

# Names of the exporter about itself.
ITS_OWN = ("go_", "process_", "promhttp_", "mysql_exporter_", "mysqld_exporter_", "scrape_")


def names(text):
    return {line.rsplit(" ", 1)[0] for line in text.splitlines() if line and not line.startswith("#")}


def read(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as response:
            return response.read().decode()
    except urllib.error.URLError:
        return None


def test_the_exporter_reads_everything_and_has_the_same_names(tmp_path):
    http, exporter_port = ReservedPort(), ReservedPort()
    server = Paceline(tmp_path / "server", f"--http-address=127.0.0.1:{http.number}").start()
    exporter = None
    try:
        server.query("create user exporter identified by 'x'",
                     "grant process, replication client, slave monitor, select on *.* to exporter")
        with open(tmp_path / "exporter.log", "wb") as log:
            exporter = subprocess.Popen(["prometheus-mysqld-exporter", f"--web.listen-address=127.0.0.1:{exporter_port.number}"],
                                        env={"DATA_SOURCE_NAME": f"exporter:x@tcp(127.0.0.1:{server.port})/"}, stderr=log)
        theirs = wait_for("the exporter", lambda: read(exporter_port.number))
        failed = [name for name in theirs.splitlines() if name.startswith("mysql_exporter_collector_success") and name.endswith(" 0")]
        assert not failed and "\nmysql_up 1\n" in theirs, (tmp_path / "exporter.log").read_text()
        ours = {name for name in names(read(http.number)) if name.startswith("mysql_") and not name.startswith("mysql_version_info")}
        assert len(ours) > 500
        missing = ours - {name for name in names(theirs) if not name.startswith(ITS_OWN)}
        assert not missing, sorted(missing)
    finally:
        if exporter is not None:
            exporter.terminate()
            exporter.wait()
        server.close()
