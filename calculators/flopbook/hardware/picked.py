"""A chosen value: the number in SI units, the claim behind it, and what a reader must be told."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.claims import OWN_FILE, Claim
from flopbook.errors import FlopbookError


class Missing(FlopbookError):
    """A value that an entry does not have, so that it has to be given by hand."""


class Picked(NamedTuple):
    """An SI value, the claim behind it, and what a reader must be told about it."""

    value: float
    unit: str
    claim: Claim
    notes: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """BibTeX key of the claim's source; empty for what was read from the user's own file."""
        return "" if self.claim.source.startswith(OWN_FILE) else self.claim.source

    @property
    def sources(self) -> tuple[str, ...]:
        """The same as a tuple, as figures of several sources have it."""
        return (self.source,)


def pick_of(claim: Claim, notes: tuple[str, ...] = ()) -> Picked | None:
    """The value of a claim; None where it is no number."""
    if claim.si_value is None:
        return None
    return Picked(claim.si_value, claim.si_unit, claim, notes)
