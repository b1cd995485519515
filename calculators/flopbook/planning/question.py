"""What is planned: a model, a machine, a batch, and what of the layout is fixed already."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.formulas.pipeline import SCHEDULES
from flopbook.prediction.asking import OPEN_BATCH, run_of
from flopbook.prediction.bands import SOFTWARE
from flopbook.prediction.layouts import RunLayout
from flopbook.prediction.named_models import ModelName, asked_model
from flopbook.prediction.open_layouts import MOST_CHIPS, MOST_SEQUENCES, RECOMPUTE
from flopbook.prediction.options import (
    amount_option,
    check_stage,
    count_option,
    flag_of,
    step_sequences,
    word_option,
)

# What of a layout may be fixed, as options name it.
DEGREES = ("tp", "pp", "cp", "ep", "dp", "virtual", "zero", "hsdp", "micro_batch")
# Tokens of a step where none are given; the answer says so.
STEP_TOKENS = 4 * 2**20
PLANNED_SCHEDULES = ("1f1b", "interleaved")


class Question(NamedTuple):
    """What all layouts share, what is fixed of them, and what they may cost.

    `run` has machine, shape, software and formats; `batch` counts sequences. `fixed` maps degrees
    to numbers, `recompute` and `schedules` name the words that are searched. `price` is that of a
    chip in USD a second.
    """

    model: ModelName
    run: RunLayout
    batch: int
    fixed: Mapping[str, int]
    recompute: tuple[str, ...] = RECOMPUTE
    schedules: tuple[str, ...] = PLANNED_SCHEDULES
    dtype: str = "bf16"
    most_bytes: float = math.inf
    most_seconds: float = math.inf
    price: float | None = None

    @property
    def chips(self) -> int:
        """Chips that train."""
        return int(self.run.chips)

    @property
    def room(self) -> float:
        """Bytes that a layout may take on each chip."""
        return min(self.most_bytes, self.run.machine.memory)

    @property
    def has_open_batch(self) -> bool:
        """Whether the size of a step was not asked."""
        return OPEN_BATCH in self.run.inferred

    @property
    def inferred(self) -> tuple[str, ...]:
        """What was not asked and is assumed, in words."""
        sequences = f"{self.batch:,} sequences of {self.run.shape.tokens:,.0f} tokens a step"
        batch = (f"{sequences} (--batch-tokens)",) if self.has_open_batch else ()
        return (*batch, *(name for name in self.run.inferred if name == SOFTWARE))

    def token_cost(self, seconds: float) -> float | None:
        """USD of a trained token with steps of this length; None without a price."""
        if self.price is None:
            return None
        return seconds * self.chips * self.price / (self.batch * self.run.shape.tokens)

    def allows(self, name: str, degree: int) -> bool:
        """Whether a degree is the one that was fixed, or none was."""
        return self.fixed.get(name, degree) == degree


def question_of(options: Mapping[str, str | None]) -> Question:
    """The question that options of the command line ask.

    Raises FlopbookError for an option that is missing, unreadable, or does not add up.
    """
    run = run_of(options)
    sequence = int(run.shape.tokens)
    batch = step_sequences(options, sequence)
    if batch is None:
        batch = max(1, STEP_TOKENS // sequence)
    fixed = {}
    for name in DEGREES:
        degree = count_option(options, name, may_be_zero=name == "zero")
        if degree is not None:
            fixed[name] = degree
    check_stage(fixed.get("zero", 0))
    if run.chips > MOST_CHIPS:
        raise FlopbookError(f"--chips is {run.chips:,.0f}, expected at most {MOST_CHIPS:,}")
    recompute = word_option(options, "recompute", RECOMPUTE)
    schedule = word_option(options, "schedule", SCHEDULES)
    if not run.machine.memory:
        raise FlopbookError(f"the memory of {run.machine.chip} is not published")
    if batch > MOST_SEQUENCES:
        raise FlopbookError(
            f"a step of {batch:,} sequences is too large; expected at most {MOST_SEQUENCES:,}"
        )
    return Question(
        model=asked_model(options)[1],
        run=run,
        batch=batch,
        fixed=fixed,
        recompute=(recompute,) if recompute else RECOMPUTE,
        schedules=(schedule,) if schedule else PLANNED_SCHEDULES,
        dtype=options.get("dtype") or "bf16",
        most_bytes=_limit(options, "max_bytes", "byte"),
        most_seconds=_limit(options, "max_seconds", "s"),
        price=_price(options),
    )


def _limit(options: Mapping[str, str | None], name: str, unit: str) -> float:
    """The most that an option allows; no limit where it was not given."""
    limit = amount_option(options, name, unit)
    if limit is None:
        return math.inf
    if limit > 0:
        return limit
    raise FlopbookError(f"{flag_of(name)} is {options[name]}, expected more than 0")


def _price(options: Mapping[str, str | None]) -> float | None:
    price = amount_option(options, "price", "USD/s")
    if price is not None and price <= 0:
        raise FlopbookError(f"--price is {options['price']}, expected more than 0, such as 2USD/h")
    return price
