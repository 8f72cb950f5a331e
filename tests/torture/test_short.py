"""The torture suite in short: every part, once with a fixed seed and once with a random one. `make torture` runs the
long form."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent / "run.py"
PARTS = ["isolation", "random", "power", "bit-rot", "pressure"]
SECONDS = 8


@pytest.mark.parametrize("which", ["fixed", "random"])
@pytest.mark.parametrize("part", PARTS)
def test_a_short_run_of_each_part_finds_nothing(part, which, tmp_path, seed):
    chosen = seed if which == "fixed" else random.SystemRandom().randrange(1 << 31)
    evidence = Path("torture-evidence") if which == "random" else tmp_path
    print(f"seed {chosen}")
    result = subprocess.run([sys.executable, RUN, "--seed", str(chosen), "--time", str(SECONDS), "--short", "--only", part, "--evidence", evidence],
                            capture_output=True, text=True, timeout=900)
    print(result.stdout, result.stderr)
    assert result.returncode == 0, f"{part} found something with seed {chosen}:\n{result.stdout[-4000:]}"
