"""What a reader of an answer has to know beside its numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flopbook.evaluation.request import Request, flag
from flopbook.evaluation.results import DEFAULT, GIVEN, Value
from flopbook.formulas.omissions import omitted
from flopbook.quantities.units import format_quantity

# The form on the page says the same in the same words.
SMALL_BATCH = "the batch is smaller than one chip needs"
DOMAIN_ENDS = (
    "the scale-up network of {chip} ends at {size}, and the answer with it; "
    "for more, give the rate beyond as --scaleout-bandwidth, one way of one chip"
)
WHOLE_NODES = "nodes of {size} are billed whole: {billed} for {chips}"
PEAK_AS_GIVEN = "--sparsity chooses among the peaks of a chip; the given --peak is used as it is"
# Of calculators that know one level alone.
MESH_ENDS = (
    "the scale-up network of {chip} ends at {size}: with more, what crosses domains is slower "
    "than counted here"
)
# The outputs that are a number of chips; a calculator has at most one of them.
CHIP_COUNTS = ("max_chips", "max_tp_degree", "devices")


def add_notes(request: Request, values: Mapping[str, Value], outputs: dict[str, Any]) -> None:
    """Add the notes on an answer to its request; outputs whose inputs are missing become None."""
    if "sparsity" in request.options and "peak" in request.options:
        request.notes.append(PEAK_AS_GIVEN)
    inputs = {name: used.value for name, used in values.items()}
    omissions = omitted(request.formula.omissions, {**outputs, **inputs})
    _open_outputs(request, values, outputs)
    _note_chips(request, values, outputs)
    _note_whole_nodes(request, values, outputs)
    # Nothing is left out of an output that is open.
    request.omitted = {
        name: omission for name, omission in omissions.items() if outputs[omission.of] is not None
    }


def _open_outputs(request: Request, values: Mapping[str, Value], outputs: dict[str, Any]) -> None:
    """Say which outputs have no limit, and which are open (None) because an input was left out."""
    waiting: dict[tuple[str, ...], list[str]] = {}  # outputs that lack the same inputs share a note
    for name, spec in request.formula.outputs.items():
        missing = tuple(needed for needed in spec.needs if values[needed].origin == DEFAULT)
        if missing:
            outputs[name] = None
            waiting.setdefault(missing, []).append(name)
        elif isinstance(outputs[name], float) and math.isinf(outputs[name]):
            request.notes.append(f"{name}: {spec.absent or 'unlimited'}")
    for missing, names in waiting.items():
        verb = "needs" if len(names) == 1 else "need"
        flags = " and ".join(flag(name) for name in missing)
        request.notes.append(f"{', '.join(names)} {verb} {flags}")
        request.notes += _lacking(request, names, outputs)


def _lacking(request: Request, names: list[str], outputs: Mapping[str, Any]) -> list[str]:
    """What open outputs leave out of the others, with the others as people read them."""
    specs = request.formula.outputs
    texts = dict.fromkeys(specs[name].lacking for name in names if specs[name].lacking)
    # A sweep says it in its columns.
    written = {
        name: format_quantity(value, specs[name].unit)
        for name, value in outputs.items()
        if isinstance(value, float)
    }
    return [text.format_map(_Written(written)) for text in texts]


class _Written(dict[str, str]):
    """Values as people read them; one of many points by its name."""

    def __missing__(self, name: str) -> str:
        return name


def _note_chips(request: Request, values: Mapping[str, Value], outputs: Mapping[str, Any]) -> None:
    """Say when a number of chips is below one, or ends with the network for want of a rate."""
    counts = [outputs[name] for name in CHIP_COUNTS if name in outputs]
    # None where the outputs are open.
    if not counts or counts[0] is None:
        return
    fewest, most = _range(counts[0])
    if fewest == 0 and "max_chips" in outputs:
        request.notes.append(SMALL_BATCH)
    # A limit that knows both levels and has no rate for the second one.
    domain, beyond = values.get("chips_per_node"), values.get("scaleout_bandwidth")
    if request.chip is None:
        return
    if domain is None or beyond is None:
        return _note_mesh(request, values, most)
    if math.isinf(beyond.value) and most >= domain.value:
        size = format_quantity(domain.value, "chip")
        request.notes.append(DOMAIN_ENDS.format(size=size, chip=request.chip.id))


def _note_mesh(request: Request, values: Mapping[str, Value], most: float) -> None:
    """Say that a mesh is larger than the network of its chip, where the links are of the chip."""
    link = values.get("link_bandwidth")
    if request.chip is None or link is None or link.origin == GIVEN:
        return
    domain = request.chip.pick_scaleup_domain()
    if domain is not None and most > domain.value:
        size = format_quantity(domain.value, "chip")
        request.notes.append(MESH_ENDS.format(size=size, chip=request.chip.id))


def _note_whole_nodes(
    request: Request, values: Mapping[str, Value], outputs: Mapping[str, Any]
) -> None:
    """Say when more chips are billed than train, because nodes are whole."""
    if "billed_chips" not in outputs:
        return
    asked, billed = values["chips"].value, outputs["billed_chips"]
    # A sweep says it in its columns.
    if isinstance(billed, float) and billed > asked:
        size = format_quantity(values["chips_per_node"].value, "chip")
        chips, all_chips = (format_quantity(count, "chip") for count in (asked, billed))
        request.notes.append(WHOLE_NODES.format(chips=chips, size=size, billed=all_chips))


def _range(count: Any) -> tuple[float, float]:
    """The least and the most of a number, or of all numbers of an array."""
    if hasattr(count, "min"):
        return count.min(), count.max()
    return count, count
