"""Changes with which an answer that does not fit into memory would fit, cheapest first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from flopbook.evaluation.request import CHIPS, divides_chips, flag
from flopbook.evaluation.results import DEFAULT, GIVEN, Value
from flopbook.formulas.declaration import Formula
from flopbook.quantities.dtypes import WIDTHS

# Beyond the last nothing is proposed.
_POWERS = tuple(2.0**n for n in range(1, 13))
_LAYOUT = (CHIPS, "dp", "tp", "cp")
_OF_REPLICAS = (CHIPS, "tp", "dp", "ep")  # what lays out replicas that serve
_LAST_STAGE = 3.0  # of ZeRO
_CHIPS_OF_A_NODE = 8.0  # beyond, TP is slower than any other way
_LOSS_CHUNKS = 8.0  # of torchtune


class Remedy(NamedTuple):
    """Options that change, as a user gives them, and inputs that follow from them."""

    options: dict[str, Any]
    filled: dict[str, Any]

    @property
    def inputs(self) -> dict[str, Any]:
        """All inputs that change."""
        return {**self.options, **self.filled}

    @property
    def text(self) -> str:
        """The options, as they are written on the command line."""
        return " ".join(f"{flag(name)} {_written(value)}" for name, value in self.options.items())

    def joined(self, other: Remedy) -> Remedy:
        """Both at once; the other one counts where they meet."""
        return Remedy({**self.options, **other.options}, {**self.filled, **other.filled})


def _written(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.0f}"


def first_remedy(
    formula: Formula, values: Mapping[str, Value], fits: Callable[[dict[str, Any]], bool]
) -> str:
    """The first change with which it fits, of one input or else of several; empty if none."""
    tried = _of_training if divides_chips(formula) else _of_serving
    found = next((each for each in tried(formula, values) if fits(each.inputs)), None)
    return _needed(found, fits).text if found else ""


def _needed(remedy: Remedy, fits: Callable[[dict[str, Any]], bool]) -> Remedy:
    """The remedy without the options that it does not need, the dearest left out first."""
    for name in reversed(tuple(remedy.options)):
        others = {option: value for option, value in remedy.options.items() if option != name}
        # What is filled belongs to the degrees and the number of chips.
        if others and name not in _LAYOUT and fits({**others, **remedy.filled}):
            remedy = Remedy(others, remedy.filled)
    return remedy


def _of_serving(formula: Formula, values: Mapping[str, Value]) -> Iterator[Remedy]:
    """Changes of one input, in the order in which people would try them: weights as published,
    sharding, recomputation, fewer at once.
    """
    yield from _as_published(values)
    yield from _without_other_chips(formula, values)
    for name in ("tp", "ep"):
        if name in formula.inputs:
            yield from (Remedy(_serving_degree(name, degree, values), {}) for degree in _POWERS)
    yield from _smaller(values)


def _serving_degree(name: str, degree: float, values: Mapping[str, Value]) -> dict[str, float]:
    """Options for a higher degree of TP or EP; what was typed beside it changes along."""
    typed = {option for option in _OF_REPLICAS if values[option].origin == GIVEN}
    chips, tp, dp, ep = (values[option].value for option in _OF_REPLICAS)
    replicas = _replicas(chips, tp, dp, ep)
    if name == "tp":
        # A number of chips alone fills the TP degree.
        options = {} if typed >= {CHIPS} and "tp" not in typed else {"tp": degree}
        return options | ({CHIPS: degree * replicas} if CHIPS in typed else {})
    # Every rank of experts is a replica of attention.
    options = {"ep": degree} | ({"dp": degree} if "dp" in typed else {})
    width = chips / replicas if CHIPS in typed else 1.0
    return options | ({CHIPS: width * degree} if CHIPS in typed else {})


def _replicas(chips: float, tp: float, dp: float, ep: float) -> float:
    """Replicas of attention, as the part `layout` of the formulas fills them."""
    if dp < math.inf:
        return dp
    return chips / tp if max(chips, tp) < math.inf else ep


def _of_training(formula: Formula, values: Mapping[str, Value]) -> Iterator[Remedy]:
    """Each change on the same chips, then all up to each; with them higher degrees, more chips."""
    yield from _without_other_chips(formula, values)
    yield from _smaller(values)
    every = Remedy({}, {})
    for remedy in _without_other_chips(formula, values):
        every = every.joined(remedy)
        yield every
    yield from (every.joined(degree) for degree in _degrees(formula, values))
    yield from (every.joined(more) for more in _more_chips(formula, values))


def _as_published(values: Mapping[str, Value]) -> Iterator[Remedy]:
    """Weights as narrow as in the published checkpoint, where they are counted wider."""
    published, counted = values.get("published"), values.get("bytes_per_param")
    if published is None or counted is None or published.value is None:
        return
    width = WIDTHS[published.value]
    if width < counted.value:
        yield Remedy({"weight_dtype": published.value}, {"bytes_per_param": width})


def _without_other_chips(formula: Formula, values: Mapping[str, Value]) -> Iterator[Remedy]:
    """Sharded states, experts apart, split norms, recomputation, a loss in chunks."""
    stage = values["zero"].value if "zero" in formula.inputs else _LAST_STAGE
    yield from (Remedy({"zero": higher}, {}) for higher in (1.0, _LAST_STAGE) if stage < higher)
    yield from _experts_apart(formula, values)
    if "sequence_parallel" in formula.inputs and values["tp"].value > 1:
        yield Remedy({"sequence_parallel": "yes"}, {})
    if "recompute" in formula.inputs:
        yield Remedy({"recompute": "full"}, {})
    if "loss_chunks" in formula.inputs and values["loss_chunks"].value < _LOSS_CHUNKS:
        yield Remedy({"loss_chunks": _LOSS_CHUNKS}, {})


def _experts_apart(formula: Formula, values: Mapping[str, Value]) -> Iterator[Remedy]:
    """The largest EP degree that divides both the experts and the replicas in training."""
    if not divides_chips(formula) or "ep" not in formula.inputs or values["ep"].value > 1:
        return
    most = math.gcd(int(values["dp"].value), int(values["experts"].value))
    if most > 1:
        yield Remedy({"ep": float(most)}, {})


def _degrees(formula: Formula, values: Mapping[str, Value]) -> Iterator[Remedy]:
    """Higher degrees of TP, in a node, and of CP, whose chips data parallelism gives up."""
    replicas = values["dp"].value
    for name, most in (("tp", _CHIPS_OF_A_NODE), ("cp", math.inf)):
        if name not in formula.inputs:
            continue
        degree = values[name].value
        for factor in _POWERS:
            if replicas % factor == 0 and degree * factor <= most:
                yield Remedy({name: degree * factor}, {"dp": replicas / factor})


def _more_chips(formula: Formula, values: Mapping[str, Value]) -> Iterator[Remedy]:
    """More chips for data parallelism, which divide what ZeRO divides, or else a sequence."""
    degrees = {name: values[name].value for name in formula.divides}
    chips = math.prod(degrees.values())
    is_given = values["dp"].origin == GIVEN
    for factor in _POWERS:
        replicas = degrees["dp"] * factor
        option = {"dp": replicas} if is_given else {CHIPS: chips * factor}
        yield Remedy(option, {"dp": replicas})
    if "cp" not in degrees:
        return
    for factor in _POWERS:
        option = {} if is_given else {CHIPS: chips * factor}
        yield Remedy({**option, "cp": degrees["cp"] * factor}, {})


def _smaller(values: Mapping[str, Value]) -> Iterator[Remedy]:
    """Smaller batches, each half of the one before, where their size was given."""
    for name in ("batch", "micro_batch"):
        if name in values and values[name].origin != DEFAULT:
            size = int(values[name].value) // 2
            while size >= 1:
                yield Remedy({name: float(size)}, {})
                size //= 2
