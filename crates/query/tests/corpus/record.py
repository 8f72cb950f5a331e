#!/usr/bin/env python3
"""Records the answers of a real MariaDB server to the scripts of this folder.

    record.py --socket /path/to/mariadbd.sock [NAME.sql ...]

Each NAME.sql is a list of statements, each ending with `;` at the end of a line. It runs in a new database `test`
over one connection, and the answers are written to NAME.result: for every statement its text; then the rows
(separated by tabs, NULL as NULL) under their column names, or the data of the OK packet, or the error; and the
warnings. A line `-- meta` before a statement adds the metadata of the columns. After `-- sort` the rows of a
statement are sorted, for statements whose order is not determined. `tests/corpus.rs` runs the same scripts through
this crate and expects the same files.

Needs PyMySQL.
"""
import argparse
import glob
import os
import sys

import pymysql
from pymysql.constants import CLIENT


def statements(text):
    flags, lines = set(), []
    for line in text.split("\n"):
        stripped = line.strip()
        if not lines and stripped.startswith("--"):
            flags.add(stripped[2:].strip())
            continue
        if not lines and (not stripped or stripped.startswith("#")):
            continue
        lines.append(line)
        if stripped.endswith(";"):
            yield "\n".join(lines).strip()[:-1], flags
            flags, lines = set(), []


def field(value):
    if value is None:
        return "NULL"
    out = []
    for byte in value:
        if byte == 0x5C:
            out.append("\\\\")
        elif byte == 0x0A:
            out.append("\\n")
        elif byte == 0x09:
            out.append("\\t")
        elif byte < 0x20 or byte == 0x7F:
            out.append("\\x%02x" % byte)
        else:
            out.append(chr(byte) if byte < 0x80 else None)
            if out[-1] is None:
                out[-1] = bytes([byte])
    joined = b"".join(p if isinstance(p, bytes) else p.encode() for p in out)
    try:
        return joined.decode("utf-8")
    except UnicodeDecodeError:
        return "0x" + value.hex().upper()


class RawConnection(pymysql.connections.Connection):
    pass


def run(connection, text, flags, out):
    out.append("> " + text.replace("\n", "\n> "))
    cursor = connection.cursor()
    try:
        cursor.execute(text)
    except pymysql.err.Error as error:
        code, message = error.args[0], error.args[1]
        out.append("error %d: %s" % (code, message))
    else:
        result = cursor._result
        if cursor.description is not None:
            out.append("\t".join(d[0] for d in cursor.description))
            rows = ["\t".join(field(v) for v in row) or "''" for row in cursor.fetchall()]
            if "sort" in flags:
                rows.sort()
            out.extend(rows)
            if "meta" in flags:
                for f in result.fields:
                    out.append(
                        "meta: %s.%s(%s).%s(%s) type=%d charset=%d length=%d flags=%d decimals=%d"
                        % (f.db.decode() if isinstance(f.db, bytes) else f.db, f.table_name, f.org_table, f.name, f.org_name, f.type_code, f.charsetnr, f.length, f.flags, f.scale)
                    )
        else:
            line = "ok: %d affected" % result.affected_rows
            if result.insert_id:
                line += ", insert id %d" % result.insert_id
            message = result.message[1:].decode() if result.message else ""  # after its length
            if message:
                line += ", info: " + message
            out.append(line)
    cursor.execute("SHOW WARNINGS")
    for level, code, message in cursor.fetchall():
        if (level or b"") == b"Error":
            continue
        out.append("%s %s: %s" % (level.decode().lower(), code.decode(), message.decode()))
    out.append("")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--socket", required=True)
    parser.add_argument("scripts", nargs="*")
    arguments = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    for script in arguments.scripts or sorted(glob.glob(os.path.join(here, "*.sql"))):
        connection = pymysql.connect(unix_socket=arguments.socket, user="root", charset="utf8mb4", use_unicode=False, conv={}, autocommit=True, client_flag=CLIENT.MULTI_STATEMENTS & 0)
        connection.decoders = {}
        cursor = connection.cursor()
        cursor.execute("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci")
        cursor.execute("SET time_zone = '+00:00', timestamp = 1700000000")
        for text in ("DROP DATABASE IF EXISTS test", "CREATE DATABASE test CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "USE test"):
            cursor.execute(text)
        out = []
        with open(script) as handle:
            for text, flags in statements(handle.read()):
                run(connection, text, flags, out)
        with open(os.path.splitext(script)[0] + ".result", "w") as handle:
            handle.write("\n".join(out))
        connection.close()
        print(os.path.basename(script), file=sys.stderr)


if __name__ == "__main__":
    main()
