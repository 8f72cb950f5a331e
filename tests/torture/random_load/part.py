"""Random concurrent transactions and definitions. During the run, at full load: a kill, a switch-over, a primary that
dies and returns as a replica, replicas that start at the beginning of the log, a backup and a replica made from it, a
replica made by `paceline join`, an archive that commits wait for, and a replica of that archive. At the end all
servers, including a MariaDB replica, must hold the same rows.

If they do not, the diagnosis compares the restored backup with a replica that ran from the beginning of the log UNTIL
the backup's position. That distinguishes a wrong backup from wrong replication."""


from support.servers import MariaDb, Paceline
from support.waiting import let_run
from torture.harness import Finding
from torture.servers import WAIT_SECONDS_MAX, Cluster, can_back_up, catch_up, check_for_panics, logged, wait_for_archive

from . import compare
from .grammar import World
from .sessions import Run

BACKUP, JOIN, ARCHIVE, KILL_REPLICA, LATE_REPLICA = "backup", "join", "archive", "kill replica", "late replica"
SWITCH_OVER, FAIL_OVER = "switch-over", "fail-over"
EVENTS = ["kill primary", KILL_REPLICA, SWITCH_OVER, FAIL_OVER, LATE_REPLICA, JOIN, ARCHIVE]


def run(part):
    for round in part.rounds():
        part.run_round(round, lambda directory, round=round: one_round(part, round, directory))


def one_round(part, round, directory):
    rng = part.rng(round)
    seconds = rng.uniform(5, 8) if part.short else rng.uniform(8, 25)
    possible = EVENTS + [BACKUP] * can_back_up()
    events = rng.sample(possible, 3 if part.short else rng.randrange(2, len(possible) + 1))
    if part.short and round == 0:
        events = [[BACKUP, "kill primary", SWITCH_OVER, FAIL_OVER], [ARCHIVE, JOIN, "kill primary"]][part.seed % 2]
    cluster = Cluster(directory, rng)
    try:
        primary = cluster.start()
        primary.query("create database rqg character set utf8mb4")
        theirs = cluster.replica_of(primary, MariaDb)
        ours = cluster.replica_of(primary)
        for replica in (theirs, ours):
            catch_up(replica, primary)
        world = World()
        # After a restart a replica's MEMORY tables are empty, but not those of its primary.
        world.has_memory_tables = not {KILL_REPLICA, BACKUP, JOIN, FAIL_OVER} & set(events)
        running = Run(primary, world, rng, rng.choice([3, 5, 8])).start()
        try:
            for event in events:
                let_run(seconds / (len(events) + 1))
                run_event(part, event, cluster, running, events, rng)
            let_run(seconds / (len(events) + 1))
        finally:
            running.stop()
        part.numbers.update(running.counted())
        try:
            finish(part, cluster, running.primary)
        except (Finding, AssertionError) as finding:
            raise Finding(f"{finding}\n{diagnosis(cluster, running.primary, directory)}") from finding
    finally:
        cluster.close()


