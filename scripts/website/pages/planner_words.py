"""How the planner says a layout; `plan/words.js` says the same in the browser."""

from __future__ import annotations

from flopbook.planning.planner import PlannedLayout
from flopbook.quantities.units import format_quantity

# Seconds of a unit -> its name, for times of which there are two or more.
_UNITS = ((365 * 86_400, "years"), (86_400, "days"), (3_600, "hours"))


def layout_words(layout: PlannedLayout) -> str:
    """A layout in the words of practitioners: TP 4, PP 4 with 10 chunks, DP 16 with ZeRO-1."""
    words = [f"TP {layout.tp}"] if layout.tp > 1 else []
    if layout.pp > 1:
        chunks = f" with {layout.virtual} chunks" if layout.virtual > 1 else ""
        words.append(f"PP {layout.pp}{chunks}")
    words += [f"CP {layout.cp}"] if layout.cp > 1 else []
    words += [f"EP {layout.ep}"] if layout.ep > 1 else []
    sharding = "FSDP (ZeRO-3)" if layout.zero == 3 else f"ZeRO-{layout.zero}"
    if layout.dp > 1 or not words:
        words.append(f"DP {layout.dp:,}" + (f" with {sharding}" if layout.zero else ""))
    elif layout.zero:
        words.append(sharding)
    return ", ".join(words)


def duration(seconds: float) -> str:
    """A time with two digits, from two hours on in hours, days or years."""
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{float(f'{seconds / size:.2g}'):,g} {unit}"
    return format_quantity(float(f"{seconds:.2g}"), "s")
