#!/usr/bin/env python3
"""Checks that every dependency may be shipped: its licence is one of those in deny.toml, which `cargo deny check
licenses` reads too."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def is_allowed(expression, allowed):
    """Evaluates an SPDX expression; the old form `MIT/Apache-2.0` means OR."""
    words = re.findall(r"[()]|[^\s()]+", re.sub(r"\s*/\s*", " OR ", expression))
    python, licence = [], []

    def flush():
        if licence:
            python.append(str(" ".join(licence) in allowed))
            licence.clear()

    for word in words:
        if word in ("(", ")", "OR", "AND"):
            flush()
            python.append(word.lower())
        else:
            licence.append(word)
    flush()
    return eval(" ".join(python))  # noqa: S307 - nothing but True, False, and, or and parentheses


def main():
    deny = tomllib.loads((ROOT / "deny.toml").read_text())
    allowed = set(deny["licenses"]["allow"])
    # Dependencies for other platforms are not shipped.
    platforms = [f"--filter-platform={target}" for target in deny["graph"]["targets"]]
    metadata = subprocess.run(["cargo", "metadata", "--format-version", "1", "--locked", *platforms], cwd=ROOT, capture_output=True, text=True, check=True)
    packages = json.loads(metadata.stdout)["packages"]
    refused = [(package["name"], package["license"]) for package in packages if not is_allowed(package["license"] or "none", allowed)]
    for name, licence in refused:
        print(f"{name}: {licence} is not among the licences of deny.toml")
    print(f"{len(packages) - len(refused)} of {len(packages)} packages have a licence that may be shipped")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