def run_event(part, event, cluster, running, events, rng):
    primary = running.primary
    followers = [server for server in cluster.servers if server is not primary and isinstance(server, Paceline)]
    if event in (SWITCH_OVER, FAIL_OVER):
        # A server made from a copy has no log from before the copy, and cannot serve replicas that need it.
        needs_all = {LATE_REPLICA, ARCHIVE} & set(events)
        candidates = [server for server in followers if not server.is_archives and not (needs_all and server.is_copy)]
        if not candidates:
            # No other server is left because a primary could not return.
            return
        candidate = rng.choice(candidates)
    if event == FAIL_OVER:
        # The replicas continue with what they and the archive have. Transactions that only the old primary had are
        # lost.
        others = [server for server in cluster.servers if server not in (candidate, primary) and not server.is_archives]
        for replica in [candidate, *others]:
            replica.query("stop slave io_thread")
        let_run(rng.choice([0, rng.uniform(0, 0.5)]))
        primary.kill()
        cluster.promote(candidate, None, *others)
        running.primary = candidate
        if cluster.archives:
            wait_for_archive(candidate)
        transactions = cluster.rewound(primary, candidate)
        part.numbers["fail-overs"] += 1
        part.numbers["old primaries that came back"] += transactions is not None
        part.numbers["transactions they gave back"] += transactions or 0
    elif event == SWITCH_OVER:
        others = [server for server in cluster.servers if server not in (candidate, primary) and not server.is_archives]
        cluster.promote(candidate, primary, *others)
        running.primary = candidate
        if cluster.archives:
            wait_for_archive(candidate)
        part.numbers["switch-overs"] += 1
    elif event == LATE_REPLICA:
        # It starts at the first event of the log while the load runs.
        cluster.replica_of(primary)
        part.numbers["replicas from the beginning"] += 1
    elif event == BACKUP:
        # The backup stays unchanged: the replica runs on a restored copy.
        cluster.back_up(primary, cluster.directory / "backup")
        cluster.follow(cluster.restored(cluster.directory / "backup"), primary)
        part.numbers["replicas from a backup"] += 1
    elif event == JOIN:
        tried, joined = cluster.joined(primary)
        part.numbers["joins begun anew"] += tried - joined
        part.numbers["replicas that joined"] += joined
    elif event == ARCHIVE:
        cluster.archived(primary)
        part.numbers["archives"] += 1
    else:
        victim = rng.choice(followers) if event == KILL_REPLICA and followers else primary
        victim.kill()
        for archive in cluster.archives:
            if rng.random() < 0.5:
                archive.kill()
                archive.start()
                part.numbers["kills of archives"] += 1
        let_run(rng.uniform(0, 0.3))
        victim.start()
        part.numbers["kills"] += 1


def finish(part, cluster, primary):
    """Waits until all servers and archives have everything, and checks that they hold the same."""
    for archive in cluster.archives:
        archive.wait_for(primary, WAIT_SECONDS_MAX)
        part.numbers["acknowledgements of archives"] += int(archive.status("Rpl_semi_sync_slave_send_ack"))
    for server in cluster.servers:
        if server is not primary:
            catch_up(server, primary)
    for server in cluster.servers:
        if server is not primary:
            part.numbers["rows compared"] += compare.compare_servers(primary, server)
            part.numbers["comparisons"] += 1
        if isinstance(server, Paceline):
            part.numbers["indexes compared"] += compare.indexes_agree(server)
    # Recovery from the log must produce the same again.
    primary.kill()
    primary.start()
    for server in cluster.servers:
        if server is not primary and isinstance(server, Paceline):
            part.numbers["rows compared"] += compare.compare_servers(primary, server, without=memory_tables(primary))
            part.numbers["comparisons"] += 1
            break
    # An archive's files must be complete, wherever they are.
    for archive in cluster.archives:
        archive.stop()
        cluster.command("binlog", "--verify", "--storage", archive.directory / "storage", archive.datadir)
        archive.start()
    check_for_panics(cluster)


def diagnosis(cluster, primary, directory):
    """Compares the backup with a replica that starts at the beginning of the log and stops at the backup's position."""
    if not (directory / "backup").exists():
        return "there is no backup to compare with"
    try:
        backup = cluster.restored(directory / "backup")
        position = logged(backup)
        until = cluster.start()
        # The first server has the whole log.
        cluster.follow_until(until, cluster.servers[0], position)
        return f"the backup and a replica UNTIL its position {position} hold the same {compare.compare_servers(until, backup)} rows"
    except Exception as error:  # noqa: BLE001 - whatever it is belongs to the finding
        return f"the backup against a replica UNTIL its position: {error}"


def memory_tables(server):
    return {name for (name,) in server.query("select table_name from information_schema.tables where table_schema='rqg' and engine='MEMORY'")}
