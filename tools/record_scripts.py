#!/usr/bin/env python3
"""Records what a MariaDB 10.11 answers to the golden scripts (crates/golden_script).

    record_scripts.py --socket /path/to/mariadbd.sock [SCRIPT …]

Without names all scripts that have MariaDB's answers are recorded. The server needs root without a password and
utf8mb4_general_ci as its default; the databases `test`, `g` and `golden` are made anew. Answers of Paceline, after
`--- here`, stay as they are: `UPDATE_GOLDENFILES=1 cargo test` writes them.
"""

import argparse
import re
from pathlib import Path

import pymysql
from pymysql.constants import CLIENT
from pymysql.converters import encoders

ROOT = Path(__file__).resolve().parent.parent
TYPES = {
    1: "tinyint", 2: "smallint", 3: "int", 4: "float", 5: "double", 6: "null", 7: "timestamp", 8: "int", 9: "mediumint", 10: "date",
    11: "time", 12: "datetime", 13: "year", 16: "bit", 246: "decimal", 247: "enum", 248: "set", 249: "blob", 250: "blob", 251: "blob",
    252: "blob", 253: "varchar", 254: "char",
}  # fmt: skip
FLAGS = {32: "unsigned", 64: "zerofill", 256: "enum", 2048: "set"}
SYNTAX_ERROR = (
    "You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server version for the right syntax to use "
)


def blocks(text):
    """Returns a script's blocks as (commands and comments, answer, part after `--- here`), and what follows the last."""
    found, head, answer, here, part = [], [], [], [], None
    for line in text.splitlines():
        if part is None:
            if line == "---":
                part = answer
            else:
                head.append(line)
        elif line == "":
            found.append((head, here))
            head, answer, here, part = [], [], [], None
        else:
            part = here if line.startswith("--- here") else part
            part.append(line)
    if part is not None:
        found.append((head, here))
        head = []
    return found, head


def commands(head):
    """Returns the statements of a block with their tags."""
    for line in head:
        found = re.match(r"(?:\[([^]]*)\] )?> ?(.*)", line)
        if found:
            yield found[2], set(re.split("[ ,]", found[1] or ""))


class Recorder:
    """Asks one kind of script; each script begins with a connection of its own."""

    def __init__(self, socket):
        self.connection = pymysql.connect(
            unix_socket=socket, user="root", charset="utf8mb4", use_unicode=False, conv=encoders, autocommit=None, client_flag=CLIENT.MULTI_STATEMENTS
        )
        self.cursor = self.connection.cursor()
        self.collations = {}
        self.cursor.execute("SELECT id, collation_name FROM information_schema.collations WHERE id IS NOT NULL")
        for number, name in self.cursor.fetchall():
            self.collations[int(number)] = name.decode()
        self.prepare()

    def prepare(self):
        """Makes what the scripts begin with."""

    def begin(self, database):
        for text in (f"DROP DATABASE IF EXISTS {database}", f"CREATE DATABASE {database} COLLATE utf8mb4_general_ci", f"USE {database}"):
            self.cursor.execute(text)
        self.cursor.execute("SET NAMES utf8mb4, time_zone = '+00:00'")

    def warnings(self):
        self.cursor.execute("SHOW WARNINGS")
        for level, code, message in self.cursor.fetchall():
            if level != b"Error":
                yield f"{level.decode().lower()} {code.decode()}: {message.decode('utf-8', 'replace')}"

    def record(self, path):
        found, tail = blocks(path.read_text())
        texts = []
        for head, here in found:
            answer = [line for text, tags in commands(head) for line in self.ask(text, tags)]
            texts.append("\n".join([*head, "---", *(answer or ["ok"]), *here]) + "\n")
        if tail:
            texts.append("\n".join(tail) + "\n")
        path.write_text("\n".join(texts))

    def ask(self, text, tags):
        try:
            return self.answer(text, tags)
        except pymysql.MySQLError as error:
            return [f"error {error.args[0]}: {error.args[1]}"]


class Statements(Recorder):
    """Result sets, counts, errors and warnings."""

    folder = "crates/query/testscripts/answers"

    def prepare(self):
        self.begin("test")
        self.cursor.execute("SET timestamp = 1700000000")

    def ask(self, text, tags):
        lines = super().ask(text, tags)
        lines.extend(self.warnings())
        return lines

    def answer(self, text, tags):
        self.cursor.execute(text)
        result = self.cursor._result
        if self.cursor.description is None:
            line = f"ok: {result.affected_rows} affected"
            if result.insert_id:
                line += f", insert id {result.insert_id}"
            if result.message:
                line += f", info: {result.message[1:].decode()}"  # after its length
            return [line]
        rows = ["\t".join(map(self.field, row)) or "''" for row in self.cursor.fetchall()]
        lines = ["\t".join(column[0] for column in self.cursor.description), *(sorted(rows) if "sort" in tags else rows)]
        if "meta" in tags:
            for field in result.fields:
                database = field.db.decode() if isinstance(field.db, bytes) else field.db
                lines.append(
                    f"meta: {database}.{field.table_name}({field.org_table}).{field.name}({field.org_name}) type={field.type_code}"
                    f" charset={field.charsetnr} length={field.length} flags={field.flags} decimals={field.scale}"
                )
        return lines

    @staticmethod
    def field(value):
        if value is None:
            return "NULL"
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return "0x" + value.hex().upper()
        escapes = {"\\": "\\\\", "\n": "\\n", "\t": "\\t"}
        return "".join(escapes.get(c) or (f"\\x{ord(c):02x}" if ord(c) < 0x20 or ord(c) == 0x7F else c) for c in text)


