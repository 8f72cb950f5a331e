"""Faults of a cluster's machines and network, while clients work: nothing acknowledged is lost, nobody sees an anomaly, and
no epoch has two primaries.

    client ──┬── a ──┐
             ├── b ──┤   three to five members, one or three of etcd, each on a machine of its own: a network namespace
             ├── z ──┤   (support.namespaces), a disk of its own (crashfs), a clock of its own; z is an archive, in some rounds
             └── etcd1 …

One round makes a cluster and a load (`clients`: the transactions of the isolation part, through whichever server takes them,
readers on every server, and one that defines tables and writes many rows at once), and runs a schedule of random faults (`faults`), one at a time or two that overlap:
kill -9, SIGTERM, SIGSTOP; power failures of one machine and of all; planned switches, removals and additions; partitions in both directions and in
one, that stay or come and go; 30 % of packets lost; delays, constant, varying and growing; links without carrier; slow, full and failing disks; clocks that are an hour off;
etcd killed or cut off.

# What is checked
- The isolation checker: no anomaly of the level. Real time counts among the transactions that were begun at primaries, and among
  those that read on one other server (`clients.ClusterRun.history`).
- No acknowledged write is gone, and no other one appears that was answered with an error. At the end all servers have the
  same rows.
- The logs of all members are one history; its epochs ascend, and each has transactions of one primary only, that which the
  clients were answered by (`logs.check`). No epoch was announced by two servers.
- No server panics, or ends by itself, except with a full disk, which it says.
- Whenever enough members, a majority of etcd and the clients reach each other (`machines.Machines.can_commit`), writes
  are committed, after a while; and so they are when everything works again.

# Limits
Clocks of etcd are right, and its disk neither loses unsynced writes nor becomes slow: it belongs to others. Packets are delayed by
a relay in user space (`support.slow_links`), where there is /dev/net/tun; otherwise those faults are left out, and it is said. What happens in a round is not repeatable, only its schedule.
"""

import time
from pathlib import Path

from support.namespaces import why_impossible, why_no_delays
from support.waiting import let_run, wait_for
from torture.harness import Finding, say
from torture.isolation import checker, history, load
from torture.isolation.part import register_counts
from torture.servers import CLIENT

from . import faults, logs
from .clients import ClusterRun
from .definitions import Definer
from .machines import RECOVERY_SECONDS_MAX, Layout, Machines

TABLES_THERE = "select count(*) from information_schema.tables where table_schema = 'iso'"
# Faults of one round, in short and in long.
FAULTS_OF_ROUND = 12


class Schedule:
    """What is done to the machines, and when. It is printed with a finding."""

    def __init__(self, path):
        self.path, self.start = Path(path), time.monotonic()

    def write(self, text):
        with open(self.path, "a") as file:
            file.write(f"{time.monotonic() - self.start:8.2f} {text}\n")


def run(part):
    impossible = why_impossible()
    if impossible:
        say(f"cluster: skipped, {impossible}")
        part.numbers[f"rounds, because {impossible}"] = 0
        return
    missing = why_no_delays()
    if missing:
        say(f"cluster: {missing}")
        part.numbers[f"delays, because {missing}"] = 0
    chosen = [fault for fault in faults.FAULTS if not (missing and issubclass(fault, faults.SlowNetwork))]
    for round in part.rounds(least=2 if part.short else 1):
        part.run_round(round, lambda directory, round=round: one_round(part, round, directory, chosen))


def one_round(part, round, directory, possible):
    """Runs a round with faults of these kinds."""
    rng = part.rng(round)
    # The short form has every fault once: the first half with three servers and one etcd, the second with an archive and three.
    layout = [Layout(3), Layout(2, archives=1)][round % 2] if part.short else Layout.random(rng)
    etcds = [1, 3][round % 2] if part.short else rng.choice([1, 1, 3])
    level = rng.choice(checker.LEVELS)
    schedule = Schedule(directory / "schedule.txt")
    schedule.write(f"{layout}, {etcds} etcd, {level}")
    machines = Machines(directory, layout, etcds, [])
    try:
        wait_for("a primary", machines.primary).query(*load.TABLES, "create table iso.bulk (n int, i int, pad text, primary key (n, i))")
        for server in machines.servers:
            wait_for(f"{server.name} to have the tables", lambda server=server: server.query(TABLES_THERE, user=CLIENT) == ((4,),))
        running = ClusterRun(machines.servers, level, rng, clients=rng.choice([3, 6]), readers=1, width=rng.choice([1, 2, 4])).start()
        definer = Definer(running, part.rng(round, "definer"))
        try:
            schedule.write("load")
            if part.short:
                one_by_one(part, machines, running, schedule, rng, possible[round % 2::2])
            else:
                overlapping(part, machines, running, schedule, rng, possible)
            schedule.write("everything works again")
            recover(machines, running, schedule)
        finally:
            running.stop()
        judge(part, machines, running, definer, level, directory)
    finally:
        machines.close()


