#!/usr/bin/env python3
"""Records MariaDB's results for the expressions of *.txt in this folder.

    usage: record.py SOCKET FILE...     (needs PyMySQL, a MariaDB 10.11 with utf8mb4_general_ci as its default, root without password)

A file is a list of expressions, each after "> " (or ">> " to evaluate it over all rows of the table t, instead of its
first row). Each is followed by the server's answer, which this program writes:

    = value            (\\N for NULL, x:… for bytes that are not text)
    : type length decimals flags collation   (from the column definition packet)
    ~ code message     a warning or note
    ! code message     the error

Lines that begin with # are kept.
"""
import re, sys
import pymysql
from pymysql.converters import encoders

def shown(value):
    if value is None:
        return "\\N"
    if isinstance(value, str):
        value = value.encode("utf-8")
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return "x:" + value.hex()
    if any(ord(c) < 32 and c not in "\n\t" or ord(c) == 127 for c in text):
        return "x:" + value.hex()
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")

def text_of(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

def main():
    conn = pymysql.connect(unix_socket=sys.argv[1], user="root", charset="utf8mb4", use_unicode=False, conv=encoders, autocommit=None)
    cur = conn.cursor()
    cur.execute("DROP DATABASE IF EXISTS golden")
    cur.execute("CREATE DATABASE golden")
    cur.execute("USE golden")
    cur.execute("SET NAMES utf8mb4, time_zone='+00:00'")
    for statement in open(__file__.rsplit("/", 1)[0] + "/table.sql").read().split(";\n"):
        if statement.strip():
            cur.execute(statement)
    for name in sys.argv[2:]:
        out = []
        for line in open(name):
            if line.startswith("#") or not line.strip():
                out.append(line.rstrip("\n"))
            if not line.startswith(">"):
                continue
            out.append(line.rstrip("\n"))
            everything = line.startswith(">>")
            expr = line.lstrip(">").strip()
            cur.execute("SET timestamp=1700000000.123456")
            try:
                cur.execute("SELECT " + expr + " FROM t" + ("" if everything else " WHERE id = 1"))
                field = cur._result.fields[0]
                row = cur.fetchone()
                out.append("= " + shown(row[0]))
                out.append(f": {field.type_code} {field.length} {field.scale} {field.flags} {field.charsetnr}")
                cur.execute("SHOW WARNINGS")
                seen = set()
                for level, code, message in cur.fetchall():
                    text = f"~ {text_of(code)} {text_of(message)}"
                    if text not in seen:
                        seen.add(text)
                        out.append(text)
            except pymysql.MySQLError as error:
                out.append(f"! {error.args[0]} {error.args[1]}")
        open(name, "w").write("\n".join(out) + "\n")

main()
