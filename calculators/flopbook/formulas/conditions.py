"""Rules between the inputs of a formula: conditions in the formula subset, each with a message.

A rule is written once. Python runs the function itself, on floats and on NumPy arrays, and
`faces.javascript` prints it for the form on the page. Conditions are joined with `&` and `|`,
because `and` and `or` do not work on arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.quantities.ops import inf, minimum

# The divisors of a larger number are not searched for: a message has to come at once.
LARGEST_DIVIDED = 1e8


class Rule:
    """A condition between inputs, with the message for a user whose values break it.

    The parameters of `holds` are inputs of the formula; `inputs` maps those that the formula calls
    otherwise. Braces in the message show a parameter, a word or a whole number:
    `{tp}` its value, `{tp:divisor of heads}` the divisors of `heads` next to it,
    `{chips:multiple of chips_per_node}` the multiples next to it.
    """

    def __init__(
        self, holds: Callable[..., bool], message: str, inputs: Mapping[str, str] | None = None
    ) -> None:
        code = holds.__code__
        self.holds, self.message = holds, message
        self.parameters = code.co_varnames[: code.co_argcount]
        self.inputs = {name: name for name in self.parameters} | dict(inputs or {})

    def __repr__(self) -> str:
        return f"<rule {self.holds.__name__}>"

    def renamed(self, **inputs: str) -> Rule:
        """The same rule for a formula that calls some parameters otherwise, options included."""
        message = self.message
        for parameter, name in inputs.items():
            message = message.replace(_option(parameter), _option(name))
        used = {
            parameter: inputs[parameter] for parameter in self.parameters if parameter in inputs
        }
        return Rule(self.holds, message, used)

    def is_kept(self, values: Mapping[str, Any]) -> bool:
        """Whether the inputs of a formula, floats or arrays, keep the rule throughout."""
        return always(self._holds(values))

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise FlopbookError, naming the first values that break the rule, unless all keep it."""
        holds = self._holds(values)
        if not always(holds):
            raise FlopbookError(self._explain(holds, values))

    def _holds(self, values: Mapping[str, Any]) -> Any:
        return self.holds(*[values[self.inputs[name]] for name in self.parameters])

    def _explain(self, holds: Any, values: Mapping[str, Any]) -> str:
        broken = {
            name: _at_first_failure(holds, values[self.inputs[name]]) for name in self.parameters
        }
        return self.message.format_map(
            {name: _Shown(value, broken) for name, value in broken.items()}
        )


def rule(message: str) -> Callable[[Callable[..., bool]], Rule]:
    """Make a function in the formula subset a rule; its parameters are inputs of the formula."""
    return lambda holds: Rule(holds, message)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def always(condition: Any) -> bool:
    """True when a condition on numbers or arrays holds throughout."""
    return bool(condition.all() if hasattr(condition, "all") else condition)


def _at_first_failure(holds: Any, value: Any) -> Any:
    """The element of an array, where a condition fails first; a plain value as it is."""
    if not hasattr(holds, "argmin") or isinstance(value, str):
        return value
    # Adding zeros of the shape of the condition broadcasts the value to that shape.
    return (value + holds * 0.0).flat[int(holds.argmin())]


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
    small = [n for n in range(1, math.isqrt(int(number)) + 1) if number % n == 0]
    divisors = [*small, *(int(number) // n for n in reversed(small))]
    below = [n for n in divisors if n < value][-1:]
    above = [n for n in divisors if n > value][:1]
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


@rule(
    "--kv-heads {kv_heads} is larger than --heads {heads}: "
    "each KV head serves at least one attention head"
)
def kv_heads_are_shared(heads: float, kv_heads: float) -> bool:
    """Open KV heads are as many as attention heads."""
    return (kv_heads <= heads) | (kv_heads == inf)


@rule("--tp {tp} does not divide {heads} attention heads; use {tp:divisor of heads}")
def tp_divides_heads(heads: float, tp: float) -> bool:
    """Every rank of tensor parallelism computes equally many whole heads."""
    return heads % tp == 0


@rule(
    "--tp {tp} and {kv_heads} KV heads: one has to divide the other, "
    "so that every rank holds equally many KV heads"
)
def tp_divides_kv_heads(heads: float, tp: float, kv_heads: float, kv_lora_rank: float) -> bool:
    """KV heads are divided over the ranks, or each is copied to equally many ranks.

    Latent attention has one compressed cache, which every rank holds.
    """
    keys = minimum(kv_heads, heads)
    return (kv_lora_rank > 0) | (keys % tp == 0) | (tp % keys == 0)


@rule(
    "--experts-per-token {experts_per_token} is larger than --experts {experts}: "
    "a token cannot visit more experts than there are"
)
def visited_experts_exist(experts: float, experts_per_token: float) -> bool:
    """A token visits different experts."""
    return experts >= experts_per_token


@rule("--dense-layers {dense_layers} is larger than --layers {layers}")
def dense_layers_exist(layers: float, dense_layers: float) -> bool:
    """Layers without experts are some of all layers."""
    return layers >= dense_layers


@rule(
    "the feed-forward block needs --d-ff, its width; "
    "only if all layers have experts, --expert-d-ff will do"
)
def feed_forward_has_a_width(
    d_ff: float, expert_d_ff: float, experts: float, dense_layers: float
) -> bool:
    """A model without dense layers needs only the width of its experts."""
    return (d_ff < inf) | ((experts > 1) & (dense_layers == 0) & (expert_d_ff < inf))


@rule("latent attention (--kv-lora-rank) needs --qk-nope-head-dim and --v-head-dim as well")
def latent_attention_has_widths(
    kv_lora_rank: float, qk_nope_head_dim: float, v_head_dim: float
) -> bool:
    """Its heads are expanded from the latent vector to widths of their own."""
    return (kv_lora_rank == 0) | ((qk_nope_head_dim > 0) & (v_head_dim > 0))


@rule("--axes is {axes}, but {chip} has {chip_axes}")
def chip_has_the_axes(axes: float, chip_axes: float, chip: str) -> bool:
    """No more torus axes than the chip has; asked of a chip that was named, not of a formula."""
    return axes <= chip_axes


TENSOR_RULES = (tp_divides_heads, tp_divides_kv_heads)
