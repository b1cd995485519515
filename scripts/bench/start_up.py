"""How fast a command answers: start of a process, look-ups, loading of all entries."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

from scripts.bench.processes import COMMAND, PYTHON, ROOT, busy, printed, timed
from scripts.bench.results import Timed

# Commands with the time that each may take, by what has to be looked up.
COLD = (
    ("min-batch --peak 1PFLOP/s --bandwidth 3TB/s --json", "60 ms"),
    ("bubble --stages 8 --microbatches 32", "60 ms"),
    ("min-batch --chip h100-sxm --json", "100 ms"),
    ("training-time --model llama-3-70b --chip h100-sxm --chips 1024 --mfu 0.4", "100 ms"),
    ("serving --model llama-3-70b --chip h100-sxm --tp 8 --seq 8192", "100 ms"),
)
_PEAK = "import flopbook; flopbook.peak('NVIDIA H100 80GB HBM3')"
_LOAD = """
import time
from flopbook.data import catalogue
begun = time.perf_counter()
catalogue.load_entries()
print(time.perf_counter() - begun)
"""


def cold_commands(runs: int) -> Iterator[Timed]:
    """Calculators with and without look-ups, in a new process each time."""
    # As where it is installed: compiled once, not at every start.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for call, _ in COLD:
        subprocess.run([COMMAND, *call.split()], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    yield Timed("bare python", timed([PYTHON, "-c", "pass"], runs))
    for call, budget in COLD:
        words = call.split()
        name = " ".join(words[:3])
        yield Timed(name, timed([COMMAND, *words], runs), budget)
        yield Timed(f"{name}, processor", busy([COMMAND, *words], runs), budget)
    yield Timed("flopbook.peak of a device name", timed([PYTHON, "-c", _PEAK], runs), "100 ms")
    yield Timed("list", timed([COMMAND, "list"], runs))


def loading(runs: int) -> Iterator[Timed]:
    """All entries in a new process: kept by an earlier run, and with nothing kept."""
    nothing_kept = os.environ | {"FLOPBOOK_CACHE": ""}
    kept = [float(printed(_LOAD, os.environ)) * 1000 for _ in range(runs)]
    yield Timed("load all entries", kept, "150 ms")
    fresh = [float(printed(_LOAD, nothing_kept)) * 1000 for _ in range(runs)]
    yield Timed("load all entries, nothing kept", fresh)
