"""Divides the bytes of a data directory into kinds, by their meaning."""

EVENT_HEADER = [("timestamp", 0, 4), ("type", 4, 5), ("server id", 5, 9), ("length", 9, 13), ("end position", 13, 17), ("flags", 17, 19)]
EVENT_NAMES = {2: "Query", 3: "Stop", 4: "Rotate", 15: "Format description", 16: "Xid", 19: "Table map", 23: "Write rows", 24: "Update rows",
               25: "Delete rows", 160: "Annotate rows", 161: "Binlog checkpoint", 162: "Gtid", 163: "Gtid list", 28: "Ignorable"}
CHECKSUM_BYTES = 4
SST_FOOTER_BYTES = 53


class ByteRange:
    """A range of bytes with one meaning."""

    def __init__(self, kind, path, start, end, in_last_group=False):
        self.kind, self.path, self.start, self.end, self.in_last_group = kind, path, start, end, in_last_group


def events(data):
    """Yields (offset, type, length) for each event of a log file, up to the preallocated zeros."""
    offset = 4
    while offset + 19 <= len(data):
        length = int.from_bytes(data[offset + 9:offset + 13], "little")
        if length < 19 or offset + length > len(data):
            return
        yield offset, data[offset + 4], length
        offset += length


def of_log(path, name, is_active):
    data = path.read_bytes()
    found = list(events(data))
    end = found[-1][0] + found[-1][2]
    # Only the last group can be mistaken for a torn write.
    last_group = max((offset for offset, kind, _ in found if kind == 162), default=end) if is_active else end
    yield ByteRange("log: magic", name, 0, 4)
    for offset, kind, length in found:
        tail = offset >= last_group
        for field, start, stop in EVENT_HEADER:
            yield ByteRange(f"log: event {field}", name, offset + start, offset + stop, tail)
        if length > 19 + CHECKSUM_BYTES:
            yield ByteRange(f"log: {EVENT_NAMES.get(kind, kind)}", name, offset + 19, offset + length - CHECKSUM_BYTES, tail)
        yield ByteRange("log: checksum", name, offset + length - CHECKSUM_BYTES, offset + length, tail)
    if len(data) > end:
        yield ByteRange("log: prepared zeros near the end", name, end, min(end + 64, len(data)))
        yield ByteRange("log: prepared zeros", name, end, len(data))


def of_tables(path, name):
    size = path.stat().st_size
    # A file that was just created is still empty.
    if size == 0:
        return
    if path.suffix == ".sst":
        yield ByteRange("table file: rows", name, 0, size * 2 // 3)
        yield ByteRange("table file: index and properties", name, size * 2 // 3, max(size - SST_FOOTER_BYTES, size * 2 // 3 + 1))
        yield ByteRange("table file: footer", name, max(0, size - SST_FOOTER_BYTES), size)
    elif size and path.name != "LOCK" and not path.name.startswith("LOG"):
        yield ByteRange(f"table file: {path.name.split('-')[0]}", name, 0, size)


def of_directory(directory):
    """Returns all byte ranges of a data directory."""
    byte_ranges = []
    logs = sorted(path for path in directory.iterdir() if path.name.startswith("binlog.0") and path.suffix != ".idx")
    for path in logs:
        byte_ranges += of_log(path, path.relative_to(directory), path == logs[-1])
    for path in sorted(directory.glob("binlog.*.idx")):
        byte_ranges.append(ByteRange("log: GTID index", path.relative_to(directory), 0, path.stat().st_size))
    index = directory / "binlog.index"
    byte_ranges.append(ByteRange("log: index file", index.relative_to(directory), 0, index.stat().st_size))
    for path in sorted((directory / "tables").rglob("*")):
        if path.is_file():
            byte_ranges += of_tables(path, path.relative_to(directory))
    # A file that was just created is still empty.
    return [byte_range for byte_range in byte_ranges if byte_range.start < byte_range.end]
