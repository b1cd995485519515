"""Published rates of generation in prose, as they were submitted: `published("run id")`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from flopbook.data.measured_runs import run_files
from flopbook.errors import FlopbookError, UnknownName
from scripts.website.pages.number import Number

_RATE = "output_tokens_per_s"
_FIRST, _PACE = "first_token_latency_ms", "ms_per_token"
_MILLI = 1e-3


class PublishedRate(NamedTuple):
    """Generated tokens a second of a run: of all its chips, and of each; and what users wait."""

    name: str
    chips: int
    rate: Number
    each: Number
    measured: Mapping[str, float]

    def first(self) -> Number:
        """The time until a first token. Raises FlopbookError where the run has none."""
        return self._wait(_FIRST)

    def pace(self) -> Number:
        """The time between two tokens of an answer. Raises FlopbookError where it has none."""
        return self._wait(_PACE)

    def _wait(self, field: str) -> Number:
        if field not in self.measured:
            raise FlopbookError(f"run {self.name} has no {field}")
        return Number(_MILLI * float(self.measured[field]), "s")


def published(name: str) -> PublishedRate:
    """The rate of a run by its id, also of one that states too little to be predicted.

    Raises UnknownName for a run that is not on file, FlopbookError for one without such a rate.
    """
    rows = {row.id: row for file in run_files().values() for row in file.rows}
    if name not in rows:
        raise UnknownName("run", name, tuple(rows))
    row = rows[name]
    if _RATE not in row.measured:
        raise FlopbookError(f"run {name} has no rate of generated tokens")
    chips, rate = int(row.hardware["n_chips"]), float(row.measured[_RATE])
    each = Number(rate / chips, "token/s")
    return PublishedRate(name, chips, Number(rate, "token/s"), each, row.measured)
