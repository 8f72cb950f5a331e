"""Delays frames between the machines of a network of namespaces (`support.namespaces`), in user space.

    machine's port ── bridge ── TAP ──┐            ┌── TAP ── switch
                                      └── relay ───┘            a pair of TAP devices for each machine

netem would do this in the kernel, but not every kernel has it. A TAP device needs only /dev/net/tun. The kernel gives a TAP
frames of ordinary length with their checksums, so the relay has to know nothing of what is in them.

The relay is a process of its own, so that neither waits for the other's Python. It reads frames, gives each the time at which
it is due, and writes it then to the other TAP of the pair. With jitter a frame may be due before an earlier one: they are
reordered. With a rate, frames of one direction follow each other; those that would wait for more than `QUEUE_SECONDS_MAX` are lost.

Commands are lines on the relay's standard input, each answered by a line; at its end the relay ends.
"""

import fcntl
import heapq
import itertools
import json
import os
import random
import select
import struct
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
FRAME_BYTES_MAX = 1 << 16
# Frames that are read of one TAP before the next one has its turn.
FRAMES_OF_TURN = 64
# Limits of what waits in the relay.
FRAMES_MAX, QUEUE_SECONDS_MAX = 50_000, 1.0


@dataclass(frozen=True)
class Delay:
    """Time that a frame takes on a machine's link, in each direction."""

    milliseconds: float
    # Random addition, evenly distributed.
    jitter_milliseconds: float = 0
    # Growth, up to the maximum.
    rise_milliseconds_per_second: float = 0
    milliseconds_max: float = 10_000
    # 0: no limit.
    bytes_per_second: float = 0


def open_tap(name):
    """Creates a TAP device in this thread's namespace. It exists until the descriptor is closed."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH14x", name.encode(), IFF_TAP | IFF_NO_PI))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


class SlowLinks:
    """The relay, with a pair of TAPs for each machine: `machine's name → (TAP of its side, TAP of the switch's side)`."""

    def __init__(self, taps):
        self.names, descriptors = list(taps), [descriptor for pair in taps.values() for descriptor in pair]
        self.process = subprocess.Popen([sys.executable, __file__, *map(str, descriptors)], pass_fds=descriptors, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        # The relay has them now.
        for descriptor in descriptors:
            os.close(descriptor)

    def set(self, name, delay):
        """Delays the frames of a machine's link; `None`: passes nothing, and drops what waits."""
        self.process.stdin.write(json.dumps([self.names.index(name), delay and asdict(delay)]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer == "ok\n", f"the relay of delayed frames has ended: {answer}"

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=30)


class Link:
    """A link in the relay."""

    def __init__(self, delay):
        self.delay, self.since = delay, time.monotonic()
        # When the last frame of each direction has been sent off completely.
        self.free_at = [0.0, 0.0]

    def due(self, direction, length, now):
        """Returns the time at which a frame arrives, or `None` if it is lost."""
        delay, start = self.delay, now
        if delay.bytes_per_second:
            start = max(now, self.free_at[direction])
            if start - now > QUEUE_SECONDS_MAX:
                return None
            start += length / delay.bytes_per_second
            self.free_at[direction] = start
        risen = delay.milliseconds + delay.rise_milliseconds_per_second * (now - self.since)
        return start + (min(risen, delay.milliseconds_max) + random.random() * delay.jitter_milliseconds) / 1000


class Relay:
    """The process. `taps` are the descriptors of the pairs."""

    def __init__(self, taps):
        # Descriptor → number of the link, direction, descriptor of the other side.
        self.routes = {}
        for link, pair in enumerate(zip(taps[::2], taps[1::2])):
            for direction in (0, 1):
                self.routes[pair[direction]] = link, direction, pair[1 - direction]
        self.links, self.numbers = {}, itertools.count()
        # Frames that wait: when they are due, a number, link, descriptor, frame.
        self.waiting = []
        self.commands = b""

    def run(self):
        poll = select.epoll()
        for descriptor in (0, *self.routes):
            poll.register(descriptor, select.EPOLLIN)
        while True:
            pause = max(0.0, self.waiting[0][0] - time.monotonic()) if self.waiting else None
            for descriptor, _ in poll.poll(pause):
                if descriptor != 0:
                    self.read(descriptor)
                elif not self.obey():
                    return
            now = time.monotonic()
            while self.waiting and self.waiting[0][0] <= now:
                _, _, _, descriptor, frame = heapq.heappop(self.waiting)
                write(descriptor, frame)

    def read(self, descriptor):
        number, direction, other = self.routes[descriptor]
        for _ in range(FRAMES_OF_TURN):
            try:
                frame = os.read(descriptor, FRAME_BYTES_MAX)
            except OSError:
                return
            link, now = self.links.get(number), time.monotonic()
            due = link and len(self.waiting) < FRAMES_MAX and link.due(direction, len(frame), now)
            if due:
                heapq.heappush(self.waiting, (due, next(self.numbers), number, other, frame))

    def obey(self):
        """Executes commands. Returns False at their end."""
        read = os.read(0, 4096)
        *lines, self.commands = (self.commands + read).split(b"\n")
        for line in lines:
            number, delay = json.loads(line)
            if delay:
                self.links[number] = Link(Delay(**delay))
            else:
                self.links.pop(number, None)
                self.waiting = [frame for frame in self.waiting if frame[2] != number]
                heapq.heapify(self.waiting)
            print("ok", flush=True)
        return read != b""


def write(descriptor, frame):
    try:
        os.write(descriptor, frame)
    except OSError:
        # The device's link is down, or its queue is full: the frame is lost.
        return


if __name__ == "__main__":
    Relay([int(argument) for argument in sys.argv[1:]]).run()
