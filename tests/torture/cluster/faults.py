"""Faults of a cluster's machines. Each begins, lasts for a while, and ends; afterwards the machines are as before.

A fault belongs to a kind. Those of different kinds may overlap, so one never ends what another one has begun.
"""

import signal
import threading
from dataclasses import asdict

from support.slow_links import Delay
from support.waiting import let_run, wait_for
from torture.harness import Finding

HOUR_SECONDS = 3600
STOP_SECONDS_MAX = 120


class Fault:
    """A fault. `begin` returns what it does, for the schedule."""

    kind = ""
    # Whether a cluster that could commit before must still be able to, as far as `Machines.can_commit` sees.
    is_steady = True

    def __init__(self, machines, rng, numbers):
        self.machines, self.rng, self.numbers = machines, rng, numbers

    def victim(self):
        """Returns a member, often the primary."""
        primary = self.machines.primary() if self.rng.random() < 0.6 else None
        return primary or self.rng.choice([member for member in self.machines.members if member.is_running()] or self.machines.members)

    def begin(self):
        raise NotImplementedError

    def end(self):
        pass

    def restart(self, servers):
        for server in servers:
            if server.process is None:
                server.spawn()


# Processes.


class Kill(Fault):
    """kill -9 of a server: its connections are closed at once."""

    kind = "process"

    def begin(self):
        self.dead = self.victim()
        self.dead.kill()
        return f"kill -9 of {self.dead.name}"

    def end(self):
        self.restart([self.dead])


class KillAgain(Fault):
    """kill -9 of servers that are just starting: those that were killed, and others."""

    kind = "process"
    is_steady = False

    def begin(self):
        killed = []
        for _ in range(self.rng.randrange(2, 5)):
            server = self.victim()
            server.kill()
            killed.append(server.name)
            let_run(self.rng.uniform(0, 0.1))
            server.spawn()
            let_run(self.rng.choice([0.01, 0.05, 0.2, 0.6]) * self.rng.uniform(0.5, 1.5))
        return f"kill -9 and start of {' '.join(killed)}"


class Terminate(Fault):
    """A server is stopped as for maintenance, and started again."""

    kind = "process"

    def begin(self):
        self.stopped = self.victim()
        self.stopped.terminate()
        return f"SIGTERM to {self.stopped.name}"

    def end(self):
        server = self.stopped
        wait_for(f"{server.name} to stop", server.ended_by_itself, STOP_SECONDS_MAX)
        # A server that is only starting ends at once, as by kill -9.
        expected = (0,) if server.has_opened() else (0, -signal.SIGTERM)
        if server.process.returncode not in expected:
            raise Finding(f"{server.name} was stopped and ended with {server.process.returncode}")
        server.process = None
        self.restart([server])


class Suspend(Fault):
    """SIGSTOP, later SIGCONT: the process is silent, its connections stay open, and it does not notice how long it was away."""

    kind = "process"

    def begin(self):
        self.suspended = self.victim()
        self.suspended.stop_running()
        return f"SIGSTOP of {self.suspended.name}"

    def end(self):
        self.suspended.go_on()


class PowerFailure(Fault):
    """One machine loses its power: nothing of it is heard any more, and unsynced writes are lost, kept or torn."""

    kind = "process"

    def begin(self):
        self.dead = self.victim()
        network = self.machines.network
        network.plug({*network.unplugged, self.dead.name})
        lose_power(self.dead, self.rng)
        return f"power failure of {self.dead.name}"

    def end(self):
        network = self.machines.network
        network.plug(network.unplugged - {self.dead.name})
        self.restart([self.dead])


class PowerFailureOfAll(Fault):
    """All machines are off at once, etcd's too."""

    kind = "process"
    is_steady = False

    def begin(self):
        for etcd in self.machines.etcds:
            etcd.kill()
        for member in self.machines.members:
            lose_power(member, self.rng)
        return "power failure of all machines"

    def end(self):
        for etcd in self.machines.etcds:
            if etcd.process is None:
                etcd.spawn(self.machines.etcds)
        self.restart(self.machines.members)


def lose_power(server, rng):
    server.kill()
    if server.disk.say(f"crash {rng.randrange(1 << 32)}") != "ok":
        raise AssertionError("the disk did not crash")


class Switch(Fault):
    """Planned changes of the primary. They may fail while something else is broken."""

    kind = "switch"

    def begin(self):
        target = self.rng.choice(self.machines.servers).name
        status, text = self.machines.command("switch", "--to", target)
        self.numbers["planned switches" if status == 0 else "planned switches refused"] += 1
        return f"switch to {target}: {text.strip() or 'done'}"


class Removal(Fault):
    """A member becomes an ordinary replica, and a log holder again when everything works (`Machines.add_removed`)."""

    kind = "switch"
    is_steady = False

    def begin(self):
        primary = self.machines.primary()
        name = self.rng.choice([member.name for member in self.machines.members if member is not primary])
        status, text = self.machines.command("remove", name)
        self.machines.removed.add(name)
        self.numbers["members removed" if status == 0 else "removals refused"] += 1
        return f"removal of {name}: {text.strip() or 'done'}"


