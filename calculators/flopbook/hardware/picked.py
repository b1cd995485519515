"""A chosen value: the number in SI units, the claim behind it, and what a reader must be told."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.claims import OWN_FILE, Claim
from flopbook.errors import FlopbookError
from flopbook.quantities.units import format_quantity


class Missing(FlopbookError):
    """A value that an entry does not have, so that it has to be given by hand."""


class Picked(NamedTuple):
    """An SI value, the claim behind it, and what a reader must be told about it.

    `kind` says of what it is the value where that is a choice: the type of a memory, the name of a
    link. `others` are further claims that went into the value, such as the divisor of a ratio.
    """

    value: float
    unit: str
    claim: Claim
    notes: tuple[str, ...] = ()
    kind: str = ""
    others: tuple[Claim, ...] = ()

    @property
    def source(self) -> str:
        """BibTeX key of the claim's source; empty for what was read from the user's own file."""
        return key_of(self.claim)

    @property
    def words(self) -> str:
        """The value for people, with binary prefixes where its source has them: 32 GiB."""
        return format_quantity(self.value, self.unit, binary=self.claim.unit.endswith("iB"))

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of all claims that went into the value, each once."""
        return tuple(dict.fromkeys(key_of(claim) for claim in (self.claim, *self.others)))


class PickedWord(NamedTuple):
    """The same for an input that is a word or a text: a topology, an activation, some roofs."""

    value: str
    claim: Claim
    notes: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """BibTeX key of the claim's source; empty for what was read from the user's own file."""
        return key_of(self.claim)


def key_of(claim: Claim) -> str:
    """BibTeX key of a claim's source; empty for what was read from the user's own file."""
    return "" if claim.source.startswith(OWN_FILE) else claim.source


def pick_of(claim: Claim, notes: tuple[str, ...] = (), kind: str = "") -> Picked | None:
    """The value of a claim; None where it is no number."""
    if claim.si_value is None:
        return None
    return Picked(claim.si_value, claim.si_unit, claim, notes, kind)


def number_of(picked: Picked | str | None) -> float | None:
    """The number; None where words stand in its place, or nothing."""
    return picked.value if isinstance(picked, Picked) else None
