"""Runs a calculator from what people give: a chip, a model, quantities as text or numbers.

Every input is resolved in one order: what was given, what the chip or model supplies, the formula's
default. An input that none of them has is an error that says how to give it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.formulas import get_formula
from flopbook.formulas.declaration import Formula, Input, check_input
from flopbook.quantities.choices import choice
from flopbook.quantities.dtypes import BLOCK_DTYPES, DTYPE_BYTES
from flopbook.quantities.units import UnitError, format_quantity, is_bare, one_way, parse_quantity

if TYPE_CHECKING:
    from flopbook.architectures.shape import Shape
    from flopbook.hardware.chip import Chip

# A rate typed without a unit and below this was meant in a larger unit, not in FLOP/s or byte/s.
SLOWEST_BARE = 1e6
# What a chip gives of its links, one way; an amount that is typed may say "both ways".
LINKS = ("link_bandwidth", "scaleout_bandwidth")
SPARSITIES = ("dense", "2:4", "4:1", "unstated")

# The form on the page says the same in the same words.
SMALL_BATCH = "the batch is smaller than one chip needs"
DOMAIN_ENDS = (
    "beyond {size} the scale-up network of {chip} ends ({size}): the slower scale-out network counts; "
    "give its rate as link bandwidth"
)


class Value(NamedTuple):
    """An input as it was used: SI value or text, unit, where it came from and by which source."""

    value: Any
    unit: str
    origin: str = "given"
    source: str = ""
    place: str = ""


class Result(Mapping[str, Any]):
    """A calculator's answer: a mapping of outputs (SI), with inputs, notes and sources beside it."""

    def __init__(
        self,
        formula: Formula,
        inputs: Mapping[str, Value],
        outputs: Mapping[str, Any],
        notes: tuple[str, ...] = (),
        sources: tuple[str, ...] = (),
    ) -> None:
        self.formula, self.inputs, self.outputs = formula, inputs, outputs
        self.notes, self.sources = notes, sources

    def __getitem__(self, name: str) -> Any:
        return self.outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.outputs)

    def __len__(self) -> int:
        return len(self.outputs)

    def __repr__(self) -> str:
        return f"<{self.formula.id}: {', '.join(f'{name} {value}' for name, value in self.outputs.items())}>"

    def as_json(self) -> dict[str, Any]:
        """The answer under the contract of `--json`: SI values, open or unlimited ones as null."""
        inputs: dict[str, Any] = {}
        for name, item in self.inputs.items():
            inputs[name] = {"value": _json_number(item.value), "unit": item.unit or None}
            if item.source:
                inputs[name]["source"] = item.source
        outputs = {
            name: {"value": _json_number(value), "unit": self.formula.outputs[name].unit}
            for name, value in self.outputs.items()
        }
        return {
            "calculator": self.formula.id,
            "inputs": inputs,
            "outputs": outputs,
            "notes": list(self.notes),
            "sources": list(self.sources),
        }


