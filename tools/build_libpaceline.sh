#!/usr/bin/env bash
# Builds libpaceline.so.1: MariaDB's client API with the server in it. Usage: tools/build_libpaceline.sh [--to DIR] [--heart FILE]
#   --to     directory for the library, its headers and paceline.pc (default: target/libpaceline)
#   --heart  a compiled libpaceline_heart.a, instead of compiling one
# The directory is laid out like /usr: lib, include/paceline, lib/pkgconfig. paceline.pc finds the others from its own place.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
to=$target/libpaceline
heart=
while [ $# -gt 0 ]; do
    case $1 in
    --to) to=$2; shift ;;
    --heart) heart=$2; shift ;;
    *) sed -n '2,5s/^# //p' tools/build_libpaceline.sh >&2; exit 2 ;;
    esac
    shift
done

source=crates/embedded_c/c
connector=$(pkg-config --variable=libdir libmariadb)/libmariadb.a
headers=$(pkg-config --variable=includedir libmariadb)
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# The number of the interface. It grows when a program that was linked with an older library could not run with this one.
soname=libpaceline.so.1

if [ -z "$heart" ]; then
    # All libraries of the workspace: dependencies have other features when one crate is built, and would be compiled twice.
    cargo build --release --locked --lib
    heart=$target/release/libpaceline_heart.a
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
objcopy --redefine-syms="$source/renamed.symbols" "$connector" "$work/connector.a"
for part in library connection; do
    cc -std=c11 -D_GNU_SOURCE -O2 -g -fPIC -Wall -Wextra -Werror -I"$headers" -c "$source/$part.c" -o "$work/$part.o"
done
# Each symbol of the version libmysqlclient_18 has a second version, libmariadbclient_18, for programs of old: a jump.
case $(uname -m) in
x86_64) jump=jmp suffix=@PLT ;;
aarch64) jump=b suffix= ;;
*) echo "no jump is known for $(uname -m)" >&2; exit 1 ;;
esac
{
    echo '.text'
    sed -n '/^libmysqlclient_18 {/,/^};/s/^ *\([a-z0-9_]*\);$/\1/p' "$source/libpaceline.map" | while read -r name; do
        printf '.globl older_%s\n.type older_%s, %%function\nolder_%s:\n    %s %s%s\n.symver older_%s, %s@libmariadbclient_18, remove\n' \
            "$name" "$name" "$name" "$jump" "$name" "$suffix" "$name" "$name"
    done
    echo '.section .note.GNU-stack,"",%progbits'
} >"$work/older_versions.s"
cc -c "$work/older_versions.s" -o "$work/older_versions.o"

rm -rf "$to"
mkdir -p "$to"/lib/pkgconfig "$to/include/paceline"
# Symbolic: a program may also have loaded libmariadb3, whose functions have the same names. Not to be unloaded: the server's
# threads, and what runs at exit, stay.
cc -shared -o "$to/lib/$soname" -Wl,-soname,$soname -Wl,--version-script="$source/libpaceline.map" \
    -Wl,--wrap=pvio_socket_client_plugin -Wl,--wrap=__cxa_atexit -Wl,-Bsymbolic -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now -Wl,-z,defs -Wl,--gc-sections \
    "$work"/{library,connection,older_versions}.o \
    -Wl,--whole-archive "$work/connector.a" -Wl,--no-whole-archive "$heart" \
    $(pkg-config --libs-only-l --static libmariadb | sed 's/-lmariadb//') -lstdc++ -lm -ldl -lpthread -lgcc_s
ln -s $soname "$to/lib/libpaceline.so"

cp -r "$headers"/. "$to/include/paceline/"
cp "$source/paceline.h" "$to/include/paceline/"
cat >"$to/lib/pkgconfig/paceline.pc" <<PC
prefix=\${pcfiledir}/../..
libdir=\${prefix}/lib
includedir=\${prefix}/include/paceline

Name: paceline
Description: MariaDB's client API with a database in the process
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lpaceline
PC
ls -l "$to/lib/$soname"
