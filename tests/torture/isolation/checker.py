"""Checks a history: finds Adya's anomalies in it, and reports those that the isolation level forbids.

Usage: checker.py HISTORY    (a file that the torture suite has saved)

The reads determine the order of each object's versions, and these orders determine the graph of dependencies between
transactions (A. Adya, Weak Consistency, 1999; inferred as by K. Kingsbury and P. Alvaro, Elle, 2020):

    ww   overwrote its version         wr   read its version         rw   read the version that this one overwrote
    rt   began on a server after that server, or another one of its group, had acknowledged the other's commit

A cycle is an anomaly. Its kind depends on the edges:

    G0       ww only: two transactions' writes interleave
    G1c      ww and wr: two transactions have read each other
    G-single one rw: a read skew, or (both on one object) a lost update
    G-nonadjacent   rw edges, no two of them adjacent: no snapshot explains it
    G2       any number of rw: only SERIALIZABLE forbids it

Each kind may also contain rt edges. Then only the order in time is violated, but that is a fault too: a commit must be
visible once it is acknowledged. The other anomalies need no graph: G1a (a read of a rolled back write), G1b (a read of
a write that was not the transaction's last), internal (a transaction does not see its own writes or reads), lost-write
(an acknowledged write is gone), and order (two reads that no order of versions explains).
"""

import sys
from collections import defaultdict
from dataclasses import dataclass

from .history import OBJECT, Kind, Status, load

READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE = "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"
LEVELS = [READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE]

WW, WR, RW, RT = "ww", "wr", "rw", "rt"


@dataclass
class Anomaly:
    kind: str
    text: str

    def __str__(self):
        return f"{self.kind}: {self.text}"


class Graph:
    """Edges between transactions. Between two transactions there is at most one edge of each kind."""

    def __init__(self):
        self.edges = defaultdict(dict)  # from → {(to, kind): why}

    def add(self, source, target, kind, why):
        if source != target:
            self.edges[source].setdefault((target, kind), why)


