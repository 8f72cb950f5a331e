"""The Debian packages: from a signed repository into a clean Debian; first start, upgrade, remove, purge, container."""

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pymysql
import pytest
from support.chroot import Chroot, unit_setting
from support.servers import BINARY, ReservedPort
from support.waiting import wait_for

ROOT = Path(__file__).parent.parent.parent
OLD, NEW = "0.1.99", "0.2.99"


def build(to: Path, version: str):
    # The library beside the program, both of one build.
    heart = BINARY.with_name("libpaceline_heart.a")
    subprocess.run(["packaging/build_deb.sh", "--to", str(to), "--binary", str(BINARY), "--heart", str(heart), "--version", version],
                   cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A directory with packages of two versions."""
    directory = tmp_path_factory.mktemp("packages")
    for version in (OLD, NEW):
        build(directory / version, version)
    return directory


@pytest.fixture(scope="module")
def repositories(packages, tmp_path_factory):
    """A signed repository for each version, and the public key."""
    home = tmp_path_factory.mktemp("gpg")
    home.chmod(0o700)
    environment = {**os.environ, "GNUPGHOME": str(home)}
    subprocess.run(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key", "test@localhost", "default", "default", "never"],
                   env=environment, check=True)
    directory = tmp_path_factory.mktemp("repositories")
    for version in (OLD, NEW):
        # A relative path is the caller's.
        subprocess.run([ROOT / "packaging/apt_repository.sh", version, "test@localhost"], cwd=directory, check=True,
                       env={**environment, "PACKAGES": str(packages / version)}, stdout=subprocess.DEVNULL)
    subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=False)
    return directory


@pytest.fixture
def debian(short_path):
    return Chroot(short_path / "debian")


def use_repository(debian: Chroot, repository: Path):
    """Makes a repository the one that the chroot gets Paceline from."""
    copy = debian.path("/srv/paceline")
    subprocess.run(["rm", "-rf", str(copy)], check=True)
    subprocess.run(["cp", "-r", str(repository), str(copy)], check=True)
    keyring = debian.path("/usr/share/keyrings/paceline-archive-keyring.gpg")
    keyring.write_bytes((repository / "paceline-archive-keyring.gpg").read_bytes())
    debian.path("/etc/apt/sources.list.d/paceline.list").write_text(
        f"deb [signed-by=/usr/share/keyrings/{keyring.name}] file:/srv/paceline stable main\n")
    debian.check("apt-get", "update", "-q")


def stop(debian: Chroot, process: subprocess.Popen):
    """Ends the server of a chroot as systemd and a container's engine do, and checks that it ends well."""
    if process.poll() is None:
        servers = subprocess.run(["pgrep", "--exact", "paceline"], capture_output=True, text=True, check=True).stdout.split()
        for pid in servers:
            # Servers of other tests may end meanwhile.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if Path(f"/proc/{pid}/root").readlink() == debian.root:
                    os.kill(int(pid), signal.SIGTERM)
    assert process.wait(60) == 0


class RunningUnit:
    """The server as its unit starts it: user, directories, command, notification of readiness."""

    def __init__(self, debian: Chroot):
        self.debian = debian
        unit = debian.path("/lib/systemd/system/paceline.service")
        user = unit_setting(unit, "User")
        for setting in ("RuntimeDirectory", "StateDirectory"):
            place = {"RuntimeDirectory": "/run", "StateDirectory": "/var/lib"}[setting]
            mode = unit_setting(unit, f"{setting}Mode")
            debian.check("install", "-d", "-o", user, "-g", user, "-m", mode, f"{place}/{unit_setting(unit, setting)}")
        self.notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify = debian.path("/run/notify")
        notify.unlink(missing_ok=True)
        self.notifications.bind(str(notify))
        notify.chmod(0o777)
        self.notifications.settimeout(60)
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", "env", "NOTIFY_SOCKET=/run/notify",
                   *shlex.split(unit_setting(unit, "ExecStart"))]
        self.log = debian.path("/run/server.log").open("w")
        self.process = subprocess.Popen(debian.command(*command), stdout=self.log, stderr=subprocess.STDOUT)
        self.ready = self.notifications.recv(4096).decode()

    def connect(self, user="root"):
        return pymysql.connect(unix_socket=str(self.debian.path("/run/paceline/paceline.sock")), user=user, autocommit=True)

    def stop(self):
        stop(self.debian, self.process)
        self.log.close()
        self.notifications.close()


