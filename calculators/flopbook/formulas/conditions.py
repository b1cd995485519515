"""Conditions that several formulas put on their inputs, each with the message for a user who breaks it."""

from typing import Any

from flopbook.ops import inf


def always(condition: Any) -> bool:
    """True when a condition on numbers or arrays holds throughout."""
    return bool(condition.all() if hasattr(condition, "all") else condition)


HEADS_RULE = (
    lambda heads, kv_heads, **_: always((kv_heads <= heads) | (kv_heads == inf)),
    "kv-heads is larger than heads: each key and value head serves at least one head",
)
EXPERTS_RULE = (
    lambda experts, experts_per_token, **_: always(experts >= experts_per_token),
    "experts-per-token is larger than experts: a token cannot visit more experts than there are",
)
DENSE_LAYERS_RULE = (
    lambda layers, dense_layers, **_: always(layers >= dense_layers),
    "dense-layers is larger than layers",
)
