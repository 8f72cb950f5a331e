"""Thousands of power failures: one load is recorded below the server, operation by operation. From the recording, the
disk is reconstructed for any moment at which the power might have failed, with unsynced changes kept, dropped, torn or
reordered by a seed. A server starts on each of these disks.

Each time the following is checked: the server starts; it holds exactly the transactions up to the last GTID in its log
(a prefix of complete transactions); these include all acknowledged ones; tables made by DDL have the state that they
had at that GTID; the server accepts writes.
"""

import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

from support import workload
from support.servers import CRASHFS, Paceline
from torture.harness import Finding

from . import load

# Kinds of operations at which a failure is most likely to do harm: those on names, and syncs.
SHARP = set("cdlurst")


def run(part):
    for round in part.rounds():
        part.run_round(round, lambda directory, round=round: one_round(part, round, directory))


def one_round(part, round, directory):
    rng = part.rng(round)
    unsynced = round % 3 == 2
    options = ["--sync_binlog=0"] * unsynced + rng.choice([[], ["--max_binlog_size=65536"], ["--max_binlog_size=262144"]])
    options += rng.choice([[], ["--paceline_memtable_size=1048576"]]) + rng.choice([[], ["--paceline_checkpoint_log_bytes=1048576"]])
    options += ["--paceline_log_block_size=1048576", "--paceline_block_cache_size=8388608"]
    recording = load.Recording(directory / "disk", directory / "recording")
    server = Paceline(directory / "server", *options, datadir=directory / "disk" / "data")
    try:
        server.start()
        load.create(server)
        running = load.Load(server, rng.choice([2, 4, 8]), f"{part.seed}-{round}", recording)
        # With sync_binlog=0, the new tables are durable only after a moment.
        workload.for_a_while(rng, 0.5, 0.5)
        recording.mark("begin")
        running.start()
        workload.for_a_while(rng, 2, 3 if part.short else 6)
        server.kill()
        running.join()
    finally:
        server.close()
        recording.close()
    part.numbers["transactions recorded"] += sum(running.acknowledged.values())
    part.numbers["definitions recorded"] += len(running.states)
    states = 60 if part.short else 1200
    try:
        crash_many(part, round, directory, running, rng, states, options, unsynced)
    finally:
        shutil.rmtree(directory / "disk", ignore_errors=True)


class Replay:
    """The process that reconstructs disks. It answers each command with one line."""

    def __init__(self, file):
        self.process = subprocess.Popen([CRASHFS, "--replay", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)


def crash_many(part, round, directory, running, rng, states, options, unsynced):
    replay = Replay(directory / "recording")
    failures, slots = [], threading.Semaphore(4)
    try:
        letters = replay.ask("letters")
        marks = [(int(number), text) for number, text in (mark.split("=", 1) for mark in replay.ask("marks").split("\t"))]
        begin = next(number for number, text in marks if text == "begin")
        sharp = [number for number in range(begin, len(letters)) if letters[number] in SHARP]
        moments = sorted(min(len(letters), rng.choice(sharp) + rng.randrange(2)) if rng.random() < 0.6 else
                         rng.randrange(begin, len(letters) + 1) for _ in range(states))
        part.numbers["operations recorded"] += len(letters)

        def look(number, moment, seed, place):
            try:
                check(place, running, told_before(marks, moment), options, unsynced, goes_on=number % 5 == 0)
                shutil.rmtree(place, ignore_errors=True)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                failures.append((moment, seed, place, error))
            finally:
                slots.release()

        with ThreadPoolExecutor(3) as pool:
            for number, moment in enumerate(moments):
                if len(failures) >= 3 or (part.seconds_left() < 0 and not part.short):
                    break
                slots.acquire()
                seed, place = rng.randrange(1 << 32), directory / f"state-{number}"
                answer = replay.ask(f"crash {moment} {seed} {place}")
                assert answer == "ok", answer
                part.numbers["crashes"] += 1
                pool.submit(look, number, moment, seed, place)
    finally:
        replay.close()
    if failures:
        # The first few directories are kept for the analysis.
        raise Finding("; ".join(f"power fails after operation {moment} with seed {seed} ({place.name}; crashfs --replay recording): {error}"
                                for moment, seed, place, error in failures[:3]))


def told_before(marks, moment):
    """Returns what clients had been told before `moment`: worker → highest number; "d" → highest definition."""
    told = {}
    for number, text in marks:
        if number >= moment:
            break
        if text != "begin":
            who, what = text.split()
            told[who] = max(told.get(who, -1), int(what))
    return told


def check(place, running, told, options, unsynced, goes_on):
    server = Paceline(place, *options, datadir=place / "data")
    try:
        server.start()
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("select @@gtid_binlog_pos")
            position = cursor.fetchone()[0]
            last = int(position.split("-")[2]) if position else 0
            cursor.execute("select worker, value from load_test.counter")
            found = dict(cursor.fetchall())
            check_transactions(running, told, unsynced, last, found)
            check_definitions(running, told, unsynced, last, load.fingerprint(cursor))
        held = TableContents(found, running)
        workload.check(server, held)
        if goes_on:
            server.query("insert into load_test.counter values (-1, 1)")
            assert server.query("select value from load_test.counter where worker=-1") == ((1,),)
    finally:
        server.close()


class TableContents:
    """The contents of the tables in the form that the load's own check expects."""

    def __init__(self, found, running):
        self.acknowledged = {worker: found.get(worker, 0) for worker in running.sequences}
        self.tried = dict(self.acknowledged)


def check_transactions(running, told, unsynced, last, found):
    for worker, sequences in running.sequences.items():
        value = found.get(worker, 0)
        acknowledged = told.get(str(worker), 0)
        if not unsynced and value < acknowledged:
            raise Finding(f"worker {worker} was told of {acknowledged}, {value} is there (the log ends at {last})")
        # Exactly what the log holds: the tables are neither ahead of it nor behind it.
        expected = max((number for number, sequence in sequences.items() if sequence <= last), default=0)
        undecided = running.tried[worker] if running.tried[worker] not in sequences else None
        if value != expected and value != undecided:
            raise Finding(f"the log ends at {last}, where worker {worker} was at {expected}; the tables say {value}")


def check_definitions(running, told, unsynced, last, found):
    acknowledged = told.get("d", -1)
    # The load may end between the acknowledgement of the last definition and the reading of its tables.
    unread = acknowledged >= len(running.states)
    acknowledged = min(acknowledged, len(running.states) - 1)
    if not unsynced and acknowledged >= 0 and running.states[acknowledged][0] > last:
        raise Finding(f"definition {acknowledged} was acknowledged and is not in the log, which ends at {last}")
    expected = [state for sequence, state in running.states if sequence <= last]
    wanted = expected[-1] if expected else ()
    if found == wanted:
        return
    if (running.undecided or unread) and len(expected) == len(running.states):
        return
    raise Finding(f"the log ends at {last}, behind definition {len(expected) - 1}; the tables are {names(found)}, expected {names(wanted)}")


def names(state):
    return [(name, len(rows)) for name, _, rows in state]
