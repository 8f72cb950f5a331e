#!/bin/sh
# Builds an earlier state of the code, as an older version, for the test of a rolling upgrade that `make torture` runs
# (tests/replication/test_cluster_upgrade.py). Prints the program's path, or says on standard error why there is none.
#
# The source comes from the repository's own history: EARLIER, by default a commit whose messages and log the present code
# must understand. Dependencies are compiled once for both, so this takes the time of the workspace's crates, once for each
# commit; the present program has to be built again afterwards, because it has the same place.
set -eu
cd "$(dirname "$0")/.."
commit=${EARLIER:-86ef444f8d0b}
target=${CARGO_TARGET_DIR:-$PWD/target}
if ! commit=$(git rev-parse --verify --quiet "$commit^{commit}"); then
    echo "no rolling upgrade from earlier code: the history of the repository does not have commit ${EARLIER:-86ef444f8d0b}" >&2
    exit 0
fi
program=$target/earlier/$commit/paceline
if [ ! -x "$program" ]; then
    source=$target/earlier/source
    rm -rf "$source"
    mkdir -p "$source" "$target/earlier/$commit"
    git archive "$commit" | tar --extract --directory "$source"
    # Older than the present version, whatever it was called then.
    older=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml | awk -F. '{ print ($2 > 0 ? $1 "." $2 - 1 : $1 - 1 ".99") ".99" }')
    sed -i "/^\[workspace.package\]/,/^\[/s/^version = .*/version = \"$older\"/" "$source/Cargo.toml"
    ${CARGO:-cargo} build --release --manifest-path "$source/Cargo.toml" -p paceline --bin paceline >&2
    cp "$target/release/paceline" "$program"
    rm -rf "$source"
fi
echo "$program"
