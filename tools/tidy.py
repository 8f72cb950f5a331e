#!/usr/bin/env python3
"""Checks that the house is tidy: rules that no compiler and no linter checks.

Usage: tools/tidy.py [CHECK ...]    (default: every check)

Each check is a function below. Its docstring states the rule; it yields a line for each violation. The last line is
"N passed, M failed", counted over the checks; the exit status is 0 only if nothing failed.
"""

import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from module_circles import Crate, circles

ROOT = Path(__file__).resolve().parent.parent

# Everything allowed at the root. A new name needs a reason. .cargo has PCRE2 built in (docs/decisions/0030-pcre2.md) and
# RocksDB compiled in groups (docs/decisions/0040-compiling-rocksdb.md), and cargo reads it only there.
AT_ROOT = {
    ".cargo", ".ci", ".gitignore", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "Cargo.lock", "Cargo.toml", "LICENSE",
    "Makefile", "README.md", "UNSAFE.md", "bench", "crates", "deny.toml", "docs", "fuzz", "packaging", "page", "rustfmt.toml", "tests",
    "tools",
}

# Longest line of a comment in characters. Tables and drawings may be wider.
COMMENT_WIDTH = 120

# File names that are vague or misleading. The glossary has the field's names.
VAGUE_NAMES = {
    "utils", "util", "helpers", "misc", "common", "whose", "unfinished", "left_out", "kept", "void", "way", "mend", "keeper", "scout",
    "made_up", "look_back",
}

# Folders whose modules may use each other in a circle, by crate, with the reason. Everywhere else a circle is an error.
TREE = "types or functions that are defined by each other: the parts of a recursive tree, a table and its entries"
STAGES = "methods of one type, in a file for each of its parts"
CIRCLES = {
    "cluster": {"member": STAGES},
    "expression": {"bind": TREE, "eval": TREE},
    "paceline": {"binlog/print": STAGES},
    "query": {"plan/join_order": STAGES},
    "server": {
        "session/services": STAGES,
        "session/statements/program": TREE,
        "variables": TREE,
    },
    "syntax": {"ast": TREE, "grammar": TREE, "statement": TREE},
    "txn": {"commit": STAGES},
}


def tracked(*patterns):
    output = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for path in output.splitlines() if (ROOT / path).exists()]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


def root():
    """Only known files and folders stand at the root."""
    for name in sorted({path.split("/")[0] for path in tracked()} - AT_ROOT):
        yield f"{name}: what is it for at the root?"


def comment_width():
    """No comment is wider than COMMENT_WIDTH."""
    for path in tracked("*.rs"):
        in_drawing = False
        for number, line in enumerate(text(path).splitlines(), 1):
            comment = line.strip()
            if not comment.startswith("//"):
                in_drawing = False
                continue
            in_drawing ^= comment.lstrip("/! ").startswith("```")
            is_table = "| " in comment or re.search(r"[│┌└├─▶]", comment)
            if len(line) > COMMENT_WIDTH and not in_drawing and not is_table:
                yield f"{path}:{number}: {len(line)} characters"


def file_names():
    """A file's name is the field's term."""
    for path in tracked("*.rs"):
        if Path(path).stem in VAGUE_NAMES:
            yield f"{path}: says nothing (docs/glossary.md)"


