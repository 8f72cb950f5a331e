"""Runs tools of administrators, from Debian's packages, against the server at $EXAM_PORT, and records for each what it printed and what
it left in the database."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

PORT = os.environ["EXAM_PORT"]
SOCKET = os.environ["EXAM_SOCKET"]
DIRECTORY = Path(os.environ["EXAM_DIRECTORY"])
DSN = f"h=127.0.0.1,P={PORT},u=root"
TOOL_SECONDS_MAX = 120
SCHEMA = """
drop database if exists tools; create database tools character set utf8mb4; use tools;
create table big (id int auto_increment primary key, v varchar(50), n int, d datetime default '2026-01-01', key by_v (v), key by_v_n (v, n), key by_n (n), unique key of_d (id, d)) ;
insert into big (v, n) select concat('row ', seq), seq % 100 from seq_1_to_3000;
create table parent (id int primary key, name varchar(20)); insert into parent values (1, 'a'), (2, 'größe');
create table child (id int primary key, p int, constraint to_parent foreign key (p) references parent (id) on delete cascade); insert into child values (1, 1), (2, 2);
create table every (id int primary key, de decimal(20,5), f double, b blob, bits bit(9), t time(3), ts timestamp(6) null, e enum('x','ü'), s set('a','b'), j json, g int as (id * 2) virtual, u uuid, y year);
insert into every (id, de, f, b, bits, t, ts, e, s, j, u, y) values (1, -1.5, 1e-300, x'00ff27', b'101', '-10:11:12.345', '2026-01-01 00:00:00.123456', 'ü', 'a,b', '{"a": "ü"}', '123e4567-e89b-12d3-a456-426655440000', 2026),
  (2, null, null, null, null, null, null, null, null, null, null, null);
