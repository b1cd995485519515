"""Times of a pair in the loops of the chapter on computers, by where the lists lie.

`loop_timings.json` is what `python -m scripts.record_loops` measured on one core.
"""

from __future__ import annotations

import functools
import json
from datetime import date
from pathlib import Path
from typing import Any

from flopbook.errors import UnknownName

FILE = Path(__file__).with_name("loop_timings.json")
NANO = 1e-9
# Where two lists of so many bytes lie: in caches of 48 KiB, 1 MiB and 32 MiB, or in none of them.
_PLACE = {0: "", 8 << 10: "first", 128 << 10: "second", 4 << 20: "third", 256 << 20: "memory"}


@functools.cache
def recorded() -> dict[str, Any]:
    """The record: machine, compiler, flags, date, and rows of name, bytes and nanoseconds."""
    record: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return record


def loop_time(name: str) -> float:
    """Time of one pair by loop and place, such as `eight memory`, or of the `cycle` (s).

    Raises UnknownName for another name.
    """
    times = {f"{loop} {_PLACE[size]}".strip(): time for loop, size, time in recorded()["ns"]}
    if name not in times:
        raise UnknownName("timed loop", name, tuple(times))
    return NANO * float(times[name])


def made_with() -> str:
    """Machine, compiler with its flags, and day, in words."""
    record = recorded()
    day = date.fromisoformat(record["date"])
    made = f"{record['compiler']} {record['flags'].split()[0]}"
    return f"{record['machine']}; {made}; {day.day} {day:%B %Y}"
