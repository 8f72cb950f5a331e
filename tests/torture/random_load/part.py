"""Random concurrent transactions and definitions; in mid-run, at full speed, a kill, a switch-over, replicas from the beginning of the log, and a
backup with a replica from it. At the end all servers, a MariaDB replica among them, hold the same rows.

Where they do not, the diagnosis begins with what a backup gives by itself, held against a replica that ran from the beginning of the log UNTIL the
backup's position: that tells a wrong backup from a wrong replication."""

import shutil
import time

from support.servers import MariaDb, Paceline
from torture.harness import Finding
from torture.servers import Cluster, can_back_up, catch_up, complaints, logged

from . import compare
from .grammar import World
from .sessions import Run

EVENTS = ["kill primary", "kill replica", "switch-over", "late replica"]
BACKUP = "backup"


def run(part):
    template = Template(part)
    try:
        for round in part.rounds():
            part.attempt(round, lambda directory, round=round: one_round(part, round, directory, template))
    finally:
        template.close()


class Template:
    """An empty MariaDB, installed once."""

    def __init__(self, part):
        self.part, self.directory = part, None

    def copy_to(self, directory):
        if self.directory is None:
            from torture.harness import scratch
            import tempfile
            self.directory = tempfile.mkdtemp(prefix="paceline-torture-mariadb-", dir=scratch())
            server = MariaDb(self.directory).start()
            server.query("shutdown")
            server.process.wait(timeout=120)
        shutil.copytree(f"{self.directory}/data", directory / "data")

    def close(self):
        if self.directory:
            shutil.rmtree(self.directory, ignore_errors=True)


def one_round(part, round, directory, template):
    chance = part.chance(round)
    seconds = chance.uniform(5, 8) if part.short else chance.uniform(8, 25)
    possible = EVENTS + [BACKUP] * can_back_up()
    events = chance.sample(possible, 3 if part.short else chance.randrange(2, len(possible) + 1))
    if part.short and round == 0:
        events = [possible[-1], "kill primary", "switch-over"]
    cluster = Cluster(directory, chance)
    try:
        primary = cluster.start()
        primary.query("create database rqg character set utf8mb4")
        template.copy_to(directory / "s2")
        theirs = cluster.replica_of(primary, MariaDb)
        ours = cluster.replica_of(primary)
        for replica in (theirs, ours):
            catch_up(replica, primary)
        world = World()
        # A replica that restarts has empty MEMORY tables, and its primary has not.
        world.has_memory_tables = not {"kill replica", BACKUP} & set(events)
        running = Run(primary, world, chance, chance.choice([3, 5, 8])).start()
        try:
            for event in events:
                time.sleep(seconds / (len(events) + 1))
                happen(part, event, cluster, running, ours, theirs, chance)
            time.sleep(seconds / (len(events) + 1))
        finally:
            running.stop()
        part.numbers.update(running.counted())
        try:
            finish(part, cluster, running.primary)
        except (Finding, AssertionError) as finding:
            raise Finding(f"{finding}\n{diagnosis(cluster, running.primary, directory)}") from finding
    finally:
        cluster.close()


def happen(part, event, cluster, running, ours, theirs, chance):
    primary = running.primary
    followers = [server for server in cluster.servers if server is not primary and isinstance(server, Paceline)]
    if event == "switch-over":
        candidate = chance.choice(followers)
        cluster.promote(candidate, primary, *[server for server in cluster.servers if server not in (candidate, primary)])
        running.primary = candidate
        part.numbers["switch-overs"] += 1
    elif event == "late replica":
        # From the first event of the log, at full speed.
        cluster.replica_of(primary)
        part.numbers["replicas from the beginning"] += 1
    elif event == BACKUP:
        # Kept as it was: what runs from it is restored aside.
        cluster.back_up(primary, cluster.directory / "backup")
        cluster.follow(cluster.restored(cluster.directory / "backup"), primary)
        part.numbers["replicas from a backup"] += 1
    else:
        victim = primary if event == "kill primary" else chance.choice(followers)
        victim.kill()
        time.sleep(chance.uniform(0, 0.3))
        victim.start()
        part.numbers["kills"] += 1


def finish(part, cluster, primary):
    """Everybody has everything, and the same."""
    for server in cluster.servers:
        if server is not primary:
            catch_up(server, primary)
    for server in cluster.servers:
        if server is not primary:
            part.numbers["rows compared"] += compare.same(primary, server)
            part.numbers["comparisons"] += 1
        if isinstance(server, Paceline):
            part.numbers["indexes compared"] += compare.indexes_agree(server)
    # What recovery makes of the log is the same once more.
    primary.kill()
    primary.start()
    for server in cluster.servers:
        if server is not primary and isinstance(server, Paceline):
            part.numbers["rows compared"] += compare.same(primary, server, without=memory_tables(primary))
            part.numbers["comparisons"] += 1
            break
    complaints(cluster)


def diagnosis(cluster, primary, directory):
    """What the backup holds, against a replica from the beginning that stops at the backup's position."""
    if not (directory / "backup").exists():
        return "there is no backup to compare with"
    try:
        backup = cluster.restored(directory / "backup")
        position = logged(backup)
        until = cluster.start()
        cluster.follow_until(until, primary, position)
        return f"the backup and a replica UNTIL its position {position} hold the same {compare.same(until, backup)} rows"
    except Exception as error:  # noqa: BLE001 - whatever it is belongs to the finding
        return f"the backup against a replica UNTIL its position: {error}"


def memory_tables(server):
    return {name for (name,) in server.query("select table_name from information_schema.tables where table_schema='rqg' and engine='MEMORY'")}
