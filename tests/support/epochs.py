"""Starts of a cluster's epochs in the log of a server that is not running."""

import struct
import zlib
from pathlib import Path

from support.archive import GTID, group_events

QUERY, STANDALONE = 2, 1


def text_of(epoch, primary):
    return f"# paceline: epoch {epoch}, primary {primary}"


def append_epoch_start(server, server_id, epoch, primary):
    """Appends the start of an epoch to the log of a server that was killed, as a member of a cluster logs it. Returns
    its GTID. The log's last transaction is of domain 0."""
    path = server.log_files()[-1]
    content = bytearray(path.read_bytes())
    end, timestamp, sequence = 4, 0, 0
    while end + 19 <= len(content):
        timestamp_of, kind, _, length, _, _ = struct.unpack_from("<IBIIIH", content, end)
        if kind == 0 or length < 19:
            break
        timestamp = max(timestamp, timestamp_of)
        end += length
    for file in server.log_files():
        for kind, _, _, _, body in group_events([file]):
            if kind == GTID:
                sequence, domain = struct.unpack_from("<QI", body)
                assert domain == 0
    gtid = struct.pack("<QIB6x", sequence + 1, 0, STANDALONE)
    query = struct.pack("<IIBHH", 0, 0, 0, 0, 0) + b"\0" + text_of(epoch, primary).encode()
    for kind, flags, body in ((GTID, 8, gtid), (QUERY, 0, query)):
        after = end + 19 + len(body) + 4
        event = struct.pack("<IBIIIH", timestamp, kind, server_id, after - end, after, flags) + body
        content[end:after] = event + struct.pack("<I", zlib.crc32(event))
        end = after
    Path(path).write_bytes(content)
    return f"0-{server_id}-{sequence + 1}"


def epoch_starts(paths):
    """Returns the GTID, server id, timestamp and text of each start of an epoch in these files."""
    found, gtid = [], None
    for kind, timestamp, server_id, _, body in group_events(paths):
        if kind == GTID:
            sequence, domain, flags = struct.unpack_from("<QIB", body)
            gtid = f"{domain}-{server_id}-{sequence}" if flags & STANDALONE else None
        elif kind == QUERY and gtid:
            _, _, database, _, variables = struct.unpack_from("<IIBHH", body)
            text = body[13 + variables + database + 1:].decode()
            if text.startswith("# paceline"):
                found.append((gtid, server_id, timestamp, text))
    return found
