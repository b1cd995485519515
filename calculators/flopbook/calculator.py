"""Runs a calculator from what people give: a chip, a model, quantities as text or numbers.

Every input is resolved in one order: what was given, what the chip or model supplies, the formula's default. An input
that none of them has is an error that says how to give it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.formula import Formula, Input, check_input, choice
from flopbook.formulas import get_formula
from flopbook.lookup import Chip, Picked, Shape, chip, shape
from flopbook.problems import FlopbookError, UnknownName, shorten
from flopbook.units import UnitError, format_quantity, is_bare, parse_quantity, plural

# Bytes of one value in each number format; block formats carry a shared scale beside their values.
DTYPE_BYTES = {
    "fp64": 8.0, "fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "fp6": 0.75, "fp4": 0.5,
    "int4": 0.5,
}  # fmt: skip
BLOCK_DTYPES = ("mxfp8", "mxfp6", "mxfp4", "nvfp4")
# A rate typed without a unit and below this was meant in a larger unit, not in FLOP/s or byte/s.
SLOWEST_BARE = 1e6
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
            "calculator": self.formula.id, "inputs": inputs, "outputs": outputs, "notes": list(self.notes),
            "sources": list(self.sources),
        }  # fmt: skip


def _json_number(value: Any) -> Any:
    if hasattr(value, "tolist"):  # a NumPy array or scalar
        return _json_number(value.tolist())
    if isinstance(value, list):
        return [_json_number(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Request:
    """What was asked, and what has been found out on the way to an answer."""

    def __init__(self, formula: Formula, options: dict[str, Any]) -> None:
        self.formula, self.options = formula, options
        self.chip = chip(str(options["chip"])) if "chip" in options else None
        self.model = _model(options)
        self.notes: list[str] = []

    @property
    def dtype(self) -> str:
        return str(self.options.get("dtype") or "bf16")

    @property
    def sparsity(self) -> str:
        return str(self.options.get("sparsity") or "dense")


def _model(options: Mapping[str, Any]) -> Shape | None:
    """The model that was named, or the one that a configuration file describes."""
    if "config" not in options:
        return shape(str(options["model"])) if "model" in options else None
    if "model" in options:
        raise FlopbookError("give --model or --config, not both")
    from flopbook.huggingface import read_config  # reads JSON, which few commands need

    config = options["config"]
    return Shape(read_config(config if isinstance(config, Mapping) else Path(str(config))))


def takes(formula_: Formula) -> tuple[str, ...]:
    """The options a calculator takes besides its own inputs: chip, dtype, sparsity, model."""
    specs = formula_.inputs.values()
    rate = any(spec.chip == "peak" for spec in specs)
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
    """Run a calculator: `calculate("min-batch", chip="h100-sxm")`. `config` is a config.json or its content.

    Options are the command line's names with underscores; quantities are SI numbers or text such as "3.35TB/s".
    Raises FlopbookError (unknown name, missing input, unit that does not fit, value out of range).
    """
    request, values = _inputs(name, options)
    outputs = request.formula(**{key: item.value for key, item in values.items()})
    return _result(request, values, outputs)


def resolved(name: str, **options: Any) -> dict[str, Value]:
    """The inputs of a calculator as `calculate` would use them, before the rules that its closed form adds."""
    return _inputs(name, options)[1]


def _inputs(name: str, options: Mapping[str, Any]) -> tuple[_Request, dict[str, Value]]:
    formula_ = get_formula(name)
    known = (*takes(formula_), *reads(formula_), *formula_.inputs)
    for option in options:
        if option not in known:
            raise UnknownName(f"option of {name}", option, known)
    request = _Request(formula_, _asked(options))
    return request, {key: _resolve(key, spec, request) for key, spec in formula_.inputs.items()}


def _asked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, names of formats as the package spells them. Raises FlopbookError."""
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


