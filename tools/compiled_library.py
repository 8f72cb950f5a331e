#!/usr/bin/env python3
"""Stands in for cargo when maturin builds the wheel, and hands it the library that $PACELINE_PYTHON_LIBRARY names.

maturin compiles one crate alone, for which cargo gives the dependencies other features than in a build of the workspace: everything,
RocksDB too, would be compiled a second time.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

MANIFEST = Path(__file__).resolve().parent.parent / "crates/embedded_python/Cargo.toml"


def main():
    if sys.argv[1:2] != ["rustc"]:
        os.execvp("cargo", ["cargo", *sys.argv[1:]])
    metadata = json.loads(subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked", "--manifest-path", str(MANIFEST)],
                                         capture_output=True, text=True, check=True).stdout)
    (package,) = [package for package in metadata["packages"] if package["manifest_path"] == str(MANIFEST)]
    (target,) = [target for target in package["targets"] if "cdylib" in target["kind"]]
    # The message of cargo's --message-format=json for a library that is up to date.
    print(json.dumps({
        "reason": "compiler-artifact", "package_id": package["id"], "manifest_path": str(MANIFEST), "target": target,
        "profile": {"opt_level": "3", "debuginfo": 0, "debug_assertions": True, "overflow_checks": True, "test": False},
        "features": [], "filenames": [os.environ["PACELINE_PYTHON_LIBRARY"]], "executable": None, "fresh": True,
    }))
    print(json.dumps({"reason": "build-finished", "success": True}))


if __name__ == "__main__":
    main()
