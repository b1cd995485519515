"""What a formula leaves out, with its size for the inputs at hand.

An omission is a function in the formula subset, beside the rules of a formula. It gives the share
of an output by which the answer would change if what is left out were counted; an answer prints its
message where that is more than a tenth. Each item of "Leaves out" in the docstring of a formula
ends in brackets with the omissions that size it, or with the reason why no size can be given:

    Leaves out:
        - Restarts and checkpoints. [failures]
        - Evaluation between steps. [no size: each run chooses how often]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Self

from flopbook.formulas.statements import Statement

TENTH = 0.1  # of an answer: what is left out and larger is told with the answer


class Noted(NamedTuple):
    """What is left out of an output, by which share of it, as an answer says it."""

    of: str
    share: float
    text: str


class Omission(Statement):
    """A share of the output `of` that the formula leaves out, with the message that tells it.

    The parameters are inputs and outputs of the formula. A positive share is missing in the answer,
    a negative one is too much in it: the answer times one plus the share would be right. The
    message ends in `({size})`.
    """

    def __init__(
        self,
        function: Callable[..., float],
        message: str,
        inputs: Mapping[str, str] | None = None,
        of: str = "",
    ) -> None:
        super().__init__(function, message, inputs)
        self.of = of

    def _with(self, message: str, inputs: Mapping[str, str]) -> Self:
        return type(self)(self.function, message, inputs, self.of)

    def worded(self, message: str) -> Self:
        """The same with another message."""
        return self._with(message, self.inputs)

    def of_output(self, of: str) -> Self:
        """The same share of another output."""
        return type(self)(self.function, self.message, self.inputs, of)

    def noted(self, values: Mapping[str, Any]) -> Noted | None:
        """The message at the largest element of the share; None where that is below a tenth."""
        shares = self.value(values)
        place = _largest(shares)
        share = float(shares.flat[place] if hasattr(shares, "flat") else shares)
        if not TENTH < abs(share) < math.inf:
            return None
        size = _up_to(shares) + size_of(share)
        return Noted(self.of, share, self.explained(values, shares, place, size=size))


def omission(message: str, of: str) -> Callable[[Callable[..., float]], Omission]:
    """Make a function in the formula subset an omission of the output `of`."""
    return lambda share: Omission(share, message, of=of)


def size_of(share: float) -> str:
    """A share as a note has it: +18 %, -35 %, 3.5 times."""
    if share < 1:
        # Rounded as JavaScript does, half up.
        return f"{'-' if share < 0 else '+'}{math.floor(abs(share) * 100 + 0.5):.0f} %"
    times = 1 + share
    if times < 10:
        return f"{math.floor(times * 10 + 0.5) / 10:.1f} times"
    return f"{math.floor(times + 0.5):.0f} times"


def omitted(omissions: Iterable[Omission], values: Mapping[str, Any]) -> dict[str, Noted]:
    """Of what a formula leaves out, all that is above a tenth, by the name of the omission.

    `values` are its inputs and outputs, none of them open.
    """
    found = {each.name: each.noted(values) for each in omissions}
    return {name: noted for name, noted in found.items() if noted}


def _largest(shares: Any) -> int:
    """The place of the share furthest from zero among those that are numbers."""
    if not hasattr(shares, "flat"):
        return 0
    sizes = [abs(float(share)) for share in shares.flat]
    known = [place for place, size in enumerate(sizes) if math.isfinite(size)]
    return max(known, key=sizes.__getitem__, default=0)


def _up_to(shares: Any) -> str:
    return "up to " if getattr(shares, "size", 1) > 1 else ""
