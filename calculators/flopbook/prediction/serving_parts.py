"""Parts of a pass of a served model that plans share: experts, messages, and launches for prompts.

For one number and for arrays alike, and printed to JavaScript for the page.
"""

from __future__ import annotations

from typing import Any

from flopbook.prediction import arrays
from flopbook.prediction.machines import ChipRates
from flopbook.prediction.models import Parameters
from flopbook.prediction.transformers import Transformer

# NCCL's own estimate of a sum by a tree with messages of 128 bytes (src/graph/tuning.cc at
# 01afd20a): seconds to start, of a step over links, and of a step between servers. The sums that
# engines bring stay inside a server.
TREE_START, LINK_STEP, NETWORK_STEP = 4.4e-6, 1.2e-6, 8.5e-6
BYTES_16 = 2.0
# Of the values that a layer moves beside its products, those between two sums over ranks.
CUT_VALUES = 0.6
LOG_2 = 0.6931471805599453
# Chips whose programs are compiled as a whole, so that prompts have no launches of their own.
WHOLE_PROGRAMS = ("tpu", "neuron", "gaudi")
# Of the shorter of launches and work, the share that shows beside the longer.
SHOWN_LAUNCHES = 0.3


def routed_weights(shape: Transformer) -> Any:
    """Weights of the experts that a token is routed to, in all layers."""
    if not shape.is_mixture:
        return 0.0
    return shape.expert_parameters * shape.experts_per_token / shape.experts


def common_weights(shape: Transformer) -> Any:
    """Weights that every token multiplies, the head with them; of the input one row is read."""
    return shape.layer_weights + shape.embedding - routed_weights(shape)


def visited_experts(shape: Transformer, tokens: Any) -> Any:
    """Experts of a layer that some token visits, where each is as likely as the others."""
    return shape.experts * (1 - (1 - shape.experts_per_token / shape.experts) ** tokens)


def experts_read(shape: Transformer, tokens: Any) -> Any:
    """Weights of the experts that some tokens visit, in all layers."""
    if not shape.is_mixture:
        return 0.0
    return shape.expert_parameters * visited_experts(shape, tokens) / shape.experts


def expert_work(shape: Transformer, tokens: Any, half: Any, ranks: Any) -> Any:
    """Weights times tokens of the experts, of which each visited one works on `half` more.

    A product takes tiles of a fixed number of tokens, and each expert fills its own. With whole
    experts on some ranks all wait for the busiest: the most of that many draws, were they random.
    """
    if not shape.is_mixture:
        return 0.0
    visits = tokens * shape.experts_per_token / ranks
    busiest = arrays.minimum(1 + arrays.sqrt(2 * arrays.log(ranks) / visits), ranks)
    filled = half * visited_experts(shape, tokens) / shape.experts_per_token
    return routed_weights(shape) * (tokens * busiest + filled)


def elementwise_seconds(
    runs_on: ChipRates, shape: Transformer, tokens: Any, tp: Any, p: Parameters
) -> Any:
    """Seconds of norms, residuals and activations, which are read from memory and written to it.

    Tensor parallelism cuts what lies between two of its sums; the rest each rank does for itself.
    """
    share = CUT_VALUES / tp + 1 - CUT_VALUES
    moved = p["values_moved"] * share * BYTES_16 * tokens * shape.layers * shape.d_model
    moved = moved * shape.blocks
    return moved / runs_on.memory_bandwidth


def link_rate(runs_on: ChipRates, ranks: Any) -> Any:
    """Byte/s of the links of a chip that lead to the others of so many ranks of one domain.

    On a mesh a pair has its own links, so two of eight chips use a seventh of what each has.
    """
    if runs_on.mesh <= 1:
        return runs_on.link_bandwidth
    others = arrays.minimum(arrays.maximum(ranks - 1, 1), runs_on.mesh - 1)
    return runs_on.link_bandwidth * others / (runs_on.mesh - 1)


def sum_seconds(runs_on: ChipRates, ranks: Any, sent: Any, p: Parameters) -> Any:
    """Seconds of a sum of so many bytes over some ranks: in each domain, then between domains."""
    if ranks <= 1:
        return 0.0
    near = arrays.minimum(ranks, runs_on.domain)
    links = 2 * sent * (1 - 1 / near) / (link_rate(runs_on, near) * p["sum_share"])
    if ranks <= runs_on.domain:
        return p["sum_seconds"] + links
    domains = arrays.ceil(ranks / near)
    cards = near * runs_on.card_bandwidth * p["sum_share"]
    steps = 2 * ((near - 1) * LINK_STEP + arrays.log(domains) / LOG_2 * NETWORK_STEP)
    return TREE_START + steps + links + 2 * sent * (1 - 1 / domains) / cards


def exchange_seconds(runs_on: ChipRates, ranks: Any, sent: Any, p: Parameters) -> Any:
    """Seconds in which tokens reach their experts on other ranks and come back, in one layer.

    `sent` are the bytes of both ways, were all experts elsewhere.
    """
    leaving = arrays.maximum(1 - runs_on.domain / ranks, 0)
    near = (1 - 1 / ranks - leaving) / link_rate(runs_on, arrays.minimum(ranks, runs_on.domain))
    bytes_seconds = sent * (near + leaving / runs_on.card_bandwidth) / p["sum_share"]
    step = p["sum_seconds"]
    if ranks > runs_on.domain:
        step = step + NETWORK_STEP
    return 2 * step + bytes_seconds


def sharing_seconds(reading: Any, arithmetic: Any, p: Parameters) -> Any:
    """Seconds of products that read their weights and multiply, partly at the same time."""
    adding = p["adding"]
    return (reading**adding + arithmetic**adding) ** (1 / adding)


def product_rate(peak: Any, runs_on: ChipRates, share: Any, p: Parameters) -> Any:
    """FLOP/s that products of many tokens reach: chips of little power lower their clock."""
    return peak * share * runs_on.power ** p["power"]


def prompt_launches(runs_on: ChipRates, layers: Any, each: Any, work: Any, p: Parameters) -> Any:
    """What launches add to a pass over prompts: lengths differ, so no recorded graph holds them.

    `each` is their time in a layer. Chips whose programs are compiled whole launch once.
    """
    if runs_on.generation in WHOLE_PROGRAMS:
        return layers * p["layer_seconds"]
    launches = layers * each
    return arrays.maximum(launches - work, 0) + SHOWN_LAUNCHES * arrays.minimum(launches, work)
