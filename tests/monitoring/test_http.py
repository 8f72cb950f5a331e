"""The HTTP address: probes, access, limits, and statistics in Prometheus' format."""

import contextlib
import http.client
import json
import os
import socket
import ssl
import subprocess
from types import SimpleNamespace

import pytest
from support.replication import change_master, replication_user, wait_for_replica
from support.servers import Paceline
from support.waiting import wait_for

TOKEN = "a-token-of-enough-length"


def get(server, path, method="GET", tls=None, **headers):
    if tls is None:
        connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=20)
    else:
        connection = http.client.HTTPSConnection("127.0.0.1", server.http_port, timeout=20, context=tls)
    with contextlib.closing(connection):
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return SimpleNamespace(status=response.status, headers=response.headers, text=response.read().decode())


def status(server, path):
    return get(server, path).status


def test_probes_of_a_primary_and_its_replica(serve):
    primary, replica = serve(), serve()
    assert [status(primary, path) for path in ("/health", "/ready", "/primary", "/replica")] == [200, 200, 200, 503]
    replication_user(primary)
    change_master(replica, primary, master_use_gtid="slave_pos")
    assert get(replica, "/replica").text == "replication does not run\n"
    replica.query("start slave")
    wait_for_replica(replica, primary)
    wait_for("a replica without lag", lambda: status(replica, "/replica?max_lag=0") == 200)
    assert [status(replica, path) for path in ("/health", "/ready", "/primary")] == [200, 200, 503]
    primary.query("set global read_only=on")
    assert get(primary, "/primary").text == "read_only is not OFF\n"
    # What the applier cannot get on with makes the lag grow.
    primary.query("set global read_only=off", "create database d", "create table d.t (a int)")
    wait_for_replica(replica, primary)
    with replica.connect() as holder, holder.cursor() as cursor:
        cursor.execute("lock tables d.t write")
        primary.query("insert into d.t values (1)")
        wait_for("a lag", lambda: status(replica, "/replica?max_lag=1") == 503)
        assert status(replica, "/replica?max_lag=1000") == 200
    wait_for("no lag", lambda: status(replica, "/replica?max_lag=0") == 200)
    replica.query("stop slave")
    assert [status(replica, "/replica"), status(replica, "/primary")] == [503, 200]


def test_a_starting_server_is_alive_and_not_ready(serve, tmp_path):
    # The server starts until somebody has written its init file.
    script = tmp_path / "init.sql"
    os.mkfifo(script)
    server = serve(f"--init-file={script}", ready=False)

    def answers():
        try:
            return get(server, "/health")
        except OSError:
            return None

    assert wait_for("an answer", answers).text == "starting\n"
    assert status(server, "/ready") == 503
    assert status(server, "/metrics") == 503
    script.write_text("DO 1;\n")
    server.wait_until_ready()
    wait_for("readiness", lambda: status(server, "/ready") == 200)


def test_the_system_chooses_a_port(tmp_path):
    server = Paceline(tmp_path / "server", "--http-address=127.0.0.1:0").start()
    try:
        host, port = server.query("select @@paceline_http_address")[0][0].split(":")
        server.http_port = int(port)
        assert (host, status(server, "/ready")) == ("127.0.0.1", 200)
    finally:
        server.close()


def test_methods_paths_and_parameters(serve):
    server = serve()
    head = get(server, "/ready", "HEAD")
    assert (head.status, head.text) == (200, "")
    posted = get(server, "/metrics", "POST")
    assert (posted.status, posted.headers["Allow"]) == (405, "GET, HEAD")
    assert [status(server, path) for path in ("/metric", "/../etc/passwd", "/replica?max_lag=soon")] == [404, 404, 400]


def test_requests_for_other_names_are_refused_without_a_token(serve):
    server = serve()
    assert get(server, "/metrics", Host="rebound.example.com").status == 421
    assert get(server, "/ready", Host="rebound.example.com").status == 200
    assert get(server, "/metrics", Host=f"localhost:{server.http_port}").status == 200


