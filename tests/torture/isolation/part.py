"""Histories of concurrent transactions, checked for anomalies: on one server, with readers on a replica, during crashes
and switch-overs."""


from support.replication import slave_status
from support.waiting import let_run
from torture.harness import Finding
from torture.servers import Cluster, catch_up, check_for_panics

from . import checker, history, load

SCENARIOS = ["one server", "replica", "crash", "switch-over", "replica crash"]


def run(part):
    for round in part.rounds(least=3 if part.short else 6):
        part.run_round(round, lambda directory, round=round: one_round(part, round, directory))


def one_round(part, round, directory):
    rng = part.rng(round)
    # The short form covers every scenario and every level, but not all combinations.
    scenario = SCENARIOS[round % len(SCENARIOS)]
    level = checker.LEVELS[(round + round // 3) % 3] if not part.short else checker.LEVELS[round % 3]
    seconds = rng.uniform(1.5, 2.5) if part.short else rng.uniform(2, 5)
    cluster = Cluster(directory, rng)
    try:
        primary = cluster.start()
        primary.query(*load.TABLES)
        replicas = []
        if scenario in ("replica", "switch-over", "replica crash"):
            replicas = [cluster.replica_of(primary)]
            for replica in replicas:
                catch_up(replica, primary)
        clients = rng.choice([3, 6, 12])
        running = load.Run(primary, level, rng, clients, replicas, readers=2, width=rng.choice([1, 2, 4])).start()
        try:
            disturb(part, scenario, cluster, running, seconds, rng)
        finally:
            running.stop()
        judge(part, scenario, level, running, directory)
        check_for_panics(cluster)
    finally:
        cluster.close()


def disturb(part, scenario, cluster, running, seconds, rng):
    if scenario in ("one server", "replica"):
        let_run(seconds)
        return
    for _ in range(2):
        let_run(seconds / 3)
        if scenario == "switch-over":
            old = running.primary
            [new] = [server for server in cluster.servers if server is not old]
            cluster.promote(new, old)
            running.primary = new
            part.numbers["switch-overs"] += 1
        else:
            victim = running.primary if scenario == "crash" else cluster.servers[1]
            victim.kill()
            let_run(rng.uniform(0, 0.2))
            victim.start()
            part.numbers["crashes"] += 1
    let_run(seconds / 3)


def judge(part, scenario, level, running, directory):
    primary = running.primary
    final, counts = running.read_everything(primary)
    for replica in {client.site for client in running.clients if client.site}:
        if not slave_status(replica):
            continue  # it has become the primary
        catch_up(replica, primary)
        there, _ = running.read_everything(replica)
        if there.operations != final.operations:
            raise Finding(f"{scenario}: {replica.name} and {primary.name} hold different rows")
    transactions = [*running.history(), final]
    anomalies = checker.check(transactions, level, final.number)
    anomalies += register_counts(transactions, counts)
    committed = sum(each.status == history.Status.COMMITTED for each in transactions)
    part.numbers["histories"] += 1
    part.numbers["transactions"] += len(transactions)
    part.numbers["committed"] += committed
    part.numbers["unknown"] += sum(each.status == history.Status.UNKNOWN for each in transactions)
    part.numbers["statements"] += sum(client.statements for client in running.clients)
    part.numbers["conflicts refused"] += sum(running.refused.values())
    if anomalies:
        history.save(directory / "history.jsonl", level, transactions)
        raise Finding(f"{scenario} at {level}: {len(anomalies)} anomalies in {len(transactions)} transactions, the first: "
                      + "; ".join(map(str, anomalies[:3])))
    assert committed > 20, f"{scenario}: only {committed} transactions committed, which proves nothing"


def register_counts(transactions, counts):
    """Checks that each register has counted all acknowledged writes."""
    least, most = {}, {}
    for transaction in transactions:
        for kind, key, _ in transaction.operations:
            if kind == history.Kind.WRITE and transaction.status != history.Status.ABORTED:
                most[key] = most.get(key, 0) + 1
                if transaction.status == history.Status.COMMITTED:
                    least[key] = least.get(key, 0) + 1
    return [checker.Anomaly("lost-write", f"register {key} was written {least.get(key, 0)} to {most.get(key, 0)} times, and counts {count}")
            for key, count in counts.items() if not least.get(key, 0) <= count <= most.get(key, 0)]
