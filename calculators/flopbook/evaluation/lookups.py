"""What a chip or a model supplies to the inputs of a calculator.

A module of its own, so that a calculator that is given plain numbers reads no data and imports no
reader.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.evaluation.request import Request, flag, read_input
from flopbook.formulas.declaration import Input
from flopbook.formulas.input_bounds import check_input
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose_peak
from flopbook.hardware.picked import Missing, Picked, PickedWord
from flopbook.hardware.rooflines import Chips
from flopbook.quantities.dtypes import STANDS_FOR
from flopbook.quantities.units import format_quantity, plural

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
        # A default of infinity is a limit that need not be given.
        if request.formula.defaults.get(name) == math.inf:
            return None
        # A node in place of a chip, for example: no single option would help.
        if not isinstance(error, Missing):
            raise
        way = flag(name)
        # Only where the message lists other formats to choose from.
        if spec.chip == "peak" and "it has: " in str(error):
            way += f", or another --{'compute-' if request.applies_rule else ''}dtype"
        raise FlopbookError(f"{error}; give {way}") from None


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
    """One-way bandwidth of one link.

    Axes times links per axis times this is the total that the chip's data sheet states.
    """
    total = chip.pick_scaleup_bandwidth()
    axes = chip.pick_scaleup_axes()
    links = axes.value * _links_per_axis(chip, request).value
    rate = format_quantity(total.value / links, "byte/s")
    if links > 1:
        count = f"{axes.value:g} {plural('axis', axes.value)}"
        note = f"{chip.id} has {count} of 2 links; one link carries {rate} one way"
    else:
        note = (
            f"{chip.id} is on a switch or fully connected: "
            f"all its links count as one port of {rate} one way"
        )
    return Picked(total.value / links, "byte/s", total.claim, (*total.notes, note))


def _links_per_axis(chip: Chip, _: Request) -> Picked:
    """2 on a torus (a neighbour to either side), 1 for the port of a switch."""
    axes = chip.pick_scaleup_axes()
    return Picked(2.0 if _is_torus(axes) else 1.0, "1", axes.claim)


def _is_torus(axes: Picked) -> bool:
    # A mesh is a torus whose rings are not closed; inside, it has two links an axis as well.
    return axes.claim.topology in ("torus", "mesh")


def _torus_axes(chip: Chip, _: Request) -> Picked | None:
    """Axes of a torus; a switch has none that could run out."""
    axes = chip.pick_scaleup_axes()
    return axes if _is_torus(axes) else None


def _topology(chip: Chip, _: Request) -> PickedWord:
    """How the scale-up network joins the chips, in the words of --topology."""
    axes = chip.pick_scaleup_axes()
    word = "switch"
    # One axis closed to a ring has formulas of its own.
    if _is_torus(axes):
        word = "torus" if axes.value > 1 else "ring"
    return PickedWord(word, axes.claim)


def _axes(chip: Chip, request: Request) -> Picked | None:
    """All axes of the torus, unless the collective runs on another topology."""
    axes = chip.pick_scaleup_axes()
    if request.options.get("topology", "torus") != "torus":
        return None
    if axes.value <= 1:
        return Picked(axes.value, "1", axes.claim)
    note = f"all {axes.value:g} axes of {chip.id} are used; choose with --axes"
    return Picked(axes.value, "1", axes.claim, (note,))


def _is_one_level(request: Request) -> bool:
    """Whether the question leaves out the network beyond a node."""
    has_topology = "topology" in request.formula.inputs
    return has_topology and request.options.get("topology") != "two-level"


def _chips_per_node(chip: Chip, request: Request) -> Picked | None:
    return None if _is_one_level(request) else chip.pick_scaleup_domain()


def _scaleout_bandwidth(chip: Chip, request: Request) -> Picked | None:
    return None if _is_one_level(request) else chip.pick_scaleout_bandwidth()


# What `Input(chip=...)` of a formula may ask for.
_CHIP_VALUES: dict[str, ChipValue] = {
    "peak": _peak,
    "roofs": _roofs,
    "memory_bandwidth": _memory_bandwidth,
    "memory": _memory,
    "server_power": _server_power,
    "node_chips": _node_chips,
    "link_bandwidth": _link_bandwidth,
    "links_per_axis": _links_per_axis,
    "axes": _axes,
    "torus_axes": _torus_axes,
    "topology": _topology,
    "chips_per_node": _chips_per_node,
    "scaleout_bandwidth": _scaleout_bandwidth,
}


def from_model(name: str, spec: Input, request: Request) -> Picked | PickedWord | None:
    """The value of the model; None where its kind or its silence means the formula's default."""
    assert request.model is not None
    counts_experts = spec.model in ("experts", "experts_per_token")
    # A dense model has no experts to record; the default of the formula is none.
    if counts_experts and request.model.model.kind == "dense":
        return None
    shape = request.model.having(_sizes_given(request))
    has_default = name in request.formula.defaults
    if not counts_experts and has_default and not shape.records(spec.model):
        return None
    if spec.choices:
        claim = shape.claim(spec.model)
        return claim and PickedWord(str(claim.value), claim)
    try:
        return shape.pick(spec.model)
    except Missing as error:
        raise FlopbookError(f"{error}; give {flag(name)}") from None


def _sizes_given(request: Request) -> dict[str, Any]:
    """Sizes of the shape that were typed, by the names of the fields that they replace.

    Raises FlopbookError for one that its input refuses.
    """
    sizes = {}
    for name, spec in request.formula.inputs.items():
        if name not in request.options or not spec.model:
            continue
        value = read_input(name, spec, request.options[name])
        check_input(flag(name), spec, value)
        sizes[spec.model] = value
    return sizes
