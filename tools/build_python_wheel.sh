#!/usr/bin/env bash
# Builds the wheel of the Python module `paceline`. Usage: tools/build_python_wheel.sh [--to DIR] [--library FILE]
#   --to       directory for the wheel (default: target/python)
#   --library  a compiled libpaceline_python.so, instead of compiling one
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
to=$CARGO_TARGET_DIR/python
library=
while [ $# -gt 0 ]; do
    case $1 in
    --to) to=$(realpath -m "$2"); shift ;;
    --library) library=$(realpath "$2"); shift ;;
    *) sed -n '2,4s/^# //p' tools/build_python_wheel.sh >&2; exit 2 ;;
    esac
    shift
done

if [ -z "$library" ]; then
    # All libraries of the workspace: dependencies have other features when one crate is built, and would be compiled twice.
    cargo build --release --locked --lib
    library=$CARGO_TARGET_DIR/release/libpaceline_python.so
fi

mkdir -p "$to"
rm -f "$to"/paceline-*.whl
CARGO=$PWD/tools/compiled_library.py PACELINE_PYTHON_LIBRARY=$library \
    .venv/bin/maturin build --quiet --release --locked --manifest-path crates/embedded_python/Cargo.toml --interpreter python3 --out "$to"
ls "$to"/paceline-*.whl
