"""Somebody between two members of a cluster: reads what passes, or answers in the place of one of them."""

import base64
import json
import socket
import ssl
import struct
import threading
import urllib.request

from support.servers import ReservedPort

ALL_PROTOCOLS, IPV4, TCP = 3, 0x0800, 6


class Recorder:
    """Records what passes through TCP ports of this machine. Needs the privilege to read the network."""

    def __init__(self, *ports):
        self.ports, self.seen = set(ports), bytearray()
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self.socket.bind(("lo", 0))
        self.socket.settimeout(0.2)
        self.is_stopping = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_stopping.is_set():
            try:
                frame = self.socket.recv(1 << 17)
            except TimeoutError:
                continue
            [protocol] = struct.unpack_from(">H", frame, 12)
            packet = frame[14:]
            if protocol != IPV4 or packet[9] != TCP:
                continue
            segment = packet[(packet[0] & 15) * 4:]
            if self.ports & set(struct.unpack_from(">HH", segment)):
                self.seen += segment[(segment[12] >> 4) * 4:]

    def close(self):
        self.is_stopping.set()
        self.thread.join()
        self.socket.close()


class ManInTheMiddle:
    """Answers in the place of a port: shows its greeting, and a certificate of its own. `told` has what was sent to it after that."""

    def __init__(self, port, certificate, key):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        with socket.create_connection(("127.0.0.1", port)) as real:
            self.greeting = packet_from(real)
        self.reserved, self.told, self.handshakes = ReservedPort(), bytearray(), 0
        self.port = self.reserved.number
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            client.sendall(self.greeting)
            request = packet_from(client)
            # Only the capabilities, in clear: no user, no answer to the scramble.
            self.told += request[4 + 32:]
            with self.context.wrap_socket(client, server_side=True) as inside:
                self.handshakes += 1
                while received := inside.recv(1 << 16):
                    self.told += received
        except OSError:
            pass

    def close(self):
        self.listener.close()


def packet_from(connection):
    """Returns one whole packet of the protocol."""
    header = exactly(connection, 4)
    [length] = struct.unpack("<I", header[:3] + b"\0")
    return header + exactly(connection, length)


def exactly(connection, length):
    found = b""
    while len(found) < length:
        received = connection.recv(length - len(found))
        if not received:
            raise ConnectionError("the connection has ended")
        found += received
    return found


def change_entry(etcd, cluster, name, **changes):
    """Changes the entry of a member in the cluster's directory in etcd. The member writes it again when it sees that."""
    prefix = f"/paceline/{cluster}/members/"
    request = {"key": coded(prefix), "range_end": coded(prefix[:-1] + chr(ord("/") + 1))}
    for found in ask(etcd, "range", request)["kvs"]:
        entry = json.loads(base64.b64decode(found["value"]))
        if entry["name"] == name:
            ask(etcd, "put", {"key": found["key"], "value": coded(json.dumps({**entry, **changes}))})


def coded(text):
    return base64.b64encode(text.encode()).decode()


def ask(etcd, method, request):
    with urllib.request.urlopen(f"{etcd.url}/v3/kv/{method}", json.dumps(request).encode(), timeout=10) as answer:
        return json.load(answer)
