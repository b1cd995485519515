"""`predict` and `plan` for Python: the options of the commands as keywords."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from flopbook.errors import FlopbookError, UnknownName

if TYPE_CHECKING:
    from flopbook.planning.planner import RunPlan
    from flopbook.prediction.predicted import Prediction

_RUN = ("model", "config", "chip", "chips", "batch_tokens", "batch", "seq", "dtype", "stack")
_DEGREES = ("tp", "pp", "cp", "ep", "dp", "virtual", "schedule", "zero", "hsdp", "micro_batch")
_KEPT = ("recompute", "recompute_layers", "offload", "offload_activations")
PREDICTED = (*_RUN, *_DEGREES, *_KEPT, "network", "tokens", "price", "price_from")
PLANNED = (*_RUN, *_DEGREES, *_KEPT, "network", "max_bytes", "max_seconds", "price")


def predict(**options: Any) -> Prediction:
    """The step time and memory of a training run, with an 80 % band.

    The options are those of `flopbook predict`, with underscores; numbers or texts.
    `.record()` is what `flopbook predict --json` prints.

        >>> run = {"model": "llama-3-8b", "chip": "h100-sxm", "chips": 8, "seq": 8192}
        >>> predicted = predict(**run, batch=128, zero=3)
        >>> predicted.low < predicted.seconds < predicted.high
        True

    Raises FlopbookError for an option that is unknown, missing, or does not add up.
    """
    from flopbook.prediction import asking

    return asking.predict(_texts(options, PREDICTED))


def plan(top: int = 10, **options: Any) -> RunPlan:
    """The fastest layouts of a training run, best first in `.layouts`; what is given is kept.

    The options are those of `flopbook plan`, with underscores; numbers or texts.
    `.record()` is what `flopbook plan --json` prints.

        >>> run = {"model": "llama-3-8b", "chip": "h100-sxm", "chips": 8, "seq": 8192}
        >>> fastest, second = plan(top=2, **run, batch=128, tp=1, pp=1).layouts
        >>> fastest.seconds <= second.seconds
        True

    Raises FlopbookError for an option that is unknown, missing, or does not add up.
    """
    from flopbook.planning import planner
    from flopbook.planning.question import question_of

    if top < 1:
        raise FlopbookError(f"top is {top}, expected at least 1")
    return planner.plan(question_of(_texts(options, PLANNED)), top)


def _texts(options: Mapping[str, Any], known: Iterable[str]) -> dict[str, str | None]:
    """The options as the command line has them, each one that there is; None for open ones."""
    known = tuple(known)
    for name in options:
        if name not in known:
            raise UnknownName("option", name, known)
    given = {name: value for name, value in options.items() if value is not None}
    return {**dict.fromkeys(known), **{name: _text(value) for name, value in given.items()}}


def _text(value: Any) -> str:
    """A number as it is typed: 4194304.0, from NumPy too, is a count."""
    if isinstance(value, str):
        return value
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)
