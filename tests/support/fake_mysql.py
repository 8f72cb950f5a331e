"""A server that behaves like MySQL 9.7 towards a replica, and plays back recorded binary logs."""

import hashlib
import socket
import struct
import threading
import time
import zlib

# A key for this test only.
PUBLIC_KEY = """-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC7oV0tRDb7aaHRe4jbw1101p5a
EeT1rGc6QvVmyGxozxamIa7Z3WpwUZznkkDlGVeGGiL8OFYbS8YJxGUsv3QzDIyV
dKiXK5zzDDSOIYft08KYaE9sLkmqsXvWvOfD5mW6HdIJOjXjZh6wjxxfSguErwoT
PdpvrL2LJqLmB0GzRQIDAQAB
-----END PUBLIC KEY-----
"""
MODULUS = int(
    "bba15d2d4436fb69a1d17b88dbc35d74d69e5a11e4f5ac673a42f566c86c68cf16a621aed9dd6a70519ce79240e51957861a22fc38561b"
    "4bc609c4652cbf74330c8c9574a8972b9cf30c348e2187edd3c298684f6c2e49aab17bd6bce7c3e665ba1dd2093a35e3661eb08f1c5f4a"
    "0b84af0a133dda6facbd8b26a2e60741b345", 16)
PRIVATE_EXPONENT = int(
    "8079c67e77661a92c2fdd8d3e67f08a03750e8a5b61c4eb7c45a13051519be4e86d8acd9b84e77527f5fabe526507920c82f5f634b0412"
    "deb8b4f968b9d242b2816f5bcae36bb4423a738487c47492e4c867927d516800e53b49395b97eb5bc1861198b3cbf1e8dbec6a2cd4749a"
    "4faecf76f0ef1b16d0b611a7182e0e0831c5", 16)

SERVER_ID = 3409
SCRAMBLE = b"kx3Qd~0Zp[w7Yb!Lm2Vs"
# All of MySQL's capabilities except TLS.
CAPABILITIES = 0xDFFFFFFF & ~0x800
MAGIC = b"\xfebin"
HEADER_LENGTH = 19
ROTATE, FORMAT_DESCRIPTION, GTID, HEARTBEAT, ANONYMOUS_GTID, GTID_TAGGED = 4, 15, 33, 27, 34, 42
ARTIFICIAL = 0x20


def sha1(data):
    return hashlib.sha1(data).digest()


def xor(one, other):
    return bytes(a ^ b for a, b in zip(one, other))


