"""A clean Debian in a directory: its base is made once and kept in the user's cache; each test has a copy."""

import os
import re
import shutil
import subprocess
from pathlib import Path

SUITE = "bookworm"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "paceline-chroot"


def mirror() -> str:
    """Returns the address from which this machine gets Debian's packages."""
    targets = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"],
                             capture_output=True, text=True, check=True).stdout
    return next(line.split()[0] for line in targets.splitlines() if line.split()[1:] == [SUITE])


def base() -> Path:
    """Returns the base system; makes it if it does not exist. It appears as a whole."""
    ready = CACHE / SUITE
    if not ready.exists():
        unfinished = CACHE / f"{SUITE}.{os.getpid()}"
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", "--include=adduser", SUITE, str(unfinished), mirror()], check=True,
                       stdout=subprocess.DEVNULL)
        # No service starts in a chroot.
        policy = unfinished / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        unfinished.rename(ready)
    return ready


class Chroot:
    """A copy of the base system."""

    def __init__(self, directory: Path):
        self.root = directory
        subprocess.run(["cp", "-a", "--reflink=auto", str(base()), str(directory)], check=True)
        # Packages come from where those of this machine come from.
        for name in ("etc/apt/apt.conf.d", "etc/resolv.conf"):
            source, copy = Path("/") / name, self.root / name
            if source.is_dir():
                shutil.copytree(source, copy, dirs_exist_ok=True)
            elif source.exists():
                shutil.copy(source, copy)

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def command(self, *arguments: str) -> list[str]:
        """Returns a command that runs in the chroot, with its own processes and mounts, which end with it."""
        script = 'root=$1; shift; mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"; exec chroot "$root" "$@"'
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script, "sh", str(self.root), *arguments]

    def run(self, *arguments: str, **options) -> subprocess.CompletedProcess:
        """Runs a command to its end, and returns its output as text."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        return subprocess.run(self.command(*arguments), env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=300, **options)

    def check(self, *arguments: str) -> str:
        """Runs a command that must succeed."""
        done = self.run(*arguments)
        assert done.returncode == 0, f"{arguments}:\n{done.stdout}"
        return done.stdout


def unit_setting(unit: Path, name: str) -> str:
    """Returns the value of a setting of a systemd unit."""
    found = re.search(rf"^{name}=(.*)$", unit.read_text(), re.M)
    assert found, f"{unit} has no {name}"
    return found[1]
