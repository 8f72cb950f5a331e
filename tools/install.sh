#!/usr/bin/env bash
# Installs what a build, the tests or the benchmark need and this machine lacks (Debian packages; Python packages into
# ./.venv), and says what it installs. Usage: tools/install.sh [build] [library] [python] [test] [exams] [bench] [lab] [packages]
set -euo pipefail
cd "$(dirname "$0")/.."

command -v cargo >/dev/null || {
    echo "Rust is missing: install the stable toolchain (see rustup.rs), then try again." >&2
    exit 1
}

packages=()
need() { # need PACKAGE COMMAND-OR-FILE: remembers the package when neither stands on this machine
    command -v "$2" >/dev/null || [ -e "$2" ] || packages+=("$1")
}
python=no
maturin=no
for purpose in "$@"; do
    case $purpose in
    build)
        need g++ g++
        need clang clang
        compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null || packages+=(libclang-dev) ;;
    library)
        need pkgconf pkg-config
        need binutils objcopy
        # Connector/C as a static library, and its headers.
        need libmariadb-dev /usr/include/mariadb/ma_pvio.h ;;
    python)
        # Builds the wheel of the Python module.
        need python3-venv python3
        maturin=yes ;;
    test)
        need mariadb-server /usr/sbin/mariadbd
        need mariadb-client mariadb-dump
        need libdbd-mysql-perl /usr/share/doc/libdbd-mysql-perl
        need mydumper mydumper
        need python3-dev /usr/share/doc/python3-dev
        need sysbench sysbench
        need strace strace
        need fuse3 fusermount3
        need percona-toolkit pt-table-checksum
        need prometheus promtool
        need ganglia-monitor gmond
        need memcached memcached
        need libmemcached-tools memccapable
        need php-cli php
        compgen -G '/usr/lib/php/*/memcached.so' >/dev/null || packages+=(php-memcached)
        need lld wasm-ld
        need etcd-server etcd
        need haproxy haproxy
        need libmariadb-java /usr/share/java/mariadb-java-client.jar
        need default-jdk-headless javac
        need iproute2 tc
        need chromium chromium
        need nodejs node
        need npm npm
        need maven mvn
        need golang-go go
        need prometheus-mysqld-exporter prometheus-mysqld-exporter
        need python3-venv python3
        python=yes ;;
    exams)
        # The tests are a package of their own, which the runner depends on.
        need mariadb-test /usr/share/mysql/mysql-test/main ;;
    packages)
        need debhelper dh
        need dpkg-dev dpkg-buildpackage
        need apt-utils apt-ftparchive
        need gnupg gpg
        need debootstrap debootstrap ;;
    bench)
        need mariadb-server /usr/sbin/mariadbd
        need mariadb-client mariadb
        need sysbench sysbench
        need strace strace
        need lld wasm-ld
        need etcd-server etcd
        need patroni patroni
        need postgresql-15 /usr/lib/postgresql/15/bin/postgres
        need python3-psycopg2 /usr/lib/python3/dist-packages/psycopg2
        need python3-pymysql /usr/lib/python3/dist-packages/pymysql
        need python3 python3 ;;
    lab)
        need mariadb-server /usr/sbin/mariadbd
        need mariadb-client mariadb-slap
        need strace strace ;;
    *) echo "unknown purpose: $purpose" >&2; exit 2 ;;
    esac
done

if [ ${#packages[@]} -gt 0 ]; then
    mapfile -t packages < <(printf '%s\n' "${packages[@]}" | sort -u)
    echo "installing Debian packages: ${packages[*]}"
    as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    # A freshly installed MariaDB must not start a service on the port that the tour uses.
    policy=/usr/sbin/policy-rc.d
    [ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee $policy >/dev/null
        "${as_root[@]}" chmod +x $policy; trap '"${as_root[@]}" rm -f $policy' EXIT; }
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi

python_packages() { # python_packages ARGUMENT-OF-PIP...: installs Python packages into .venv
    [ -x .venv/bin/pip ] || python3 -m venv .venv 2>/dev/null || {
        as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
        "${as_root[@]}" apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
        python3 -m venv .venv
    }
    .venv/bin/pip install -q --disable-pip-version-check "$@"
}

if [ $python = yes ] && ! .venv/bin/python -c 'import pymysql, mysql.connector, pymysqlreplication, kubernetes_validate, pymemcache, pytest, xdist, pexpect, maturin, dbapi20' 2>/dev/null; then
    echo "installing Python packages into .venv: $(grep -v '^#' tests/requirements.txt | tr '\n' ' ')"
    python_packages -r tests/requirements.txt
fi

if [ $maturin = yes ] && ! [ -x .venv/bin/maturin ]; then
    version=$(grep '^maturin==' tests/requirements.txt)
    echo "installing Python packages into .venv: $version"
    python_packages "$version"
fi
