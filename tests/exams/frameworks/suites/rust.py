"""Tests of Rust's drivers, which their crates have beside the code."""

import json
import os
import re
import shutil
import subprocess

from frameworks.outcome import Outcome
from frameworks.suite import Suite, output

OUTCOMES = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


class RustCrate(Suite):
    """The unit tests of a crate, which read a server's address from DATABASE_URL."""

    crate: str
    version: str

    def install(self):
        (self.folder / "src").mkdir()
        (self.folder / "src/lib.rs").touch()
        (self.folder / "Cargo.toml").write_text(f'[package]\nname = "exam"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{self.crate} = "={self.version}"\n[workspace]\n', encoding="utf-8")
        self.fetching("cargo", "fetch", "--quiet")
        told = subprocess.run(["cargo", "metadata", "--format-version=1"], cwd=self.folder, check=True, capture_output=True).stdout
        [manifest] = [package["manifest_path"] for package in json.loads(told)["packages"] if package["name"] == self.crate]
        tree = self.folder / "crate"
        shutil.copytree(os.path.dirname(manifest), tree)
        with open(tree / "Cargo.toml", "a", encoding="utf-8") as copied:
            copied.write("\n[workspace]\n")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CARGO_TARGET")}
        self.fetching("cargo", "test", "--quiet", "--no-run", "--lib", cwd=tree, env={**environment, "CARGO_TARGET_DIR": str(self.folder / "target"), "CARGO_BUILD_JOBS": "2"})

    def prepare_server(self, server):
        server.query("set global max_allowed_packet = 1073741824", "set global local_infile = 1")

    def run(self, portion, server, directory, seconds_max):
        [binary] = [path for path in (self.folder / "target/debug/deps").glob(f"{self.crate}-*") if os.access(path, os.X_OK) and not path.suffix]
        environment = {**os.environ, "DATABASE_URL": f"mysql://root@127.0.0.1:{server.port}/mysql", "TMPDIR": str(directory), "COMPRESS": "0", "SSL": "0"}
        _, printed = output([binary, "--test-threads=1", "--skip=ssl", "--skip=tls"], seconds_max, cwd=self.folder / "crate", env=environment)
        texts = dict(re.findall(r"(?ms)^---- (\S+) stdout ----\n(.*?)(?=^---- |^failures:)", printed))
        found = {}
        for test, kind in re.findall(r"(?m)^test (\S+)(?: - should panic)? \.\.\. (?:[^\n]*\n)*?.*?\b(ok|FAILED|ignored)\b", printed):
            found[test] = Outcome(OUTCOMES[kind], "" if kind == "ok" else texts.get(test, "")[-700:])
        if not found:
            print(printed[-2000:], flush=True)
        return found


class MySqlAsync(RustCrate):
    name = "rust_mysql_async"
    crate, version = "mysql_async", "0.37.1"


class MySqlCrate(RustCrate):
    name = "rust_mysql"
    crate, version = "mysql", "28.0.4"
