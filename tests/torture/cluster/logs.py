"""The logs of a cluster's members, read from their files: one history, in which each epoch has one primary.

    group   epoch start 4 of b │ b │ b │ epoch start 5 of a │ a │ …        each with the server id of the epoch's primary
"""

import re
import struct
from dataclasses import dataclass

from support.archive import GTID, group_events
from torture.harness import Finding
from torture.isolation.history import OBJECT, Kind, Status

QUERY, ANNOTATION = 2, 160
START = re.compile(r"# paceline: epoch (\d+), primary (\d+)$")
# The elements that statements of the load write (torture.isolation.load). No element is written twice.
WRITTEN = re.compile(r"',?(\d+)'|(?:registers|sets \(k, e\)) values \(\d+, (\d+)[,)]")


@dataclass
class Group:
    gtid: str
    server_id: int
    epoch: int  # 0: it does not start one
    elements: list


def read(files):
    """Returns the event groups in these files, in order."""
    groups = []
    for kind, _, server_id, _, body in group_events(files):
        if kind == GTID:
            sequence, domain = struct.unpack_from("<QI", body)
            groups.append(Group(f"{domain}-{server_id}-{sequence}", server_id, 0, []))
        elif kind == ANNOTATION:
            groups[-1].elements += (int(one or other) for one, other in WRITTEN.findall(body.decode()))
        elif kind == QUERY:
            _, _, database, _, variables = struct.unpack_from("<IIBHH", body)
            start = START.match(body[13 + variables + database + 1:].decode(errors="replace"))
            if start:
                groups[-1].epoch = int(start[1])
    return groups


def check(logs, ids, transactions):
    """Compares logs, by name of the server, and checks their epochs. `ids` has the servers' numbers by name; `transactions` is
    what clients did. Returns the number of epochs."""
    # Logs of members that have joined begin later.
    name, longest = max(logs.items(), key=lambda item: len(item[1]))
    for other, groups in logs.items():
        [offset] = [place for place, group in enumerate(longest) if group.gtid == groups[0].gtid] or [None]
        if offset is None:
            raise Finding(f"the log of {other} begins with {groups[0].gtid}, which {name} does not have")
        for here, there in zip(longest[offset:], groups):
            if here != there:
                raise Finding(f"where {name} has {here}, {other} has {there}")
    epoch, primary, epochs, written = 0, None, 0, {}
    for group in longest:
        if group.epoch:
            if group.epoch <= epoch:
                raise Finding(f"epoch {group.epoch} begins after epoch {epoch}, at {group.gtid}")
            epoch, primary, epochs = group.epoch, group.server_id, epochs + 1
        elif primary is not None and group.server_id != primary:
            raise Finding(f"{group.gtid} is in epoch {epoch}, whose primary is {primary}")
        for element in group.elements:
            written[element] = group
    for transaction in transactions:
        if transaction.status == Status.COMMITTED:
            for kind, key, element in transaction.operations:
                if kind in (Kind.APPEND, Kind.WRITE, Kind.INSERT):
                    group = written.get(element)
                    if group is None or group.server_id not in ids[transaction.site]:
                        raise Finding(f"{transaction.site} has acknowledged {element!r} of {OBJECT[kind]} {key}; in the log: {group}")
    return epochs


def check_openings(servers):
    """Checks what the servers say in their logs: no epoch has had two primaries. Returns the number of openings."""
    opened = {}
    for server in servers:
        for epoch in re.findall(r"this server is the primary, in epoch (\d+)", server.said()):
            if opened.setdefault(epoch, server.name) != server.name:
                raise Finding(f"{server.name} and {opened[epoch]} were both the primary of epoch {epoch}")
    return len(opened)
