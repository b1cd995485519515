"""What the kernels of Mamba-2 do for each token in training, beside its two projections.

Counted kernel by kernel in the code that Megatron Core calls, `ssd_combined.py` and the convolution
before it (Dao and Gu, 2024). A pass works on chunks of tokens: scores within a chunk, the state at
its end, the states passed on in fp32, and what they add to each token. The backward pass computes
the convolution, the scores and the states again.
"""

from __future__ import annotations

from flopbook.architectures.shape import Shape

MAMBA2 = "mamba2"
CHUNK = 128.0  # tokens, the default of Megatron's `MambaMixer`
# Values of 16 bits that all kernels read and write, forward and backward: over channels of the
# convolution, the inner width, keys of all groups, a state over its chunk, and scores of groups.
MOVED = {"channels": 7.0, "inner": 22.0, "keys": 17.0, "states": 22.0, "scores": 16.0}
# Multiplications and additions, forward and backward: scores of groups, products with states, and
# sums of each head over its chunk.
MULTIPLIED = {"scores": 4.0, "states": 7.0, "sums": 4.0}


def state_kernel_sizes(model: Shape) -> dict[str, float]:
    """Values moved and multiplications for a token in all layers of a model, in words of a row.

    Empty for other recurrences, whose kernels differ.
    """
    if model.size("state_kind") != MAMBA2 or not model.records("state_layers"):
        return {}
    layers = float(model.pick("state_layers").value)
    heads, dim = float(model.size("state_heads")), float(model.size("state_head_dim"))
    groups = float(model.size("state_key_heads") or heads)
    key_dim = float(model.size("state_key_dim") or dim)
    inner, keys, scores = heads * dim, groups * key_dim, groups * CHUNK
    sizes = {
        "channels": inner + 2 * keys,
        "inner": inner,
        "keys": keys,
        "states": inner * key_dim / CHUNK,
        "scores": scores,
    }
    products = {"scores": scores * key_dim, "states": inner * key_dim, "sums": inner * CHUNK}
    return {
        "kernel_moved": layers * sum(MOVED[name] * size for name, size in sizes.items()),
        "kernel_products": layers * sum(MULTIPLIED[name] * each for name, each in products.items()),
    }