class Checker:
    def __init__(self, transactions):
        self.all = {transaction.number: transaction for transaction in transactions}
        self.anomalies = []
        self.writer = {}      # (object, key, element) → number
        self.undone = set()   # the same for undone writes, which no other transaction may see
        self.graph = Graph()

    def found(self, kind, text):
        self.anomalies.append(Anomaly(kind, text))

    # Collects the writes, and decides which transactions of unknown outcome have committed.

    def collect(self):
        for transaction in self.all.values():
            for kind, key, what in transaction.operations:
                if kind in (Kind.APPEND, Kind.WRITE, Kind.INSERT):
                    self.writer[OBJECT[kind], key, what] = transaction.number
                elif kind == Kind.UNDONE:
                    object, element = what
                    self.writer[object, key, element] = transaction.number
                    self.undone.add((object, key, element))
        seen = set()
        for transaction in self.all.values():
            for kind, key, what in transaction.operations:
                for element in elements_read(kind, what):
                    writer = self.writer.get((OBJECT[kind], key, element))
                    if writer != transaction.number:
                        seen.add(writer)
        self.committed = {number for number, transaction in self.all.items() if transaction.status == Status.COMMITTED
                          or transaction.status == Status.UNKNOWN and number in seen}

    # Reads that must not happen, and reads of a transaction's own writes.

    def check_reads(self):
        for transaction in self.all.values():
            own = {}       # object → elements that this transaction wrote, in order
            expected = {}  # list → required result of the next read, if it is known
            for kind, key, what in transaction.operations:
                if kind == Kind.UNDONE:
                    expected.pop((what[0], key), None)
                    continue
                place = (OBJECT[kind], key)
                if kind in (Kind.APPEND, Kind.WRITE, Kind.INSERT):
                    own.setdefault(place, []).append(what)
                    if place in expected and kind == Kind.APPEND:
                        expected[place] = [*expected[place], what]
                    elif kind != Kind.INSERT:
                        expected.pop(place, None)
                    continue
                self.check_origin(transaction, place, kind, what)
                self.check_own(transaction, place, kind, what, own, expected)

    def check_origin(self, transaction, place, kind, what):
        for element in elements_read(kind, what):
            writer = self.writer.get((*place, element))
            if writer == transaction.number:
                continue
            if writer is None:
                self.found("order", f"T{transaction.number} read {element!r} of {place}, which nobody wrote")
            elif (*place, element) in self.undone or writer not in self.committed:
                self.found("G1a", f"T{transaction.number} read {element!r} of {place}, which T{writer} had rolled back")
        last = what[-1:] if kind == Kind.LIST else elements_read(kind, what)[:1] if kind == Kind.READ else []
        for element in last:
            writer = self.writer.get((*place, element))
            if writer in (None, transaction.number) or (*place, element) in self.undone:
                continue
            writes = [value for written, key, value in self.all[writer].operations
                      if written in (Kind.APPEND, Kind.WRITE) and (OBJECT[written], key) == place]
            if writes[-1] != element:
                self.found("G1b", f"T{transaction.number} read {element!r} of {place}, T{writer}'s last there is {writes[-1]!r}")

    def check_own(self, transaction, place, kind, what, own, expected):
        mine = own.get(place, [])
        if kind == Kind.LIST:
            if what[len(what) - len(mine):] != mine:
                self.found("internal", f"T{transaction.number} wrote {mine} to {place} and read {what}")
            if mine and place in expected and expected[place] != what:
                self.found("internal", f"T{transaction.number} read {what} of {place}, after {expected[place]} and under its lock")
            if mine:
                expected[place] = what
        elif kind == Kind.READ and mine:
            if what is None or what[0] != mine[-1]:
                self.found("internal", f"T{transaction.number} wrote {mine[-1]!r} to {place} and read {what}")
        elif kind == Kind.SCAN and not set(mine) <= set(what):
            self.found("internal", f"T{transaction.number} inserted {mine} into {place} and read {what}")

    # The order of versions, and the edges that follow from it.

    def reads(self):
        for number in self.committed:
            for kind, key, what in self.all[number].operations:
                if kind in (Kind.LIST, Kind.READ, Kind.SCAN):
                    yield number, kind, key, what

    def add_lists(self):
        longest = defaultdict(list)
        for _, kind, key, what in self.reads():
            if kind == Kind.LIST and len(what) > len(longest[key]):
                longest[key] = what
        for number, kind, key, what in self.reads():
            if kind == Kind.LIST and longest[key][:len(what)] != what:
                self.found("order", f"list {key}: T{number} read {what}, another {longest[key]}")
        writers = {key: [self.writer.get(("list", key, element)) for element in order] for key, order in longest.items()}
        for key, order in writers.items():
            for before, after in zip(order, order[1:]):
                self.edge(before, after, WW, f"list {key}")
        for number, kind, key, what in self.reads():
            if kind != Kind.LIST:
                continue
            order = writers[key]
            if what and len(what) <= len(order):
                self.edge(order[len(what) - 1], number, WR, f"list {key} at {what[-1]!r}")
            if len(what) < len(order):
                self.edge(number, order[len(what)], RW, f"list {key} before {longest[key][len(what)]!r}")
        self.lists = {(key, element) for key, order in longest.items() for element in order}

    def add_registers(self):
        after = {}
        for number, kind, key, what in self.reads():
            if kind == Kind.READ and what is not None:
                value, before = what
                known = after.setdefault((key, before), value)
                if known != value:
                    self.found("order", f"register {key}: both {known!r} and {value!r} replaced {before!r}")
        for (key, before), value in after.items():
            if before is not None:
                self.edge(self.writer.get(("register", key, before)), self.writer.get(("register", key, value)), WW, f"register {key}")
        for number, kind, key, what in self.reads():
            if kind != Kind.READ:
                continue
            value = what[0] if what else None
            if value is not None:
                self.edge(self.writer.get(("register", key, value)), number, WR, f"register {key} = {value!r}")
            if (key, value) in after:
                self.edge(number, self.writer.get(("register", key, after[key, value])), RW, f"register {key} after {value!r}")

    def add_sets(self):
        inserted = defaultdict(dict)
        for number in self.committed:
            for kind, key, what in self.all[number].operations:
                if kind == Kind.INSERT:
                    inserted[key][what] = number
        for number, kind, key, what in self.reads():
            if kind != Kind.SCAN:
                continue
            seen = set(what)
            for element, writer in inserted[key].items():
                if element in seen:
                    self.edge(writer, number, WR, f"set {key} with {element!r}")
                else:
                    self.edge(number, writer, RW, f"set {key} without {element!r}")

    def add_time(self):
        """Adds an edge from a transaction to those that began after its end, server by server. Edges that follow from
        others are omitted."""
        sites = defaultdict(list)
        for number in self.committed:
            transaction = self.all[number]
            for site in filter(None, (transaction.site, transaction.group)):
                sites[site].append((transaction.begin, 1, transaction))
                if transaction.status == Status.COMMITTED:
                    sites[site].append((transaction.end, 0, transaction))
        for events in sites.values():
            events.sort(key=lambda event: event[:2])
            ended = []
            for _, is_begin, transaction in events:
                if is_begin:
                    for before in ended:
                        self.edge(before.number, transaction.number, RT, "began later")
                else:
                    ended = [before for before in ended if before.end >= transaction.begin]
                    ended.append(transaction)

    def edge(self, source, target, kind, why):
        if source in self.committed and target in self.committed:
            self.graph.add(source, target, kind, why)

    def check_final(self, final):
        """Finds lost writes. `final` is a transaction that read everything after all others had ended; it must see
        every acknowledged write."""
        present = {(OBJECT[kind], key, element) for kind, key, what in final.operations for element in elements_read(kind, what)}
        registers = {key for kind, key, what in final.operations if kind == Kind.READ}
        for number in sorted(self.committed):
            transaction = self.all[number]
            for kind, key, what in transaction.operations:
                if kind in (Kind.APPEND, Kind.INSERT) and (OBJECT[kind], key, what) not in present:
                    self.found("lost-write", f"T{number} wrote {what!r} to {OBJECT[kind]} {key}; it was acknowledged or seen, and is gone")
                elif kind == Kind.WRITE and key not in registers:
                    self.found("lost-write", f"T{number} wrote register {key}, which is gone")

    # Cycles.

    def cycles(self, level):
        """Yields the anomalies that are cycles and that the level forbids: the shortest of each component of the graph."""
        edges = self.graph.edges
        for with_time in (False, True):
            suffix = "-realtime" if with_time else ""
            time = {RT} if with_time else set()
            yield from self.describe("G0" + suffix, plain(edges, {WW} | time), time)
            yield from self.describe("G1c" + suffix, plain(edges, {WW, WR} | time), time)
            if level == READ_COMMITTED:
                if with_time:
                    yield from self.describe("stale-read", after_time(edges), time)
                continue
            yield from self.describe("G-single" + suffix, nonadjacent(edges, {WW, WR} | time), time)
            if level == SERIALIZABLE:
                yield from self.describe("G2" + suffix, plain(edges, {WW, WR, RW} | time), time)

    def describe(self, kind, graph, time):
        for cycle in shortest_cycles(graph):
            kinds = [step[1] for step in cycle]
            # A cycle that lacks the required edges is a different anomaly, which has been reported.
            if (time and RT not in kinds) or (kind.startswith(("G-single", "G2", "stale")) and RW not in kinds) \
                    or (kind.startswith("G1c") and WR not in kinds):
                continue
            name = kind
            if kind.startswith("G-single"):
                objects = {step[3] for step in cycle if step[1] != RT}
                if kinds.count(RW) > 1:
                    name = kind.replace("G-single", "G-nonadjacent")
                elif sorted(kinds) == [RW, WW] and len({why.split(" before ")[0].split(" after ")[0] for why in objects}) == 1:
                    name = "lost-update"
            text = " ".join(f"T{source} -{edge}({why})->" for source, edge, _, why in cycle)
            yield Anomaly(name, f"{text} T{cycle[0][0]}")