def anchors(path):
    """Returns the headings of a document in the form that links use."""
    for heading in re.findall(r"^#+ (.*)$", text(path), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        yield re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def links():
    """Every relative link of a document leads to a file that exists, and to a heading that is in it."""
    for path in tracked("*.md"):
        without_code = re.sub(r"^```.*?^```", "", text(path), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            there = (ROOT / path).parent / file if file else ROOT / path
            if not there.exists():
                yield f"{path}: {target} does not exist"
            elif anchor and there.suffix == ".md" and anchor not in anchors(there.relative_to(ROOT) if there.is_relative_to(ROOT)
                                                                            else there.resolve().relative_to(ROOT)):
                yield f"{path}: {target} has no such heading"


def paths_in_documents():
    """A path in back quotes below crates/ exists."""
    roots = {"crates/"} | {path.split("/")[1] + "/src/" for path in tracked("crates/*/Cargo.toml")}
    for path in ["ARCHITECTURE.md", *tracked("docs/architecture/*.md"), "docs/limits.md"]:
        for name in re.findall(r"`([\w/]+\.rs)`", text(path)):
            candidates = [ROOT / name, ROOT / "crates" / name]
            if any(name.startswith(root) for root in roots) and not any(candidate.exists() for candidate in candidates):
                yield f"{path}: {name} does not exist"


def crate_order():
    """A crate uses only crates above it in ARCHITECTURE's list, and each crate stands there."""
    order = re.findall(r"^\| \[`(\w+)`\]\(crates/", text("ARCHITECTURE.md"), re.M)
    for manifest in tracked("crates/*/Cargo.toml"):
        name = manifest.split("/")[1]
        if name not in order:
            yield f"{name}: not in ARCHITECTURE.md"
            continue
        for dependency in tomllib.loads(text(manifest)).get("dependencies", {}):
            used = dependency.removeprefix("paceline-").replace("-", "_")
            if dependency.startswith("paceline-") and (used not in order or order.index(used) >= order.index(name)):
                yield f"{name}: uses {used}, which is not above it"


def module_circles():
    """The modules of a folder use each other in one direction, except where CIRCLES has the reason why not."""
    for source in sorted((ROOT / "crates").glob("*/src")):
        name = source.parent.name
        crate = Crate(source)
        allowed = set(CIRCLES.get(name, ()))
        for folder in crate.folders():
            found = circles(crate.graph(folder))
            if "/".join(folder) in allowed:
                allowed.remove("/".join(folder))
                if not found:
                    yield f"crates/{name}/src/{'/'.join(folder)}: is in order; take it off the list CIRCLES"
                continue
            for circle in found:
                yield f"crates/{name}/src/{'/'.join(folder)}: {', '.join(circle)} use each other in a circle"
        for folder in sorted(allowed):
            yield f"crates/{name}/src/{folder}: is in the list CIRCLES, but does not exist"


def decisions():
    """Decisions are numbered without a gap, each has the template's sections, and the list names all of them."""
    listed = text("docs/decisions/README.md")
    for number, path in enumerate(tracked("docs/decisions/[0-9]*.md"), 1):
        name = Path(path).name
        if not name.startswith(f"{number:04}-"):
            yield f"{path}: number {number:04} is expected"
        if f"({name})" not in listed:
            yield f"{path}: not in docs/decisions/README.md"
        for section in ["Context", "Alternatives considered", "Measurement", "Decision", "Consequences"]:
            if f"\n## {section}\n" not in text(path):
                yield f"{path}: no section {section!r}"


def glossary():
    """The words that the glossary forbids are in no document and no comment of the code."""
    forbidden = {r"\bredo log\b(?! of| that|,)": None, r"\bslave(?:s)? (?:server|node)": "replica", r"\bmaster (?:server|node)": "primary"}
    for path in [*tracked("*.md"), *tracked("crates/*.rs")]:
        if path in ("CHANGELOG.md", "docs/glossary.md"):
            continue
        for number, line in enumerate(text(path).splitlines(), 1):
            if path.endswith(".rs") and not line.strip().startswith("//"):
                continue
            for pattern, instead in forbidden.items():
                if instead and re.search(pattern, line, re.I):
                    yield f"{path}:{number}: say {instead!r}"


def glossary_names():
    """Each name that the glossary gives for a term is in the code."""
    files = tracked("crates/*", "tests/*")
    words = {word for path in files if path.endswith(".rs") for word in re.findall(r"\w+", text(path))}
    for number, line in enumerate(text("docs/glossary.md").splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 4 or cells[0] in ("term", "---"):
            continue
        for name in re.findall(r"`([\w/.:]+)`", cells[3]):
            if "/" in name or name.endswith(".rs"):
                is_there = any(path.endswith("/" + name) or f"/{name}/" in path for path in files)
            else:
                is_there = all(part in words for part in name.split("::"))
            if not is_there:
                yield f"docs/glossary.md:{number}: {name} is not in the code"


def sleeps():
    """A sleep in a test has a comment, on its line or the line before, that says why no condition can be waited for."""
    for path in tracked("*.rs", "tests/*.py"):
        if path == "tests/support/waiting.py":
            continue
        is_test = path.endswith(".py") or re.search(r"/tests?[/._]|_tests\.rs$", path)
        before = ""
        for number, line in enumerate(text(path).splitlines(), 1):
            is_test = is_test or "#[cfg(test)]" in line
            call = r"\b(?:thread|time)::sleep\(" if path.endswith(".rs") else r"\btime\.sleep\("
            sign = "//" if path.endswith(".rs") else "#"
            if is_test and re.search(call, line) and sign not in line and not before.strip().startswith(sign):
                yield f"{path}:{number}: why does it sleep? (tests/support/waiting.py waits for conditions)"
            before = line


def figures():
    """Each figure of the README has the command that prints it, and the command exists."""
    section = text("README.md").split("\n## Figures\n", 1)[1].split("\n## ", 1)[0]
    for row in re.findall(r"^\| (?!-|load)(.*) \|$", section, re.M):
        if row.startswith("---"):
            continue
        command = re.search(r"`([\w/.]+)[^`]*`$", row)
        if not command or not (ROOT / command[1]).exists():
            yield f"README.md: {row.split(' | ')[0]!r} has no command"


def features(*edges):
    """Returns the features of the packages that a build of the workspace needs, by package and version."""
    tree = subprocess.run(["cargo", "tree", "--locked", "--workspace", "--prefix", "none", "--format", "{p} {f}", "--edges", ",".join(edges)],
                          cwd=ROOT, capture_output=True, text=True, check=True).stdout
    packages = {}
    for name, version, *rest in (line.split() for line in tree.splitlines() if line):
        packages.setdefault(f"{name} {version}", set()).add("".join(part for part in rest if not part.startswith("(")))
    return packages


def features_of_tests():
    """A dependency has the same features in programs and in tests, so that it is compiled once (tests/test_features)."""
    programs, tests = features("normal"), features("normal", "dev")
    for package, found in sorted(programs.items()):
        for missing in sorted(tests[package] - found):
            yield f"{package}: tests have the features {missing!r}"


CHECKS = [
    root, comment_width, file_names, links, paths_in_documents, crate_order, module_circles, decisions, glossary, glossary_names,
    sleeps, figures, features_of_tests,
]


def main():
    begin = time.monotonic()
    chosen = [check for check in CHECKS if len(sys.argv) == 1 or check.__name__ in sys.argv[1:]]
    failed = 0
    for check in chosen:
        findings = list(check())
        failed += bool(findings)
        print(f"{'FAILED' if findings else 'ok':6}  {check.__name__}: {check.__doc__}")
        for finding in findings:
            print(f"        {finding}")
    print(f"{len(chosen) - failed} passed, {failed} failed in {time.monotonic() - begin:.1f}s")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
