"""What a chip or a model supplies to the inputs of a calculator.

A module of its own, so that a calculator that is given plain numbers reads no data and imports no
reader.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flopbook.errors import FlopbookError
from flopbook.formulas.declaration import Input
from flopbook.hardware.chip import Chip
from flopbook.hardware.picked import Missing, Picked
from flopbook.quantities.units import format_quantity, plural

if TYPE_CHECKING:
    from flopbook.evaluation.calculator import Request


def from_chip(name: str, spec: Input, request: Request) -> Picked | None:
    """The value of the chip; None where the question does not need it, or where it has none and a
    default is a limit.

    Raises FlopbookError where the chip has no such value and the calculator needs one.
    """
    try:
        return _CHIP_VALUES[spec.chip](request)
    except FlopbookError as error:
        if request.formula.defaults.get(name) == math.inf:
            return None
        other = ", or another --dtype" if spec.chip == "peak" and "it has: " in str(error) else ""
        way = f"--{name.replace('_', '-')}{other}"
        raise (
            FlopbookError(f"{error}; give {way}") if isinstance(error, Missing) else error
        ) from None


def _link_bandwidth(request: Request) -> Picked:
    """One-way bandwidth of one link, so that axes and links of a ring multiply back to the chip's
    total.
    """
    assert request.chip is not None
    whole = request.chip.pick_scaleup_bandwidth()
    axes = request.chip.pick_scaleup_axes()
    share = axes.value * _links_per_axis(request).value
    rate = format_quantity(whole.value / share, "byte/s")
    if share > 1:
        count = f"{axes.value:g} {plural('axis', axes.value)}"
        note = f"{request.chip.id} has {count} of 2 links; one link carries {rate} one way"
    else:
        note = f"{request.chip.id} is on a switch or fully connected: all its links count as one port of {rate} one way"
    return Picked(whole.value / share, "byte/s", whole.claim, (*whole.notes, note))


def _links_per_axis(request: Request) -> Picked:
    """2 on a torus (a neighbour to either side), 1 for the port of a switch."""
    assert request.chip is not None
    axes = request.chip.pick_scaleup_axes()
    return Picked(2.0 if _is_torus(axes) else 1.0, "1", axes.claim)


def _is_torus(axes: Picked) -> bool:
    return axes.claim.topology in ("torus", "mesh")


def _torus_axes(request: Request) -> Picked | None:
    """Axes of a torus; a switch has none that could run out."""
    assert request.chip is not None
    axes = request.chip.pick_scaleup_axes()
    return axes if _is_torus(axes) else None


def _topology(request: Request) -> Picked:
    """How the scale-up network joins the chips, in the words of --topology."""
    assert request.chip is not None
    axes = request.chip.pick_scaleup_axes()
    word = "switch" if not _is_torus(axes) else "torus" if axes.value > 1 else "ring"
    return Picked(word, "1", axes.claim)  # type: ignore[arg-type]  # the one value that is a word


def _axes(request: Request) -> Picked | None:
    assert request.chip is not None
    axes = request.chip.pick_scaleup_axes()
    if request.options.get("topology", "torus") != "torus":
        return None
    note = (
        f"all {axes.value:g} axes of {request.chip.id} are used; choose with --axes"
        if axes.value > 1
        else ""
    )
    return Picked(axes.value, "1", axes.claim, (note,) if note else ())


def _two_levels(pick: Callable[[Chip], Picked | None]) -> Callable[[Request], Picked | None]:
    """A value of the network beyond a node, looked up only where the question is about two levels."""

    def asked(request: Request) -> Picked | None:
        one_level = (
            "topology" in request.formula.inputs and request.options.get("topology") != "two-level"
        )
        return None if one_level or request.chip is None else pick(request.chip)

    return asked


def _power(request: Request) -> Picked:
    """Power of a chip.

    That of a node or a pod is published too, but is not what a number of chips multiplies.
    """
    assert request.chip is not None
    request.chip.require_package()
    return request.chip.pick_power()


_CHIP_VALUES: dict[str, Callable[[Any], Picked | None]] = {
    "peak": lambda r: r.chip.pick_peak(r.dtype, r.sparsity),
    "roofs": lambda r: r.chip.pick_roofs(r.dtype, r.sparsity),
    "memory_bandwidth": lambda r: r.chip.pick_memory_bandwidth(),
    "memory": lambda r: r.chip.pick_memory(),
    "power": _power,
    "link_bandwidth": _link_bandwidth,
    "links_per_axis": _links_per_axis,
    "axes": _axes,
    "torus_axes": _torus_axes,
    "topology": _topology,
    "chips_per_node": _two_levels(lambda chip: chip.pick_scaleup_domain()),
    "scaleout_bandwidth": _two_levels(lambda chip: chip.pick_scaleout_bandwidth()),
}


def from_model(name: str, spec: Input, request: Request) -> Picked | None:
    """The value of the model; None where its kind or its silence means the formula's default."""
    assert request.model is not None
    mixed = spec.model in ("experts", "experts_per_token")
    if mixed and request.model.model.kind == "dense":
        return None
    if not mixed and name in request.formula.defaults and not request.model.records(spec.model):
        return None
    if spec.choices:
        claim = request.model.claim(spec.model)
        return claim and Picked(claim.value, "1", claim)  # type: ignore[arg-type]  # a word
    try:
        return _of_model(spec, request)
    except Missing as error:
        raise FlopbookError(f"{error}; give --{name.replace('_', '-')}") from None


def _of_model(spec: Input, request: Request) -> Picked:
    """A number of the model. Raises Missing."""
    assert request.model is not None
    if spec.model != "compute_params":
        return request.model.pick(spec.model)
    picked = request.model.pick_compute_params()
    if request.model.model.kind == "moe":
        note = f"{request.model.id} is a mixture of experts: its active parameters count"
        picked = picked._replace(notes=(*picked.notes, note))
    return picked
