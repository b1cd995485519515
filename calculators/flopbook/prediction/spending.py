"""What a predicted run takes beside time: energy, money, and the time that failures cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.hardware.prices import pick_price
from flopbook.prediction.layouts import RunLayout
from flopbook.prediction.named_models import ModelName, model_option

FAILURES_KNOWN = "llama-3-405b"


class Spending(NamedTuple):
    """Of a step: energy (J) and cost (USD). Of a run: time (s), energy and cost.

    `goodput` is the share of the time that goes into steps that count. None where an input of it is
    not published or was not given.
    """

    joules: float | None
    cost: float | None
    goodput: float | None
    run_seconds: float | None = None
    run_joules: float | None = None
    run_cost: float | None = None

    def record(self) -> dict[str, float]:
        """What is known, as JSON holds it."""
        return {name: value for name, value in self._asdict().items() if value is not None}


def spending(
    model: ModelName, run: RunLayout, seconds: float, price: float | None, tokens: float | None
) -> Spending:
    """What steps of so many seconds take; `price` in USD/s of a chip, `tokens` of the whole run.

    Energy is that of chips at their rated power with their share of the server, without cooling.
    """
    joules = _joules(run, seconds)
    cost = None if price is None else price * run.chips * seconds
    goodput = _goodput(model, run)
    if tokens is None:
        return Spending(joules, cost, goodput)
    # A step is as long as its share of the run: failures stretch all alike.
    steps = math.ceil(tokens / (run.batch * run.shape.tokens)) / (goodput or 1)
    return Spending(
        joules,
        cost,
        goodput,
        run_seconds=seconds * steps,
        run_joules=None if joules is None else joules * steps,
        run_cost=None if cost is None else cost * steps,
    )


def list_price(chip_id: str, cloud: str) -> float:
    """What a cloud asks for a chip, USD/s. Raises FlopbookError where no price is on record."""
    return float(pick_price(chip(chip_id), cloud).value)


def _joules(run: RunLayout, seconds: float) -> float | None:
    options = {"chip": run.machine.chip, "chips": run.chips, "seconds": seconds}
    return _output("cluster-power", "joules", pue=1, **options)


def _goodput(model: ModelName, run: RunLayout) -> float | None:
    options: Mapping[str, Any] = {**model_option(model), "chips": run.chips}
    goodput = _output("reliability", "goodput", **options)
    # Where the paper of a model says nothing of failures, those of Llama 3 405B are the best known.
    if goodput is not None:
        return goodput
    mtbf = _output("reliability", "mtbf", model=FAILURES_KNOWN, chips=1)
    return _output("reliability", "goodput", **options, chip_mtbf=mtbf)


def _output(calculator: str, name: str, **options: Any) -> float | None:
    try:
        return float(calculate(calculator, **options)[name])
    except FlopbookError:
        return None