class Replacement(Fault):
    """A server is removed and lost with its disk. Another one in its place copies the primary and joins."""

    kind = "process"
    is_steady = False

    def begin(self):
        primary = self.machines.primary()
        self.lost = self.rng.choice([server for server in self.machines.servers if server is not primary])
        self.machines.removed.add(self.lost.name)
        status, text = self.machines.command("remove", self.lost.name)
        if status != 0:
            self.lost = None
            return f"no replacement: {text.strip()}"
        self.machines.replaced.add(self.lost.name)
        self.lost.kill()
        self.lost.empty_disk()
        self.numbers["servers replaced"] += 1
        return f"{self.lost.name} is lost with its disk"

    def end(self):
        if self.lost is not None:
            self.restart([self.lost])


# Network.


class Partition(Fault):
    """Two sides that hear nothing of each other: servers, etcd and the clients."""

    kind = "network"

    def sides(self):
        names = [*self.machines.names(), "client"]
        primary = self.machines.primary()
        if primary and self.rng.random() < 0.4:
            # Only the primary, with or without the clients.
            one = {primary.name, *self.rng.sample(["client"], self.rng.randrange(2))}
        else:
            one = {name for name in names if self.rng.random() < 0.5}
        # Sometimes the clients reach both sides.
        both = {"client"} if self.rng.random() < 0.4 else set()
        return one - both, set(names) - one - both

    def begin(self):
        self.chosen = self.sides()
        self.machines.network.split(*self.chosen)
        return f"partition {' | '.join(' '.join(sorted(side)) for side in self.chosen)}"

    def end(self):
        self.machines.network.cut(())


