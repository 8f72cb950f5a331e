"""`paceline ganglia` sends values of Paceline, MariaDB and memcached to a real gmond: gauges as they are, counters as differences."""

import signal
import socket
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from support.servers import BINARY, MariaDb, Paceline, ReservedPort
from support.waiting import wait_for


class Gmond:
    """A gmond that receives values on the loopback interface."""

    def __init__(self, directory):
        self.udp, self.tcp = ReservedPort(), ReservedPort()
        configuration = directory / "gmond.conf"
        configuration.write_text(f"""
            globals {{ daemonize = no  setuid = no  debug_level = 0  mute = yes  deaf = no  host_dmax = 0  send_metadata_interval = 0 }}
            cluster {{ name = "test" }}
            udp_recv_channel {{ port = {self.udp.number}  bind = 127.0.0.1 }}
            tcp_accept_channel {{ port = {self.tcp.number}  bind = 127.0.0.1 }}
        """)
        self.process = subprocess.Popen(["gmond", "--foreground", "--conf", configuration], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("gmond", self.answers)

    def answers(self):
        try:
            self.metrics()
            return True
        except OSError:
            return False

    def metrics(self):
        """Returns value, units and group of each metric by name."""
        with socket.create_connection(("127.0.0.1", self.tcp.number), timeout=20) as connection:
            text = b"".join(iter(lambda: connection.recv(65536), b""))
        found = {}
        for metric in ElementTree.fromstring(text).iter("METRIC"):
            group = [extra.get("VAL") for extra in metric.iter("EXTRA_ELEMENT") if extra.get("NAME") == "GROUP"]
            found[metric.get("NAME")] = float(metric.get("VAL")), metric.get("UNITS"), group[0]
        return found

    def close(self):
        self.process.terminate()
        self.process.wait()


@pytest.fixture
def gmond(tmp_path):
    gmond = Gmond(tmp_path)
    yield gmond
    gmond.close()


def ganglia(gmond, *options, **more):
    interval = [] if any("--interval" in option for option in options) else ["--interval=1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([BINARY, "ganglia", f"--gmond=127.0.0.1:{gmond.udp.number}", *interval, *options], text=True,
                            **pipes | more)


def test_a_paceline_shows_gauges_and_what_counters_grow_by(gmond, tmp_path):
    server = Paceline(tmp_path / "server").start()
    sender = None
    try:
        server.query("create database d", "create table d.t (a int primary key)")
        sender = ganglia(gmond, f"--paceline={server.socket}", f"--mariadb={server.socket}")
        # The first run has no differences.
        wait_for("a gauge", lambda: "mysql_threads_connected" in gmond.metrics())
        wait_for("a difference", lambda: "mysql_com_insert" in gmond.metrics())
        found = gmond.metrics()
        assert found["mysql_com_insert"][1:] == ("statements", "mysql")
        assert found["paceline_open_transactions"][1:] == ("count", "paceline")
        assert found["paceline_memtable_bytes"][1] == "bytes" and found["paceline_memtable_bytes"][0] > 0
        assert "paceline_published_position" not in found
        # A server that is away is reported once, and its values go on when it is back.
        server.stop()
        server.start()
        wait_for("values after the restart", lambda: gmond.metrics()["mysql_uptime"][0] < 10)
        sender.send_signal(signal.SIGTERM)
        _, errors = sender.communicate(timeout=60)
        assert sender.returncode == 0, errors
        assert errors.count("cannot connect") + errors.count("SHOW GLOBAL STATUS") <= 2
        for source in ("paceline", "mariadb"):
            assert errors.count(f"{source} at {server.socket} answers again") <= 1, errors
    finally:
        if sender is not None and sender.poll() is None:
            sender.kill()
        server.close()


def test_what_is_sent_of_a_counter_adds_up_to_what_it_grew_by(gmond, tmp_path):
    server = Paceline(tmp_path / "server").start()
    out = tmp_path / "out"
    try:
        server.query("create database d", "create table d.t (a int primary key)")
        with open(out, "w") as stdout:
            sender = ganglia(gmond, f"--mariadb={server.socket}", "--print", stdout=stdout)

        def differences():
            lines = [line.split() for line in out.read_text().rpartition("\n")[0].splitlines()]
            return [float(value) for name, value, _ in lines if name == "mysql_com_insert"]

        try:
            wait_for("a difference", differences)
            before = len(differences())
            server.query(*[f"insert into d.t values ({number})" for number in range(5)])
            wait_for("the five inserts", lambda: sum(differences()) >= 5)
            later = len(differences()) + 2
            wait_for("runs without inserts", lambda: len(differences()) >= later)
        finally:
            sender.terminate()
            _, errors = sender.communicate(timeout=60)
        assert sender.returncode == 0 and errors == ""
        found = differences()
        assert sum(found) == 5 and sum(found[:before]) == 0 and found[-1] == 0, found
    finally:
        server.close()


def test_a_silent_source_does_not_delay_the_others(gmond, paceline):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        sender = ganglia(gmond, f"--paceline=127.0.0.1:{silent.getsockname()[1]}", f"--mariadb={paceline.socket}", "--net-timeout=0")
        try:
            wait_for("values of two runs", lambda: "mysql_com_insert" in gmond.metrics())
        finally:
            sender.terminate()
            _, errors = sender.communicate(timeout=60)
        assert sender.returncode == 0, errors


def test_a_source_that_comes_back_is_named(gmond, paceline, tmp_path):
    paceline.stop()
    with open(tmp_path / "errors", "w") as stderr:
        sender = ganglia(gmond, f"--paceline={paceline.socket}", stderr=stderr)
    try:
        errors = (tmp_path / "errors").read_text
        wait_for("the report of the source", lambda: f"{paceline.socket}: cannot connect" in errors())
        paceline.start()
        wait_for("the report of its return", lambda: f"paceline at {paceline.socket} answers again" in errors())
    finally:
        sender.terminate()
        assert sender.wait(timeout=60) == 0


def test_the_end_of_the_reader_ends_the_run(gmond, paceline):
    sender = ganglia(gmond, f"--paceline={paceline.socket}", "--print")
    assert sender.stdout.readline().startswith("paceline_")
    sender.stdout.close()
    assert sender.wait(timeout=60) == 0
    assert sender.stderr.read() == ""
    sender.stderr.close()


def test_a_mariadb_and_a_memcached(gmond, tmp_path):
    server = MariaDb(tmp_path / "server").start()
    port = ReservedPort()
    memcached = subprocess.Popen(["memcached", "-l", "127.0.0.1", "-p", str(port.number), "-U", "0", "-u", "nobody"])
    try:
        def is_up():
            try:
                socket.create_connection(("127.0.0.1", port.number), timeout=5).close()
                return True
            except OSError:
                return False

        wait_for("memcached", is_up)
        done = ganglia(gmond, f"--mariadb={server.socket}", f"--memcached=127.0.0.1:{port.number}", "--once", "--print")
        printed, errors = done.communicate(timeout=60)
        assert done.returncode == 0, errors
        assert "memcached_limit_maxbytes" in printed and "mysql_com_select" not in printed
        # gmond takes the packets when it gets to them, and the sources send side by side.
        wanted = {"memcached_uptime", "memcached_limit_maxbytes", "mysql_threads_running"}
        found = wait_for("the values", lambda: (all_found := gmond.metrics()) and wanted <= all_found.keys() and all_found)
        assert found["memcached_limit_maxbytes"] == (64 * 1024 * 1024, "bytes", "memcached")
        assert found["mysql_threads_running"][0] >= 1
    finally:
        memcached.terminate()
        memcached.wait()
        server.close()


@pytest.mark.parametrize("options, reason", [
    ([], "nothing to read"),
    (["--memcached=127.0.0.1:1", "--once"], "memcached at 127.0.0.1:1"),
    (["--paceline=127.0.0.1:1", "--once"], "cannot connect"),
    (["--interval=0", "--memcached=x"], "invalid value '0'"),
    (["--memcached=::1:x"], "'::1:x' is not an address"),
])
def test_what_cannot_work_is_an_error(gmond, options, reason):
    done = ganglia(gmond, *options)
    _, errors = done.communicate(timeout=60)
    assert done.returncode != 0 and reason in errors
