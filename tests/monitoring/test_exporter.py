"""prometheus-mysqld-exporter reads a server as it reads MariaDB, and /metrics has its names."""

import subprocess
import urllib.error
import urllib.request

from support.servers import ReservedPort
from support.waiting import wait_for

# Collectors that are off by default and have something to read here.
OPTIONAL = ["auto_increment.columns", "binlog_size", "engine_innodb_status", "info_schema.innodb_metrics", "info_schema.processlist",
            "info_schema.tables", "mysql.user", "perf_schema.eventsstatements", "perf_schema.eventsstatementssum", "slave_hosts",
            "info_schema.clientstats", "info_schema.userstats", "info_schema.tablestats", "info_schema.schemastats",
            "info_schema.innodb_cmp", "info_schema.innodb_cmpmem", "perf_schema.eventswaits", "perf_schema.file_events",
            "perf_schema.file_instances", "perf_schema.indexiowaits", "perf_schema.memory_events", "perf_schema.tableiowaits",
            "perf_schema.tablelocks"]
# Names of the exporter about itself.
ITS_OWN = ("go_", "process_", "promhttp_", "mysql_exporter_", "mysqld_exporter_", "scrape_")


def names(text):
    return {line.rsplit(" ", 1)[0] for line in text.splitlines() if line and not line.startswith("#")}


def read(url):
    try:
        with urllib.request.urlopen(f"{url}/metrics", timeout=20) as response:
            return response.read().decode()
    except urllib.error.URLError:
        return None


def test_the_exporter_reads_everything_and_has_the_same_names(serve, tmp_path):
    server, exporter_port = serve(), ReservedPort()
    server.query("create user exporter identified by 'x'",
                 "grant process, replication client, replication master admin, slave monitor, select on *.* to exporter",
                 "create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    server.query("select a from t where a = 1", database="d")
    with open(tmp_path / "exporter.log", "wb") as log:
        exporter = subprocess.Popen(["prometheus-mysqld-exporter", f"--web.listen-address=127.0.0.1:{exporter_port.number}",
                                     *[f"--collect.{name}" for name in OPTIONAL]],
                                    env={"DATA_SOURCE_NAME": f"exporter:x@tcp(127.0.0.1:{server.port})/"}, stderr=log)
    try:
        theirs = wait_for("the exporter", lambda: read(f"http://127.0.0.1:{exporter_port.number}"))
        assert "level=error" not in (tmp_path / "exporter.log").read_text()
        failed = [name for name in theirs.splitlines() if name.startswith("mysql_exporter_collector_success") and name.endswith(" 0")]
        assert not failed and "\nmysql_up 1\n" in theirs, (tmp_path / "exporter.log").read_text()
        for expected in ("mysql_perf_schema_events_statements_total{", "mysql_info_schema_innodb_metrics_lock_lock_row_lock_waits_total",
                         "mysql_binlog_files", "mysql_info_schema_table_rows{"):
            assert expected in theirs, expected
        ours = {name for name in names(read(server.http)) if name.startswith("mysql_") and not name.startswith("mysql_version_info")}
        assert len(ours) > 500
        missing = ours - {name for name in names(theirs) if not name.startswith(ITS_OWN)}
        assert not missing, sorted(missing)
    finally:
        exporter.terminate()
        exporter.wait()
