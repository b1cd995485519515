"""Values of chips as calculators, pages and prose ask for them.

`chip("h100-sxm").peak("bf16")` is the SI value of the chosen claim; `.pick_peak("bf16")` is the
claim itself with the notes that a reader must see. Totals of nodes, systems and pods follow from
their parts.
"""

from __future__ import annotations

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim, matches
from flopbook.data.library import entry
from flopbook.errors import FlopbookError
from flopbook.hardware.choice import (
    choose,
    choose_memory,
    choose_one_way,
    choose_peak,
    choose_power,
)
from flopbook.hardware.parts import packages, shown_totals
from flopbook.hardware.picked import Missing, Picked, pick_of
from flopbook.quantities.units import format_quantity, percent

# Of a printed GB that is a GiB at most; a larger difference is another product.
BINARY = ("MiB", "GiB")
TOLD, MOST_BINARY = 0.02, 0.08


class Chip:
    """An accelerator with its values at hand; all numbers are SI.

    `sources` are those of values picked together.
    """

    sources: tuple[str, ...] = ()

    def __init__(self, entry: Entry) -> None:
        self.entry = entry

    def __repr__(self) -> str:
        return f"<chip {self.id}: {self.name}>"

    @property
    def id(self) -> str:
        """The entry's id, `vendor/product`."""
        return self.entry.id

    @property
    def name(self) -> str:
        """The product's name."""
        return self.entry.name

    def claims(self, field: str, **conditions: str | None) -> list[Claim]:
        """All claims of a field under these conditions, known errors included."""
        return [
            claim
            for claim in self.entry.claims
            if claim.field == field and matches(claim, conditions)
        ]

    def pick(self, field: str, **conditions: str | None) -> Picked:
        """The chosen claim of a field. Raises Missing when there is none to choose."""
        picked = self._picked(choose(self.claims(field, **conditions)))
        if picked is None:
            raise Missing(self._missing(field, conditions))
        return picked

    def _picked(self, claim: Claim | None, notes: tuple[str, ...] = ()) -> Picked | None:
        return pick_of(claim, notes) if claim is not None else None

    def pick_peak(
        self, dtype: str = "bf16", sparsity: str = "dense", engine: str = "tensor"
    ) -> Picked:
        """Peak rate in FLOP/s for a number format; sparse only when asked for by name.

        When the source does not say whether a peak is dense, it is used with a note. Raises Missing
        with the peaks that the chip does have.
        """
        self.require_package()
        claim = choose_peak(self.entry.claims, dtype, sparsity, engine)
        picked = self._picked(claim, _peak_notes(claim)) if claim else None
        if picked is None:
            published = self._published_peaks(dtype, engine)
            raise Missing(f"{self.id} has no {sparsity} {dtype} {engine} peak; {published}")
        return picked

    def _published_peaks(self, dtype: str, engine: str) -> str:
        """The peaks that there are, for a message about one that is not."""
        published = sorted(
            {
                f"{claim.dtype} {claim.sparsity}"
                for claim in self.claims("peak", engine=engine)
                if claim.published and not claim.known_error
            }
        )
        listed = f"it has: {', '.join(published)}"
        if not published:
            listed = f"its {engine} peaks are not published"
        if engine == "tensor" and choose(self.claims("peak", dtype=dtype, engine="vector")):
            return f"its vector peak is recorded; the calculators use matrix rates; {listed}"
        return listed

    def peak(self, dtype: str = "bf16", sparsity: str = "dense", engine: str = "tensor") -> float:
        """Peak rate in FLOP/s (OP/s for integers) of one chip."""
        return self.pick_peak(dtype, sparsity, engine).value

    def pick_memory_bandwidth(self) -> Picked:
        """Bandwidth of the chip's main memory, byte/s."""
        return self._main_memory("memory_bandwidth")

    def memory_bandwidth(self) -> float:
        """Bandwidth of the chip's main memory, byte/s."""
        return self.pick_memory_bandwidth().value

    def pick_memory(self) -> Picked:
        """Capacity of the chip's main memory, byte; a note says where software sees more."""
        picked = self._main_memory("memory")
        return picked._replace(notes=_seen_by_software(picked, self.claims("memory")))

    def memory(self) -> float:
        """Capacity of the chip's main memory, byte."""
        return self.pick_memory().value

    def _main_memory(self, field: str) -> Picked:
        self.require_package()
        picked = self._picked(choose_memory(self.entry.claims, field))
        if picked is None:
            raise Missing(self._missing(field, {}))
        return picked

    def pick_scaleup_bandwidth(self) -> Picked:
        """One-way bandwidth of all scale-up links of the chip together, byte/s.

        A figure for both directions is halved and the note says so; a figure without a direction is
        refused.
        """
        self.require_package()
        picked = self._one_way("scaleup_bandwidth")
        if picked is None:
            raise Missing(f"{self.id}: no scale-up bandwidth with a stated direction is published")
        if picked.claim.direction != "both":
            return picked
        claim = picked.claim
        printed = f"{claim.name} is printed as {claim.value:g} {claim.unit}"
        return picked._replace(notes=(f"{printed} both ways together; one way is half",))

    def _one_way(self, field: str) -> Picked | None:
        claim = choose_one_way(self.entry.claims, field)
        if claim is None or claim.one_way is None:
            return None
        return Picked(claim.one_way, "byte/s", claim)

    def scaleup_bandwidth(self) -> float:
        """One-way bandwidth of all scale-up links of the chip together, byte/s."""
        return self.pick_scaleup_bandwidth().value

    def pick_scaleup_axes(self) -> Picked:
        """Number of torus axes of the scale-up network; 1 for a switch or a full mesh."""
        picked = self._picked(choose(self.claims("scaleup_axes")))
        if picked is None:
            layout = "how its scale-up links are laid out (torus axes or a switch)"
            raise Missing(f"{self.id}: {layout} is not recorded")
        return picked

    def pick_scaleup_domain(self) -> Picked | None:
        """Number of chips that the scale-up network joins; None when it is not recorded."""
        return self._picked(choose(self.claims("scaleup_domain")))

    def pick_scaleout_bandwidth(self) -> Picked | None:
        """One-way bandwidth of the chip beyond its scale-up network, byte/s.

        None without a stated direction.
        """
        return self._one_way("scaleout_bandwidth")

    def pick_host_bandwidth(self) -> Picked | None:
        """One-way bandwidth of the link to the host, byte/s; None without a stated direction."""
        return self._one_way("host_bandwidth")

    def pick_power(self) -> Picked:
        """Power in watts, the vendor's maximum first, else the first kind that is published."""
        picked = self._picked(choose_power(self.entry.claims))
        if picked is None:
            raise Missing(self._missing("power", {}))
        return picked

    def power(self) -> float:
        """Power in watts, the vendor's maximum first, else the first kind that is published."""
        return self.pick_power().value

    def total(
        self, field: str, dtype: str | None = None, sparsity: str = "dense", engine: str = "tensor"
    ) -> float:
        """SI total of a field over all parts of a system, or what its vendor prints instead.

        Scale-up bandwidth is one way.

        Raises FlopbookError where none follows from the parts.
        """
        is_peak = field == "peak"
        conditions = {"dtype": dtype, "sparsity": sparsity, "engine": engine} if is_peak else {}
        for claim in shown_totals(self.entry):
            value = claim.one_way if field == "scaleup_bandwidth" else claim.si_value
            if claim.field == field and matches(claim, conditions) and value is not None:
                return value
        raise FlopbookError(f"{self.id}: no total of {field} follows from its parts")

    def require_package(self) -> None:
        """Raise FlopbookError where this is more than one chip, and name the chips in it."""
        if self.entry.computes:
            return
        chip_ids = sorted(packages(self.entry))
        hint = f"; name its chip: {', '.join(chip_ids)}" if chip_ids else ""
        raise FlopbookError(f"{self.id} is a {self.entry.kind}, not a chip{hint}")

    def _missing(self, field: str, conditions: dict[str, str | None]) -> str:
        """Why a field has no value: nobody looked, nobody says it, or the product has none."""
        words = " ".join(str(value) for value in conditions.values() if value)
        quantity = f"{field.replace('_', ' ')} {words}".rstrip()
        unpublished = [claim for claim in self.claims(field) if not claim.published]
        if not unpublished:
            return f"{self.id}: {quantity} is not recorded"
        if unpublished[0].absent:
            return f"{self.id}: {quantity} does not exist: the product has none"
        return f"{self.id}: {quantity} is not published"


