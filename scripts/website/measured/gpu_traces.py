"""One training step on one GPU as its profiler saw it, as written and compiled.

`gpu_traces.json` keeps of each trace the kernels of its second step: what kind of work, when it was
launched, when it began and how long it ran, in microseconds from the end of the step before.
`reduced` makes it from a file that PyTorch's profiler exports (`python -m scripts.record_trace`).
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError, UnknownName

FILE = Path(__file__).with_name("gpu_traces.json")
MICRO = 1e-6
# Work by its kernels: the first pattern that fits. What fits none moves bytes and computes little.
KINDS = (
    ("attention", re.compile(r"sdpa|flash|attention", re.IGNORECASE)),
    ("products", re.compile(r"nvjet|gemm|cutlass", re.IGNORECASE)),
    ("optimizer", re.compile(r"multi_tensor|adam", re.IGNORECASE)),
    ("memory-bound", re.compile("")),
)
_NAMES = tuple(name for name, _ in KINDS)
_ON_GPU = ("kernel", "gpu_memset", "gpu_memcpy")
_LAUNCHES = ("cuda_runtime", "cuda_driver")


class GpuKernel(NamedTuple):
    """A kernel, copy or fill: its kind; launch, start and duration in seconds."""

    kind: str
    launch: float
    start: float
    run: float

    @property
    def end(self) -> float:
        """When it ended."""
        return self.start + self.run


class GpuStep(NamedTuple):
    """One step on one stream, in the order in which its kernels ran."""

    kernels: tuple[GpuKernel, ...]

    @property
    def seconds(self) -> float:
        """From the end of the step before to the end of the last kernel."""
        return self.kernels[-1].end

    @property
    def busy(self) -> float:
        """Time in which a kernel runs; on one stream no two run at once."""
        return sum(kernel.run for kernel in self.kernels)

    def spent(self, kind: str) -> float:
        """Time in kernels of a kind. Raises UnknownName."""
        if kind not in _NAMES:
            raise UnknownName("kind of kernels", kind, _NAMES)
        return sum(kernel.run for kernel in self.kernels if kernel.kind == kind)

    @property
    def longest_gap(self) -> float:
        """The longest time between two kernels, in seconds."""
        pairs = itertools.pairwise(self.kernels)
        return max(after.start - before.end for before, after in pairs)

    @property
    def starved(self) -> float:
        """Share of the kernels that began within 20 us of their launch: the queue was empty."""
        late = sum(kernel.start - kernel.launch < 20 * MICRO for kernel in self.kernels)
        return late / len(self.kernels)


@functools.cache
def gpu_steps() -> Mapping[str, GpuStep]:
    """The committed steps by their names."""
    record = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: _step(rows) for name, rows in record["steps"].items()}


def gpu_step(name: str) -> GpuStep:
    """A step by its name, `written` or `compiled`. Raises UnknownName."""
    steps = gpu_steps()
    if name not in steps:
        raise UnknownName("recorded step", name, tuple(steps))
    return steps[name]


def _step(rows: Sequence[Sequence[float]]) -> GpuStep:
    """Rows of kind, launch, start and duration, the kind by its place in `KINDS`."""
    return GpuStep(
        tuple(
            GpuKernel(_NAMES[int(kind)], *(MICRO * value for value in times))
            for kind, *times in rows
        )
    )


def reduced(trace: Mapping[str, Any]) -> list[list[float]]:
    """The last step of a trace of PyTorch's profiler, as rows of `gpu_traces.json`.

    A step ends with the last kernel of its optimizer. Raises FlopbookError for a trace with fewer
    than two of them: the beginning of its only step is not known.
    """
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    launched = {
        event["args"]["correlation"]: event["ts"]
        for event in events
        if event.get("cat") in _LAUNCHES and "correlation" in event.get("args", {})
    }
    work = sorted(
        (event for event in events if event.get("cat") in _ON_GPU), key=lambda event: event["ts"]
    )
    kinds = [_kind(event["name"]) for event in work]
    begin, last = _last_step(kinds)
    zero = work[begin - 1]["ts"] + work[begin - 1]["dur"]
    rows = []
    for kind, event in zip(kinds[begin : last + 1], work[begin : last + 1], strict=True):
        launch = launched.get(event["args"]["correlation"], event["ts"])
        times = (launch - zero, event["ts"] - zero, event["dur"])
        rows.append([float(kind), *(round(value, 1) for value in times)])
    return rows


def _kind(name: str) -> int:
    return next(place for place, (_, pattern) in enumerate(KINDS) if pattern.search(name))


def _last_step(kinds: Sequence[int]) -> tuple[int, int]:
    """First and last place of the last step: after one run of optimizer kernels, to the next."""
    optimizer = _NAMES.index("optimizer")
    places = [place for place, kind in enumerate(kinds) if kind == optimizer]
    ends = [a for a, b in itertools.pairwise(places) if _has_product(kinds[a:b])]
    if not ends:
        raise FlopbookError("the trace has no two steps that end with an optimizer")
    return ends[-1] + 1, places[-1]


def _has_product(kinds: Sequence[int]) -> bool:
    return _NAMES.index("products") in kinds
