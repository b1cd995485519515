"""Values of chips and models as calculators, pages and prose ask for them.

`chip("h100-sxm").peak("bf16")` is the SI value of the chosen claim; `.pick_peak("bf16")` is the
claim itself with the notes that a reader must see. Totals of nodes, systems and pods are derived
here from their parts: a number lives on one level only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.data.accelerators import Entry, Model, Part, entry, load_entry, model
from flopbook.data.claims import Claim, choose, matches
from flopbook.data.tiers import source_tiers
from flopbook.errors import FlopbookError

# Which power stands for a chip where several are published: what it may draw at most comes first.
POWER_KINDS = ("maximum", "design", "board", "provisioned")
ADDITIVE = ("peak", "memory", "memory_bandwidth", "scaleup_bandwidth")


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
        """BibTeX key of the claim's source."""
        return self.claim.source


class Chip:
    """An accelerator with its values at hand; all numbers are SI.

    `sources` are those of values picked together.
    """

    sources: tuple[str, ...] = ()

    def __init__(self, entry_: Entry) -> None:
        self.entry = entry_

    @property
    def id(self) -> str:
        """The entry's id, `vendor/product`."""
        return self.entry.id

    @property
    def name(self) -> str:
        """The product's name."""
        return self.entry.name

    def claims(self, field: str, **wanted: str | None) -> list[Claim]:
        """All claims of a field with the wanted conditions, known errors included."""
        return [c for c in self.entry.claims if c.field == field and matches(c, wanted)]

    def pick(self, field: str, **wanted: str | None) -> Picked:
        """The chosen claim of a field. Raises FlopbookError when there is none to choose."""
        claim = choose(self.claims(field, **wanted), source_tiers())
        if claim is None or claim.si_value is None:
            raise Missing(self._missing(field, wanted))
        return Picked(claim.si_value, claim.si_unit, claim)

    def pick_peak(
        self, dtype: str = "bf16", sparsity: str = "dense", engine: str = "tensor"
    ) -> Picked:
        """Peak rate in FLOP/s for a number format; sparse only when asked for by name.

        When the source does not say whether a peak is dense, it is used with a note. Raises
        FlopbookError with the peaks that the chip does have.
        """
        self.require_package()
        for wanted in dict.fromkeys((sparsity, "unstated" if sparsity == "dense" else sparsity)):
            claim = choose(
                self.claims("peak", dtype=dtype, engine=engine, sparsity=wanted), source_tiers()
            )
            if claim is not None and claim.si_value is not None:
                return Picked(claim.si_value, claim.si_unit, claim, _peak_notes(claim))
        have = sorted(
            {
                f"{c.dtype} {c.sparsity}"
                for c in self.claims("peak", engine=engine)
                if c.published and not c.known_error
            }
        )
        listed = f"it has: {', '.join(have)}" if have else f"its {engine} peaks are not published"
        if engine == "tensor" and choose(
            self.claims("peak", dtype=dtype, engine="vector"), source_tiers()
        ):
            listed = f"its vector peak is recorded; the calculators use matrix rates; {listed}"
        raise Missing(f"{self.id} has no {sparsity} {dtype} {engine} peak; {listed}")

    def peak(self, dtype: str = "bf16", sparsity: str = "dense", engine: str = "tensor") -> float:
        """Peak rate in FLOP/s (OP/s for integers) of one chip."""
        return self.pick_peak(dtype, sparsity, engine).value

    def pick_memory_bandwidth(self) -> Picked:
        """Bandwidth of the chip's main memory, byte/s."""
        self.require_package()
        return self._main_memory("memory_bandwidth")

    def memory_bandwidth(self) -> float:
        """Bandwidth of the chip's main memory, byte/s."""
        return self.pick_memory_bandwidth().value

    def pick_memory(self) -> Picked:
        """Capacity of the chip's main memory, byte."""
        self.require_package()
        return self._main_memory("memory")

    def memory(self) -> float:
        """Capacity of the chip's main memory, byte."""
        return self.pick_memory().value

    def _main_memory(self, field: str) -> Picked:
        tiers = [
            tier
            for tier in ("hbm", "gddr", "lpddr", "ddr")
            if choose(self.claims(field, tier=tier), source_tiers())
        ]
        return self.pick(field, tier=tiers[0] if tiers else None)

    def pick_scaleup_bandwidth(self) -> Picked:
        """One-way bandwidth of all scale-up links of the chip together, byte/s.

        A figure for both directions is halved and the note says so; a figure without a direction is
        refused.
        """
        self.require_package()
        claims = [
            c for c in self.claims("scaleup_bandwidth", aggregate="chip") if c.one_way is not None
        ]
        claim = choose(claims, source_tiers())
        if claim is None or claim.one_way is None:
            raise Missing(f"{self.id}: no scale-up bandwidth with a stated direction is published")
        notes = (
            f"{claim.name} is printed as {claim.value:g} {claim.unit} both ways together; one way is half",
        )
        return Picked(claim.one_way, "byte/s", claim, notes if claim.direction == "both" else ())

    def scaleup_bandwidth(self) -> float:
        """One-way bandwidth of all scale-up links of the chip together, byte/s."""
        return self.pick_scaleup_bandwidth().value

    def pick_scaleup_axes(self) -> Picked:
        """Number of torus axes of the scale-up network; 1 for a switch or a full mesh."""
        if choose(self.claims("scaleup_axes"), source_tiers()) is None:
            raise Missing(
                f"{self.id}: how its scale-up links are laid out (torus axes or a switch) is not recorded"
            )
        return self.pick("scaleup_axes")

    def pick_scaleup_domain(self) -> Picked | None:
        """Number of chips that the scale-up network joins; None when it is not recorded for this
        chip.
        """
        claim = choose(self.claims("scaleup_domain"), source_tiers())
        return (
            None
            if claim is None or claim.si_value is None
            else Picked(claim.si_value, claim.si_unit, claim)
        )

    def pick_scaleout_bandwidth(self) -> Picked | None:
        """One-way bandwidth of the chip beyond its scale-up network, byte/s; None without a stated
        direction.
        """
        claims = [
            c for c in self.claims("scaleout_bandwidth", aggregate="chip") if c.one_way is not None
        ]
        claim = choose(claims, source_tiers())
        return (
            None
            if claim is None or claim.one_way is None
            else Picked(claim.one_way, "byte/s", claim)
        )

    def pick_power(self) -> Picked:
        """Power in watts, the vendor's maximum first, else the first kind that is published."""
        for of in (*POWER_KINDS, None):
            if choose(self.claims("power", of=of), source_tiers()):
                return self.pick("power", of=of)
        raise Missing(self._missing("power", {}))

    def power(self) -> float:
        """Power in watts, the vendor's maximum first, else the first kind that is published."""
        return self.pick_power().value

    def total(
        self, field: str, dtype: str | None = None, sparsity: str = "dense", engine: str = "tensor"
    ) -> float:
        """SI total of a field over all parts of a node, system or pod; of scale-up bandwidth one
        way.
        """
        wanted = {"dtype": dtype, "sparsity": sparsity, "engine": engine} if field == "peak" else {}
        for claim in totals(self.entry):
            value = claim.one_way if field == "scaleup_bandwidth" else claim.si_value
            if claim.field == field and matches(claim, wanted) and value is not None:
                return value
        raise FlopbookError(f"{self.id}: no total of {field} follows from its parts")

    def require_package(self) -> None:
        """Raise FlopbookError where this is more than one chip, and name the chips that are in it."""
        if self.entry.computes:
            return
        inside = sorted(packages(self.entry))
        hint = f"; name its chip: {', '.join(inside)}" if inside else ""
        raise FlopbookError(f"{self.id} is a {self.entry.kind}, not a chip{hint}")

    def _missing(self, field: str, wanted: dict[str, str | None]) -> str:
        words = " ".join(str(v) for v in wanted.values() if v)
        looked = [c for c in self.claims(field) if not c.published]
        absent = "does not exist: the product has none"
        state = (
            "is not recorded" if not looked else absent if looked[0].absent else "is not published"
        )
        return f"{self.id}: {field.replace('_', ' ')}{' ' + words if words else ''} {state}"


