"""What mixtures of experts add to a step: the busiest rank, launches of routing, tokens sent.

Arrays have one element per run and seconds as unit, as in `step_time`. Which container does what is
read in the recipes of Megatron-Bridge: v0.2.1 is container 25.11, v0.3.0 26.02, v0.5.0 26.06.
"""

from __future__ import annotations

from collections.abc import Mapping

from flopbook.prediction import arrays
from flopbook.prediction.arrays import Column, Mask
from flopbook.prediction.layouts import Layouts
from flopbook.prediction.replicas_traffic import BYTES_16, link_rate
from flopbook.prediction.torus import share_of_exchange

Parameters = Mapping[str, float]

# One kernel sends tokens to experts and back (HybridEP, DeepEP) and a graph replays the router:
# most recipes of 2026 (`moe_flex_dispatcher_backend`), those for racks in 25.11 already.
ONE_KERNEL, ONE_KERNEL_ON_RACKS = 2026.0, 2025.9
REPLAYED = 0.3  # of the launches of routing that are left then
# One graph replays the whole step, so one kernel multiplies for all experts of a rank, whose rows
# it reads in memory: recipes for mixtures in 8 bits on racks (`full_iteration`, cuteDSL).
WHOLE_GRAPHS = 2026.5
BRIDGE = "nemo"
RACK = 32  # chips of a domain; boards of eight are no rack


def is_mixture(runs: Layouts) -> Mask:
    """The runs whose tokens visit some of several experts."""
    return runs["experts"] > 1


def _is_on_rack(runs: Layouts) -> Mask:
    return runs.where("stack", BRIDGE) & (runs["domain"] >= RACK) & (runs["is_torus"] < 1)


def _has_one_kernel(runs: Layouts) -> Mask:
    """The runs whose tokens one kernel sends, beside a router that a graph replays."""
    early = _is_on_rack(runs) & (runs["year"] >= ONE_KERNEL_ON_RACKS)
    return early | (runs["year"] >= ONE_KERNEL)


def replays_step(runs: Layouts) -> Mask:
    """The mixtures whose whole step is one graph."""
    is_narrow = runs.where("precision", "fp8", "fp4") & is_mixture(runs)
    is_whole = is_narrow & _is_on_rack(runs) & (runs["year"] >= WHOLE_GRAPHS)
    # Those for hybrids replay a graph for each mixer and router (`cuda_graph_scope`).
    return is_whole & (runs["attending"] >= 1)


def busiest(runs: Layouts, p: Parameters) -> Column:
    """Work of the busiest rank over the mean; several experts on a rank even it out.

    With a capacity all do as much: their places are multiplied, taken or not.
    """
    spread = arrays.sqrt(runs["ep"] / runs["experts"])
    beyond = p["imbalance"] * arrays.where(runs["ep"] > 1, spread, 0)
    uneven = 1 + arrays.where(runs["is_balanced"] > 0, 0, beyond)
    return arrays.where(runs["capacity"] > 0, runs["capacity"], uneven)


def mask_products(runs: Layouts) -> Column:
    """Multiplications of a token and layer with the masks that put it into places and take it out.

    One place of every expert for each token of its sequence (MaxText, `dense_matmul` of `moe.py`).
    """
    places = runs["capacity"] * runs["experts_per_token"] * runs["tokens"]
    return 2 * places * runs["d_model"] * runs["routing"]


def expert_cost(runs: Layouts, p: Parameters) -> Column:
    """Time of the products of experts over plain ones of their shape, which a capacity makes."""
    is_plain = replays_step(runs) | (runs["capacity"] > 0)
    return arrays.where(is_plain, 1, p["expert_cost"])


def routing_launches(runs: Layouts, p: Parameters) -> tuple[Column, Column]:
    """Seconds of a layer and micro-batch in which kernels of routing and experts are launched.

    Those that hide as other launches do, and those that nothing hides. Where no token is dropped,
    the host reads how many go to each expert before it launches what sends and multiplies them
    (Megatron-LM, pull request 2368), so that the chip waits for it. One kernel may ask once a layer
    too, but launches so little that it hides.
    """
    # The products of each expert that a rank holds are launched by themselves.
    each = p["expert_launch"] + p["expert_kernels"] * runs["experts"] / runs["ep"]
    each = each * runs["routing"]
    launched = arrays.where(is_mixture(runs) & (runs["is_torus"] < 1), each, 0)
    has_one_kernel = _has_one_kernel(runs)
    hidden = arrays.where(has_one_kernel, REPLAYED * launched, 0)
    return hidden, arrays.where(has_one_kernel, 0, launched)


def expert_parallel(runs: Layouts, p: Parameters, work: Column) -> Column:
    """Tokens go to their experts and back, forward and backward.

    A token goes to each of its experts over links, and once to each node that has some of them over
    the network (DeepSeek-AI, 2024): the links pass it on there. Experts in a latent space receive
    what is left of its width: it is made before tokens are sent and widened after they are back
    (Megatron-LM, `moe_layer.py`).
    """
    visited = runs["experts_per_token"]
    is_inside = runs["ep"] * runs["tp"] <= runs["domain"]
    nodes = arrays.maximum(runs["ep"] * runs["tp"] / runs["domain"], 1)
    others = (nodes - 1) * (1 - (1 - 1 / nodes) ** visited)
    copies = arrays.where(is_inside, visited * (1 - 1 / runs["ep"]), others)
    sent = 4 * BYTES_16 * work * runs["routing"] * runs["expert_d_model"] * copies
    cards = runs["card_bandwidth"] * p["card_share"]
    links = link_rate(runs, p, runs["ep"] * runs["tp"])
    links = links * share_of_exchange(runs, runs["ep"])
    rate = arrays.where(is_inside, links, cards)
    seconds = sent / rate * p["expert_exposed"] * busiest(runs, p)
    return arrays.where(is_mixture(runs), seconds, 0)
