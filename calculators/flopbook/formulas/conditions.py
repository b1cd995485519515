"""Conditions that several formulas put on their inputs, each with the message for a user who breaks
it.
"""

from typing import Any

from flopbook.quantities.ops import inf, minimum


def always(condition: Any) -> bool:
    """True when a condition on numbers or arrays holds throughout."""
    return bool(condition.all() if hasattr(condition, "all") else condition)


HEADS_RULE = (
    lambda heads, kv_heads, **_: always((kv_heads <= heads) | (kv_heads == inf)),
    "kv-heads is larger than heads: each key and value head serves at least one head",
)


def _heads_divide(heads: Any, tp: Any, kv_heads: Any, kv_lora_rank: Any, **_: Any) -> bool:
    """Each chip has as many heads; keys and values are either divided too, or each head is on as
    many chips.
    """
    keys = minimum(kv_heads, heads)
    return always((heads % tp == 0) & ((kv_lora_rank > 0) | (keys % tp == 0) | (tp % keys == 0)))


TENSOR_RULE = (
    _heads_divide,
    "heads do not divide over tp: each chip of tensor parallelism holds whole heads",
)
EXPERTS_RULE = (
    lambda experts, experts_per_token, **_: always(experts >= experts_per_token),
    "experts-per-token is larger than experts: a token cannot visit more experts than there are",
)
DENSE_LAYERS_RULE = (
    lambda layers, dense_layers, **_: always(layers >= dense_layers),
    "dense-layers is larger than layers",
)
