"""The clock jumps years forward and back while transactions commit and a replica follows. Nothing may hang because of
it, and nothing may be lost."""

import os
import subprocess

from support import workload
from support.jumping_clock import JumpingClock
from torture.servers import Cluster, catch_up, check_for_panics

YEAR_SECONDS = 365 * 86400


def run(part, rng, directory):
    clock = JumpingClock(directory)
    cluster = Cluster(directory, rng)
    # The servers inherit the variables. They have no effect on this process, which is already running.
    os.environ.update(clock.environment)
    try:
        primary = cluster.start()
        replica = cluster.replica_of(primary)
    finally:
        for name in clock.environment:
            os.environ.pop(name)
    try:
        workload.create(primary)
        load = workload.Load(primary, 4, rng.random()).start()
        for _ in range(3 if part.short else 10):
            jump = rng.choice([-1, 1]) * rng.choice([1, 3600, 86400, YEAR_SECONDS, 9 * YEAR_SECONDS])
            clock.jump_to(jump)
            workload.for_a_while(rng, 0.2, 0.5)
            [(told,)] = primary.query("select unix_timestamp()")
            assert abs(told - jump - int(subprocess.check_output(["date", "+%s"]))) < 120, "the clock did not jump: the test proves nothing"
            part.numbers["jumps of the clock"] += 1
        load.stop()
        workload.check(primary, load)
        catch_up(replica, primary)
        workload.check(replica, load)
        primary.kill()
        primary.start()
        workload.check(primary, load)
        catch_up(replica, primary)
        check_for_panics(cluster)
    finally:
        cluster.close()
        clock.close()