def _resolve(name: str, spec: Input, request: _Request) -> Value:
    """One input, in the order given, chip or model, default."""
    if name in request.options:
        value = _given(name, spec, request.options[name])
        check_input(_option(name), spec, value)
        return Value(value, "" if spec.choices else spec.unit)
    if spec.chip and request.chip and (found := _supplied(name, spec, request)):
        return found
    if spec.model and request.model and (found := _from_model(name, spec, request)):
        return found
    if spec.dtype and (width := DTYPE_BYTES.get(request.dtype)) is not None:
        return Value(width, spec.unit, f"width of {request.dtype}")
    if spec.dtype:
        raise FlopbookError(f"the width of {request.dtype} depends on its scales; give {_option(name)}")
    if name in request.formula.defaults:
        return Value(request.formula.defaults[name], "" if spec.choices else spec.unit, "default")
    ways = [_option(name), *(["--chip"] if spec.chip else []), *(["--model"] if spec.model else [])]
    raise FlopbookError(f"{request.formula.id} needs {' or '.join(ways)} ({spec.meaning})")


def _given(name: str, spec: Input, value: Any) -> Any:
    if spec.choices or not isinstance(value, str):
        return choice(value, spec.choices)
    try:
        amount = parse_quantity(value, spec.unit)
    except UnitError as error:
        raise FlopbookError(f"{_option(name)}: {error}") from None
    if is_bare(value) and amount > 0:
        _check_bare(name, spec.unit, value, amount)
    return amount


def read_input(name: str, spec: Input, value: Any) -> Any:
    """One value of an input as `calculate` reads it, before its bounds are checked. Raises FlopbookError."""
    return _given(name, spec, value)


def _check_bare(name: str, unit: str, text: str, amount: float) -> None:
    """Refuse a bare number where nobody thinks in the SI unit: rates, prices of an hour, carbon of a kWh."""
    likely = {"USD/s": "USD/h", "kg/J": "g/kWh"}.get(unit, "")
    if unit in ("FLOP/s", "byte/s") and amount < SLOWEST_BARE:
        likely = "TFLOP/s" if unit == "FLOP/s" else "TB/s" if amount < 10 else "GB/s"
    if likely:
        raise FlopbookError(
            f"{_option(name)}: '{shorten(text)}' has no unit; write for example {shorten(text)}{likely}"
        )


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _supplied(name: str, spec: Input, request: _Request) -> Value | None:
    """The chip's value; None where it has none and the formula leaves its output open instead."""
    try:
        return _from_chip(name, spec, request)
    except FlopbookError:
        if request.formula.defaults.get(name) != math.inf:
            raise
        return None


def _from_chip(name: str, spec: Input, request: _Request) -> Value | None:
    """The value that a chip supplies; None where the question does not need it, or the chip has none."""
    assert request.chip is not None
    picked = _CHIP_VALUES[spec.chip](request)
    if picked is None:
        return None
    request.notes += picked.notes
    unit = "" if spec.choices else spec.unit
    return Value(picked.value, unit, request.chip.id, picked.source, picked.claim.place)


def _link_bandwidth(request: _Request) -> Picked:
    """One-way bandwidth of one link, so that axes and links of a ring multiply back to the chip's total."""
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


def _links_per_axis(request: _Request) -> Picked:
    """2 on a torus (a neighbour to either side), 1 for the port of a switch."""
    assert request.chip is not None
    axes = request.chip.pick_scaleup_axes()
    return Picked(2.0 if _is_torus(axes) else 1.0, "1", axes.claim)


def _is_torus(axes: Picked) -> bool:
    return axes.claim.topology in ("torus", "mesh")


def _topology(request: _Request) -> Picked:
    """How the scale-up network joins the chips, in the words of --topology."""
    assert request.chip is not None
    axes = request.chip.pick_scaleup_axes()
    word = "switch" if not _is_torus(axes) else "torus" if axes.value > 1 else "ring"
    return Picked(word, "1", axes.claim)  # type: ignore[arg-type]  # the one value that is a word


def _axes(request: _Request) -> Picked | None:
    assert request.chip is not None
    axes = request.chip.pick_scaleup_axes()
    if request.options.get("topology", "torus") != "torus":
        return None
    note = f"all {axes.value:g} axes of {request.chip.id} are used; choose with --axes" if axes.value > 1 else ""
    return Picked(axes.value, "1", axes.claim, (note,) if note else ())


def _two_levels(pick: Callable[[Chip], Picked | None]) -> Callable[[_Request], Picked | None]:
    """A value of the network beyond a node, looked up only where the question is about two levels."""

    def asked(request: _Request) -> Picked | None:
        one_level = "topology" in request.formula.inputs and request.options.get("topology") != "two-level"
        return None if one_level or request.chip is None else pick(request.chip)

    return asked


