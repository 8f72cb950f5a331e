"""Memcached's text protocol over a plain socket, and a real memcached to compare with."""

import re
import socket
import subprocess
import time

from support.servers import ReservedPort


class TextConnection:
    """Sends lines and returns what comes back. `mn` after a request marks the end of its replies."""

    def __init__(self, port, source="127.0.0.1", wrap=None):
        plain = socket.create_connection(("127.0.0.1", port), source_address=(source, 0))
        plain.settimeout(30)
        self.socket = plain if wrap is None else wrap(plain)

    def send(self, request):
        self.socket.sendall(request)

    def receive(self, end=b"\r\n"):
        """Returns what comes until it ends with this, or the connection ends."""
        received = b""
        while not received.endswith(end):
            piece = self.socket.recv(1 << 16)
            if not piece:
                return received + b"<closed>"
            received += piece
        return received

    def ask(self, request):
        """Sends a request and returns its replies."""
        self.send(request + b"\r\nmn\r\n")
        return self.receive(b"MN\r\n").removesuffix(b"MN\r\n")

    def log_in(self, user, password):
        login = f"{user} {password}".encode()
        self.send(b"set login 0 0 %d\r\n%s\r\n" % (len(login), login))
        return self.receive()

    def close(self):
        self.socket.close()


class Memcached:
    """Debian's memcached."""

    def __init__(self, *options):
        self.reserved_port = ReservedPort()
        self.port = self.reserved_port.number
        self.process = subprocess.Popen(["memcached", "-u", "root", "-l", "127.0.0.1", "-p", str(self.port), *options])
        deadline = time.monotonic() + 30
        while True:
            try:
                TextConnection(self.port).close()
                return
            except OSError:
                assert time.monotonic() < deadline and self.process.poll() is None
                time.sleep(0.02)  # The pause of a loop that waits.

    def close(self):
        self.process.kill()
        self.process.wait()


def without_cas(reply):
    """Returns a reply with a letter for each CAS: servers choose them differently."""
    return re.sub(rb"(VALUE \S+ \d+ \d+ | c)\d+", rb"\1N", reply)