class Definitions(Recorder):
    """What SHOW CREATE and SHOW WARNINGS say."""

    folder = "crates/catalog/testscripts/ddl"

    def prepare(self):
        self.begin("g")

    def answer(self, text, tags):
        # A statement with a table clears the warnings of those before; one without keeps them.
        self.cursor.execute("SELECT 1 FROM information_schema.engines LIMIT 0")
        self.cursor.execute(text)
        lines = [row[1].decode() for row in self.cursor.fetchall()] if self.cursor.description else []
        return [part for line in lines for part in line.split("\n")] + list(self.warnings())


class Expressions(Recorder):
    """Value, type, conditions."""

    folder = "crates/expression/testscripts"

    def prepare(self):
        self.begin("golden")
        for text in (ROOT / self.folder / "table.sql").read_text().split(";\n"):
            if text.strip():
                self.cursor.execute(text)

    def answer(self, text, tags):
        self.cursor.execute("SET timestamp = 1700000000.123456")
        self.cursor.execute(f"SELECT {text} FROM t" + ("" if "all" in tags else " WHERE id = 1"))
        field = self.cursor._result.fields[0]
        value = self.cursor.fetchone()[0]
        words = [TYPES[field.type_code]]
        if field.type_code < 249 and field.scale:
            words.append(f"{field.scale} decimals")
        words += [word for flag, word in FLAGS.items() if field.flags & flag]
        words.append(self.collations[field.charsetnr])
        return [f"= {self.shown(value)}", f"type: {', '.join(words)}", *dict.fromkeys(self.warnings())]

    @staticmethod
    def shown(value):
        if value is None:
            return "\\N"
        value = value.encode() if isinstance(value, str) else value
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return "x:" + value.hex()
        if any(ord(c) < 32 and c not in "\n\t" or ord(c) == 127 for c in text):
            return "x:" + value.hex()
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


class Syntax(Recorder):
    """Whether the grammar takes a statement: only errors of the grammar are answers."""

    folder = "crates/syntax/testscripts"
    # What is executed, because a program is only looked at when it is created.
    PROGRAM = re.compile(r"(?i)(create (or replace )?(definer\b.*? )?(aggregate )?(procedure|function|trigger)|begin not|if |while |repeat |case |for |l: |"
                         r"signal|resignal|get |call )")
    # Errors that need more than the text: unknown variables, objects that exist or do not, what is signalled.
    NOT_OF_SYNTAX = {1050, 1166, 1193, 1305, 1320, 1359, 1644, 1645, 1901, 4031}

    def prepare(self):
        self.begin("test")

    def answer(self, text, tags):
        """Asks for the statement's preparation, so that nothing happens; what cannot be prepared is taken, too."""
        if self.PROGRAM.match(text):
            return self.answer_of_program(text)
        try:
            if ";" in text:
                self.cursor.execute(text)
                while self.cursor.nextset():
                    pass
            else:
                self.cursor.execute("PREPARE s FROM " + self.connection.escape(text))
        except pymysql.MySQLError as error:
            code, message = error.args[:2]
            if code == 1064:
                return [f"error {code}: {message.removeprefix(SYNTAX_ERROR)}"]
        return []

    def answer_of_program(self, text):
        """Creates a program among tables that it may name, and drops it again."""
        self.cursor.execute(
            "DROP TABLE IF EXISTS t, u; CREATE TABLE t (a INT, b INT, c INT); CREATE TABLE u (a INT, b INT); DROP PROCEDURE IF EXISTS p; "
            "DROP FUNCTION IF EXISTS f; DROP VIEW IF EXISTS v"
        )
        while self.cursor.nextset():
            pass
        try:
            self.cursor.execute(text)
            while self.cursor.nextset():
                pass
        except pymysql.MySQLError as error:
            code, message = error.args[:2]
            if code not in self.NOT_OF_SYNTAX:
                return [f"error {code}: {message.removeprefix(SYNTAX_ERROR)}"]
        return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket", required=True)
    parser.add_argument("scripts", nargs="*", type=Path)
    arguments = parser.parse_args()
    chosen = {script.resolve() for script in arguments.scripts}
    for kind in (Statements, Definitions, Expressions, Syntax):
        for path in sorted((ROOT / kind.folder).iterdir()):
            if not path.suffix and (not chosen or path in chosen):
                kind(arguments.socket).record(path)
                print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
