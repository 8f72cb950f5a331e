#!/usr/bin/env bash
# Builds the Debian packages. Usage: packaging/build_deb.sh [--to DIR] [--binary FILE] [--heart FILE] [--version VERSION]
#   --to       directory for the packages (default: target/debian)
#   --binary   a compiled program, instead of compiling one with line tables
#   --heart    a compiled libpaceline_heart.a, likewise
#   --version  version of the packages (default: that of Cargo.toml)
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
to=$target/debian
binary=
heart=
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
while [ $# -gt 0 ]; do
    case $1 in
    --to) to=$2 ;;
    --binary) binary=$2 ;;
    --heart) heart=$2 ;;
    --version) version=$2 ;;
    *) sed -n '2,6s/^# //p' packaging/build_deb.sh >&2; exit 2 ;;
    esac
    shift 2
done

# Dependencies are those of every other build: only our crates have line tables (Cargo.toml).
export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
if [ -z "$binary" ]; then
    cargo build --release --locked --bin paceline
    binary=$target/release/paceline
fi

mkdir -p "$to"
tree=$(cd "$to" && pwd)/paceline-$version
rm -rf "$tree"
mkdir -p "$tree"/files/{man,docs,completions/{bash,zsh,fish}}
cp -r packaging/debian "$tree/debian"
cp "$binary" "$tree/files/paceline"
cp packaging/paceline.cnf "$tree/files/"
cp -r packaging/monitoring "$tree/files/"
cp README.md CHANGELOG.md docs/*.md "$tree/files/docs/"
tools/build_libpaceline.sh --to "$tree/files/library" ${heart:+--heart "$heart"} >/dev/null
# In a package the directories are Debian's.
sed -i -e 's#^prefix=.*#prefix=/usr#' -e "s#^libdir=.*#libdir=\${prefix}/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)#" \
    "$tree/files/library/lib/pkgconfig/paceline.pc"
paceline=$tree/files/paceline
"$paceline" man --to "$tree/files/man"
"$paceline" completions bash >"$tree/files/completions/bash/paceline"
"$paceline" completions zsh >"$tree/files/completions/zsh/_paceline"
"$paceline" completions fish >"$tree/files/completions/fish/paceline.fish"
cat >"$tree/debian/changelog" <<EOF
paceline ($version) unstable; urgency=medium

  * See CHANGELOG.md in /usr/share/doc/paceline.

 -- The Paceline developers <paceline@localhost>  $(date -R -d "@$(git log -1 --format=%ct)")
EOF
(cd "$tree" && dpkg-buildpackage --build=binary --no-sign >build.log 2>&1) || {
    tail -40 "$tree/build.log" >&2
    exit 1
}
rm -rf "$tree"
ls -l "$to"/{,lib}paceline*_"$version"_*.deb
