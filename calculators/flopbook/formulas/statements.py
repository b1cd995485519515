"""Functions in the formula subset that come with a message: what rules and omissions share.

Each is written once. Python runs the function itself, on floats and on NumPy arrays, and
`faces.javascript` prints it for the form on the page. Conditions are joined with `&` and `|`,
because `and` and `or` do not work on arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

from flopbook.quantities.whole_numbers import divisors

# The divisors of a larger number are not searched for: a message has to come at once.
LARGEST_DIVIDED = 1e8


class Statement:
    """A function of some values of a formula, with a message that can show these values.

    The parameters are inputs of the formula; `inputs` maps those that the formula calls otherwise.
    Braces in the message show a parameter, a word or a whole number: `{tp}` its value,
    `{tp:divisor of heads}` the divisors of `heads` next to it, `{chips:multiple of chips_per_node}`
    the multiples next to it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        message: str,
        inputs: Mapping[str, str] | None = None,
    ) -> None:
        code = function.__code__
        self.function, self.message = function, message
        self.parameters = code.co_varnames[: code.co_argcount]
        self.inputs = {name: name for name in self.parameters} | dict(inputs or {})
        self._names = tuple(self.inputs[name] for name in self.parameters)

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}>"

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.function.__name__

    def renamed(self, **inputs: str) -> Self:
        """The same for a formula that calls some parameters otherwise, options included."""
        message = self.message
        for parameter, name in inputs.items():
            message = message.replace(_option(parameter), _option(name))
        used = {
            parameter: inputs[parameter] for parameter in self.parameters if parameter in inputs
        }
        return self._with(message, used)

    def _with(self, message: str, inputs: Mapping[str, str]) -> Self:
        return type(self)(self.function, message, inputs)

    def value(self, values: Mapping[str, Any]) -> Any:
        """What the function gives for the values of a formula, floats or arrays."""
        return self.function(*[values[name] for name in self._names])

    def explained(self, values: Mapping[str, Any], shape: Any, place: int, **words: str) -> str:
        """The message with the values of one element of arrays of this shape, and more words."""
        shown = {
            name: _element(values[self.inputs[name]], shape, place) for name in self.parameters
        }
        return self.message.format_map(
            {name: _Shown(value, shown) for name, value in shown.items()} | words
        )


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _element(value: Any, shape: Any, place: int) -> Any:
    """One element of a value that is broadcast to the shape of an array; a plain one as it is."""
    if not hasattr(shape, "flat") or isinstance(value, str):
        return value
    # Adding zeros of that shape, whatever is in it, broadcasts the value to it.
    return (value + (shape == shape) * 0.0).flat[place]


class _Shown:
    """A value in the braces of a message."""

    def __init__(self, value: Any, others: Mapping[str, Any]) -> None:
        self.value, self.others = value, others

    def __format__(self, suggestion: str) -> str:
        if not suggestion:
            return self.value if isinstance(self.value, str) else f"{self.value:.0f}"
        kind, _, name = suggestion.partition(" of ")
        return SUGGESTIONS[kind](float(self.value), float(self.others[name]))


def divisors_around(value: float, number: float) -> str:
    """The divisors of a whole number on either side of a value that does not divide it."""
    if number > LARGEST_DIVIDED:
        return f"a divisor of {number:.0f}"
    whole = divisors(int(number))
    below = [n for n in whole if n < value][-1:]
    above = [n for n in whole if n > value][:1]
    return " or ".join(str(n) for n in below + above)


def multiples_around(value: float, number: float) -> str:
    """The multiples of a whole number on either side of a value that is none."""
    below = math.floor(value / number) * int(number)
    return " or ".join(str(n) for n in (below, below + int(number)) if n)


# What `faces.javascript` writes in JavaScript too, under the same names.
SUGGESTIONS: Mapping[str, Callable[[float, float], str]] = {
    "divisor": divisors_around,
    "multiple": multiples_around,
}
