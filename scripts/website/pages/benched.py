"""Numbers of microbenchmarks in prose, such as `benched("latency", "memory")`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flopbook.data.measured_runs import run_files
from flopbook.errors import UnknownName
from scripts.website.figures.measured_all_reduce import GIGA, half_size, timed_sums
from scripts.website.measured.energy import energy_of, power_of
from scripts.website.measured.loop_timings import loop_time
from scripts.website.measured.microbenchmarks import launch_time, level_latency, level_rate
from scripts.website.pages.number import Number


def _sum_size(name: str) -> float:
    """Bytes of an all-reduce by name: `half` reaches half of the best rate."""
    if name != "half":
        raise UnknownName("size of an all-reduce", name, ("half",))
    return half_size(timed_sums())


def _bus_rate(row: str) -> float:
    """Bus bandwidth in byte/s of a recorded collective, by the id of its row."""
    rows = {one.id: one for file in run_files().values() for one in file.rows}
    collectives = tuple(name for name, one in rows.items() if one.kind == "collective")
    if row not in collectives:
        raise UnknownName("recorded collective", row, collectives)
    return GIGA * float(rows[row].measured["busbw_gb_per_s"])


_KINDS: Mapping[str, tuple[Callable[[str], float], str]] = {
    "latency": (level_latency, "s"),
    "rate": (level_rate, "byte/s"),
    "launch": (launch_time, "s"),
    "all-reduce": (_sum_size, "byte"),
    "bus": (_bus_rate, "byte/s"),
    "loop": (loop_time, "s"),
    "energy": (energy_of, "J"),
    "power": (power_of, "W"),
}


def benched(kind: str, name: str) -> Number:
    """What was measured, in SI units. Raises UnknownName for another kind, or a name it lacks."""
    if kind not in _KINDS:
        raise UnknownName("kind of benchmark", kind, tuple(_KINDS))
    read, si_unit = _KINDS[kind]
    return Number(read(name), si_unit)
