"""A wall clock that jumps, for processes that are started with its environment."""

import mmap
import struct
import subprocess
from pathlib import Path


class JumpingClock:
    """A difference to the real time of day, which can be changed while processes run. Clocks that measure durations are right."""

    def __init__(self, directory):
        library, offset = directory / "clock.so", directory / "clock_offset"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, Path(__file__).with_suffix(".c"), "-ldl"], check=True)
        offset.write_bytes(struct.pack("<q", 0))
        self.file = open(offset, "r+b")
        self.seconds = mmap.mmap(self.file.fileno(), 8)
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_OFFSET_FILE": str(offset)}

    def jump_to(self, seconds):
        """Shows a time that differs by so many seconds from the real one."""
        self.seconds[:] = struct.pack("<q", seconds)

    def close(self):
        self.seconds.close()
        self.file.close()
