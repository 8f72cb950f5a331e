"""The checker finds each anomaly in a history that has it, reports it at the levels that forbid it, and reports nothing
else."""

import random

import pytest
from torture.isolation.checker import LEVELS, READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE, check
from torture.isolation.history import Kind, Status, Transaction, load, save

A, L, W, R, I, S, U = Kind.APPEND, Kind.LIST, Kind.WRITE, Kind.READ, Kind.INSERT, Kind.SCAN, Kind.UNDONE


def history(*transactions):
    """Returns transactions that all overlap unless they specify their times: (operations, status or (begin, end))."""
    made = []
    for number, (operations, *more) in enumerate(transactions, 1):
        status = next((each for each in more if isinstance(each, Status)), Status.COMMITTED)
        begin, end = next((each for each in more if isinstance(each, tuple)), (0, 100))
        made.append(Transaction(number, "s1", begin, end, status, [tuple(each) for each in operations]))
    return made


def kinds(transactions, level):
    return {anomaly.kind for anomaly in check(transactions, level)}


GOOD = history(
    ([(A, 1, 1), (L, 1, [1])], (0, 1)),
    ([(L, 1, [1]), (A, 1, 2), (L, 1, [1, 2]), (W, 1, 10)], (2, 3)),
    ([(L, 1, [1, 2]), (R, 1, [10, None]), (W, 1, 11), (I, 1, 5)], (4, 5)),
    ([(R, 1, [11, 10]), (S, 1, [5]), (L, 1, [1, 2])], (6, 7)),
    ([(A, 1, 3)], Status.ABORTED),
    ([(A, 1, 4)], Status.UNKNOWN),
)

BAD = {
    # The writes of two transactions interleave in two lists.
    "G0": (READ_COMMITTED, history(([(A, 1, 1), (A, 2, 2)],), ([(A, 1, 3), (A, 2, 4)],), ([(L, 1, [1, 3]), (L, 2, [4, 2])],))),
    "G1a": (READ_COMMITTED, history(([(A, 1, 1)], Status.ABORTED), ([(L, 1, [1])],))),
    "G1b": (READ_COMMITTED, history(([(A, 1, 1), (A, 1, 2)],), ([(L, 1, [1])],), ([(L, 1, [1, 2])],))),
    "G1c": (READ_COMMITTED, history(([(A, 1, 1), (L, 2, [2])],), ([(A, 2, 2), (L, 1, [1])],))),
    # Read skew: the first list is read as before a transaction, the second as after it.
    "G-single": (REPEATABLE_READ, history(([(A, 1, 1), (A, 2, 2)],), ([(L, 1, []), (L, 2, [2])],), ([(L, 1, [1])],))),
    "lost-update": (REPEATABLE_READ, history(([(R, 1, None), (W, 1, 5)],), ([(R, 1, None), (W, 1, 6)],), ([(R, 1, [6, 5])],), ([(R, 1, [5, None])],))),
    # Two readers see two writers in opposite order.
    "G-nonadjacent": (REPEATABLE_READ, history(([(A, 1, 1)],), ([(A, 2, 2)],), ([(L, 1, [1]), (L, 2, [])],), ([(L, 1, []), (L, 2, [2])],),
                                               ([(L, 1, [1]), (L, 2, [2])],))),
    # Write skew.
    "G2": (SERIALIZABLE, history(([(L, 1, []), (A, 2, 2)],), ([(L, 2, []), (A, 1, 1)],), ([(L, 1, [1]), (L, 2, [2])],))),
    "lost-write": (READ_COMMITTED, history(([(A, 1, 1)],), ([(L, 1, [])],))),
    "internal": (READ_COMMITTED, history(([(A, 1, 1), (L, 1, [])],))),
    "order": (READ_COMMITTED, history(([(A, 1, 1)],), ([(A, 1, 2)],), ([(L, 1, [1, 2])],), ([(L, 1, [2])],))),
    "stale-read": (READ_COMMITTED, history(([(A, 1, 1)], (0, 1)), ([(L, 1, [])], (2, 3)), ([(L, 1, [1])], (4, 5)))),
    "G-single-realtime": (REPEATABLE_READ, history(([(A, 1, 1)], (0, 1)), ([(L, 1, [])], (2, 3)), ([(L, 1, [1])], (4, 5)))),
}


def test_a_good_history_passes_at_every_level():
    for level in LEVELS:
        assert kinds(GOOD, level) == set()


@pytest.mark.parametrize("kind", BAD)
def test_each_anomaly_is_found_at_its_level(kind):
    level, transactions = BAD[kind]
    final = len(transactions) if kind == "lost-write" else None
    assert kind in {anomaly.kind for anomaly in check(transactions, level, final)}
    for higher in LEVELS[LEVELS.index(level):]:
        assert check(transactions, higher, final), f"{kind} passes at {higher}"


