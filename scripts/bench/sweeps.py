"""A million points of three calculators through `sweep`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from scripts.bench.processes import printed
from scripts.bench.results import Timed

# A million points of one input each; the program says how much time of one core it took.
_SWEEP = """
import time
import numpy
from flopbook import sweep
points = numpy.floor(numpy.geomspace(1e3, 1e9, 1_000_000))
llama = dict(model="llama-3-70b")
inputs = {
    "min-batch": dict(chip="h100-sxm", d_ff=28672, d_model=points),
    "memory": dict(llama, zero=3, dp=64, tp=8, seq=points),
    "training-time": dict(llama, chip="h100-sxm", mfu=0.4, price="2USD/h", chips=points),
}
for name, options in inputs.items():
    first = {key: value[:9] if value is points else value for key, value in options.items()}
    sweep(name, **first)
    begun = time.process_time()
    sweep(name, **options)
    print(name, time.process_time() - begun)
"""
_MOST_RUNS = 7  # a run takes seconds


def sweeps(runs: int) -> Iterator[Timed]:
    """Processor time of one core, the time of the look-ups before it left out."""
    times: dict[str, list[float]] = {}
    one_core = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for _ in range(min(runs, _MOST_RUNS)):
        for line in printed(_SWEEP, one_core).splitlines():
            name, seconds = line.split()
            times.setdefault(name, []).append(float(seconds) * 1000)
    for name, calculator_times in times.items():
        yield Timed(f"sweep of {name}, 1,000,000 points", calculator_times, "1000 ms")
