"""The manifests for Kubernetes: valid, and with options that the server and HAProxy understand."""

import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from support.clusters import Etcd
from support.servers import BINARY, ROOT, ReservedPort
from support.waiting import wait_for

MANIFESTS = ROOT / "packaging/kubernetes"


def objects():
    return [found for path in sorted(MANIFESTS.glob("*.yaml")) for found in yaml.safe_load_all(path.read_text())]


def the(kind, name):
    [found] = [found for found in objects() if (found["kind"], found["metadata"]["name"]) == (kind, name)]
    return found


@pytest.mark.parametrize("found", objects(), ids=lambda found: f"{found['kind']}-{found['metadata']['name']}")
def test_a_manifest_is_valid(found):
    kubernetes_validate.validate(found, kubernetes_validate.latest_version(), strict=True)


def test_services_and_probes_lead_to_ports_that_exist():
    workloads = [found["spec"]["template"] for found in objects() if found["kind"] in ("StatefulSet", "Deployment")]
    for service in [found["spec"] for found in objects() if found["kind"] == "Service"]:
        [pod] = [pod for pod in workloads if pod["metadata"]["labels"] == service["selector"]]
        ports = {port["name"]: port["containerPort"] for container in pod["spec"]["containers"] for port in container["ports"]}
        for port in service["ports"]:
            target = port.get("targetPort", port["name"])
            assert target in ports, (service, target)
            assert service.get("clusterIP") != "None" or ports[target] == port["port"]
    for pod in workloads:
        for container in pod["spec"]["containers"]:
            names = {port["name"] for port in container["ports"]}
            volumes = {volume["name"] for volume in pod["spec"]["volumes"]} if "volumes" in pod["spec"] else set()
            for probe in ("livenessProbe", "readinessProbe"):
                assert container.get(probe, {"httpGet": {"port": next(iter(names))}})["httpGet"]["port"] in names
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes | {"data"}


def test_haproxy_understands_its_configuration(tmp_path):
    (tmp_path / "haproxy.cfg").write_text(the("ConfigMap", "paceline-haproxy")["data"]["haproxy.cfg"])
    checked = subprocess.run(["haproxy", "-c", "-f", tmp_path / "haproxy.cfg"], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_server_starts_with_the_arguments_of_its_pod(tmp_path):
    [container] = the("StatefulSet", "paceline")["spec"]["template"]["spec"]["containers"]
    etcd, sql, cluster, http = Etcd(tmp_path).start(), ReservedPort(), ReservedPort(), ReservedPort()
    for name in ("cluster", "http"):
        (tmp_path / name).write_text("0123456789abcdef0123456789abcdef\n")
        (tmp_path / name).chmod(0o400)
    # What differs from a pod: names, ports and directories.
    replaced = {"$(POD).paceline:3307": f"127.0.0.1:{cluster.number}", "$(POD)": "paceline-0", "http://etcd:2379": etcd.url, "3306": str(sql.number),
                "0.0.0.0:9104": f"0.0.0.0:{http.number}", "/var/lib/paceline/": f"{tmp_path}/", "/run/paceline/": f"{tmp_path}/"}
    arguments = []
    for argument in container["args"]:
        for old, new in replaced.items():
            argument = argument.replace(old, new)
        arguments.append(argument)
    with open(tmp_path / "log", "wb") as log:
        server = subprocess.Popen([BINARY, "server", *arguments], stdout=log, stderr=log)
    try:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

        def probe(path):
            try:
                with urllib.request.urlopen(f"https://127.0.0.1:{http.number}{path}", context=context, timeout=5) as answer:
                    return answer.read().decode().strip()
            except urllib.error.HTTPError as error:
                return error.code
            except OSError:
                assert server.poll() is None, Path(tmp_path / "log").read_text()
                return None

        paths = [container[kind]["httpGet"]["path"] for kind in ("livenessProbe", "readinessProbe")]
        assert all(container[kind]["httpGet"]["scheme"] == "HTTPS" for kind in ("livenessProbe", "readinessProbe"))
        wait_for("the probes", lambda: [probe(path) for path in paths] == ["running", "ready"])
        wait_for("the primary", lambda: probe("/primary") == "primary")
        assert probe("/metrics") == 401
        status = subprocess.run([BINARY, "cluster", "status", "--cluster=paceline", f"--etcd={etcd.url}"], capture_output=True, text=True, timeout=60)
        assert "paceline-0" in status.stdout and "primary" in status.stdout, status
    finally:
        server.kill()
        server.wait()
        etcd.close()
