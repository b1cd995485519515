"""The roofs of chips: their peaks by number format and the bandwidths of their memories, in the
words that `roofline` reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flopbook.data.claims import Claim
from flopbook.errors import FlopbookError
from flopbook.formulas.declaration import Formula
from flopbook.hardware.chip import Chip
from flopbook.hardware.chip import chip as find_chip
from flopbook.hardware.choice import choose, choose_peak
from flopbook.hardware.picked import Picked, PickedWord, pick_of

FORMATS = ("fp64", "bf16", "fp8", "fp4")
# What separates roofs from each other in the text of `--roofs`.
_SEPARATORS = re.compile(r"[,;:\s]+")


class Chips(Chip):
    """Several chips of one question; what is asked of one chip is asked of the first."""

    def __init__(self, chips: tuple[Chip, ...]) -> None:
        super().__init__(chips[0].entry)
        self.chips = chips

    @property
    def id(self) -> str:
        """The ids of all."""
        return ", ".join(chip.id for chip in self.chips)

    def pick_roofs(self, dtype: str, sparsity: str) -> PickedWord:
        """The roofs of all chips in the words of `--roofs`, the asked format first.

        `sources` has those of all roofs from then on. Raises Missing for a chip without that peak
        or without a bandwidth of its memory.
        """
        texts: list[str] = []
        claims: list[Claim] = []
        notes: list[str] = []
        for chip in self.chips:
            peak = chip.pick_peak(dtype, sparsity)
            memory = chip.pick_memory_bandwidth()
            roofs = list(_roofs(chip, dtype, peak, memory))
            labels = (f"{label} {claim.value:.15g}{claim.unit}" for label, claim in roofs)
            texts.append(f"{chip.id}: {', '.join(labels)}")
            claims += (claim for _, claim in roofs)
            notes += (*peak.notes, *memory.notes)
        self.sources = tuple(dict.fromkeys(claim.source for claim in claims))
        text = "; ".join(texts)
        return PickedWord(text, claims[0], tuple(dict.fromkeys(notes)))


def _roofs(chip: Chip, dtype: str, peak: Picked, memory: Picked) -> Iterator[tuple[str, Claim]]:
    """Label and claim of every roof of a chip: its peaks, its memory, its caches."""
    yield f"{dtype} {peak.claim.sparsity}", peak.claim
    yield "memory", memory.claim
    for other_peak in peaks(chip):
        claim = other_peak.claim
        if claim.dtype != dtype:
            yield f"{claim.dtype} {claim.sparsity}", claim
    yield from _caches(chip)


def _caches(chip: Chip) -> Iterator[tuple[str, Claim]]:
    """Memories on the chip whose bandwidth is published, of the whole chip."""
    on_chip = [
        claim
        for claim in chip.claims("sram_bandwidth")
        if claim.per == chip.entry.kind and claim.si_value
    ]
    for name in dict.fromkeys(claim.name for claim in on_chip):
        claim = choose(claim for claim in on_chip if claim.name == name)
        if claim is not None:
            yield _SEPARATORS.sub(" ", name).strip(), claim


def peaks(chip: Chip) -> list[Picked]:
    """Dense matrix peaks of the formats that are drawn; unstated where none is dense."""
    claims = [choose_peak(chip.entry.claims, dtype) for dtype in FORMATS]
    picks = [pick_of(claim) for claim in claims if claim is not None]
    return [picked for picked in picks if picked is not None and picked.value]


def chips_of(formula: Formula, names: str) -> Chip:
    """The chip of a question; or chips, in a list with commas, where the formula draws their roofs.

    Raises FlopbookError for one that is unknown or named twice.
    """
    if not any(spec.chip == "roofs" for spec in formula.inputs.values()):
        return find_chip(names)
    from flopbook.kernels.notation import MOST_MACHINES  # no other question needs it

    chips = tuple(find_chip(name.strip()) for name in names.split(",") if name.strip())
    ids = [chip.id for chip in chips]
    for chip_id in ids:
        if ids.count(chip_id) > 1:
            raise FlopbookError(f"--chip names {chip_id} twice")
    if not 1 <= len(chips) <= MOST_MACHINES:
        raise FlopbookError(f"--chip names {len(chips)} chips, expected 1 to {MOST_MACHINES}")
    return Chips(chips)
