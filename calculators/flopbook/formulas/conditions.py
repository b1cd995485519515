"""Rules between the inputs of a formula: conditions in the formula subset, each with a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flopbook.errors import FlopbookError
from flopbook.formulas.statements import Statement
from flopbook.quantities.ops import inf, minimum, where


class Rule(Statement):
    """A condition between inputs, with the message for a user whose values break it."""

    def is_kept(self, values: Mapping[str, Any]) -> bool:
        """Whether the inputs of a formula, floats or arrays, keep the rule throughout."""
        return always(self.value(values))

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise FlopbookError, naming the first values that break the rule, unless all keep it."""
        holds = self.value(values)
        if not always(holds):
            first = int(holds.argmin()) if hasattr(holds, "argmin") else 0
            raise FlopbookError(self.explained(values, holds, first))


def rule(message: str) -> Callable[[Callable[..., bool]], Rule]:
    """Make a function in the formula subset a rule; its parameters are inputs of the formula."""
    return lambda holds: Rule(holds, message)


def always(condition: Any) -> bool:
    """True when a condition on numbers or arrays holds throughout."""
    if type(condition) is bool:  # of one case, which is asked most often
        return condition
    return bool(condition.all() if hasattr(condition, "all") else condition)


@rule(
    "--kv-heads {kv_heads} does not divide --heads {heads}: each KV head serves equally many "
    "attention heads; use {kv_heads:divisor of heads}"
)
def kv_heads_are_shared(heads: float, kv_heads: float) -> bool:
    """Open KV heads are as many as attention heads."""
    return heads % where(kv_heads < inf, kv_heads, 1) == 0


@rule(
    "--window-kv-heads {window_kv_heads} does not divide --heads {heads}: each KV head serves "
    "equally many attention heads; use {window_kv_heads:divisor of heads}"
)
def window_kv_heads_are_shared(heads: float, window_kv_heads: float) -> bool:
    """None of their own means as many as in the other layers."""
    return heads % where(window_kv_heads > 0, window_kv_heads, 1) == 0


@rule("--tp {tp} does not divide {heads} attention heads; use {tp:divisor of heads}")
def tp_divides_heads(heads: float, tp: float) -> bool:
    """Every rank of tensor parallelism computes equally many whole heads."""
    return heads % where(tp < inf, tp, 1) == 0


@rule(
    "--tp {tp} and {kv_heads} KV heads: one has to divide the other, "
    "so that every rank holds equally many KV heads"
)
def tp_divides_kv_heads(heads: float, tp: float, kv_heads: float, kv_lora_rank: float) -> bool:
    """KV heads are divided over the ranks, or each is copied to equally many ranks.

    Latent attention has one compressed cache, which every rank holds.
    """
    keys = minimum(kv_heads, heads)
    # An open degree is filled from the number of chips, and a rule of its own asks for that.
    degree = where(tp < inf, tp, 1)
    return (kv_lora_rank > 0) | (keys % degree == 0) | (degree % keys == 0)


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