def one_by_one(part, machines, running, schedule, rng, chosen):
    for kind in chosen:
        disturb(part, machines, running, schedule, rng, [kind])
        recover(machines, running, schedule)


def overlapping(part, machines, running, schedule, rng, possible):
    for _ in range(FAULTS_OF_ROUND):
        first = rng.choice(possible)
        others = [kind for kind in possible if kind.kind != first.kind]
        chosen = [first, *rng.sample(others, rng.choice([0, 0, 1, 2]))]
        if len({kind.kind for kind in chosen}) < len(chosen):
            chosen.pop()
        disturb(part, machines, running, schedule, rng, chosen)
        if rng.random() < 0.6:
            recover(machines, running, schedule)


def disturb(part, machines, running, schedule, rng, kinds):
    """Lets faults happen, for a while, and ends them."""
    begun = []
    # A pause that began earlier is not this fault's.
    is_working = time.monotonic() - running.last < 0.1
    running.longest_gap = 0.0
    try:
        for kind in kinds:
            fault = kind(machines, rng, part.numbers)
            schedule.write(fault.begin())
            begun.append(fault)
            part.numbers["faults"] += 1
            let_run(rng.uniform(0, 0.5))
        let_run(rng.uniform(0.3, 1.5) if part.short else rng.choice([0.3, 1, 3, 6]) * rng.uniform(0.5, 1.5))
        if all(fault.is_steady for fault in begun) and machines.can_commit():
            wait_for_commit(machines, running, schedule, "with the fault")
            part.numbers["faults survived while they lasted"] += 1
    finally:
        for fault in reversed(begun):
            fault.end()
            schedule.write(f"end of {type(fault).__name__}")
    check_members(machines)
    if is_working and len(kinds) == 1:
        name = f"ms without a commit at most, {kinds[0].__name__}"
        gap = max(running.longest_gap, time.monotonic() - running.last)
        part.numbers[name] = max(part.numbers[name], round(gap * 1000))


def recover(machines, running, schedule):
    machines.add_removed()
    wait_for_commit(machines, running, schedule, "after it")


def wait_for_commit(machines, running, schedule, when):
    """Waits until a write is acknowledged that begins from now on."""
    before, start = running.commits, time.monotonic()
    # Those that are under way do not count.
    under_way = len(running.clients)
    try:
        wait_for("commits", lambda: running.commits > before + under_way or running.errors(), RECOVERY_SECONDS_MAX)
    except AssertionError:
        status = machines.command("status")[1]
        raise Finding(f"no commits for {RECOVERY_SECONDS_MAX} s {when}; the schedule's end:\n"
                      + "\n".join(schedule.path.read_text().splitlines()[-6:]) + f"\n{status}") from None
    schedule.write(f"committed {when}, {time.monotonic() - start:.2f} s later")


def check_members(machines):
    for server in machines.members:
        lines = [line for line in server.said().splitlines() if "panicked at" in line or "internal error" in line.lower()]
        if lines:
            raise Finding(f"{server.name} said: {lines[:3]}")
        if server.ended_by_itself():
            raise Finding(f"{server.name} ended by itself with {server.process.returncode}: {server.said()[-600:]}")


def judge(part, machines, running, definer, level, directory):
    finals = {}

    def same():
        finals.clear()
        for server in machines.servers:
            try:
                finals[server.name] = running.read_everything(server)
            except Exception:  # noqa: BLE001 - it is not open yet
                return False
        first = finals[machines.servers[0].name][0].operations
        return all(final.operations == first for final, _ in finals.values())

    wait_for("all servers to have the same rows", same, RECOVERY_SECONDS_MAX)
    for server in machines.servers:
        definer.check(server)
    part.numbers["definitions and large transactions"] += definer.statements
    check_members(machines)
    for archive in machines.archives:
        archive.wait_for(machines.servers[0], RECOVERY_SECONDS_MAX)
    final, counts = finals[machines.servers[0].name]
    transactions = [*running.history(), final]
    history.save(directory / "history.jsonl", level, transactions)
    anomalies = checker.check(transactions, level, final.number) + register_counts(transactions, counts)
    committed = sum(each.status == history.Status.COMMITTED for each in transactions)
    numbers = part.numbers
    numbers["transactions"] += len(transactions)
    numbers["committed"] += committed
    numbers["unknown"] += sum(each.status == history.Status.UNKNOWN for each in transactions)
    numbers["conflicts refused"] += sum(running.refused.values())
    for member in machines.members:
        member.kill()
    (directory / "logs").mkdir()
    for server in machines.members:
        for file in server.log_files():
            (directory / "logs" / f"{server.name}-{file.name}").write_bytes(file.read_bytes())
    if anomalies:
        raise Finding(f"{level}: {len(anomalies)} anomalies in {len(transactions)} transactions, the first: " + "; ".join(map(str, anomalies[:3])))
    numbers["epochs"] += logs.check({member.name: logs.read(member.log_files()) for member in machines.members}, running.ids, transactions)
    logs.check_openings(machines.servers)
    assert committed > 20, f"only {committed} transactions committed, which proves nothing"