class OneWay(Fault):
    """Packets are lost in one direction, between some pairs; TCP needs both, so connections hang instead of ending."""

    kind = "network"

    def begin(self):
        names = self.machines.names()
        if self.rng.random() < 0.5:
            lonely = self.victim().name
            others = [name for name in names if name != lonely]
            is_deaf = self.rng.random() < 0.5
            cuts = {(other, lonely) if is_deaf else (lonely, other) for other in others}
            text = f"{lonely} is {'deaf' if is_deaf else 'mute'}"
        else:
            pairs = [(one, other) for one in names for other in names if one != other]
            cuts = set(self.rng.sample(pairs, self.rng.randrange(1, len(pairs) // 3 + 2)))
            text = f"one way: {' '.join(sorted(f'{one}↛{other}' for one, other in cuts))}"
        self.machines.network.cut(cuts)
        return text

    def end(self):
        self.machines.network.cut(())


class Flapping(Partition):
    """A partition that comes and goes."""

    is_steady = False

    def begin(self):
        self.chosen = self.sides()
        self.stopping = threading.Event()
        self.problems = []
        self.thread = threading.Thread(target=self.flap, args=(self.rng.uniform(0.05, 0.8),))
        self.thread.start()
        return f"flapping {' | '.join(' '.join(sorted(side)) for side in self.chosen)}"

    def flap(self, pause):
        try:
            while not self.stopping.wait(pause):
                self.machines.network.split(*self.chosen)
                self.stopping.wait(pause)
                self.machines.network.cut(())
        except Exception as error:  # noqa: BLE001 - `end` reports it
            self.problems.append(error)

    def end(self):
        self.stopping.set()
        self.thread.join()
        super().end()
        if self.problems:
            raise self.problems[0]


class Loss(Fault):
    """A third of all packets is lost, everywhere and in both directions."""

    kind = "network"
    is_steady = False

    def begin(self):
        self.machines.network.set_loss(0.3)
        return "30 % of all packets are lost"

    def end(self):
        self.machines.network.set_loss(0.0)


class SlowNetwork(Fault):
    """Every packet takes its time: those of one machine, or all."""

    kind = "delay"

    def delay(self):
        raise NotImplementedError

    def begin(self):
        network = self.machines.network
        names = [self.victim().name] if self.rng.random() < 0.4 else list(network.machines)
        delay = self.delay()
        network.slow_down(dict.fromkeys(names, delay))
        text = ", ".join(f"{value:g} {name.replace('_', ' ')}" for name, value in asdict(delay).items() if value)
        return f"slow links of {' '.join(names)}: {text}"

    def end(self):
        self.machines.network.slow_down({})


class LongWay(SlowNetwork):
    """A longer way: always the same delay."""

    def delay(self):
        return Delay(self.rng.choice([1, 5, 20]))


class Jitter(SlowNetwork):
    """Delays that vary, so that packets overtake each other, on a line of limited rate."""

    def delay(self):
        return Delay(self.rng.choice([0, 5]), jitter_milliseconds=self.rng.choice([10, 40]), bytes_per_second=self.rng.choice([0, 1_000_000]))


class Congestion(SlowNetwork):
    """Delays that grow until no answer comes within the time that a member or a client waits for it."""

    is_steady = False

    def delay(self):
        return Delay(20, rise_milliseconds_per_second=self.rng.choice([300, 2000]), milliseconds_max=self.rng.choice([400, 1200, 3000]))


class Unplugged(Fault):
    """A machine's link goes down: its own sends fail at once."""

    kind = "link"

    def begin(self):
        self.name = self.victim().name
        network = self.machines.network
        network.plug({*network.unplugged, self.name})
        return f"{self.name} is unplugged"

    def end(self):
        network = self.machines.network
        network.plug(network.unplugged - {self.name})


# Disks and clocks.


class SlowDisk(Fault):
    """Syncs of one or all servers take long."""

    kind = "disk"

    def begin(self):
        self.slow = [self.victim()] if self.rng.random() < 0.7 else self.machines.members
        milliseconds = self.rng.choice([20, 100, 300])
        for server in self.slow:
            server.disk.say(f"slow-sync {milliseconds}")
        return f"syncs of {' '.join(server.name for server in self.slow)} take {milliseconds} ms"

    def end(self):
        for server in self.slow:
            server.disk.say("slow-sync 0")


class FullDisk(Fault):
    """A server has no room any more. It refuses writes, or it stops and says why."""

    kind = "disk"
    # A primary whose disk is full refuses writes and remains the primary.
    is_steady = False

    def begin(self):
        self.full = self.victim()
        self.full.disk.say(f"capacity {int(self.full.disk.say('used')) + self.rng.choice([0, 1 << 14, 1 << 17])}")
        return f"the disk of {self.full.name} is full"

    def end(self):
        server = self.full
        server.disk.say(f"capacity {1 << 40}")
        if server.has_ended_by_itself():
            if "no space left on device" not in server.said().lower():
                raise Finding(f"{server.name} ended with {server.process.returncode}, not for its full disk")
            self.numbers["servers that stopped at a full disk"] += 1
            server.process = None
            self.restart([server])


class FailedSync(Fault):
    """One of the next syncs of a server fails. The server stops; its next start finds what was synced."""

    kind = "disk"

    def begin(self):
        self.failing = self.victim()
        # The first of them may be that of a promise, of the log or of a table.
        self.failing.disk.say(f"fail-sync {self.rng.choice([0, 1, 10, 40])}")
        return f"a sync of {self.failing.name} fails"

    def end(self):
        server = self.failing
        server.disk.say(f"fail-sync {1 << 60}")
        if server.has_ended_by_itself():
            if "Input/output error" not in server.said():
                raise Finding(f"{server.name} ended with {server.process.returncode}, not for its failed sync")
            self.numbers["servers that stopped at a failed sync"] += 1
            lose_power(server, self.rng)
            self.restart([server])


class WrongClock(Fault):
    """The time of day of some servers is wrong by an hour. It jumps there and back."""

    kind = "clock"

    def begin(self):
        self.wrong = self.rng.sample(self.machines.members, self.rng.randrange(1, len(self.machines.members) + 1))
        told = []
        for server in self.wrong:
            seconds = self.rng.choice([-HOUR_SECONDS, HOUR_SECONDS])
            server.clock.jump_to(seconds)
            told.append(f"{server.name} {seconds:+}")
        return f"clocks are wrong: {', '.join(told)} s"

    def end(self):
        for server in self.wrong:
            server.clock.jump_to(0)


# etcd.


class EtcdLost(Fault):
    """All of etcd, or one of its members, is killed and comes back. The primary goes on."""

    kind = "etcd"

    def begin(self):
        etcds = self.machines.etcds
        self.lost = etcds if self.rng.random() < 0.6 else [self.rng.choice(etcds)]
        for etcd in self.lost:
            etcd.kill()
        return f"kill -9 of {' '.join(etcd.name for etcd in self.lost)}"

    def end(self):
        for etcd in self.lost:
            if etcd.process is None:
                etcd.spawn(self.machines.etcds)


class EtcdHangs(Fault):
    """All of etcd, or one of its members, accepts connections and does not answer."""

    kind = "etcd"

    def begin(self):
        etcds = self.machines.etcds
        self.hanging = etcds if self.rng.random() < 0.6 else [self.rng.choice(etcds)]
        for etcd in self.hanging:
            etcd.hang()
        return f"SIGSTOP of {' '.join(etcd.name for etcd in self.hanging)}"

    def end(self):
        for etcd in self.hanging:
            etcd.go_on()


class EtcdCutOff(Fault):
    """Nobody reaches etcd, whose members reach each other."""

    kind = "network"

    def begin(self):
        etcds = {etcd.name for etcd in self.machines.etcds}
        self.machines.network.split(etcds, {*self.machines.names(), "client"} - etcds)
        return "etcd is cut off"

    def end(self):
        self.machines.network.cut(())


FAULTS = [Kill, Partition, Suspend, OneWay, EtcdLost, Terminate, WrongClock, Flapping, PowerFailure, Switch, SlowDisk, Loss, Unplugged,
          EtcdCutOff, EtcdHangs, FullDisk, Removal, Replacement, FailedSync, PowerFailureOfAll, KillAgain,
          LongWay, Jitter, Congestion]
