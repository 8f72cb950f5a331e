"""Machines in network namespaces, joined by a switch that can be made to fail.

    machine a            machine b            machine etcd1         a namespace each, with one interface
       eth0 10.77.0.2       eth0 10.77.0.3       eth0 10.77.0.4
         │                    │                    │                veth pairs
    ═════╪════════════════════╪════════════════════╪═════           a bridge, in a namespace of its own
        p0                   p1                   p2

Losses are made at the switch: each port has a queueing discipline (HTB) that passes everything, and a class whose queue
holds nothing. Filters put packets to be lost into that class: those of one sender (a cut in one direction), or a random share.
Only `tc`'s modules htb, u32 and bpf are needed; netem is used by nobody here, because not every kernel has it. Delays are made by
a relay in user space instead (`support.slow_links`): a slow port leaves the switch, and the relay is between the two.

Nothing of the host's network is touched: its own namespace gets neither interface nor address. The namespaces have no names.
They exist as long as this process, which holds them open, or a process in them; and those are killed when the thread
that started them ends (`PR_SET_PDEATHSIG`). So nothing remains, however this process ends.

ARP is never filtered. A machine whose link is unplugged (`unplug`) has no carrier, so its kernel reports errors; a cut is
silent.

Entering a namespace needs root (CAP_SYS_ADMIN): `why_impossible` tells what is missing.
"""

import contextlib
import ctypes
import os
import shutil
import subprocess
import threading

from support.slow_links import SlowLinks, open_tap

CLONE_NEWNET = 0x40000000
NETWORK = "10.77.0"
# The class that loses everything, on each port.
LOST = "1:2"

libc = ctypes.CDLL(None, use_errno=True)