def mask(seed, length):
    """MGF1 with SHA-1."""
    blocks = (sha1(seed + struct.pack(">I", count)) for count in range(-(-length // 20)))
    return b"".join(blocks)[:length]


def decrypt(ciphertext):
    """Decrypts RSA with OAEP padding, like the server's side of caching_sha2_password."""
    size = (MODULUS.bit_length() + 7) // 8
    padded = pow(int.from_bytes(ciphertext, "big"), PRIVATE_EXPONENT, MODULUS).to_bytes(size, "big")
    assert padded[0] == 0, "what came is not encrypted for this key"
    masked_seed, masked = padded[1:21], padded[21:]
    data = xor(masked, mask(xor(masked_seed, mask(masked, 20)), len(masked)))
    assert data[:20] == sha1(b""), "what came is not padded with OAEP"
    return data[20:].lstrip(b"\0")[1:]


def lenenc(data):
    assert len(data) < 251
    return bytes([len(data)]) + data


def event(kind, body, flags=0, end=0):
    """Returns an event with a checksum."""
    head = struct.pack("<IBIIIH", 0, kind, SERVER_ID, HEADER_LENGTH + len(body) + 4, end, flags)
    return head + body + struct.pack("<I", zlib.crc32(head + body))


def events_of(log):
    """Yields the events of a log file: end, type, bytes."""
    at = len(MAGIC)
    while at < len(log):
        kind, length = log[at + 4], struct.unpack_from("<I", log, at + 9)[0]
        yield at + length, kind, log[at:at + length]
        at += length


class FakeMySql:
    """`logs`: the files by their names, in order. `authentication`: `fast`, as if the account had logged in before, or `full`."""

    def __init__(self, logs, user="repl", password="secret", authentication="full"):
        self.logs, self.user, self.password, self.authentication = logs, user.encode(), password.encode(), authentication
        # Maximum number of events to send in all; None: no limit.
        self.events_max = None
        self.asked = []
        self.refused = []
        self.dumps = []
        self.is_open = True
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.is_open = False
        self.listener.close()

    def _accept(self):
        while self.is_open:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            Session(self, connection).run()
        except (ConnectionError, OSError, EOFError):
            pass
        finally:
            connection.close()


class Session:
    def __init__(self, server, connection):
        self.server, self.connection, self.sequence = server, connection, 0

    def receive(self):
        head = self.exactly(4)
        self.sequence = (head[3] + 1) % 256
        return self.exactly(int.from_bytes(head[:3], "little"))

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.connection.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def send(self, *payloads):
        for payload in payloads:
            assert len(payload) < 0xFFFFFF
            self.connection.sendall(len(payload).to_bytes(3, "little") + bytes([self.sequence]) + payload)
            self.sequence = (self.sequence + 1) % 256

    def ok(self, header=0):
        self.send(bytes([header, 0, 0, 2, 0, 0, 0]))

    def error(self, number, text):
        self.send(b"\xff" + struct.pack("<H", number) + b"#HY000" + text.encode())

    def run(self):
        self.greet()
        while True:
            command = self.receive()
            match command[0]:
                case 3:
                    self.question(command[1:].decode())
                case 14 | 21:
                    self.ok()
                case 18:
                    offset, flags, _ = struct.unpack_from("<IHI", command, 1)
                    self.server.dumps.append((command[11:].decode(), offset, flags))
                    self.dump(command[11:].decode(), offset, known=None)
                case 30:
                    _, _, length = struct.unpack_from("<HII", command, 1)
                    at = 11 + length
                    known = command[at + 12:]
                    assert len(known) == struct.unpack_from("<I", command, at + 8)[0]
                    self.server.dumps.append(known)
                    self.dump("", 4, known_of(known))
                case 1:
                    return
                case other:
                    self.error(1047, f"Unknown command {other}")

    def greet(self):
        lower, upper = CAPABILITIES & 0xFFFF, CAPABILITIES >> 16
        self.send(b"\x0a9.7.4-2\0" + struct.pack("<I", 8) + SCRAMBLE[:8] + b"\0" + struct.pack("<HBHHB", lower, 255, 2, upper, 21)
                  + bytes(10) + SCRAMBLE[8:] + b"\0caching_sha2_password\0")
        login = self.receive()
        user, rest = login[32:].split(b"\0", 1)
        answer = rest[1:1 + rest[0]]
        once = hashlib.sha256(self.server.password).digest()
        wanted = xor(once, hashlib.sha256(hashlib.sha256(once).digest() + SCRAMBLE).digest())
        if user == self.server.user and self.server.authentication == "full":
            self.send(b"\x01\x04")
            assert self.receive() == b"\x02", "a password in clear, or no request for the key"
            self.send(b"\x01" + PUBLIC_KEY.encode())
            masked = decrypt(self.receive())
            is_right = xor(masked, SCRAMBLE * 10) == self.server.password + b"\0"
        else:
            is_right = user == self.server.user and answer == wanted
            if is_right:
                self.send(b"\x01\x03")
        if not is_right:
            self.error(1045, f"Access denied for user '{user.decode()}'@'localhost' (using password: YES)")
            raise EOFError
        self.ok()

    def question(self, text):
        self.server.asked.append(text)
        answers = {"SELECT UNIX_TIMESTAMP()": [str(int(time.time()))], "SHOW VARIABLES LIKE 'SERVER_ID'": ["server_id", str(SERVER_ID)],
                   "SELECT @master_binlog_checksum": ["CRC32"]}
        if text in answers:
            values = answers[text]
            self.send(bytes([len(values)]))
            for number in range(len(values)):
                self.send(lenenc(b"def") + bytes(3) + lenenc(b"c%d" % number) + b"\0\x0c" + struct.pack("<HIBHB", 45, 1024, 253, 0, 0)
                          + bytes(2))
            self.send(b"".join(lenenc(value.encode()) for value in values))
            self.ok(header=0xFE)
        elif text.startswith("SET @master_") and "@source_" in text:
            self.ok()
        else:
            self.server.refused.append(text)
            self.error(1193, f"Unknown system variable in '{text}'")

    def dump(self, file, offset, known):
        """Sends the logs from a position on, or what is missing in a set of GTIDs, and then heartbeats."""
        names = list(self.server.logs)
        file = file or names[0]
        if file not in names:
            return self.error(1236, "Could not find first log file name in binary log index file")
        for name in names[names.index(file):]:
            log = self.server.logs[name]
            start, offset = offset, 4
            self.event(event(ROTATE, struct.pack("<Q", start) + name.encode(), ARTIFICIAL))
            is_known = False
            for end, kind, data in events_of(log):
                at = end - len(data)
                if kind == FORMAT_DESCRIPTION and start > 4:
                    # A start in the middle of a file: the event has no position.
                    body = data[HEADER_LENGTH:-4]
                    self.event(event(FORMAT_DESCRIPTION, body[:52] + bytes(4) + body[56:]))
                    continue
                if at < start or kind == ROTATE:
                    continue
                if known is not None and kind in (GTID, ANONYMOUS_GTID, GTID_TAGGED):
                    # There is one tagged GTID, the first with its tag.
                    is_known = (struct.unpack_from("<Q", data, HEADER_LENGTH + 17)[0] in known[""] if kind == GTID
                                else kind == GTID_TAGGED and "tagged" in known)
                if not is_known:
                    self.event(data)
                reached = end
        while self.server.is_open:
            # The period of heartbeats.
            time.sleep(0.2)
            self.event(event(HEARTBEAT, name.encode(), ARTIFICIAL, reached))

    def event(self, data):
        while self.server.events_max is not None and self.server.events_max <= 0:
            # The pause of a loop that waits.
            time.sleep(0.01)
        if self.server.events_max is not None:
            self.server.events_max -= 1
        self.send(b"\0" + data)


def known_of(encoded):
    """Returns the numbers in a set of GTIDs of one server, by their tags."""
    is_tagged, known, at = encoded[7] == 1, {"": set()}, 8
    count = int.from_bytes(encoded[1:7] if is_tagged else encoded[:7], "little")
    for _ in range(count):
        at += 16
        tag = ""
        if is_tagged:
            length = encoded[at] >> 1
            tag = encoded[at + 1:at + 1 + length].decode()
            at += 1 + length
        intervals, = struct.unpack_from("<Q", encoded, at)
        at += 8
        for _ in range(intervals):
            known.setdefault(tag, set()).update(range(*struct.unpack_from("<QQ", encoded, at)))
            at += 16
    return known


def numbers_of(encoded):
    """Returns its numbers without a tag."""
    return known_of(encoded)[""]