create view seen as select id, v from big where n < 5;
create table log (what varchar(50));
create trigger big_deleted after delete on big for each row insert into log values (old.v);
create procedure act(in a int) select a * 2 as twice;
create function twice(a int) returns int deterministic return a * 2;
create event later on schedule every 1 day starts '2030-01-01 00:00:00' disable do delete from log;
create or replace user reader@localhost identified by 'secret'; grant select, insert on tools.* to reader@localhost; grant update (name) on tools.parent to reader@localhost;
create or replace role clerk; grant select on tools.big to clerk; grant clerk to reader@localhost;
"""


class Failure(Exception):
    """A tool that ended with an error."""


def client(statements, *options):
    done = subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", SOCKET, "--default-character-set=utf8mb4", *options], input=statements, capture_output=True, text=True,
                          errors="replace", timeout=TOOL_SECONDS_MAX)
    if done.returncode:
        raise Failure(done.stderr)
    return done.stdout


def tool(*command, statuses=(0,), **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=TOOL_SECONDS_MAX,
                          env={**os.environ, "HOME": str(DIRECTORY), "LANG": "C.UTF-8"}, **options)
    if done.returncode not in statuses:
        raise Failure(f"{command} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def anonymous(text):
    """Removes what differs between two runs: times, numbers of processes and ports, figures of speed."""
    text = text.replace(PORT, "PORT").replace(str(DIRECTORY), "DIRECTORY")
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?|\d\d-\d\dT\d\d:\d\d:\d\d", "TIME", text)
    text = re.sub(r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\b\d\d:\d\d:\d\d\b", "TIME", text)
    return re.sub(r"pid[ =]\d+|_\d+_\w+_new", "_", text)


def state(database="tools"):
    tables = client(f"select table_name from information_schema.tables where table_schema = '{database}' order by 1", "-N").split()
    shown = "; ".join(f"show create table `{table}`; select * from `{table}` order by 1" for table in tables)
    return client(f"use {database}; {shown}") + client(
        f"select routine_name, routine_definition, definer from information_schema.routines where routine_schema = '{database}' order by 1; "
        f"select trigger_name, action_statement, definer from information_schema.triggers where trigger_schema = '{database}' order by 1; "
        f"select event_name, event_definition, status from information_schema.events where event_schema = '{database}' order by 1")


def mydumper():
    target = DIRECTORY / "dump"
    tool("rm", "-rf", target)
    tool("mydumper", "-h", "127.0.0.1", "-P", PORT, "-u", "root", "-B", "tools", "-o", target, "-G", "-R", "-E", "--rows=1000", "--threads=3", "--trx-consistency-only")
    files = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in sorted(target.iterdir()) if path.name != "metadata"}
    before = state()
    tool("myloader", "-h", "127.0.0.1", "-P", PORT, "-u", "root", "-d", target, "-B", "loaded", "-o", "--threads=3")
    return "\n".join(f"{name}\n{text}" for name, text in files.items()) + before.replace("tools", "loaded")[:100] + str(before.count("\n") == state("loaded").count("\n"))


def online_schema_change():
    stop = threading.Event()

    def load():
        number = 0
        while not stop.is_set():
            number += 1
            client(f"use tools; insert into big (v, n) values ('while {number}', {number}); update big set n = n + 1 where id = {number}; delete from big where id = {3000 - number}")

    client("drop trigger tools.big_deleted")
    writer = threading.Thread(target=load)
    writer.start()
    try:
        printed = tool("pt-online-schema-change", "--alter", "add column added varchar(10) not null default 'x', drop index by_v", f"D=tools,t=big,{DSN}", "--execute", "--chunk-size=500", "--no-version-check",
                       "--recursion-method=none", "--set-vars=innodb_lock_wait_timeout=5", "--no-drop-old-table")
        printed += tool("pt-online-schema-change", "--alter", "add column more int, engine=innodb", f"D=tools,t=parent,{DSN}", "--execute", "--alter-foreign-keys-method=rebuild_constraints", "--no-version-check",
                        "--recursion-method=none")
    finally:
        stop.set()
        writer.join()
    printed = re.sub(r"(?m)approximately \d+ rows|^# .*$|.*approximately.*|Exiting without.*", "", printed)
    return anonymous(printed) + client("use tools; show create table big; show create table parent; show create table child; select count(*) > 0 from big where added = 'x'; show triggers", "-N").replace("AUTO_INCREMENT", "\nAUTO_INCREMENT").split("\nAUTO_INCREMENT")[0]


def archiver():
    client("create table tools.old like tools.big")
    printed = tool("pt-archiver", "--source", f"D=tools,t=big,{DSN}", "--dest", f"D=tools,t=old,{DSN}", "--where", "n = 7", "--limit=10", "--commit-each", "--statistics", "--no-version-check", "--no-check-charset")
    printed = "\n".join(line for line in printed.splitlines() if re.match(r"(SELECT|INSERT|DELETE) \d+", line))
    return printed + client("use tools; select count(*), min(id), max(id) from old; select count(*) from big where n = 7; select count(*) from log")


def table_sync():
    client("use tools; create table copy like parent; insert into copy values (1, 'a'), (2, 'other'), (3, 'extra')")
    printed = tool("pt-table-sync", "--print", "--execute", "--verbose", f"{DSN},D=tools,t=parent", "D=tools,t=copy", "--no-version-check", "--charset=utf8", statuses=(0, 2))
    return anonymous(re.sub(r"/\*percona-toolkit.*\*/|TIME TIME", "", anonymous(printed))) + client("select * from tools.copy")


def deadlock_logger():
    client("use tools; create table locks (id int primary key, v int); insert into locks values (1, 1), (2, 2)")
    results = []

    def run(first, second):
        try:
            client(f"use tools; begin; update locks set v = v + 1 where id = {first}; select sleep(0.5); update locks set v = v + 1 where id = {second}; commit")
        except Failure as error:
            results.append(str(error).split(" at line")[0])

    threads = [threading.Thread(target=run, args=pair) for pair in ((1, 2), (2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    printed = tool("pt-deadlock-logger", DSN, "--iterations=1", "--no-version-check", "--columns=user,db,tbl,idx,lock_type,lock_mode,wait_hold,query")
    return "\n".join(sorted(results)) + "\n" + re.sub(r" +", " ", printed)


def kill():
    sleeper = subprocess.Popen(["mariadb", "--no-defaults", "-uroot", "-S", SOCKET, "-e", "select sleep(60) as victim"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        deadline = time.monotonic() + 20
        while "victim" not in client("select info from information_schema.processlist where info like 'select sleep%'") and time.monotonic() < deadline:
            time.sleep(0.1)  # The pause of a loop that waits.
        printed = tool("pt-kill", DSN, "--match-info", "victim", "--kill", "--print", "--run-time=3", "--interval=1", "--no-version-check", "--busy-time=1", "--victims=all")
        return re.sub(r"KILL \d+ \(Query \d+ sec\)", "KILL", anonymous(printed)).replace("# TIME ", "") + re.sub(r"server.sock|\d+", "_", sleeper.communicate(timeout=30)[0])
    finally:
        if sleeper.poll() is None:
            sleeper.kill()


def heartbeat():
    printed = tool("pt-heartbeat", "--update", f"{DSN},D=tools", "--database=tools", "--table=heartbeat", "--create-table", "--run-time=2", "--interval=1", "--no-version-check")
    # It prints the delay.
    tool("pt-heartbeat", "--check", f"{DSN},D=tools", "--database=tools", "--table=heartbeat", "--master-server-id=1", "--no-version-check")
    return anonymous(printed) + client("show create table tools.heartbeat; select server_id, file <> '', position > 0 from tools.heartbeat")


def show_grants():
    printed = tool("pt-show-grants", DSN, "--only=reader,clerk", "--no-version-check", statuses=(0, 1, 255))
    return "\n".join(line for line in printed.splitlines() if not line.startswith("-- Grants dumped") and not line.startswith("-- Dumped from"))


def summary():
    printed = tool("pt-mysql-summary", f"--socket={SOCKET}", "--user=root", "--databases=tools")
    return "\n".join(anonymous(line.strip("# ").strip()) for line in printed.splitlines() if line.startswith("#") or "rror" in line or "ERROR" in line)


def variable_advisor():
    tool("pt-variable-advisor", DSN, "--no-version-check", "-q", statuses=(0, 1))
    return "done"


def tuner():
    printed = tool("mysqltuner", "--host", "127.0.0.1", "--port", PORT, "--user", "root", "--pass", "", "--nocolor", "--skippassword", "--forcemem", "1024", "--forceswap", "0", statuses=(0, 1))
    return "\n".join(line for line in printed.splitlines() if "FAIL" in line or "rror" in line or "uninitialized" in line or "Operating" in line)


def mycli():
    statements = ["select * from every", "show tables", "describe child", "show create view seen", "call act(4)", "explain select 1", "select nope", "show databases like 'tools'", "\\G select 1 as a"]
    return "\n".join(tool("mycli", "-h", "127.0.0.1", "-P", PORT, "-u", "root", "-p", "", "tools", "-e", each, "--csv", statuses=(0, 1)) for each in statements[:5] + statements[6:8])


def exporter():
    import http.client
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(["prometheus-mysqld-exporter", f"--web.listen-address=127.0.0.1:{port}", "--collect.info_schema.tables", "--collect.auto_increment.columns", "--collect.binlog_size",
                                "--collect.info_schema.processlist", "--collect.mysql.user", "--collect.info_schema.innodb_metrics", "--collect.engine_innodb_status"],
                               env={"DATA_SOURCE_NAME": f"root@tcp(127.0.0.1:{PORT})/"}, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
                connection.request("GET", "/metrics")
                text = connection.getresponse().read().decode()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)  # The pause of a loop that waits.
    finally:
        process.terminate()
        process.wait()
    return "\n".join(line for line in text.splitlines() if line.startswith(("mysql_exporter_collector_success", "mysql_up")))


TESTS = {
    "mydumper and myloader": mydumper, "pt-show-grants": show_grants, "pt-duplicate-key-checker": lambda: anonymous(tool("pt-duplicate-key-checker", DSN, "--databases=tools", "--no-version-check")),
    "pt-find": lambda: tool("pt-find", "tools", "--host=127.0.0.1", f"--port={PORT}", "--user=root", "--engine", "InnoDB"), "pt-archiver": archiver, "pt-table-sync": table_sync, "pt-deadlock-logger": deadlock_logger,
    "pt-kill": kill, "pt-heartbeat": heartbeat, "pt-mysql-summary": summary, "pt-variable-advisor": variable_advisor, "mysqltuner": tuner, "mycli": mycli, "mysqld_exporter": exporter,
    "pt-online-schema-change": online_schema_change,
}


def main():
    for name, test in TESTS.items():
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        try:
            client(SCHEMA)
            outcome, message = "passed", test()
        except (Failure, OSError, subprocess.TimeoutExpired) as error:
            outcome, message = "failed", str(error)
        with open(os.environ["EXAM_OUTCOMES"], "a", encoding="utf-8") as outcomes:
            outcomes.write(json.dumps({"test": name, "outcome": outcome, "message": message}) + "\n")


if __name__ == "__main__":
    main()