def elements_read(kind, what):
    if kind in (Kind.LIST, Kind.SCAN):
        return what
    if kind == Kind.READ and what is not None:
        return [element for element in what if element is not None]
    return []


# Graphs for the search of cycles: node → [(node, kind, why)]. A node is a transaction and a state, which restricts the
# next edge.

def plain(edges, kinds):
    return {(source, 0): [((target, 0), kind, why) for (target, kind), why in found.items() if kind in kinds]
            for source, found in edges.items()}


def nonadjacent(edges, kinds):
    """Returns the paths on which no rw follows an rw. State 1 is reached by an rw."""
    graph = {}
    for source, found in edges.items():
        others = [((target, 0), kind, why) for (target, kind), why in found.items() if kind in kinds]
        graph[source, 1] = others
        graph[source, 0] = others + [((target, 1), kind, why) for (target, kind), why in found.items() if kind == RW]
    return graph


def after_time(edges):
    """Returns the paths on which an rw only follows an rt (state 1): a transaction misses a commit that was
    acknowledged before it began, which no level allows."""
    graph = {}
    for source, found in edges.items():
        others = [((target, int(kind == RT)), kind, why) for (target, kind), why in found.items() if kind != RW]
        graph[source, 0] = others
        graph[source, 1] = others + [((target, 0), kind, why) for (target, kind), why in found.items() if kind == RW]
    return graph