_CHIP_VALUES: dict[str, Callable[[Any], Picked | None]] = {
    "peak": lambda r: r.chip.pick_peak(r.dtype, r.sparsity),
    "memory_bandwidth": lambda r: r.chip.pick_memory_bandwidth(),
    "memory": lambda r: r.chip.pick_memory(),
    "power": lambda r: r.chip.pick_power(),
    "link_bandwidth": _link_bandwidth,
    "links_per_axis": _links_per_axis,
    "axes": _axes,
    "topology": _topology,
    "chips_per_node": _two_levels(lambda chip: chip.pick_scaleup_domain()),
    "scaleout_bandwidth": _two_levels(lambda chip: chip.pick_scaleout_bandwidth()),
}


def _from_model(name: str, spec: Input, request: _Request) -> Value | None:
    """The value that a model supplies; None where its kind or its silence means the formula's default."""
    assert request.model is not None
    mixed = spec.model in ("experts", "experts_per_token")
    if mixed and request.model.model.kind == "dense":
        return None
    if not mixed and name in request.formula.defaults and not request.model.records(spec.model):
        return None
    if spec.choices:
        claim = request.model.claim(spec.model)
        return claim and Value(claim.value, "", request.model.id, claim.source, claim.place)
    picked = request.model.pick_compute_params() if spec.model == "compute_params" else request.model.pick(spec.model)
    if spec.model == "compute_params" and request.model.model.kind == "moe":
        request.notes.append(f"{request.model.id} is a mixture of experts: its active parameters count")
    return Value(picked.value, spec.unit, request.model.id, picked.source, picked.claim.place)


def _result(request: _Request, values: dict[str, Value], outputs: dict[str, Any]) -> Result:
    _check_axes(request, values)
    if "sparsity" in request.options and "peak" in request.options:
        request.notes.append("--sparsity chooses among the peaks of a chip; the given --peak is used as it is")
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
        request.notes.append(f"{', '.join(names)} {verb} {' and '.join(_option(n) for n in missing)}")
    _note_chips(request, values, outputs)
    # A default that stands for "no limit" or for "none of them" is not a number that anybody used.
    shown = {n: v for n, v in values.items() if not _stands_for_none(v)}
    chosen = {"chip": request.chip.id if request.chip else "", "model": request.model.id if request.model else ""}
    if "config" in request.options:
        config = request.options["config"]
        chosen |= {"model": "", "config": "config" if isinstance(config, Mapping) else str(config)}
    if request.chip and values.get("peak") and values["peak"].origin != "given":
        chosen |= {"dtype": request.dtype, "sparsity": request.sparsity}
    heads = {name: Value(value, "") for name, value in chosen.items() if value}
    sources = dict.fromkeys([*(v.source for v in values.values() if v.source), *request.formula.sources])
    return Result(request.formula, {**heads, **shown}, outputs, tuple(dict.fromkeys(request.notes)), tuple(sources))


def _stands_for_none(item: Value) -> bool:
    return isinstance(item.value, float) and (math.isinf(item.value) or (item.value == 0 and item.origin == "default"))


def _note_chips(request: _Request, values: dict[str, Value], outputs: dict[str, Any]) -> None:
    """Say when an answer in chips is below one chip, or beyond the network whose links were taken from the chip."""
    chips = outputs.get("max_chips", outputs.get("max_ways"))
    if chips is None:
        return
    fewest, most = (chips.min(), chips.max()) if hasattr(chips, "min") else (chips, chips)
    if fewest == 0 and "max_chips" in outputs:
        request.notes.append(SMALL_BATCH)
    if request.chip is None or values["link_bandwidth"].origin == "given":
        return
    domain = request.chip.pick_scaleup_domain()
    if domain is not None and most > domain.value:
        size = format_quantity(domain.value, "chip")
        request.notes.append(DOMAIN_ENDS.format(size=size, chip=request.chip.id))


def _check_axes(request: _Request, values: dict[str, Value]) -> None:
    """Refuse more axes than the chip has, where an axis count was given."""
    if request.chip is None or "axes" not in values or values["axes"].origin != "given":
        return
    have = request.chip.pick_scaleup_axes().value
    if values["axes"].value > have:
        raise FlopbookError(f"--axes is {values['axes'].value:g}, but {request.chip.id} has {have:g}")
