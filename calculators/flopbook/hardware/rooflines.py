"""The roofs of chips: their peaks by number format and the bandwidths of their memories, as
`roofline` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.data.claims import Claim, choose
from flopbook.data.tiers import source_tiers
from flopbook.errors import FlopbookError
from flopbook.formulas.declaration import Formula
from flopbook.hardware.chip import Chip, Picked, chip

FORMATS = ("fp64", "bf16", "fp8", "fp4")


class Roof(NamedTuple):
    """One number format's flat roof."""

    dtype: str
    peak: float
    sparsity: str
    claim: Claim


class Chips(Chip):
    """Several chips of one question; what is asked of one is asked of the first."""

    def __init__(self, chips: tuple[Chip, ...]) -> None:
        super().__init__(chips[0].entry)
        self.chips = chips

    @property
    def id(self) -> str:
        """The ids of all."""
        return ", ".join(one.id for one in self.chips)

    def pick_roofs(self, dtype: str, sparsity: str) -> Picked:
        """The roofs in the words of `--roofs`, the asked format first; `sources` has all of theirs
        from then on.

        Raises FlopbookError for a chip without that peak or without a bandwidth of its memory.
        """
        texts, claims, notes = [], [], []
        for one in self.chips:
            peak, memory = one.pick_peak(dtype, sparsity), one.pick_memory_bandwidth()
            notes += [*peak.notes, *memory.notes]
            named = [(f"{dtype} {peak.claim.sparsity}", peak.claim), ("memory", memory.claim)]
            named += [
                (f"{roof.dtype} {roof.sparsity}", roof.claim)
                for roof in peaks(one)
                if roof.dtype != dtype
            ]
            named += _caches(one)
            texts.append(
                f"{one.id}: "
                + ", ".join(f"{label} {claim.value:.15g}{claim.unit}" for label, claim in named)
            )
            claims += [claim for _, claim in named]
        self.sources = tuple(dict.fromkeys(claim.source for claim in claims))
        return Picked("; ".join(texts), "1", claims[0], tuple(dict.fromkeys(notes)))  # type: ignore[arg-type]  # a text


def chips_of(formula: Formula, names: str) -> Chip:
    """The chip of a question; or chips, in a list with commas, where the formula draws their roofs.

    Raises FlopbookError for one that is unknown or named twice.
    """
    if not any(spec.chip == "roofs" for spec in formula.inputs.values()):
        return chip(names)
    from flopbook.kernels.notation import MOST_MACHINES  # no other question needs it

    found = tuple(chip(name.strip()) for name in names.split(",") if name.strip())
    ids = [one.id for one in found]
    twice = next((one for one in ids if ids.count(one) > 1), "")
    if twice:
        raise FlopbookError(f"--chip names {twice} twice")
    if not 1 <= len(found) <= MOST_MACHINES:
        raise FlopbookError(f"--chip names {len(found)} chips, expected 1 to {MOST_MACHINES}")
    return Chips(found)


def peaks(one: Chip) -> list[Roof]:
    """Dense matrix peaks of the formats that are drawn; unstated ones where nothing else is
    published.
    """
    found = []
    for dtype in FORMATS:
        for sparsity in ("dense", "unstated"):
            claim = choose(
                one.claims("peak", dtype=dtype, engine="tensor", sparsity=sparsity), source_tiers()
            )
            if claim is not None and claim.si_value:
                found.append(Roof(dtype, claim.si_value, sparsity, claim))
                break
    return found


def _caches(one: Chip) -> Iterator[tuple[str, Claim]]:
    """Memories on the chip whose bandwidth is published, of the whole chip."""
    known = [
        claim
        for claim in one.claims("sram_bandwidth")
        if claim.per == one.entry.kind and claim.si_value
    ]
    for name in dict.fromkeys(claim.name for claim in known):
        claim = choose([claim for claim in known if claim.name == name], source_tiers())
        if claim is not None:
            yield re.sub(r"[,;:\s]+", " ", name).strip(), claim