def call(function, *arguments):
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def why_impossible():
    """Returns the reason why there can be no network of namespaces here, or `None`."""
    for program in ("ip", "tc", "nsenter", "setpriv"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    try:
        with contextlib.closing(Network()) as network:
            network.machine("probe")
            network.set_loss(0.5)
    except OSError as error:
        return f"network namespaces need root: {error}"
    except AssertionError as error:
        return f"the kernel cannot do it: {error}"
    return None


def why_no_delays():
    """Returns the reason why a network cannot delay packets here, or `None`."""
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"packets cannot be delayed without /dev/net/tun: {error}"
    return None


class Namespace:
    """A network namespace."""

    def __init__(self):
        opened = []
        thread = threading.Thread(target=self.make, args=(opened,))
        thread.start()
        thread.join()
        [self.descriptor] = opened
        if isinstance(self.descriptor, OSError):
            raise self.descriptor
        self.run("ip", "link", "set", "lo", "up")

    @staticmethod
    def make(opened):
        # Of this thread only.
        try:
            call(libc.unshare, CLONE_NEWNET)
            opened.append(os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        except OSError as error:
            opened.append(error)

    @property
    def path(self):
        return f"/proc/{os.getpid()}/fd/{self.descriptor}"

    def inside(self, *command):
        """Returns the command that runs a command in the namespace, as the same process, and ends with this thread."""
        return ["nsenter", f"--net={self.path}", "setpriv", "--pdeathsig", "KILL", *map(str, command)]

    def run(self, *command, text=None):
        done = subprocess.run(["nsenter", f"--net={self.path}", *map(str, command)], input=text, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stderr}{text or ''}"
        return done.stdout

    @contextlib.contextmanager
    def entered(self):
        """Lets this thread make sockets in the namespace."""
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        call(libc.setns, self.descriptor, CLONE_NEWNET)
        try:
            yield
        finally:
            call(libc.setns, before, CLONE_NEWNET)
            os.close(before)

    def close(self):
        os.close(self.descriptor)


class Machine(Namespace):
    """A namespace with one interface, at port `port` of the switch."""

    def __init__(self, network, name):
        super().__init__()
        self.name, self.number = name, len(network.machines)
        self.port, self.address = f"p{self.number}", f"{NETWORK}.{self.number + 2}"
        network.switch.run("ip", "link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns", self.path)
        network.switch.run("ip", "link", "set", self.port, "master", "switch", "up")
        self.run("ip", "-batch", "-", text=f"addr add {self.address}/24 dev eth0\nlink set eth0 up\n")
        network.tc(f"qdisc add dev {self.port} root handle 1: htb default 0", f"class add dev {self.port} parent 1: classid {LOST} htb rate 1mbit",
                   f"qdisc add dev {self.port} parent {LOST} handle 2: pfifo limit 0")


class Network:
    """Machines and the switch between them."""

    def __init__(self):
        self.machines = {}
        # Pairs (sender, receiver) between which nothing arrives; share of all packets that are lost; machines without link.
        self.cuts, self.loss, self.unplugged = set(), 0.0, set()
        # Delays by machine, and the relay that makes them, from the first one on.
        self.delays, self.slow_links = {}, None
        self.switch = Namespace()
        self.switch.run("ip", "-batch", "-", text="link add switch type bridge stp_state 0 forward_delay 0\nlink set switch up\n")

    def machine(self, name):
        """Adds a machine."""
        self.machines[name] = machine = Machine(self, name)
        return machine

    def tc(self, *commands):
        self.switch.run("tc", "-batch", "-", text="".join(f"{command}\n" for command in commands))

    def cut(self, pairs):
        """Loses everything from the first to the second of each pair of names. Replaces earlier cuts."""
        before, self.cuts = self.cuts, set(pairs)
        self.filter({receiver for _, receiver in before ^ self.cuts})

    def split(self, *sides):
        """Cuts between sides, in both directions."""
        self.cut({(one, other) for side in sides for one in side for beyond in sides if beyond is not side for other in beyond})

    def set_loss(self, share):
        """Loses a random share of all packets."""
        self.loss = share
        self.filter(self.machines)

    def plug(self, unplugged):
        """Takes the links of these machines away, and gives those of the others back."""
        for name in self.unplugged ^ set(unplugged):
            self.switch.run("ip", "link", "set", self.machines[name].port, "down" if name in unplugged else "up")
        self.unplugged = set(unplugged)

    def slow_down(self, delays):
        """Delays everything from and to these machines (name → `Delay`). A frame between two of them is delayed twice. Replaces
        earlier delays; what is under way on a link that is no longer slow is lost."""
        if delays and self.slow_links is None:
            self.slow_links = SlowLinks({name: self.add_taps(machine) for name, machine in self.machines.items()})
        for name in {*self.delays, *delays}:
            machine = self.machines[name]
            if delays.get(name) != self.delays.get(name):
                self.slow_links.set(name, delays.get(name))
                master = f"slow{machine.number}" if name in delays else "switch"
                self.switch.run("ip", "link", "set", machine.port, "master", master)
        self.delays = dict(delays)

    def add_taps(self, machine):
        """Makes the pair of TAPs for a machine, and the bridge between its port and one of them."""
        number = machine.number
        with self.switch.entered():
            taps = open_tap(f"near{number}"), open_tap(f"far{number}")
        self.switch.run("ip", "-batch", "-", text=(
            f"link add slow{number} type bridge stp_state 0 forward_delay 0\nlink set slow{number} up\n"
            f"link set near{number} master slow{number} up\nlink set far{number} master switch up\n"))
        return taps

    def heal(self):
        """Ends all faults."""
        self.plug(())
        self.slow_down({})
        self.loss, self.cuts = 0.0, set()
        self.filter(self.machines)

    def filter(self, receivers):
        """Writes the filters of the ports to these machines."""
        commands = []
        for receiver in receivers:
            port = self.machines[receiver].port
            commands.append(f"filter del dev {port} parent 1:")
            commands += [f"filter add dev {port} parent 1: protocol ip prio 1 u32 match ip src {self.machines[sender].address} flowid {LOST}"
                         for sender, cut_off in self.cuts if cut_off == receiver]
            if self.loss:
                # Load a random number; if it is beyond the share, no match; otherwise, a match.
                share = int(self.loss * 0xffffffff)
                commands.append(f"filter add dev {port} parent 1: protocol ip prio 2 bpf bytecode "
                                f"'4,32 0 0 4294963256,37 1 0 {share},6 0 0 4294967295,6 0 0 0' flowid {LOST}")
        self.tc(*commands)

    def close(self):
        if self.slow_links is not None:
            self.slow_links.close()
        for machine in self.machines.values():
            machine.close()
        self.switch.close()