def components(graph):
    """Yields the strongly connected components with more than one node (R. Tarjan, 1972, without recursion)."""
    index, low, on_stack, stack, number = {}, {}, set(), [], 0
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = number
        number += 1
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target, _, _ in targets:
                if target not in index:
                    index[target] = low[target] = number
                    number += 1
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(graph.get(target, ()))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = set()
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.add(member)
                        if member == node:
                            break
                    if len(component) > 1:
                        yield component


def shortest_cycles(graph):
    """Yields one short cycle of each component, as steps (source, kind, target, why)."""
    for component in components(graph):
        best = None
        for start in sorted(component)[:200]:
            came = {start: None}
            queue = [start]
            for node in queue:
                for target, kind, why in graph.get(node, ()):
                    if target == start:
                        steps = [(node[0], kind, target[0], why)]
                        while came[node] is not None:
                            before, kind, why = came[node]
                            steps.append((before[0], kind, node[0], why))
                            node = before
                        steps.reverse()
                        if best is None or len(steps) < len(best):
                            best = steps
                        queue.clear()
                        break
                    if target in component and target not in came:
                        came[target] = (node, kind, why)
                        queue.append(target)
            if best is not None and len(best) == 2:
                break
        if best is not None:
            yield best


def check(transactions, level, final=None):
    """Returns the anomalies of a history that `level` forbids. `final` is the number of the transaction that read
    everything at the end."""
    checker = Checker(transactions)
    checker.collect()
    checker.check_reads()
    checker.add_lists()
    checker.add_registers()
    checker.add_sets()
    checker.add_time()
    if final is not None:
        checker.check_final(checker.all[final])
    return checker.anomalies + list(checker.cycles(level))


def main():
    level, transactions = load(sys.argv[1])
    found = check(transactions, level, max(transaction.number for transaction in transactions))
    for anomaly in found:
        print(anomaly)
    print(f"{len(transactions)} transactions at {level}: {len(found)} anomalies")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
