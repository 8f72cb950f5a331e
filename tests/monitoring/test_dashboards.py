"""The Grafana dashboard and the alert rules name only statistics that exist, and Prometheus reads the rules."""

import json
import re
import subprocess
import urllib.request
from pathlib import Path

import pytest
from support.replication import change_master, replication_user, wait_for_replica

FILES = Path(__file__).parent.parent.parent / "packaging/monitoring"
NAME = re.compile(r"\b(?:mysql|paceline|process)_[a-z0-9_]+\b")


@pytest.fixture
def exposed(serve):
    """Names that a server and its replica expose."""
    primary, replica = serve(), serve()
    replication_user(primary)
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    wait_for_replica(replica, primary)
    texts = [urllib.request.urlopen(f"{server.http}/metrics", timeout=20).read().decode() for server in (primary, replica)]
    return {re.split(r"[{ ]", line)[0] for text in texts for line in text.splitlines() if not line.startswith("#")}


def test_prometheus_reads_the_files(tmp_path):
    checked = subprocess.run(["promtool", "check", "rules", FILES / "alerts.yml"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    # The file of the token is on another machine.
    configuration = (FILES / "prometheus.yml").read_text().replace("/etc/prometheus/paceline-token", str(tmp_path / "token"))
    (tmp_path / "token").write_text("x")
    (tmp_path / "prometheus.yml").write_text(configuration)
    (tmp_path / "alerts.yml").write_text((FILES / "alerts.yml").read_text())
    checked = subprocess.run(["promtool", "check", "config", tmp_path / "prometheus.yml"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_all_names_exist(exposed):
    dashboard = json.loads((FILES / "grafana-dashboard.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(expressions) > 20
    rules = re.findall(r"expr: (.*)", (FILES / "alerts.yml").read_text())
    assert len(rules) >= 8
    missing = {name for text in expressions + rules for name in NAME.findall(text)} - exposed
    assert not missing


def test_panels_do_not_overlap():
    panels = json.loads((FILES / "grafana-dashboard.json").read_text())["panels"]
    cells = [(x, y) for panel in panels for place in [panel["gridPos"]]
             for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])]
    assert len(cells) == len(set(cells)) and max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in panels}) == len(panels)
