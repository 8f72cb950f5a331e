"""A client that shows the protocol's packets as they are, and sends any."""

import socket
import struct

LONG, DOUBLE, NULL, LONGLONG, DATETIME, BLOB, VAR_STRING = 3, 5, 6, 8, 12, 0xFC, 0xFD
OK, ERROR, END, LOCAL_FILE = 0, 0xFF, 0xFE, 0xFB
MORE_RESULTS = 8
FOUND_ROWS, PROTOCOL_41, TRANSACTIONS, SECURE = 2, 0x200, 0x2000, 0x8000
MULTI_STATEMENTS, MULTI_RESULTS, PS_MULTI_RESULTS = 1 << 16, 1 << 17, 1 << 18
PLUGIN_AUTH, SESSION_TRACK, DEPRECATE_EOF = 1 << 19, 1 << 23, 1 << 24
BULK, EXTENDED_METADATA, CACHE_METADATA = 1 << 34, 1 << 35, 1 << 36
USUAL = PROTOCOL_41 | TRANSACTIONS | SECURE | PLUGIN_AUTH | MULTI_RESULTS | PS_MULTI_RESULTS

VALUE, IS_NULL, DEFAULT, IGNORE = range(4)


class Closed(Exception):
    """The server has closed the connection."""


def framed(payload, sequence=0):
    return struct.pack("<I", len(payload))[:3] + bytes([sequence]) + payload


def lenenc(data):
    assert len(data) < 0x10000
    return (bytes([len(data)]) if len(data) < 251 else b"\xfc" + struct.pack("<H", len(data))) + data


def read_lenenc(payload, at):
    first = payload[at]
    if first < 251:
        return first, at + 1
    width = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(payload[at + 1:at + 1 + width], "little"), at + 1 + width


class RawClient:
    """A connection as root, or as another user without a password."""

    def __init__(self, server, capabilities=USUAL, user=b"root", log_in=True):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(server.socket))
        self.capabilities = capabilities
        if not log_in:
            return
        self.greeting = self.receive()
        self.send(struct.pack("<IIB19xI", capabilities & 0xFFFFFFFF, 1 << 24, 45, capabilities >> 32) + user + b"\0\0mysql_native_password\0", 1)
        answer = self.receive()
        if answer[0] == END:
            self.send(b"", self.sequence + 1)
            answer = self.receive()
        assert answer[0] == OK, answer

    def send(self, payload, sequence=0):
        self.socket.sendall(framed(payload, sequence))

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise Closed
            data += more
        return data

    def receive(self):
        header = self.exactly(4)
        self.sequence = header[3]
        return self.exactly(int.from_bytes(header[:3], "little"))

    def is_last(self, payload):
        """Returns whether a packet ends the answer to a command, if it can end a result."""
        if payload[0] == ERROR:
            return True
        if payload[0] == END and len(payload) < 9 and not self.capabilities & DEPRECATE_EOF:
            return not struct.unpack_from("<H", payload, 3)[0] & MORE_RESULTS
        _, at = read_lenenc(payload, 1)
        _, at = read_lenenc(payload, at)
        return not struct.unpack_from("<H", payload, at)[0] & MORE_RESULTS

    def command(self, payload):
        """Sends a command and returns all packets of the answer."""
        self.send(payload)
        packets = []
        while True:
            packets.append(self.receive())
            first = packets[-1]
            if first[0] in (OK, ERROR):
                if self.is_last(first):
                    return packets
                continue
            count, at = read_lenenc(first, 0)
            has_columns = not self.capabilities & CACHE_METADATA or first[at]
            ends = 1 if self.capabilities & DEPRECATE_EOF or not has_columns else 2
            for _ in range(count if has_columns else 0):
                packets.append(self.receive())
            if ends == 2:
                packets.append(self.receive())
            while True:
                packets.append(self.receive())
                if packets[-1][0] == ERROR or packets[-1][0] == END and len(packets[-1]) < 0xFFFFFF:
                    break
            if self.is_last(packets[-1]):
                return packets

    def query(self, text):
        return self.command(b"\x03" + text.encode())

    def prepare(self, text):
        """Prepares a statement. Returns its number as it is sent, and the packets of the answer."""
        self.send(b"\x16" + text.encode())
        packets = [self.receive()]
        if packets[0][0] == OK:
            for count in struct.unpack_from("<HH", packets[0], 5):
                for _ in range(count and count + (0 if self.capabilities & DEPRECATE_EOF else 1)):
                    packets.append(self.receive())
        return packets[0][1:5], packets

    def bulk(self, statement, types, rows, flags=128):
        """Executes a prepared statement for several rows. A value is encoded already, or it is an indicator."""
        kinds = b"".join(struct.pack("<H", kind) for kind in types) if flags & 128 else b""
        values = b"".join(bytes([value]) if isinstance(value, int) else b"\0" + value for row in rows for value in row)
        return self.command(b"\xfa" + statement + struct.pack("<H", flags) + kinds + values)

    def close(self):
        self.socket.close()
