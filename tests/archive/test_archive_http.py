"""The archive's HTTP address: probes, statistics, and the same rules of access as a server's."""

import http.client
import ssl
import subprocess

from support.archive import Archive
from support.servers import BINARY, Paceline
from support.waiting import wait_for

from conftest import fill

TOKEN = "a-token-of-enough-length"


def http_port(archive):
    [line] = [line for line in archive.said().splitlines() if "statistics and probes: " in line]
    return int(line.rpartition(":")[2])


def get(archive, path, tls=None, method="GET", **headers):
    port = http_port(archive)
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=tls) if tls else \
        http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def value(text, name):
    [line] = [line for line in text.splitlines() if line.split("{")[0].split(" ")[0] == name]
    return float(line.rpartition(" ")[2])


def test_statistics_are_those_of_show_status(start):
    primary = start(Paceline, 1)
    archive = start(Archive, primary, options=["--http-address=127.0.0.1:0"])
    fill(primary, rows=5)
    archive.wait_for(primary)
    assert get(archive, "/health") == (200, "running\n") and get(archive, "/ready") == (200, "ready\n")
    text = get(archive, "/metrics")[1]
    assert value(text, "paceline_archive_written_transactions_total") == int(archive.status("Paceline_archive_written_transactions")) >= 7
    assert value(text, "paceline_archive_primaries_connected") == value(text, "paceline_archive_primary_connected") == 1
    assert f'paceline_archive_primary_seconds_behind{{connection_name="",primary="127.0.0.1:{primary.port}"}} 0\n' in text
    assert "# TYPE paceline_archive_syncs_total counter\n" in text and value(text, "process_resident_memory_bytes") > 0
    names = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if not line.startswith("#")}
    assert all(name.startswith(("paceline_archive_", "process_")) for name in names), names
    primary.kill()
    wait_for("the lost connection", lambda: value(get(archive, "/metrics")[1], "paceline_archive_primary_connected") == 0)
    assert "paceline_archive_primary_seconds_behind" not in get(archive, "/metrics")[1]
    assert get(archive, "/ready")[0] == 200
    assert get(archive, "/primary")[0] == 404 and get(archive, "/metrics", method="POST")[0] == 405
    assert get(archive, "/metrics", Host="example.com")[0] == 421


def test_other_machines_need_tls_and_a_token(start, tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    primary = start(Paceline, 1)
    archive = start(Archive, primary, options=["--http-address=0.0.0.0:0", f"--http-token-file={token}"])
    tls = ssl._create_unverified_context()
    assert get(archive, "/ready", tls)[0] == 200 and get(archive, "/metrics", tls)[0] == 401
    assert get(archive, "/metrics", tls, Authorization=f"Bearer {TOKEN}")[0] == 200
    command = [BINARY, "archive", "--from=127.0.0.1:1", f"--datadir={tmp_path / 'refused'}", "--port=0", "--http-address=0.0.0.0:0"]
    for options, message in (([], "needs --http-token-file"), ([f"--http-token-file={token}", "--skip-ssl"], "needs TLS")):
        done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and message in done.stderr + done.stdout, done
