"""What a chip or a model supplies to the inputs of a calculator.

A module of its own, so that a calculator that is given plain numbers reads no data and imports no
reader.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable

from flopbook.data.claims import Claim
from flopbook.errors import FlopbookError
from flopbook.evaluation.request import Request, flag, read_input
from flopbook.formulas.declaration import Input
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose_measured_rate, choose_peak
from flopbook.hardware.network import Network
from flopbook.hardware.picked import Missing, Picked, PickedWord
from flopbook.hardware.rooflines import Chips
from flopbook.quantities.dtypes import STANDS_FOR, WIDTHS
from flopbook.quantities.units import format_quantity

# One of them multiplies on nearly every chip, also where weights are narrower.
WIDE_FORMATS = ("bf16", "fp16")
# The form on the page says the same.
NO_PEAK = "{chip} has no {sparsity} {dtype} peak on record{others}"
OTHER_PEAKS = ", but of {formats}"
# Gives a value of the chip of a request; None where the question does not need it.
ChipValue = Callable[[Chip, Request], Picked | PickedWord | None]


def from_chip(name: str, spec: Input, request: Request) -> Picked | PickedWord | None:
    """The value of the chip; None where the question or a default does without it.

    Raises FlopbookError where the chip has no such value and the calculator needs one.
    """
    assert request.chip is not None
    try:
        return _CHIP_VALUES[spec.chip](request.chip, request)
    except FlopbookError as error:
        # A node in place of a chip, for example: no single option would help.
        if not isinstance(error, Missing):
            raise
        # A default of infinity is a limit that need not be given.
        if request.formula.defaults.get(name) == math.inf and _goes_without(spec, request):
            return None
        way = flag(name)
        if spec.chip == "peak":
            way += _rate_to_give(request.chip, request)
        # Only where the message lists other formats to choose from.
        if spec.chip == "peak" and "it has: " in str(error):
            option = f"--{'compute-' if request.applies_rule else ''}dtype"
            wide = next((name for name in WIDE_FORMATS if f" {name} dense" in str(error)), "")
            way += f", or {option} {wide}" if wide else f", or another {option}"
        raise FlopbookError(f"{error}; give {way}") from None


def _rate_to_give(chip: Chip, request: Request) -> str:
    """Which rate may be given for a peak that is not on record; empty where a format does better.

    Nothing is put in for it unasked: a measured rate lies below the peak that shares are of.
    """
    dtype, claims = request.peak_dtype, chip.entry.claims
    if request.sparsity != "dense":
        return ""
    measured = choose_measured_rate(claims, dtype)
    if measured is not None:
        rate = _words(measured)
        return (
            f", such as the {rate} at which its {dtype} products were measured ({measured.source})"
        )
    alike = (dtype, *WIDE_FORMATS) if dtype in WIDE_FORMATS else (dtype,)
    if any(choose_peak(claims, each) for each in alike):
        return ""
    for each in alike:
        vector = choose_peak(claims, each, engine="vector")
        if vector is not None:
            return f", such as the {_words(vector)} of its vector units in {each}"
    return "" if _formats(claims) else ", such as what a large product of matrices reaches there"


def _words(claim: Claim) -> str:
    return format_quantity(claim.si_value or 0.0, claim.si_unit)


def _peak(chip: Chip, request: Request) -> Picked:
    """The peak of the format that multiplies; a chip with fp4 multiplies nvfp4 at that rate."""
    dtype, sparsity = request.peak_dtype, request.sparsity
    stand_in = STANDS_FOR.get(dtype, "") if request.applies_rule else ""
    claims = chip.entry.claims
    if choose_peak(claims, dtype, sparsity) or not choose_peak(claims, stand_in, sparsity):
        return chip.pick_peak(dtype, sparsity)
    picked = chip.pick_peak(stand_in, sparsity)
    note = f"{chip.id} has no {dtype} peak on record; its {stand_in} peak is used"
    return picked._replace(notes=(*picked.notes, note))


def _goes_without(spec: Input, request: Request) -> bool:
    """Whether what the chip does not have may stay open; of a peak a note says so.

    Not where the chip has a peak to ask for instead: one of 16 bits, or any for a narrow format.
    """
    if spec.chip != "peak":
        return True
    assert request.chip is not None
    dtype, sparsity = request.peak_dtype, request.sparsity
    formats = WIDE_FORMATS if dtype in WIDE_FORMATS else tuple(WIDTHS)
    claims = request.chip.entry.claims
    if sparsity != "dense" or any(choose_peak(claims, each, sparsity) for each in formats):
        return False
    known = _formats(claims)
    others = OTHER_PEAKS.format(formats=", ".join(known)) if known else ""
    note = NO_PEAK.format(chip=request.chip.id, sparsity=sparsity, dtype=dtype, others=others)
    request.notes.append(note)
    return True


def _formats(claims: tuple[Claim, ...]) -> list[str]:
    """The number formats whose peak is on record, dense or not."""
    return sorted(
        {
            claim.dtype
            for claim in claims
            if claim.dtype in WIDTHS and choose_peak(claims, claim.dtype, claim.sparsity)
        }
    )


def _roofs(chip: Chip, request: Request) -> PickedWord:
    assert isinstance(chip, Chips)  # as `chips_of` makes them for a calculator with roofs
    return chip.pick_roofs(request.dtype, request.sparsity)


def _memory_bandwidth(chip: Chip, _: Request) -> Picked:
    return chip.pick_memory_bandwidth()


def _memory(chip: Chip, _: Request) -> Picked:
    return chip.pick_memory()


def _server_power(chip: Chip, _: Request) -> Picked:
    """Power of a chip with its share of hosts and network cards."""
    from flopbook.hardware.servers import pick_server_power  # few calculators ask for servers

    return pick_server_power(chip)


def _node_chips(chip: Chip, _: Request) -> Picked | None:
    """Chips of a node, which is bought whole; None where no node is recorded."""
    from flopbook.hardware.servers import pick_node_size

    return pick_node_size(chip)


def _link_bandwidth(chip: Chip, request: Request) -> Picked:
    """One-way bandwidth of one link, of one port, or in a mesh of the links to one other chip."""
    network = Network(chip)
    word = request.options.get("topology", network.topology)
    if word != "mesh" and network.topology == "mesh":
        return network.pick_port()
    if word == "mesh" and network.topology != "mesh":
        return network.pick_pair_link(_board(request))
    return network.pick_link()


def _board(request: Request) -> float:
    """Chips of a board that the reader says is fully connected, unlike that of the record."""
    for name in ("chips_per_node", "chips"):
        if name in request.options:
            return float(read_input(name, request.formula.inputs[name], request.options[name]))
    if "chips_per_node" not in request.formula.inputs:
        raise FlopbookError("a mesh needs --link-bandwidth, the links from a chip to one other")
    raise FlopbookError("a mesh needs --chips-per-node, the chips that are wired to each other")


def _scaleup_bandwidth(chip: Chip, _: Request) -> Picked:
    """One-way bandwidth of all links of a chip within its domain, or of the bus of its host."""
    return Network(chip).pick_port()


def _links_per_axis(chip: Chip, _: Request) -> Picked:
    return Network(chip).pick_links_per_axis()


def _torus_axes(chip: Chip, _: Request) -> Picked | None:
    """Axes of a torus; a switch has none that could run out."""
    is_torus = Network(chip).topology in ("torus", "ring")
    return Network(chip).pick_axes() if is_torus else None


def _topology(chip: Chip, request: Request) -> PickedWord | None:
    """How the scale-up network joins the chips, in the words of --topology.

    A link that was typed need not be one of it: to a mesh it is then a port, as to a switch.
    """
    if not _is_typed(request):
        return Network(chip).pick_topology()
    try:
        picked = Network(chip).pick_topology()
    except Missing:
        return None
    return picked._replace(value="switch") if picked.value == "mesh" else picked


def _port_bandwidth(chip: Chip, _: Request) -> Picked:
    """The rate of one link of a torus, or of all links of any other chip together."""
    network = Network(chip)
    return network.pick_port() if network.topology == "mesh" else network.pick_link()


def _axes(chip: Chip, request: Request) -> Picked | None:
    """All axes of the torus, unless the collective runs on another topology."""
    axes = Network(chip).pick_axes()
    if request.options.get("topology", "torus") != "torus":
        return None
    if axes.value <= 1:
        return Picked(axes.value, "1", axes.claim)
    every = "both" if axes.value == 2 else f"all {axes.value:g}"
    note = f"{every} axes of {chip.id} are used; choose with --axes"
    return Picked(axes.value, "1", axes.claim, (note,))


def _is_typed(request: Request) -> bool:
    """Whether a link was given by hand: it is then one of whatever network the reader means."""
    return "link_bandwidth" in request.options and "chips_per_node" not in request.options


def _chips_per_node(chip: Chip, request: Request) -> Picked | None:
    return None if _is_typed(request) else Network(chip).pick_domain()


def _scaleout_bandwidth(chip: Chip, request: Request) -> Picked | None:
    return None if _is_typed(request) else Network(chip).pick_beyond()


def _host_bandwidth(chip: Chip, request: Request) -> Picked:
    picked = chip.pick_host_bandwidth()
    if picked is None:
        raise Missing(f"{chip.id}: no link to its host with a stated direction is published")
    return picked


def _if_known(pick: ChipValue) -> ChipValue:
    """The same look-up for a calculator that goes without what is not on record."""

    def lenient(chip: Chip, request: Request) -> Picked | PickedWord | None:
        with contextlib.suppress(FlopbookError):
            return pick(chip, request)
        return None

    return lenient


def _wrap(chip: Chip, request: Request) -> PickedWord | None:
    return None if _is_typed(request) else Network(chip).pick_wrap()


def _ring_side(chip: Chip, request: Request) -> Picked | None:
    return None if _is_typed(request) else Network(chip).pick_ring_side()


def _whole_side(place: int) -> ChipValue:
    """A side of the slice where it is a whole domain whose shape is on record."""

    def pick(chip: Chip, request: Request) -> Picked | None:
        shaped = {"side_x", "side_y", "axes", "topology", "chips_per_node"}
        chips = request.options.get("chips")
        if chips is None or _is_typed(request) or shaped & request.options.keys():
            return None
        sides = Network(chip).pick_whole_sides()
        count = read_input("chips", request.formula.inputs["chips"], chips)
        # The last side follows from the others.
        is_whole = len(sides) > place + 1 and count == math.prod(side.value for side in sides)
        return sides[place] if is_whole else None

    return pick


def _level_overlap(chip: Chip, request: Request) -> PickedWord | None:
    """Cards that a bridge joins: no library runs both levels at once."""
    network = Network(chip)
    domain = chip.pick_scaleup_domain()
    if _is_typed(request) or domain is None or not network.is_bridged:
        return None
    return PickedWord("no", domain.claim)


def _measured(name: str) -> ChipValue:
    """A constant of the kind of link, from published sweeps; none for a rate that was typed."""

    def pick(chip: Chip, request: Request) -> Picked | None:
        kind = None if _is_typed(request) else Network(chip).kind
        if kind is None:
            return None
        claim = Network(chip).pick_port().claim._replace(source=kind.sources[0])
        return Picked(getattr(kind, name), "1", claim)

    return pick


# What `Input(chip=...)` of a formula may ask for.
_CHIP_VALUES: dict[str, ChipValue] = {
    "peak": _peak,
    "roofs": _roofs,
    "memory_bandwidth": _memory_bandwidth,
    "memory": _memory,
    "server_power": _server_power,
    "node_chips": _node_chips,
    "link_bandwidth": _link_bandwidth,
    "scaleup_bandwidth": _scaleup_bandwidth,
    "links_per_axis": _links_per_axis,
    "port_bandwidth": _port_bandwidth,
    "axes": _axes,
    "torus_axes": _torus_axes,
    "topology": _topology,
    "chips_per_node": _chips_per_node,
    "scaleout_bandwidth": _scaleout_bandwidth,
    "host_bandwidth": _host_bandwidth,
    "known_domain": _if_known(_chips_per_node),
    "known_beyond": _if_known(_scaleout_bandwidth),
    "wrap": _wrap,
    "ring_side": _ring_side,
    "level_overlap": _level_overlap,
    "side_x": _whole_side(0),
    "side_y": _whole_side(1),
    "startup": _measured("startup"),
    "ramp": _measured("ramp"),
    "efficiency": _measured("efficiency"),
    "reduction_efficiency": _measured("reduction_efficiency"),
}


def from_model(name: str, spec: Input, request: Request) -> Picked | PickedWord | None:
    """The value of the model; None where its kind or its silence means the formula's default."""
    assert request.model is not None and request.sized_model is not None
    counts_experts = spec.model in ("experts", "experts_per_token")
    # A dense model has no experts to record; the default of the formula is none.
    if counts_experts and request.model.model.kind == "dense":
        return None
    shape = request.sized_model
    if spec.model in MIXTURE_FIELDS:
        return _of_mixture(spec, request)
    has_default = name in request.formula.defaults
    if not counts_experts and has_default and not shape.records(spec.model):
        return None
    if spec.choices:
        claim = shape.claim(spec.model)
        return claim and PickedWord(str(claim.value), claim)
    try:
        return shape.pick(spec.model)
    except Missing as error:
        if spec.model.startswith("expert") and request.model.model.kind == "dense":
            missing = f"{request.model.id} is a dense model without experts"
            raise FlopbookError(
                f"{missing}; name a mixture of experts, or give {flag(name)}"
            ) from None
        raise FlopbookError(f"{error}; give {flag(name)}") from None


# What a whole mixture of experts has and what a token computes with; a dense model has one count.
MIXTURE_FIELDS = {"mixture_params": "params", "mixture_active_params": "compute_params"}


def _of_mixture(spec: Input, request: Request) -> Picked | None:
    """A count of a mixture of experts; None for a dense model, or where experts were typed."""
    assert request.model is not None
    is_typed = {"experts", "experts_per_token"} & request.options.keys()
    if is_typed or request.model.model.kind == "dense":
        return None
    try:
        # Only their ratio counts, so the notes on what a model is called are left out.
        return request.model.pick(MIXTURE_FIELDS[spec.model])._replace(notes=())
    except Missing:
        return None
