"""Proxies between two servers: a line that can be cut, that is slow, that delays or changes the data; and a peer that
never answers."""

import select
import socket
import threading
import time


class Line:
    """A TCP proxy in front of a server. Cutting it drops every connection through it."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open = True
        self.sockets = []
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                if not self.open:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    near.close()
                    continue
                self.sockets += [near, far]
            threading.Thread(target=self._pump, args=(near, far), daemon=True).start()

    def passed(self, data, from_server):
        """Returns the part of the received data that is passed on."""
        return data

    def _pump(self, near, far):
        other = {near: far, far: near}
        try:
            while True:
                for ready in select.select([near, far], [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    other[ready].sendall(self.passed(data, ready is far))
        except (OSError, ValueError):
            pass
        finally:
            near.close()
            far.close()

    def cut(self):
        """Drops all connections. New ones are accepted."""
        with self.lock:
            for each in self.sockets:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.sockets = []

    def close(self):
        self.open = False
        self.listener.close()
        self.cut()


class Tampering(Line):
    """A proxy that changes or delays the data."""

    def __init__(self, port):
        super().__init__(port)
        # Number of bytes from the server after which nothing passes until released.
        self.holds_after = None
        self.passed_bytes = 0
        self.holding = threading.Event()
        self.released = threading.Event()
        self.replaces = None
        self.flips_at = None

    def passed(self, data, from_server):
        if not from_server:
            return data.replace(*self.replaces) if self.replaces else data
        before, self.passed_bytes = self.passed_bytes, self.passed_bytes + len(data)
        if self.flips_at is not None and before <= self.flips_at < self.passed_bytes:
            changed = bytearray(data)
            changed[self.flips_at - before] ^= 4
            return bytes(changed)
        if self.holds_after is not None and self.passed_bytes > self.holds_after:
            self.holding.set()
            self.released.wait()
        return data

    def close(self):
        self.released.set()
        super().close()


class Slow(Line):
    """Limits the data from the server to this number of bytes a second."""

    def __init__(self, port, bytes_each_second):
        super().__init__(port)
        self.bytes_each_second = bytes_each_second

    def passed(self, data, from_server):
        if from_server:
            # The line is slow.
            time.sleep(len(data) / self.bytes_each_second)
        return data


class Silent:
    """A peer that accepts connections and never answers."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def close(self):
        self.listener.close()
