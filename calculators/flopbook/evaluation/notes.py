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
    "beyond {size} the scale-up network of {chip} ends ({size}): "
    "the slower scale-out network counts; give its rate as link bandwidth"
)
PEAK_AS_GIVEN = "--sparsity chooses among the peaks of a chip; the given --peak is used as it is"
# The outputs that are a number of chips; a calculator has at most one of them.
CHIP_COUNTS = ("max_chips", "max_ways", "devices")


def add_notes(request: Request, values: Mapping[str, Value], outputs: dict[str, Any]) -> None:
    """Add the notes on an answer to its request; outputs whose inputs are missing become None."""
    if "sparsity" in request.options and "peak" in request.options:
        request.notes.append(PEAK_AS_GIVEN)
    given = {name: used.value for name, used in values.items()}
    found = omitted(request.formula.omissions, {**outputs, **given})
    _open_outputs(request, values, outputs)
    _note_chips(request, values, outputs)
    # Nothing is left out of an output that is open.
    request.omitted = {name: one for name, one in found.items() if outputs[one.of] is not None}


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


def _note_chips(request: Request, values: Mapping[str, Value], outputs: Mapping[str, Any]) -> None:
    """Say when a number of chips is below one, or beyond the network that its bandwidth is of."""
    counts = [outputs[name] for name in CHIP_COUNTS if name in outputs]
    # None where the outputs are open.
    if not counts or counts[0] is None:
        return
    fewest, most = _range(counts[0])
    if fewest == 0 and "max_chips" in outputs:
        request.notes.append(SMALL_BATCH)
    # A bandwidth that was typed is of whatever network the reader means.
    bandwidth = values.get("link_bandwidth")
    if request.chip is None or bandwidth is None or bandwidth.origin == GIVEN:
        return
    domain = request.chip.pick_scaleup_domain()
    if domain is not None and most > domain.value:
        size = format_quantity(domain.value, "chip")
        request.notes.append(DOMAIN_ENDS.format(size=size, chip=request.chip.id))


def _range(count: Any) -> tuple[float, float]:
    """The least and the most of a number, or of all numbers of an array."""
    if hasattr(count, "min"):
        return count.min(), count.max()
    return count, count
