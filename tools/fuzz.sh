#!/usr/bin/env bash
# Runs every fuzz target for a while (SECONDS_EACH, default 60). Needs a nightly toolchain and cargo-fuzz, which it installs.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
cargo fuzz --version >/dev/null 2>&1 || { echo "installing cargo-fuzz"; cargo install --locked cargo-fuzz; }
for target in $(cargo +nightly fuzz list); do
    echo "=== $target"
    cargo +nightly fuzz run "$target" -- -max_total_time="${SECONDS_EACH:-60}"
done
