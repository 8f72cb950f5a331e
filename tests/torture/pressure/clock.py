"""The clock jumps years forward and back while transactions commit and a replica follows. Nothing may hang because of
it, and nothing may be lost."""

import mmap
import os
import struct
import subprocess
from pathlib import Path

from support import workload
from torture.servers import Cluster, catch_up, check_for_panics

YEAR_SECONDS = 365 * 86400


def run(part, rng, directory):
    library, offset_file = directory / "clock.so", directory / "offset"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, Path(__file__).with_name("clock.c"), "-ldl"], check=True)
    offset_file.write_bytes(struct.pack("<q", 0))
    environment = {"LD_PRELOAD": str(library), "CLOCK_OFFSET_FILE": str(offset_file)}
    cluster = Cluster(directory, rng)
    # The servers inherit the variables. They have no effect on this process, which is already running.
    os.environ.update(environment)
    try:
        primary = cluster.start()
        replica = cluster.replica_of(primary)
    finally:
        for name in environment:
            os.environ.pop(name)
    try:
        with open(offset_file, "r+b") as file, mmap.mmap(file.fileno(), 8) as offset:
            workload.create(primary)
            load = workload.Load(primary, 4, rng.random()).start()
            for _ in range(3 if part.short else 10):
                jump = rng.choice([-1, 1]) * rng.choice([1, 3600, 86400, YEAR_SECONDS, 9 * YEAR_SECONDS])
                offset[:] = struct.pack("<q", jump)
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
