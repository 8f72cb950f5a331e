"""A driver with a list of hosts finds the primary of a cluster, also after it has changed."""

import subprocess
import threading
from pathlib import Path

import pytest
from support.clusters import Cluster
from support.waiting import wait_for

CONNECTOR_J = "/usr/share/java/mariadb-java-client.jar"
SOURCE = Path(__file__).parent.parent / "support/HostList.java"


class Application:
    """The Java program. Knows the numbers that were committed."""

    def __init__(self, url):
        self.committed, self.errors = [], []
        self.process = subprocess.Popen(["java", "-cp", CONNECTOR_J, SOURCE, url], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("committed "):
                self.committed.append(int(line.split()[1]))
            else:
                self.errors.append(line)

    def writes(self):
        """Waits until more is committed."""
        before = len(self.committed)
        wait_for("Connector/J to write", lambda: self.process.poll() is not None or len(self.committed) > before + 10)
        assert self.process.poll() is None, self.errors

    def close(self):
        self.process.kill()
        self.process.wait()
        self.thread.join()


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path, 3)
    cluster.primary().query("create user app", "grant all on *.* to app", "create database t", "create table t.n (i int primary key)")
    yield cluster
    cluster.close()


def test_connector_j_finds_the_new_primary_in_its_list_of_hosts(cluster):
    hosts = ",".join(f"127.0.0.1:{member.port}" for member in cluster.members)
    # At random: in a fixed order, the first member that answers would be taken again and again, though it is no primary.
    # A host that failed is asked again after a second; by default after 50.
    application = Application(f"jdbc:mariadb:loadbalance://{hosts}/t?user=app&loadBalanceBlacklistTimeout=1")
    try:
        application.writes()
        old = cluster.primary()
        old.kill()
        application.writes()
        assert cluster.primary() is not old
        old.start()
        cluster.command("switch", "--to", old.directory.name)
        application.writes()
        assert cluster.primary() is old
    finally:
        application.close()
    rows = {number for (number,) in cluster.primary().query("select i from t.n")}
    assert set(application.committed) <= rows