@pytest.mark.parametrize("kind", ["G-single", "lost-update", "G-nonadjacent", "G2"])
def test_an_anomaly_is_not_reported_at_a_level_that_allows_it(kind):
    level, transactions = BAD[kind]
    for lower in LEVELS[:LEVELS.index(level)]:
        assert kinds(transactions, lower) == set(), f"{kind} is allowed at {lower}"


def test_phantoms_and_reads_of_writes_undone_by_a_savepoint_are_found():
    phantom = history(([(S, 1, []), (A, 1, 1)],), ([(L, 1, []), (I, 1, 7)],), ([(L, 1, [1]), (S, 1, [7])],))
    assert "G2" in kinds(phantom, SERIALIZABLE)
    assert kinds(phantom, REPEATABLE_READ) == set()
    undone = history(([(A, 1, 1), (U, 1, ["list", 2])],), ([(L, 1, [1, 2])],))
    assert "G1a" in kinds(undone, READ_COMMITTED)


def test_half_of_an_unknown_transaction_is_found():
    transactions = history(([(A, 1, 1), (A, 2, 2)], Status.UNKNOWN), ([(L, 1, [1]), (L, 2, [])],))
    assert {anomaly.kind for anomaly in check(transactions, REPEATABLE_READ, 2)} & {"G-single", "lost-write"}


class Store:
    """Versioned lists with an isolation rule that may be faulty, driven step by step in one thread."""

    def __init__(self, rule):
        self.rule, self.versions, self.clock = rule, {}, 0

    def read(self, key, at):
        return next((list(value) for time, value in reversed(self.versions.get(key, [])) if time <= at), [])


def simulate(rule, seed, count=400, keys=3):
    """Returns a history of random transactions. Rules: "serial", "snapshot", "no-conflict-check" (snapshots, last
    writer wins), "read-newest"."""
    rng, store, running, made = random.Random(seed), Store(rule), [], []
    element = 0
    while len(made) < count or running:
        if len(made) < count and len(running) < (1 if rule == "serial" else 4):
            transaction = Transaction(len(made) + 1, "s1", store.clock, status=Status.ABORTED)
            made.append(transaction)
            running.append((transaction, store.clock, {}, rng.randrange(1, 5)))
        transaction, snapshot, writes, left = running.pop(rng.randrange(len(running)))
        store.clock += 1
        at = store.clock if rule == "read-newest" else snapshot
        if left:
            key = rng.randrange(keys)
            if rng.random() < 0.5:
                element += 1
                writes.setdefault(key, []).append(element)
                transaction.did(Kind.APPEND, key, element)
            else:
                transaction.did(Kind.LIST, key, store.read(key, at) + writes.get(key, []))
            running.append((transaction, snapshot, writes, left - 1))
            continue
        conflict = any(store.versions.get(key, [(0,)])[-1][0] > snapshot for key in writes)
        if conflict and rule == "snapshot":
            continue
        for key, added in writes.items():
            store.versions.setdefault(key, []).append((store.clock, store.read(key, store.clock) + added))
        transaction.status, transaction.end = Status.COMMITTED, store.clock
    final = Transaction(len(made) + 1, "s1", store.clock + 1, store.clock + 2, Status.COMMITTED)
    for key in range(keys):
        final.did(Kind.LIST, key, store.read(key, store.clock))
    return [*made, final]


@pytest.mark.parametrize("seed", range(5))
def test_histories_of_simulated_stores_have_the_anomalies_of_their_rules(seed):
    for level in LEVELS:
        assert check(simulate("serial", seed), level) == []
    snapshot = simulate("snapshot", seed)
    assert check(snapshot, READ_COMMITTED) == check(snapshot, REPEATABLE_READ) == []
    assert "G2" in {anomaly.kind for anomaly in check(snapshot, SERIALIZABLE)}
    assert check(simulate("no-conflict-check", seed), REPEATABLE_READ)
    assert check(simulate("read-newest", seed), REPEATABLE_READ)


def test_a_saved_history_loads_unchanged(tmp_path):
    level, transactions = BAD["G2"]
    save(tmp_path / "history", level, transactions)
    assert load(tmp_path / "history") == (level, transactions)


def test_servers_of_a_group_are_in_one_order_of_time():
    for group, found in (("", set()), ("primaries", {"G-single-realtime"})):
        transactions = history(([(A, 1, 1)], (0, 1)), ([(L, 1, []), (A, 2, 2)], (2, 3)), ([(L, 1, [1]), (L, 2, [2])], (4, 5)))
        transactions[1].site = "s2"
        for transaction in transactions[:2]:
            transaction.group = group
        assert kinds(transactions, REPEATABLE_READ) == found
