#!/usr/bin/env bash
# Creates the sample logs in this directory with the installed MariaDB server (10.11 when they were checked in).
#   crates/binlog/tests/samples/make.sh
# They contain every type of event that the server writes into a file; tests/mariadb_samples.rs decodes and encodes them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mariadb-install-db --force --no-defaults --datadir="$work/data" --auth-root-authentication-method=normal --user="$(id -un)" >/dev/null 2>&1
mariadbd --no-defaults --user="$(id -un)" --datadir="$work/data" --socket="$work/s" --skip-networking --server-id=3 \
  --gtid-domain-id=2 --log-bin=mariadb --innodb-buffer-pool-size=32M >"$work/err" 2>&1 &
server=$!
client=(mariadb -uroot -S "$work/s")
for _ in $(seq 120); do "${client[@]}" -e 'select 1' >/dev/null 2>&1 && break; sleep 0.5; done
"${client[@]}" --comments -f <"$here/make.sql" 2>/dev/null || true
printf '200\tload\t1\n201\tload\t2\n' >"$work/load.txt"
"${client[@]}" --local-infile=1 d1 -e "set binlog_format=statement; load data local infile '$work/load.txt' into table t3"
# Three transactions in one commit group.
"${client[@]}" -e 'set global binlog_commit_wait_count=3, global binlog_commit_wait_usec=1000000'
sessions=()
for number in 1 2 3; do
  "${client[@]}" d1 -e "insert into t3 values (30$number, 'group', 1)" &
  sessions+=($!)
done
wait "${sessions[@]}"
mariadb-admin -uroot -S "$work/s" shutdown
wait "$server"
cp "$work"/data/mariadb.00000? "$here/"
ls -l "$here"
