"""Options of questions as they are typed, read as counts, amounts and words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from flopbook.errors import FlopbookError, shorten
from flopbook.evaluation.answers import counted
from flopbook.quantities.parsing import is_bare
from flopbook.quantities.units import UnitError, parse_quantity

MOST_COUNTED = 10**15  # of anything that is counted: times and bytes of more of it may have no end
_LARGEST = 1e30  # in SI units: a price of more is that of no cluster
LAST_STAGE = 3  # of ZeRO
_EXAMPLES = {"model": "--model llama-3-70b", "chip": "--chip h100-sxm", "chips": "--chips 512"}


class MeantUnit(NamedTuple):
    """The unit that a bare number was meant in where the SI unit makes no sense of it."""

    unit: str
    is_slip: Callable[[float], bool]


# Numbers from Python are in SI units, so only those that cannot be are slips: a chip of more than
# 360 USD an hour, a memory of less than a megabyte.
_MEANT = {
    "USD/s": MeantUnit("USD/h", lambda amount: amount > 0.1),
    "byte": MeantUnit("GB", lambda amount: 0 < amount < 1e6),
}


def required(options: Mapping[str, str | None], names: Sequence[str] = tuple(_EXAMPLES)) -> None:
    """Raise FlopbookError for an option that nothing can stand in for."""
    for name in names:
        example = _EXAMPLES[name]
        is_described = name == "model" and options.get("config")
        if not options.get(name) and not is_described:
            raise FlopbookError(f"--{name} is missing; give for example {example}")


def amount_option(options: Mapping[str, str | None], name: str, unit: str = "1") -> float | None:
    """The amount that an option gives, in SI units; None where it was not given."""
    text = options.get(name)
    if text is None:
        return None
    try:
        amount = float(parse_quantity(text, unit))
    except UnitError as error:
        raise FlopbookError(f"{flag_of(name)}: {error}") from None
    meant = _MEANT.get(unit)
    if meant and is_bare(text) and meant.is_slip(amount):
        raise FlopbookError(
            f"{flag_of(name)}: '{text}' has no unit; write for example {text}{meant.unit}"
        )
    if not math.isfinite(amount):
        raise FlopbookError(f"{flag_of(name)} is {shorten(text)}, expected a finite number")
    if abs(amount) > _LARGEST:
        raise FlopbookError(f"{flag_of(name)} is {shorten(text)}, expected at most {_LARGEST:g}")
    return amount


def flag_of(name: str) -> str:
    """An option as it is typed."""
    return "--" + name.replace("_", "-")


def count_option(
    options: Mapping[str, str | None], name: str, unit: str = "1", *, may_be_zero: bool = False
) -> int | None:
    """A whole number that an option gives; None where it was not given."""
    number = amount_option(options, name, unit)
    if number is None:
        return None
    least = 0 if may_be_zero else 1
    if number != int(number) or number < least:
        raise FlopbookError(
            f"{flag_of(name)} is {options[name]}, expected a whole number of at least {least}"
        )
    if number > MOST_COUNTED:
        raise FlopbookError(
            f"{flag_of(name)} is {shorten(options[name])}, expected at most {MOST_COUNTED:,}"
        )
    return int(number)


def word_option(options: Mapping[str, str | None], name: str, words: tuple[str, ...]) -> str | None:
    """The word that an option gives, one of some; None where it was not given."""
    word = options.get(name)
    if word is None or word in words:
        return word
    raise FlopbookError(f"{flag_of(name)} is '{word}', expected one of {', '.join(words)}")


def check_stage(stage: int) -> None:
    """Raise FlopbookError for a stage that ZeRO does not have."""
    if stage > LAST_STAGE:
        raise FlopbookError(f"--zero is {stage}, expected a stage from 0 to {LAST_STAGE}")


def step_sequences(options: Mapping[str, str | None], sequence: int) -> int | None:
    """Sequences of a step, as --batch counts them or --batch-tokens has them; None for neither.

    Raises FlopbookError for both at once, and for tokens that are not whole sequences.
    """
    batch = count_option(options, "batch")
    batch_tokens = count_option(options, "batch_tokens", unit="token")
    if batch_tokens is None:
        return batch
    if batch is not None:
        raise FlopbookError("--batch and --batch-tokens both size the step; leave one out")
    return whole_sequences(batch_tokens, sequence)


def refuse(options: Mapping[str, str | None], names: Sequence[str], why: str) -> None:
    """Raise FlopbookError for an option that the question at hand does not take."""
    for name in names:
        if options.get(name) is not None:
            raise FlopbookError(f"{flag_of(name)} {why}")


def whole_sequences(batch_tokens: int, sequence: int) -> int:
    """Sequences of a step. Raises FlopbookError where the tokens are not whole sequences."""
    if batch_tokens % sequence:
        below = max(1, batch_tokens // sequence)
        # People write 4M and mean 4Mi: a power of two divides over more layouts.
        power = 2 ** round(math.log2(max(1, batch_tokens / sequence)))
        usable = (
            f"{count * sequence:,} ({counted(count, 'sequence')})"
            for count in sorted({below, power})
        )
        raise FlopbookError(
            f"--batch-tokens {batch_tokens:,} is no multiple of --seq {sequence:,}; "
            f"use {' or '.join(usable)}"
        )
    return batch_tokens // sequence