def _seen_by_software(printed: Picked, claims: list[Claim]) -> tuple[str, ...]:
    """The binary size of a memory whose printed size is decimal, where they are not the same."""
    for claim in claims:
        is_same = printed.claim and claim.tier == printed.claim.tier and not claim.known_error
        size = claim.si_value
        if not is_same or size is None or claim.unit not in BINARY:
            continue
        more = size / printed.value - 1
        if TOLD < more < MOST_BINARY:
            seen = f"{format_quantity(size, 'byte')} ({claim.value:,.0f} {claim.unit})"
            return (
                f"memory is counted as printed: software sees {seen}, {percent(more, signed=True)}",
            )
    return ()


def _peak_notes(claim: Claim) -> tuple[str, ...]:
    """What a reader must know before dividing by this peak."""
    return (*_sparsity_notes(claim), *_point_notes(claim))


def _point_notes(claim: Claim) -> tuple[str, ...]:
    if not claim.point:
        return ()
    return (f"this {claim.dtype} peak is of another operating point: {claim.point}",)


def _sparsity_notes(claim: Claim) -> tuple[str, ...]:
    if claim.sparsity == "dense":
        return ()
    if claim.sparsity == "unstated":
        unstated = f"{claim.source} does not say whether this {claim.dtype} peak is dense"
        return (f"{unstated}; it is used as dense",)
    pattern = claim.sparsity
    reached = f"reached only with {pattern} structured sparsity"
    return (f"sparse peak ({pattern}), {reached}; dense is the default",)


def chip(name: str) -> Chip:
    """An accelerator by id, product, alias or device name.

    >>> chip("h100-sxm").id, chip("h100-sxm").memory() > 0
    ('nvidia/h100-sxm', True)

    Raises UnknownName with the nearest ids, FlopbookError when a name fits several products.
    """
    return Chip(entry(name))