@contextlib.contextmanager
def running(debian: Chroot):
    server = RunningUnit(debian)
    try:
        yield server
    finally:
        server.stop()


def query(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def test_install_first_start_upgrade_remove_and_purge(debian, repositories):
    use_repository(debian, repositories / OLD)
    debian.check("apt-get", "install", "-y", "-q", "--no-install-recommends", "paceline")
    assert OLD in debian.check("dpkg-query", "-W", "paceline")
    data = debian.path("/var/lib/paceline")
    assert data.stat().st_mode & 0o777 == 0o700
    assert debian.path("/etc/paceline/archive").stat().st_mode & 0o777 == 0o750
    for file in ("man/man1/paceline-promote.1.gz", "bash-completion/completions/paceline", "doc/paceline/operations.md"):
        assert debian.path(f"/usr/share/{file}").exists(), file

    # The administrator's changes survive an upgrade.
    reserved = ReservedPort()
    configuration, port = debian.path("/etc/paceline/paceline.cnf"), reserved.number
    configuration.write_text(configuration.read_text().replace("port = 3306", f"port = {port}"))
    with running(debian) as server:
        assert server.ready.startswith("READY=1")
        with server.connect() as connection:
            query(connection, "create database shop")
            query(connection, "create table shop.item (id int primary key)")
            query(connection, "insert into shop.item values (1),(2)")
            assert query(connection, "select current_user()") == (("root@localhost",),)
        # With systemd the server runs at this point of an installation.
        debian.check("/var/lib/dpkg/info/paceline.postinst", "configure")
        with server.connect() as connection:
            assert query(connection, "select sys_version from sys.version") == (("1.5.1",),)
        # Nobody else, and nobody over the network.
        login = f"import pymysql; pymysql.connect(unix_socket={str(debian.path('/run/paceline/paceline.sock'))!r}, user='root')"
        other = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", sys.executable, "-c", login], capture_output=True, text=True, check=False)
        assert "1698" in other.stderr or "Permission denied" in other.stderr, other.stderr
        with pytest.raises(pymysql.err.OperationalError) as refused:
            pymysql.connect(host="127.0.0.1", port=port, user="root")
        assert refused.value.args[0] in (1045, 1698), refused.value.args

    # A directory of a version that did not say so.
    (data / "paceline.version").unlink()
    use_repository(debian, repositories / NEW)
    debian.check("apt-get", "install", "-y", "-q", "--only-upgrade", "paceline")
    assert NEW in debian.check("dpkg-query", "-W", "paceline")
    with running(debian) as server, server.connect() as connection:
        assert query(connection, "select count(*) from shop.item") == ((2,),)
        assert query(connection, "select @@port") == ((port,),)
    version = (data / "paceline.version").read_text()

    # A directory of a version that is newer than this one is refused, unchanged.
    (data / "paceline.version").write_text("format=1\nwritten_by=99.0.0\n")
    refused = debian.run("setpriv", "--reuid=paceline", "--regid=paceline", "--clear-groups", "/usr/bin/paceline", "server", "--config",
                         "/etc/paceline/paceline.cnf")
    assert refused.returncode == 1 and "cannot be downgraded" in refused.stdout, refused.stdout
    (data / "paceline.version").write_text(version)

    debian.check("apt-get", "remove", "-y", "-q", "paceline")
    assert not debian.path("/usr/bin/paceline").exists()
    assert debian.path("/etc/paceline/paceline.cnf").exists() and (data / "tables").exists()
    output = debian.check("apt-get", "purge", "-y", "-q", "paceline")
    assert not debian.path("/etc/paceline").exists()
    assert "data was not deleted" in output and (data / "tables").exists()


def test_running_archives_are_restarted_by_an_upgrade_and_stopped_by_a_removal(debian, repositories):
    """A systemctl that writes down its calls stands for systemd."""
    calls = debian.path("/run/calls")
    debian.path("/run/systemd/system").mkdir(parents=True)
    systemctl = debian.path("/usr/bin/systemctl")
    systemctl.write_text('#!/bin/sh\necho "$*" >>/run/calls\n')
    systemctl.chmod(0o755)
    debian.path("/usr/sbin/policy-rc.d").unlink()

    def called(*arguments) -> list[str]:
        calls.write_text("")
        debian.check("apt-get", *arguments, "-y", "-q", "--no-install-recommends", "paceline")
        return [call for call in calls.read_text().splitlines() if "archive@" in call and "is-" not in call]

    use_repository(debian, repositories / OLD)
    assert called("install") == []
    use_repository(debian, repositories / NEW)
    assert called("install") == ["try-restart paceline-archive@*.service"]
    assert called("remove") == ["stop paceline-archive@*.service"]


def test_a_repository_is_made_only_where_the_caller_says(tmp_path):
    for arguments in (["", "key"], ["dir", ""], ["dir"]):
        refused = subprocess.run([ROOT / "packaging/apt_repository.sh", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert refused.returncode == 2 and refused.stderr.startswith("usage: "), refused
    assert not list(tmp_path.iterdir())


def test_purge_without_data_leaves_nothing(debian, repositories):
    use_repository(debian, repositories / NEW)
    debian.check("apt-get", "install", "-y", "-q", "--no-install-recommends", "paceline")
    debian.check("apt-get", "purge", "-y", "-q", "paceline")
    assert not debian.path("/var/lib/paceline").exists()
    assert "paceline" not in debian.path("/etc/passwd").read_text()


def test_an_unsigned_or_changed_repository_is_refused(debian, repositories):
    use_repository(debian, repositories / NEW)
    release = debian.path("/srv/paceline/dists/stable/InRelease")
    release.write_text(release.read_text().replace("Origin: Paceline", "Origin: Somebody"))
    debian.check("rm", "-rf", "/var/lib/apt/lists")
    assert debian.run("apt-get", "update", "-q").returncode != 0 or \
        debian.run("apt-get", "install", "-y", "-q", "paceline").returncode != 0


def container_steps() -> tuple[str, list[str]]:
    """Returns the RUN step of the Containerfile, and the command that it ends with."""
    text = (ROOT / "packaging/Containerfile").read_text().replace("\\\n", " ")
    steps = dict(line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    assert steps["USER"] == "paceline"
    return steps["RUN"], [*eval(steps["ENTRYPOINT"]), *eval(steps["CMD"])]  # noqa: S307: lists of strings of our own file


def test_the_steps_of_the_containerfile(debian, packages):
    for package in (packages / NEW).glob("paceline_*.deb"):
        subprocess.run(["cp", str(package), str(debian.path("/tmp"))], check=True)
    run, command = container_steps()
    debian.check("sh", "-c", run)
    debian.path("/accounts.sql").write_text("create user if not exists app@'%' identified by 'secret';\n")
    reserved = ReservedPort()
    port = reserved.number
    command = [*command, f"--port={port}", "--init-file=/accounts.sql"]
    process = subprocess.Popen(debian.command("setpriv", "--reuid=paceline", "--regid=paceline", "--clear-groups", *command))
    try:
        def login():
            with contextlib.suppress(pymysql.err.OperationalError):
                return pymysql.connect(host="127.0.0.1", port=port, user="app", password="secret")
            return None
        with wait_for("a login with the account of the init file", login) as connection:
            assert query(connection, "select 1") == ((1,),)
    finally:
        stop(debian, process)


def test_the_units_are_correct_and_closed(tmp_path, packages):
    package = next((packages / NEW).glob("paceline_*.deb"))
    subprocess.run(["dpkg-deb", "--extract", str(package), str(tmp_path)], check=True)
    units = tmp_path / "lib/systemd/system"
    for name in ("paceline.service", "paceline-archive@.service"):
        unit = units / name
        for setting in ("NoNewPrivileges", "PrivateTmp", "ProtectHome", "MemoryDenyWriteExecute"):
            assert unit_setting(unit, setting) == "yes"
        assert unit_setting(unit, "ProtectSystem") == "strict"
    checked = subprocess.run(["systemd-analyze", "verify", "--man=no", f"--root={tmp_path}", "paceline.service", "paceline-archive@x.service"],
                             capture_output=True, text=True, check=False)
    # The directory has no other units and programs than ours.
    foreign = ("is not executable", "Unit sysinit.target not found", "Unit network.target not found", "Unit network-online.target not found")
    ours = [line for line in checked.stderr.splitlines() if "paceline" in line and not any(text in line for text in foreign)]
    assert ours == [], checked.stderr
