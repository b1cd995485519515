"""Whether the chips that hold a model can run it, which answers of inference leave out."""

from flopbook.formulas.declaration import Constant
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import inf, maximum, minimum, where

ONE = Constant(1.0, "chip", "a chip alone")
MOST = Constant(64.0, "1", "chips of one TP degree, beyond which nobody goes")


@omission(
    "fewest_chips counts memory alone, and a TP degree of that number does not divide {heads} "
    "attention heads and their KV heads: the next power of two is larger ({size})",
    of="fewest_chips",
)
def no_such_degree(
    free: float,
    fewest_chips: float,
    heads: float,
    kv_heads: float,
    kv_lora_rank: float,
    dp: float,
    ep: float,
) -> float:
    """The next power of two, which divides the heads of nearly all models; told if nothing fits."""
    count = maximum(where(fewest_chips < inf, fewest_chips, ONE) / ONE, 1)
    keys = minimum(kv_heads, heads)
    cuts_keys = (kv_lora_rank > 0) | (keys % count == 0) | (count % keys == 0)
    is_degree = cuts_keys & (heads % count == 0)
    # Replicas and experts share out chips in other ways.
    replicas = where(dp < inf, dp, 1)
    is_alone = (ep <= 1) & (replicas <= 1) & (count <= MOST)
    small = 1 + where(count > 1, 1, 0) + where(count > 2, 2, 0) + where(count > 4, 4, 0)
    large = where(count > 8, 8, 0) + where(count > 16, 16, 0) + where(count > 32, 32, 0)
    missing = where(is_degree, 0, (small + large) / count - 1)
    return where(is_alone & (free < 0), missing, 0)