def _peak_notes(claim: Claim) -> tuple[str, ...]:
    if claim.sparsity == "unstated":
        return (
            f"{claim.source} does not say whether this {claim.dtype} peak is dense; it is used as dense",
        )
    if claim.sparsity != "dense":
        kind = claim.sparsity
        return (
            f"sparse peak ({kind}), reached only with {kind} structured sparsity; dense is the default",
        )
    return ()


def packages(entry_: Entry) -> dict[str, int]:
    """The packages inside an entry, with how many of each, through all levels."""
    found: dict[str, int] = {}
    for ref, count in _packages(entry_, 1, ()):
        found[ref] = found.get(ref, 0) + count
    return found


def _packages(entry_: Entry, count: int, path: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    if entry_.id in path:
        raise FlopbookError(f"{entry_.id} contains itself: {' > '.join((*path, entry_.id))}")
    for part in entry_.contains:
        inner = load_entry(part.ref)
        if inner.computes:
            yield part.ref, count * part.count
        else:
            yield from _packages(inner, count * part.count, (*path, entry_.id))


def totals(entry_: Entry) -> tuple[Claim, ...]:
    """Derived totals of a card, node, system or pod: count x the chosen value of its package.

    Only for entries with one kind of accelerator package; each total cites the claim that it came
    from.
    """
    if entry_.computes or not entry_.contains:
        return ()
    counted = [(Part(ref, n), load_entry(ref)) for ref, n in packages(entry_).items()]
    accelerators = [
        (part, inner) for part, inner in counted if any(c.field == "peak" for c in inner.claims)
    ]
    if len(accelerators) != 1:
        return ()
    part, inner = accelerators[0]
    return tuple(_times(claim, part, entry_) for claim in _chosen_additive(inner))


def _chosen_additive(entry_: Entry) -> Iterator[Claim]:
    groups: dict[tuple[str, ...], list[Claim]] = {}
    for claim in entry_.claims:
        if (
            claim.field in ADDITIVE
            and claim.aggregate in ("", "chip")
            and claim.si_value is not None
        ):
            key = (
                claim.field,
                claim.dtype,
                claim.engine,
                claim.sparsity,
                claim.tier,
                claim.name,
                claim.direction,
            )
            groups.setdefault(key, []).append(claim)
    for group in groups.values():
        chosen = choose(group, source_tiers())
        if chosen is not None:
            yield chosen


def _times(claim: Claim, part: Part, whole: Entry) -> Claim:
    assert isinstance(claim.value, (int, float))
    return claim._replace(
        value=claim.value * part.count,
        per=whole.kind,
        basis="derived",
        formula=f"{part.count} x {claim.value:g} {claim.unit}",
        derived_from=f"{part.ref} {claim.field}",
        aggregate="domain" if claim.aggregate else "",
        at_power_w=None,
        at_clock_mhz=None,
        quote="",
        locator="",
        note="",
        conflicts_with="",
    )


class Shape:
    """A model with its values at hand, as plain numbers: `model("gpt-3-175b").params`."""

    def __init__(self, model_: Model) -> None:
        self.model = model_

    @property
    def id(self) -> str:
        """The model's id."""
        return self.model.id

    def records(self, field: str) -> bool:
        """True when the model says something about a field, be it that the value is not published."""
        return any(claim.field == field for claim in self.model.claims)

    def claim(self, field: str) -> Claim | None:
        """The chosen claim of a field, a number or a word; None when it is not recorded or not
        published.
        """
        return choose((c for c in self.model.claims if c.field == field), source_tiers())

    def pick(self, field: str) -> Picked:
        """The chosen claim of a field.

        Raises FlopbookError when it is not recorded or not published.
        """
        claim = self.claim(field)
        if claim is None or claim.si_value is None:
            known = sorted({c.field for c in self.model.claims if c.si_value is not None})
            raise Missing(f"model {self.id} has no published {field}; it has: {', '.join(known)}")
        return Picked(claim.si_value, claim.si_unit, claim)

    def pick_compute_params(self) -> Picked:
        """Parameters that compute on each token: the active ones of a mixture of experts, else all."""
        return self.pick("active_params" if self.model.kind == "moe" else "params")

    def __getattr__(self, field: str) -> float:
        if field.startswith("_"):
            raise AttributeError(field)
        return self.pick(field).value


def chip(name: str) -> Chip:
    """An accelerator by id, product, alias or device name.

    >>> chip("h100-sxm").id, chip("h100-sxm").memory() > 0
    ('nvidia/h100-sxm', True)

    Raises UnknownName with the nearest ids, FlopbookError when a name fits several products.
    """
    return Chip(entry(name))


def shape(name: str) -> Shape:
    """A model by id or alias.

    >>> shape("llama-3-8b").id, shape("llama-3-8b").model.kind
    ('llama-3-8b', 'dense')

    Raises UnknownName with the nearest ids.
    """
    return Shape(model(name))