def test_a_token_protects_statistics(serve, tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    server = serve(f"--http-token-file={token}")
    assert status(server, "/ready") == 200
    refused = get(server, "/metrics")
    assert (refused.status, refused.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert get(server, "/metrics", Authorization="Bearer wrong").status == 401
    assert get(server, "/metrics", Authorization=f"Bearer {TOKEN}").status == 200
    assert TOKEN not in server.said()


def test_other_machines_need_tls_and_a_token(serve, tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    server = serve(f"--http-token-file={token}", host="0.0.0.0")
    any_certificate = ssl.create_default_context()
    any_certificate.check_hostname, any_certificate.verify_mode = False, ssl.CERT_NONE
    assert get(server, "/ready", tls=any_certificate).status == 200
    assert get(server, "/metrics", tls=any_certificate, Authorization=f"Bearer {TOKEN}").status == 200
    server.query("flush ssl")
    assert get(server, "/ready", tls=any_certificate).status == 200
    with pytest.raises((OSError, http.client.HTTPException)):
        get(server, "/ready")


@pytest.mark.parametrize("options, reason", [
    (["--http-address=0.0.0.0:1"], "needs --http-token-file"),
    (["--http-address=0.0.0.0:1", "--http-token-file=TOKEN", "--skip-ssl"], "needs TLS"),
    (["--http-address=9104"], "it is HOST:PORT"),
    (["--http-address=127.0.0.1:9104", "--http-token-file=OPEN"], "can be read by others"),
])
def test_unsafe_settings_are_refused_at_startup(tmp_path, options, reason):
    for name, mode in (("TOKEN", 0o600), ("OPEN", 0o644)):
        (tmp_path / name).write_text(TOKEN)
        (tmp_path / name).chmod(mode)
    options = [option.replace("=TOKEN", f"={tmp_path}/TOKEN").replace("=OPEN", f"={tmp_path}/OPEN") for option in options]
    server = Paceline(tmp_path / "server", *options)
    server.spawn()
    assert server.process.wait(timeout=60) != 0
    assert reason in server.said()


def test_more_connections_than_the_limit_are_closed(serve):
    server = serve()
    with_places = [socket.create_connection(("127.0.0.1", server.http_port)) for _ in range(64)]
    try:
        # The server closes what exceeds the limit as soon as it has accepted all of them.
        with socket.create_connection(("127.0.0.1", server.http_port), timeout=20) as one_more:
            assert one_more.recv(1) == b""
    finally:
        for connection in with_places:
            connection.close()

    def answers():
        try:
            return status(server, "/ready") == 200
        except OSError:
            return False

    wait_for("a free place", answers)
    assert server.query("select 1") == ((1,),)


def test_heads_have_a_maximum_size(serve):
    server = serve()
    assert get(server, "/ready", Long="x" * 100_000).status == 431


def samples(text):
    """Returns the values of an exposition by name with labels."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_statistics_are_well_formed_and_true(serve):
    server = serve()
    before = samples(get(server, "/metrics").text)
    server.query("create database d", "create table d.t (a int primary key)", *[f"insert into d.t values ({n})" for n in range(10)],
                 "select * from d.t")
    answer = get(server, "/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    check = subprocess.run(["promtool", "check", "metrics"], input=answer.text, capture_output=True, text=True)
    # Names are those of mysqld_exporter, which do not follow all of promtool's rules.
    problems = [line for line in check.stderr.splitlines() if line.startswith(("paceline_", "error", "process_"))]
    assert not problems, problems
    after = samples(answer.text)
    grown = {name: after[name] - before.get(name, 0) for name in after}
    assert grown['mysql_global_status_commands_total{command="insert"}'] == 10
    assert grown['mysql_global_status_commands_total{command="select"}'] == 1
    assert grown["mysql_global_status_binlog_commits"] == 12
    assert grown["paceline_commit_seconds_count"] == 12
    assert grown['paceline_commit_seconds_bucket{le="+Inf"}'] == 12
    assert 0 < grown["paceline_commit_seconds_sum"] < 60
    assert after["process_resident_memory_bytes"] > 1 << 20
    shown = dict(server.query("show global status"))
    assert after["mysql_global_status_max_used_connections"] == float(shown["Max_used_connections"])
    assert after["mysql_global_variables_max_connections"] == float(server.query("select @@max_connections")[0][0])


def test_every_view_shows_the_same_statistics(serve):
    server = serve()
    declared = {name: kind for name, kind in server.query("select name, kind from information_schema.paceline_metrics")}
    shown = {name for name, _ in server.query("show global status")}
    assert declared and set(declared) <= shown
    units = {row[0] for row in server.query("select distinct unit from information_schema.paceline_metrics where kind <> 'text'")}
    assert units <= {"count", "bytes", "seconds", "milliseconds", "microseconds", "switch"}
    exposed = samples(get(server, "/metrics").text)
    for name, kind in declared.items():
        if kind in ("counter", "gauge") and name.startswith("Paceline_"):
            expected = name.lower().replace("_usec", "_seconds") + ("_total" if kind == "counter" else "")
            assert expected in exposed, expected


def test_the_latest_slow_statements_are_kept_with_their_plans(serve):
    server = serve("--long-query-time=0.1", "--log-slow-verbosity=explain")

    def slow():
        return json.loads(get(server, "/api/slow-statements").text)

    assert slow() | {"plan_columns": []} == {"statements": [], "long_query_usec": 100_000, "plan_columns": []}
    server.query("create database d", "create table d.t (a int primary key, b int)", "insert into d.t values (1, 2), (2, 3)")
    server.query("select * from t where b = 3 and sleep(0.11) = 0", "select 'fast'", "do sleep(0.11)", database="d")
    answer = slow()
    newest, older = answer["statements"]
    assert answer["plan_columns"] == ["id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref", "rows", "Extra"]
    assert newest["plan"] == [] and newest["error"] is None
    assert older["plan"] == [["1", "SIMPLE", "t", "ALL", None, None, None, None, "2", "Using where"]]
    assert (older["database"], older["rows_sent"], older["rows_examined"], older["rows_affected"]) == ("d", 1, 2, 0)
    assert older["duration_usec"] >= 110_000 and older["start_usec"] > 1e15
    assert "?" in older["text"] and "0.11" not in older["text"]
    # One statement in 10 ms is kept, and the latest 50.
    server.query("set global long_query_time = 0")
    with server.connect() as session, session.cursor() as cursor:
        for _ in range(60):
            cursor.execute("do sleep(0.011)")
    assert len(slow()["statements"]) == 50


def test_a_replicas_connections_have_labels(serve):
    primary, replica = serve(), serve()
    replication_user(primary)
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    wait_for_replica(replica, primary)
    exposed = samples(get(replica, "/metrics").text)
    labels = '{channel_name="",connection_name="",master_host="127.0.0.1",master_uuid=""}'
    assert exposed["mysql_slave_status_slave_io_running" + labels] == 1
    assert exposed["mysql_slave_status_seconds_behind_master" + labels] == 0
    assert exposed['paceline_replica_lag_transactions{connection_name=""}'] == 0
    assert exposed['paceline_replica_held_back_by{connection_name="",reason="nothing"}'] == 1
    assert samples(get(primary, "/metrics").text)["mysql_global_status_slaves_connected"] == 1
