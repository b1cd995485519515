"""How late the fullest of several ranks with experts is, which answers of inference leave out."""

from flopbook.formulas.declaration import Constant
from flopbook.formulas.omissions import omission
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT
from flopbook.quantities.ops import inf, maximum, minimum, sqrt, where

# The largest of n even draws lies 4.5 (1 - n to the power -0.18) standard deviations above their
# mean, to 6 percent from 2 draws to 300.
HEIGHT = Constant(4.5, "1", "standard deviations above the mean that no number of draws passes")
CLIMB = Constant(0.18, "1", "how fast the largest of more and more draws comes near to it")
SECOND = Constant(1.0, "s", "any time, where nothing runs")


@omission(
    "experts are read evenly over --ep {ep}; even if tokens choose evenly, some rank has more of "
    "those that are visited, and all wait for it ({size})",
    of="seconds",
)
def fullest_rank(
    params: float,
    compute_params: float,
    experts: float,
    experts_per_token: float,
    tp: float,
    dp: float,
    ep: float,
    chips: float,
    peak: float,
    bandwidth: float,
    tokens_per_s: float,
    weight_bytes: float,
    seconds: float,
) -> float:
    """Visited experts of the fullest rank beyond the mean, at the time of reading one of them."""
    # Tokens of a step: sequences in decoding, tokens of prompts in prefill, what runs in serving.
    whole = where(seconds < inf, seconds, SECOND)
    tokens = tokens_per_s * whole
    shared = where(chips < inf, chips, 1) / where(tp < inf, tp, 1)
    groups = where(tp < inf, where(chips < inf, shared, ep), ep)
    replicas = where(dp < inf, dp, groups)
    degree = where(tp < inf, tp, where(chips < inf, chips, replicas) / replicas)
    visits = tokens * ep / replicas
    visited = 1 - (1 - experts_per_token / experts) ** visits
    on_rank = experts / ep
    spread = sqrt(maximum(on_rank * visited * (1 - visited), 0))
    most = minimum(on_rank, visits * experts_per_token)
    fullest = minimum(on_rank * visited + spread * HEIGHT * (1 - ep ** (-CLIMB)), most)
    more = maximum(fullest - on_rank * visited, 0)
    unvisited = experts - experts_per_token
    unmet = maximum(params - compute_params, 0) * experts / where(unvisited > 0, unvisited, 1)
    routed = where(unvisited > 0, minimum(unmet, params), 0)
    # Of a chip's weights, those of one expert: each has all others, and a part of the experts.
    expert_bytes = weight_bytes * routed / experts / (params - routed * (1 - 1 / ep))
    other_bytes = weight_bytes - expert_bytes * on_rank
    reading = (other_bytes + expert_bytes * on_rank * visited) / bandwidth
    computing = FLOP_PER_WEIGHT * compute_params * tokens / (degree * replicas * peak)
    late = reading + more * expert_bytes / bandwidth
    return (maximum(late, computing) - maximum(reading, computing)) / whole
