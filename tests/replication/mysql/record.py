#!/usr/bin/env python3
"""Records the files beside it again, with a real MySQL server that has no other use: its binary logs are reset.

    record.py ROOT mysql -uroot -S SOCKET          ROOT: root of the server's file system; / if it runs in no chroot
    record.py --only NAME ROOT mysql …             NAME: refused, partial or workload
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def ask(client, text):
    done = subprocess.run([*client, "-N", "-B", "--default-character-set=utf8mb4"], input=text.encode(), capture_output=True, check=True)
    return done.stdout


def content(client, database):
    """Returns all rows of a database's tables, each table after its query; with invisible columns, and bytes as
    digits."""
    tables = ask(client, f"select table_name from information_schema.tables where table_schema='{database}' and "
                         "table_type='BASE TABLE' order by 1").decode().split()
    for table in tables:
        columns = ask(client, "select column_name, data_type from information_schema.columns where table_schema="
                              f"'{database}' and table_name='{table}' order by ordinal_position").decode().split("\n")[:-1]
        shown = []
        for column in columns:
            name, kind = column.split("\t")
            is_bytes = kind == "bit" or "binary" in kind or "blob" in kind
            shown.append(f"hex(`{name}`)" if is_bytes else f"`{name}`")
        query = f"select {', '.join(shown)} from `{database}`.`{table}`"
        rows = ask(client, query).split(b"\n")[:-1]
        yield b"== " + query.encode() + b"\n" + b"".join(row + b"\n" for row in sorted(rows))


def record(root, client, workload, name):
    ask(client, f"drop database if exists {workload.stem}")
    ask(client, "reset binary logs and gtids")
    ask(client, workload.read_text())
    directory = Path(root + ask(client, "select @@datadir").decode().strip())
    logs = [line.split("\t")[0] for line in ask(client, "show binary logs").decode().split("\n")[:-1]]
    ask(client, "flush binary logs")
    for number, log in enumerate(logs, 1):
        (HERE / f"{name}.{number:06}").write_bytes((directory / log).read_bytes())


def main():
    arguments = sys.argv[1:]
    only = arguments[1] if arguments[0] == "--only" else None
    root, *client = arguments[2:] if only else arguments
    for workload, name in (("refused", "refused"), ("partial", "partial"), ("workload", "bin")):
        if only not in (None, workload):
            continue
        record(root.rstrip("/"), client, HERE / f"{workload}.sql", name)
        if workload != "refused":
            held = "content.txt" if workload == "workload" else f"{workload}-content.txt"
            (HERE / held).write_bytes(b"".join(content(client, workload)))


if __name__ == "__main__":
    main()
