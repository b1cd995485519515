"""Runs a calculator from what people give: a chip, a model, quantities as text or numbers.

Every input is resolved in one order: what was given, what the chip or model supplies, the formula's
default. An input that none of them has is an error that says how to give it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flopbook.errors import FlopbookError
from flopbook.evaluation.fit import fit_of
from flopbook.evaluation.formats import add_format_note, formats_used
from flopbook.evaluation.notes import DOMAIN_ENDS, SMALL_BATCH, WHOLE_NODES, add_notes
from flopbook.evaluation.request import (
    CHIPS,
    PRICE_FROM,
    Request,
    asks_prices,
    divides_chips,
    flag,
    read_input,
    reads,
    takes,
    tensors,
)
from flopbook.evaluation.results import DEFAULT, GIVEN, Result, Value
from flopbook.formulas import get_formula
from flopbook.formulas.conditions import chip_has_the_axes
from flopbook.formulas.declaration import Input
from flopbook.formulas.input_bounds import check_input
from flopbook.quantities.dtypes import WIDTHS

if TYPE_CHECKING:
    from flopbook.hardware.picked import Picked, PickedWord

# This module is the address of the whole machinery for the rooms above and the site.
__all__ = (
    "DOMAIN_ENDS",
    "SMALL_BATCH",
    "WHOLE_NODES",
    "Result",
    "Value",
    "asks_prices",
    "calculate",
    "divides_chips",
    "reads",
    "resolved",
    "takes",
    "tensors",
)

# What nobody knows before a run, and where to get it; said where the input is missing.
# What `Input(chip=...)` asks for where messages leave a chip.
_OF_MESSAGES = ("scaleup_bandwidth", "known_domain", "known_beyond")
_HOW_TO_KNOW = {"mfu": "; flopbook predict estimates it for a layout"}


def calculate(name: str, **options: Any) -> Result:
    """Run a calculator by name: `calculate("min-batch", chip="h100-sxm")`.

    >>> calculate("max-params", memory="80GB", bytes_per_param=16)
    <max-params: params 5000000000.0>

    Options are the command line's names with underscores; quantities are SI numbers or text such as
    "3.35TB/s"; `config` is a config.json or its content. Raises FlopbookError (unknown name,
    missing input, unit that does not fit, value out of range).
    """
    request = Request(get_formula(name), options)
    values = _resolve_all(request)
    outputs = request.formula(**{key: used.value for key, used in values.items()})
    return _result(request, values, outputs)


def resolved(name: str, **options: Any) -> dict[str, Value]:
    """The inputs of a calculator as `calculate` would use them, its rules left unchecked."""
    # Sweeps and pictures start from here: a rule may refuse what can still be drawn.
    return _resolve_all(Request(get_formula(name), options))


def _resolve_all(request: Request) -> dict[str, Value]:
    return {name: _resolve(name, spec, request) for name, spec in request.formula.inputs.items()}


def _resolve(name: str, spec: Input, request: Request) -> Value:
    """One input, in the order given, chip or model, width of a number format, default."""
    unit = spec.unit if spec.is_number else ""
    if request.formula.divides and (degree := _degree_left(name, request)):
        return degree
    if name in request.options:
        value = read_input(name, spec, request.options[name])
        check_input(flag(name), spec, value)
        return Value(value, unit)
    looked_up = _listed(name, spec, request) or _look_up(name, spec, request)
    if looked_up is not None:
        return looked_up
    # A peak has a format too, but no width.
    if spec.dtype and spec.chip != "peak":
        dtype = request.format_of(spec.dtype)
        return Value(WIDTHS[dtype], spec.unit, f"width of {dtype}")
    if name in request.formula.defaults:
        return Value(request.formula.defaults[name], unit, DEFAULT)
    ways = [flag(name)]
    if spec.chip:
        ways.append("--chip")
    if spec.model:
        ways.append("--model")
    hint = _HOW_TO_KNOW.get(name, "")
    raise FlopbookError(f"{request.formula.id} needs {' or '.join(ways)} ({spec.meaning}){hint}")


def _degree_left(name: str, request: Request) -> Value | None:
    """The degree that is left of a number of chips; None where that was not given."""
    if CHIPS not in request.options:
        return None
    from flopbook.evaluation.dividing import degree_left  # only for those that give chips

    degree = degree_left(name, request)
    return None if degree is None else Value(degree, "1", "what the other degrees leave")


def _listed(name: str, spec: Input, request: Request) -> Value | None:
    """The list price of the cloud that was named; None for any other input."""
    if name != "price" or PRICE_FROM not in request.options:
        return None
    from flopbook.hardware.prices import pick_price  # reads prices, which few questions need

    assert request.chip is not None  # as a request with a list price checks
    picked = pick_price(request.chip, str(request.options[PRICE_FROM]))
    return _supplied(picked, spec, picked.claim.name, request)


def _look_up(name: str, spec: Input, request: Request) -> Value | None:
    """The value of the chip, or else of the model; None where neither was named or has it."""
    if not (spec.chip and request.chip) and not (spec.model and request.model):
        return None
    # Reads the data, which plain numbers do without.
    from flopbook.evaluation.lookups import from_chip, from_model

    # In the order in which the message of a missing input names them.
    if spec.chip and request.chip:
        picked = from_chip(name, spec, request)
        if picked:
            return _supplied(picked, spec, request.chip.id, request)
    if spec.model and request.model:
        picked = from_model(name, spec, request)
        if picked:
            return _supplied(picked, spec, request.model.id, request)
    return None


def _supplied(picked: Picked | PickedWord, spec: Input, owner: str, request: Request) -> Value:
    """A value from the data, its notes added to those of the answer."""
    request.notes += picked.notes
    if spec.chip in _OF_MESSAGES:
        request.link_notes += picked.notes
    unit = spec.unit if spec.is_number else ""
    return Value(picked.value, unit, owner, picked.source, picked.claim.place)


def _result(request: Request, values: dict[str, Value], outputs: dict[str, Any]) -> Result:
    """The answer, with the notes that a reader needs and the sources that it rests on."""
    _check_axes(request, values)
    add_notes(request, values, outputs)
    add_format_note(request, values)
    # What nobody used is not an input of the answer.
    used = {name: value for name, value in values.items() if not _stands_for_none(value)}
    sources = [value.source for value in values.values() if value.source]
    sources += request.chip.sources if request.chip else ()
    result = Result(
        request.formula,
        {**_named(request, values), **_devices(request, values), **used},
        outputs,
        tuple(dict.fromkeys(request.notes)),
        tuple(dict.fromkeys([*sources, *request.formula.sources])),
        request.omitted,
    )
    # Where no message is sent, no number rests on the links.
    sends = outputs.get("message_seconds")
    result.unshown = tuple(request.link_notes) if _is_zero(sends) else ()
    result.seek_fit = functools.partial(fit_of, request.formula, values, outputs)
    return result


def _is_zero(value: Any) -> bool:
    return isinstance(value, float | int) and value == 0


def _named(request: Request, values: Mapping[str, Value]) -> dict[str, Value]:
    """What was chosen by name, chip or model or configuration, to stand before the inputs."""
    names = {}
    if request.chip:
        names["chip"] = request.chip.id
    if "config" in request.options:
        config = request.options["config"]
        names["config"] = "config" if isinstance(config, Mapping) else str(config)
    elif request.model:
        names["model"] = request.model.id
    # A peak that was typed belongs to no number format that we know.
    if request.chip and "peak" in values and values["peak"].origin != GIVEN:
        names |= {"dtype": request.dtype, "sparsity": request.sparsity}
    chosen = {option: Value(name, "") for option, name in names.items()}
    return chosen | formats_used(request, values)


def _devices(request: Request, values: Mapping[str, Value]) -> dict[str, Value]:
    """The number of chips, given or the product of the degrees; nothing where it is an input."""
    if not divides_chips(request.formula):
        return {}
    degrees = {name: values[name].value for name in request.formula.divides}
    written = " x ".join(f"{flag(name)} {degree:.0f}" for name, degree in degrees.items())
    return {CHIPS: Value(math.prod(degrees.values()), "chip", written)}


def _stands_for_none(used: Value) -> bool:
    """Whether a value stands for "no limit" or "none of them", so that nobody used the number."""
    if not isinstance(used.value, float):
        return False
    return math.isinf(used.value) or (used.value == 0 and used.origin == DEFAULT)


def _check_axes(request: Request, values: Mapping[str, Value]) -> None:
    """Refuse more torus axes than the chip has, where they were given and the chip's are known."""
    if request.chip is None or "axes" not in values or values["axes"].origin != GIVEN:
        return
    if not any(claim.published for claim in request.chip.claims("scaleup_axes")):
        return
    chip_axes = request.chip.pick_scaleup_axes().value
    chip_has_the_axes.check(
        {"axes": values["axes"].value, "chip_axes": chip_axes, "chip": request.chip.id}
    )