def _json_number(value: Any) -> Any:
    if hasattr(value, "tolist"):  # a NumPy array or scalar
        return _json_number(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_json_number(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Request:
    """What was asked, and what has been found out on the way to an answer."""

    def __init__(self, formula: Formula, options: dict[str, Any]) -> None:
        self.formula, self.options = formula, options
        self.chip = _chip(formula, str(options["chip"])) if "chip" in options else None
        self.model = _model(options)
        self.notes: list[str] = []

    @property
    def dtype(self) -> str:
        return str(self.options.get("dtype") or "bf16")

    @property
    def sparsity(self) -> str:
        return str(self.options.get("sparsity") or "dense")


def _chip(formula: Formula, names: str) -> Chip:
    from flopbook.hardware.rooflines import chips_of

    return chips_of(formula, names)


def _model(options: Mapping[str, Any]) -> Shape | None:
    """The model that was named, or the one that a configuration file describes."""
    if "config" not in options and "model" not in options:
        return None
    from flopbook.architectures.shape import Shape, shape

    if "config" not in options:
        return shape(str(options["model"]))
    if "model" in options:
        raise FlopbookError("give --model or --config, not both")
    from flopbook.architectures.huggingface import (
        read_config,  # reads JSON, which few commands need
    )

    config = options["config"]
    return Shape(read_config(config if isinstance(config, Mapping) else Path(str(config))))


def takes(formula_: Formula) -> tuple[str, ...]:
    """The options a calculator takes besides its own inputs: chip, dtype, sparsity, model."""
    specs = formula_.inputs.values()
    rate = any(spec.chip in ("peak", "roofs") for spec in specs)
    wanted = {
        "chip": any(spec.chip for spec in specs),
        "dtype": rate or any(spec.dtype for spec in specs),
        "sparsity": rate,
        "model": any(spec.model for spec in specs),
    }
    return tuple(name for name, takes_it in wanted.items() if takes_it)


def reads(formula_: Formula) -> tuple[str, ...]:
    """The options that name a file: a configuration stands wherever a model does."""
    return ("config",) if "model" in takes(formula_) else ()


def calculate(name: str, **options: Any) -> Result:
    """Run a calculator: `calculate("min-batch", chip="h100-sxm")`. `config` is a config.json or its
    content.

    >>> calculate("max-params", memory="80GB", bytes_per_param=16)
    <max-params: params 5000000000.0>

    Options are the command line's names with underscores; quantities are SI numbers or text such as
    "3.35TB/s". Raises FlopbookError (unknown name, missing input, unit that does not fit, value out
    of range).
    """
    request, values = _inputs(name, options)
    outputs = request.formula(**{key: item.value for key, item in values.items()})
    return _result(request, values, outputs)


def resolved(name: str, **options: Any) -> dict[str, Value]:
    """The inputs of a calculator as `calculate` would use them, before the rules that its closed
    form adds.
    """
    return _inputs(name, options)[1]


def _inputs(name: str, options: Mapping[str, Any]) -> tuple[Request, dict[str, Value]]:
    formula_ = get_formula(name)
    known = (*takes(formula_), *reads(formula_), *formula_.inputs)
    for option in options:
        if option not in known:
            raise UnknownName(f"option of {name}", option, known)
    request = Request(formula_, _asked(options))
    return request, {key: _resolve(key, spec, request) for key, spec in formula_.inputs.items()}


def _asked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, names of formats as the package spells them.

    Raises FlopbookError.
    """
    given = {key: value for key, value in options.items() if value is not None}
    for option, value in given.items():
        if isinstance(value, str) and not value.strip():
            raise FlopbookError(f"{_option(option)} is empty")
    for option, choices in (("dtype", (*DTYPE_BYTES, *BLOCK_DTYPES)), ("sparsity", SPARSITIES)):
        if option in given:
            given[option] = choice(given[option], choices)
            if given[option] not in choices:
                raise UnknownName(option, str(given[option]), choices)
    return given


def _resolve(name: str, spec: Input, request: Request) -> Value:
    """One input, in the order given, chip or model, default."""
    if name in request.options:
        value = _given(name, spec, request.options[name])
        check_input(_option(name), spec, value)
        return Value(value, spec.unit if spec.is_number else "")
    if found := _looked_up(name, spec, request):
        return found
    if spec.dtype and (width := DTYPE_BYTES.get(request.dtype)) is not None:
        return Value(width, spec.unit, f"width of {request.dtype}")
    if spec.dtype:
        raise FlopbookError(
            f"the width of {request.dtype} depends on its scales; give {_option(name)}"
        )
    if name in request.formula.defaults:
        return Value(request.formula.defaults[name], spec.unit if spec.is_number else "", "default")
    ways = [_option(name), *(["--chip"] if spec.chip else []), *(["--model"] if spec.model else [])]
    raise FlopbookError(f"{request.formula.id} needs {' or '.join(ways)} ({spec.meaning})")


def _looked_up(name: str, spec: Input, request: Request) -> Value | None:
    """The value of the chip, or else of the model; None where neither was asked or has it."""
    if not (spec.chip and request.chip) and not (spec.model and request.model):
        return None
    from flopbook.evaluation.lookups import (  # read the data, which plain numbers do without
        from_chip,
        from_model,
    )

    for owner, asked, supply in (
        (request.chip, spec.chip, from_chip),
        (request.model, spec.model, from_model),
    ):
        picked = supply(name, spec, request) if owner and asked else None
        if owner and picked:
            request.notes += picked.notes
            return Value(
                picked.value,
                spec.unit if spec.is_number else "",
                owner.id,
                picked.source,
                picked.claim.place,
            )
    return None


def _given(name: str, spec: Input, value: Any) -> Any:
    if not (spec.is_number and isinstance(value, str)):
        return choice(value, spec.choices)
    ways = 1.0
    if spec.chip in LINKS:  # data sheets print both ways together; a calculator takes one
        value, ways = one_way(value)
    try:
        amount = parse_quantity(value, spec.unit) * ways
    except UnitError as error:
        raise FlopbookError(f"{_option(name)}: {error}") from None
    if is_bare(value) and amount > 0:
        _check_bare(name, spec.unit, value, amount)
    return amount


def read_input(name: str, spec: Input, value: Any) -> Any:
    """One value of an input as `calculate` reads it, before its bounds are checked.

    Raises FlopbookError.
    """
    return _given(name, spec, value)


def _check_bare(name: str, unit: str, text: str, amount: float) -> None:
    """Refuse a bare number where nobody thinks in the SI unit: rates, prices of an hour, carbon of
    a kWh.
    """
    likely = {"USD/s": "USD/h", "kg/J": "g/kWh"}.get(unit, "")
    if unit in ("FLOP/s", "byte/s") and amount < SLOWEST_BARE:
        likely = "TFLOP/s" if unit == "FLOP/s" else "TB/s" if amount < 10 else "GB/s"
    if likely:
        raise FlopbookError(
            f"{_option(name)}: '{shorten(text)}' has no unit; write for example {shorten(text)}{likely}"
        )


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _result(request: Request, values: dict[str, Value], outputs: dict[str, Any]) -> Result:
    _check_axes(request, values)
    if "sparsity" in request.options and "peak" in request.options:
        request.notes.append(
            "--sparsity chooses among the peaks of a chip; the given --peak is used as it is"
        )
    waiting: dict[tuple[str, ...], list[str]] = {}  # outputs that lack the same inputs share a note
    for name, spec in request.formula.outputs.items():
        open_inputs = tuple(n for n in spec.needs if values[n].origin == "default")
        if open_inputs:
            outputs[name] = None
            waiting.setdefault(open_inputs, []).append(name)
        elif isinstance(outputs[name], float) and math.isinf(outputs[name]):
            request.notes.append(f"{name}: {spec.absent or 'unlimited'}")
    for missing, names in waiting.items():
        verb = "needs" if len(names) == 1 else "need"
        request.notes.append(
            f"{', '.join(names)} {verb} {' and '.join(_option(n) for n in missing)}"
        )
    _note_chips(request, values, outputs)
    # A default that stands for "no limit" or for "none of them" is not a number that anybody used.
    shown = {n: v for n, v in values.items() if not _stands_for_none(v)}
    chosen = {
        "chip": request.chip.id if request.chip else "",
        "model": request.model.id if request.model else "",
    }
    if "config" in request.options:
        config = request.options["config"]
        chosen |= {"model": "", "config": "config" if isinstance(config, Mapping) else str(config)}
    if request.chip and values.get("peak") and values["peak"].origin != "given":
        chosen |= {"dtype": request.dtype, "sparsity": request.sparsity}
    heads = {name: Value(value, "") for name, value in chosen.items() if value}
    read = [
        *(v.source for v in values.values() if v.source),
        *(request.chip.sources if request.chip else ()),
    ]
    sources = dict.fromkeys([*read, *request.formula.sources])
    return Result(
        request.formula,
        {**heads, **shown},
        outputs,
        tuple(dict.fromkeys(request.notes)),
        tuple(sources),
    )


def _stands_for_none(item: Value) -> bool:
    return isinstance(item.value, float) and (
        math.isinf(item.value) or (item.value == 0 and item.origin == "default")
    )


def _note_chips(request: Request, values: dict[str, Value], outputs: dict[str, Any]) -> None:
    """Say when an answer in chips is below one chip, or beyond the network whose links were taken
    from the chip.
    """
    chips = next(
        (outputs[name] for name in ("max_chips", "max_ways", "devices") if name in outputs), None
    )
    if chips is None:
        return
    fewest, most = (chips.min(), chips.max()) if hasattr(chips, "min") else (chips, chips)
    if fewest == 0 and "max_chips" in outputs:
        request.notes.append(SMALL_BATCH)
    if (
        request.chip is None
        or "link_bandwidth" not in values
        or values["link_bandwidth"].origin == "given"
    ):
        return
    domain = request.chip.pick_scaleup_domain()
    if domain is not None and most > domain.value:
        request.notes.append(
            DOMAIN_ENDS.format(size=format_quantity(domain.value, "chip"), chip=request.chip.id)
        )


def _check_axes(request: Request, values: dict[str, Value]) -> None:
    """Refuse more axes than the chip has, where an axis count was given and that of the chip is
    known.
    """
    known = request.chip is not None and any(
        c.published for c in request.chip.claims("scaleup_axes")
    )
    if (
        request.chip is None
        or not known
        or "axes" not in values
        or values["axes"].origin != "given"
    ):
        return
    have = request.chip.pick_scaleup_axes().value
    if values["axes"].value > have:
        raise FlopbookError(
            f"--axes is {values['axes'].value:g}, but {request.chip.id} has {have:g}"
        )
