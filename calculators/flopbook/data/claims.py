"""A value with its provenance; which of several is shown, hardware/choice.py decides."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.quantities.units import to_si, unit

# What stands in place of a number: nobody says it, or the source says that the product has no such
# thing.
NOT_PUBLISHED = "not published"
NONE = "none"
# A source that is no work: the file that a user gave, such as file:config.json.
OWN_FILE = "file:"

# Best first: who says it, before when it was said and how it is known.
TIERS = ("vendor", "submission", "secondary", "press", "community")
BASES = ("printed", "measured", "derived", "reported", "estimated")


class _Fields(NamedTuple):
    """The fields of a claim, in the order of exports."""

    field: str
    value: float | str | None
    source: str
    as_of: datetime.date
    unit: str = ""
    per: str = ""
    basis: str = "printed"
    quote: str = ""
    locator: str = ""
    dtype: str = ""
    engine: str = ""
    sparsity: str = ""
    accumulate: str = ""
    at_power_w: float | None = None
    at_clock_mhz: float | None = None
    point: str = ""
    tier: str = ""
    type: str = ""
    name: str = ""
    direction: str = ""
    aggregate: str = ""
    topology: str = ""
    of: str = ""
    shape: str = ""
    formula: str = ""
    derived_from: str = ""
    conflicts_with: str = ""
    known_error: bool = False
    exceptions: Mapping[str, str] = {}
    note: str = ""
    absent: bool = False
    file: str = ""
    line: int = 0


class Claim(_Fields):
    """One value of one entry, with unit, source, date and the conditions that make it true.

    `value` is a number in `unit`, a text for fields such as `process`, or None when the value is
    known not to be published; `absent` then says that the product has none. `si_value` is the
    number in `si_unit`.
    """

    __slots__ = ()

    def __new__(
        cls, field: str, value: float | str | None, source: str, *args: Any, **more: Any
    ) -> Claim:
        """A claim; raises ValueError where nobody is named who makes it: no source, no number."""
        if not source:
            raise ValueError(f"a claim of {field} without a source")
        return super().__new__(cls, field, value, source, *args, **more)

    @property
    def published(self) -> bool:
        """False for an explicit "not published" or "none"."""
        return self.value is not None

    @property
    def words(self) -> str:
        """What stands in place of a number, or the text of a value that is one."""
        if self.value is None:
            return NONE if self.absent else NOT_PUBLISHED
        return self.value if isinstance(self.value, str) else ""

    @property
    def si_value(self) -> float | None:
        """The value in SI units, or None when it is text or not published."""
        return (
            to_si(self.value, self.unit)
            if isinstance(self.value, (int, float)) and self.unit
            else None
        )

    @property
    def si_unit(self) -> str:
        """The SI unit of `si_value`, empty for text."""
        return (
            ""
            if isinstance(self.value, str) or self.unit in ("", "none", "date")
            else unit(self.unit).si
        )

    @property
    def one_way(self) -> float | None:
        """A link's SI bandwidth in one direction; None when the source states no direction."""
        value = self.si_value
        if value is None or self.direction not in ("one-way", "both"):
            return None
        return value / 2 if self.direction == "both" else value

    @property
    def conditions(self) -> dict[str, str]:
        """What tells this claim from others of the same field, in reading order."""
        return {name: getattr(self, name) for name in CONDITIONS if getattr(self, name)}

    @property
    def place(self) -> str:
        """File and line where the claim is written, for messages."""
        return f"{self.file}:{self.line}" if self.file else ""


CONDITIONS = (
    "dtype",
    "engine",
    "sparsity",
    "accumulate",
    "point",
    "tier",
    "name",
    "direction",
    "aggregate",
    "of",
    "shape",
)
CLAIM_FIELDS = tuple(name for name in Claim._fields if name not in ("file", "line", "absent"))


def matches(claim: Claim, wanted: Mapping[str, str | None]) -> bool:
    """True when the claim has each wanted attribute; None means that any value will do."""
    return all(value is None or getattr(claim, name) == value for name, value in wanted.items())
