"""How the planners say what they find, as `plan/train.js` and `plan/serve.js` in the browser."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sized
from typing import Any

from flopbook.architectures.shape import shape
from flopbook.errors import FlopbookError
from flopbook.planning.exclusions import NO_ROOM
from flopbook.planning.layout_words import layout_words
from flopbook.planning.planner import RunPlan
from flopbook.planning.replicas import Division
from flopbook.planning.serving import ServingLayout, ServingPlan
from flopbook.quantities.units import format_quantity

# Seconds of a unit -> its name, for times of which there are two or more.
_UNITS = ((365 * 86_400, "years"), (86_400, "days"), (3_600, "hours"))
_MILLION = 1e6


def serving_words(layout: ServingLayout) -> str:
    """A way to serve: 2 replicas of TP 4, or the replicas of both pools."""
    writers = _replicas(layout.replicas, Division(layout.tp, layout.pp, layout.dp, layout.ep))
    if layout.prefill is None:
        return writers
    return f"prompts on {_replicas(layout.prefill_replicas, layout.prefill)}; answers on {writers}"


def _replicas(count: int, division: Division) -> str:
    names = {"tp": "TP", "pp": "PP", "dp": "DP attention", "ep": "EP"}
    degrees = division._asdict()
    words = ", ".join(f"{names[name]} {size}" for name, size in degrees.items() if size > 1)
    words = words or "one chip"
    return f"one replica: {words}" if count == 1 else f"{count:,} replicas of {words}"


def duration(seconds: float) -> str:
    """A time with two digits, from two hours on in hours, days or years."""
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{float(f'{seconds / size:.2g}'):,g} {unit}"
    return rounded(seconds, "s")


def money(usd: float) -> str:
    """A sum of money with two digits."""
    two = float(f"{usd:.2g}")
    return f"{two / _MILLION:,g} million USD" if two >= _MILLION else f"{two:,.10g} USD"


def million_tokens(price: Mapping[str, Any], chips: float, tokens_per_s: float) -> str:
    """What a million tokens cost, by the price of a chip."""
    return money(_MILLION * chips * price["usd_per_s"] / tokens_per_s)


def rounded(value: float, unit: str, digits: int = 2) -> str:
    """A quantity with so many digits."""
    return format_quantity(float(f"{value:.{digits}g}"), unit)


def trained(found: RunPlan, price: Mapping[str, Any] | None) -> tuple[str, str]:
    """The two lines that say whether a run trains. Raises FlopbookError where it does not fit."""
    _refuse_empty(found.layouts)
    best, question = found.layouts[0], found.question
    tokens = shape(str(question.model)).pick("tokens").value
    steps = math.ceil(tokens / (question.batch * question.run.shape.tokens))
    seconds = steps * best.seconds
    cost = ""
    if price:
        usd = money(seconds * question.chips * price["usd_per_s"])
        cost = f", {usd} {_at(price)}"
    tried = found.feasible + found.infeasible.get(NO_ROOM, 0)
    step, low, high = (rounded(time, "s") for time in (best.seconds, best.low, best.high))
    return (
        f"Fits: {step} a step, {low} to {high} (80 % band).",
        f"The best of {tried:,} layouts: {layout_words(best._asdict())}. "
        f"{format_quantity(tokens, 'token')} take {duration(seconds)} without failures{cost}.",
    )


def served(found: ServingPlan, price: Mapping[str, Any] | None) -> tuple[str, str]:
    """The two lines that say whether a model is served. Raises FlopbookError where it is not."""
    _refuse_empty(found.layouts)
    best = found.layouts[0]
    total = rounded(best.tokens_per_s, "1", 3)
    low, high, each = (rounded(rate, "1") for rate in (best.low, best.high, 1 / best.per_token))
    first = rounded(best.first_token, "s")
    # While prompts of others are read nobody gets tokens, so that all get less than one would.
    readers = best.batch * best.replicas
    overall = rounded(best.tokens_per_s / readers, "1")
    waits = f", and {overall} tokens/s over all, waits for prompts included"
    told = f"{each} tokens/s after {first}{waits if overall != each else ''}"
    cost = ""
    if price:
        usd = million_tokens(price, found.question.chips, best.tokens_per_s)
        cost = f" {usd} a million tokens {_at(price)}."
    return (
        f"Fits: {total} tokens/s, {low} to {high} (80 % band).",
        f"The best of {found.considered:,} layouts: {serving_words(best)}. "
        f"{readers:,} conversations at once; each gets {told}.{cost}",
    )


def _at(price: Mapping[str, Any]) -> str:
    """What the chip costs: a reader who pays another price has to know this one."""
    return f"at {3600 * price['usd_per_s']:.4g} USD/h, the lowest list price"


def _refuse_empty(layouts: Sized) -> None:
    if not layouts:
        raise FlopbookError("the example of the first page does not fit")
