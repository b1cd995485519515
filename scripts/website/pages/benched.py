"""Numbers of microbenchmarks in prose, such as `benched("latency", "memory")`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flopbook.errors import UnknownName
from scripts.website.measured.microbenchmarks import launch_time, level_latency, level_rate
from scripts.website.pages.number import Number

_KINDS: Mapping[str, tuple[Callable[[str], float], str]] = {
    "latency": (level_latency, "s"),
    "rate": (level_rate, "byte/s"),
    "launch": (launch_time, "s"),
}


def benched(kind: str, name: str) -> Number:
    """What was measured, in SI units. Raises UnknownName for another kind, or a name it lacks."""
    if kind not in _KINDS:
        raise UnknownName("kind of benchmark", kind, tuple(_KINDS))
    read, si_unit = _KINDS[kind]
    return Number(read(name), si_unit)
