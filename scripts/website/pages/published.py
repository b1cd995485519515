"""Published rates of generation in prose, as they were submitted: `published("run id")`."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.measured_runs import run_files
from flopbook.errors import FlopbookError, UnknownName
from scripts.website.pages.number import Number

_RATE = "output_tokens_per_s"


class PublishedRate(NamedTuple):
    """Generated tokens a second of a run: of all its chips, and of each."""

    chips: int
    rate: Number
    each: Number


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
    return PublishedRate(chips, Number(rate, "token/s"), Number(rate / chips, "token/s"))
