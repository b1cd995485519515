"""How far a step can be spread before traffic takes longer than arithmetic (Austin et al. 2025).

All rates are of one chip and one way. What a chip moves comes from Rajbhandari et al. 2020 (7),
Narayanan et al. 2021 (3.3), Liu et al. 2023 (ring attention) and Lepikhin et al. 2020 (experts).
"""

from __future__ import annotations

import math


def data_parallel(peak: float, rate: float, width: float = 2, idle: float = 1) -> dict[str, float]:
    """Sum of gradients, 2 x width a weight, behind 4 operations a weight and token.

    `idle` is total over active weights: idle experts move, too, but do not compute.
    """
    tokens = 2 * width / rate * peak / 4 * idle
    return {
        "tokens_per_chip": tokens,
        "forward_tokens": 0,
        "backward_tokens": tokens,
        "step_tokens": 2 * width / rate * peak / 6 * idle,
    }


def fully_sharded(
    peak: float, rate: float, width: float = 2, idle: float = 1, regather: bool = True
) -> dict[str, float]:
    """Forward gathers; backward gathers again and scatters gradients."""
    forward = width / rate * peak / 2 * idle
    times = 2 if regather else 1
    backward = times * width / rate * peak / 4 * idle
    return {
        "tokens_per_chip": max(forward, backward),
        "forward_tokens": forward,
        "backward_tokens": backward,
        "step_tokens": (1 + times) * width / rate * peak / 6 * idle,
    }


def tensor_parallel(
    peak: float, rate: float, d_ff: float, gated: bool, width: float = 2, regather: bool = False
) -> tuple[float, float]:
    """Degrees at which the block's forward and backward pass are just busy.

    Forward gathers the input and scatters the sum of the result, `width` a value each.
    """
    operations = 2 * (3 if gated else 2) * d_ff
    moved = 2 * width
    forward = operations / peak / (moved / rate)
    again = (3 if regather else 2) * width
    return forward, 2 * operations / peak / (again / rate)


def mixed(
    peak: float, link: float, d_ff: float, axes: tuple[int, int], batch: float, chips: float
) -> dict[str, float]:
    """The best split by trying: least traffic of weights over X and activations over Y.

    Two-way rings of one axis carry 2 x link. In units of D: weights 2 x 2F / Y over the axes of X,
    activations 2 x 2B / X over those of Y, width 2; one after the other.
    """
    fsdp, tensor = axes

    def traffic(x: float, tokens: float) -> float:
        y = chips / x
        weights = 2 * 2 * d_ff / y / (2 * link * fsdp)
        values = 2 * 2 * tokens / x / (2 * link * tensor)
        return weights + values

    low, high = 0.0, math.log(chips)
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if traffic(math.exp(left), batch) < traffic(math.exp(right), batch):
            high = right
        else:
            low = left
    x = math.exp((low + high) / 2)
    arithmetic = 4 * batch * d_ff / chips / peak
    return {"x_opt": x, "y_opt": chips / x, "slack": arithmetic / traffic(x, batch)}


def ring_attention(
    peak: float, rate: float, heads: int, kv_heads: int, causal: bool, width: float = 2
) -> dict[str, float]:
    """A chip's keys and values travel while its queries meet them.

    Forward 2 products, backward 5 (Dao 2023); backward moves keys, values and their gradients.
    """
    seen = 0.5 if causal else 1.0

    def tokens(tensors: float, products: float) -> float:
        return tensors * width * kv_heads / rate / (2 * products * heads * seen / peak)

    forward, backward = tokens(2, 2), tokens(4, 5)
    return {
        "tokens_per_chip": max(forward, backward),
        "forward_tokens": forward,
        "backward_tokens": backward,
        "step_tokens": tokens(6, 7),
    }


def experts(
    peak: float, rate: float, bandwidth: float, shape: tuple[int, int, int], gated: bool, chips: int
) -> dict[str, float]:
    """There and back, `width` 2 a value, behind the products of the experts that a token visits."""
    width, every, each = shape
    operations = 2 * (3 if gated else 2) * width
    slack = operations / peak / (2 * 2 / rate)
    return {
        "tokens_per_chip": peak / bandwidth * every / each / chips,
        "slack": slack,
        "least_width": width / slack,
    }
