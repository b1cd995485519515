"""What replicas exchange in a step: weights that are gathered, and gradients that are summed.

Arrays have one element per run and seconds as unit, as in `step_time`.
"""

from __future__ import annotations

from collections.abc import Mapping

from flopbook.prediction import arrays
from flopbook.prediction.arrays import Column, Mask
from flopbook.prediction.layouts import Layouts
from flopbook.prediction.machines import SMALL_BOARD
from flopbook.prediction.torus import is_torus, share_of_replicas

Parameters = Mapping[str, float]

BYTES_16 = 2.0
GATHERS = 3.0  # weights forward, weights backward, gradients
BACKWARD = 2 / 3  # of a step's work
BLOCKING = ("nanotron",)  # sums the gradients after the last micro-batch
# Gathers the weights that its sharded optimizer updated behind the next forward pass, since then
# (--overlap-param-gather in Megatron-LM's own benchmarks).
GATHERED_AHEAD, GATHERED_YEAR = ("nemo", "megatron-core"), 2024
# Of a layer whose tensors have owners: the weights and biases of two products of attention, three
# matrices of the feed-forward block, two norms (InternLM's `multi_head_attention.py`).
OWNED_TENSORS = 9
HIDEABLE = 0.8  # of a layer's work that a gather may hide behind
EARLY = 2022.5  # stacks from before pay for launches and unfused attention


def is_early(runs: Layouts) -> Mask:
    """The runs of software whose kernels and collectives were not fused yet."""
    return (runs["year"] < EARLY) | runs.where("stack", "deepspeed")


def link_rate(runs: Layouts, p: Parameters, ranks: Column | float) -> Column:
    """Byte/s that collectives of some ranks reach over the links of a domain.

    Without a switch a chip sends to each other one of its board over a part of its links.
    """
    others = arrays.maximum(ranks - 1, 1)
    some = arrays.minimum(others / (SMALL_BOARD - 1), 1)
    used = arrays.where(runs["has_switch"] > 0, 1, some)
    return runs["link_bandwidth"] * p["link_share"] * used


def replicas_of(runs: Layouts) -> Column:
    """Ranks that hold the same weights: those of data and those of context parallelism."""
    return runs["dp"] * runs["cp"]


def shards_of(runs: Layouts) -> Column:
    """Ranks over which ZeRO divides: all replicas, or those of one of several groups (HSDP)."""
    return replicas_of(runs) / runs["hsdp"]


def expert_shards_of(runs: Layouts) -> Column:
    """The ranks among those that hold the same experts, one of each group of expert parallelism."""
    return arrays.maximum(shards_of(runs) / runs["ep"], 1)


def held_by(runs: Layouts) -> Column:
    """Parameters that a rank works with, before they are sharded over its replicas."""
    return _shared_held_by(runs) + _experts_held_by(runs)


def _shared_held_by(runs: Layouts) -> Column:
    """Parameters that a rank works with beside its experts."""
    return (runs["parameters"] - runs["expert_parameters"]) / (runs["tp"] * runs["pp"])


def _experts_held_by(runs: Layouts) -> Column:
    """Parameters of experts that a rank works with."""
    return runs["expert_parameters"] / runs["ep"] / (runs["tp"] * runs["pp"])


def _on_torus(runs: Layouts, p: Parameters, rate: Column) -> Column:
    """A rate, or that of the axes of a torus that no tensor-parallel group takes."""
    if not arrays.holds_anywhere(is_torus(runs)):
        return rate
    links = runs["link_bandwidth"] * p["link_share"] * share_of_replicas(runs)
    return arrays.where(is_torus(runs), links, rate)


def shared_elsewhere(runs: Layouts) -> Column:
    """Parameters beside experts that a rank works with and other shards hold."""
    return _shared_held_by(runs) * (1 - 1 / shards_of(runs))


def experts_elsewhere(runs: Layouts) -> Column:
    """The same of its experts; where each rank has experts of its own, none is elsewhere."""
    return _experts_held_by(runs) * (1 - 1 / expert_shards_of(runs))


def _network(runs: Layouts, p: Parameters, ranks: Column, apart: Column) -> Column:
    """The rate at which shards of some ranks arrive: links inside the domain, cards beyond.

    The ranks lie some chips `apart`. Those of one node that hold the same weights fetch a part each
    and pass it on over the links, so that all their cards work for each of them.
    """
    is_inside = ranks * apart <= runs["domain"]
    together = arrays.maximum(runs["domain"] / apart, 1)
    cards = runs["card_bandwidth"] * p["card_share"] * together
    links = link_rate(runs, p, ranks)
    rate = arrays.where(is_inside, links, arrays.minimum(cards, links))
    return _on_torus(runs, p, rate)


def _own_card(runs: Layouts, p: Parameters) -> Column:
    """The rate at which a rank sends what no rank beside it sends: by its own card, or a link."""
    is_inside = replicas_of(runs) * runs["tp"] <= runs["domain"]
    cards = runs["card_bandwidth"] * p["card_share"]
    rate = arrays.where(is_inside, link_rate(runs, p, replicas_of(runs)), cards)
    return _on_torus(runs, p, rate)


def _moved(runs: Layouts, p: Parameters, shared: Column, experts: Column) -> Column:
    """Seconds in which bytes of a rank reach its shards: those of experts go to fewer of them.

    Ranks with the same experts lie a group of expert parallelism apart, often in other nodes.
    """
    tp, each = runs["tp"], runs["tp"] * runs["ep"]
    rate = _network(runs, p, shards_of(runs), tp)
    rate_of_experts = _network(runs, p, expert_shards_of(runs), each)
    return shared / rate + experts / rate_of_experts


def _rings(runs: Layouts) -> Column:
    """Ranks that one collective of each layer's weights passes: in two rings where experts have
    shards of their own.
    """
    own = (runs["ep"] > 1) & (expert_shards_of(runs) > 1)
    return shards_of(runs) + arrays.where(own, runs["routing"] * expert_shards_of(runs), 0)


def gathers_of(runs: Layouts, p: Parameters, layers: Column, work: Column) -> Column:
    """Weights that ZeRO-3 gathers for each micro-batch, less what hides behind the work."""
    shards = shards_of(runs)
    # Weights that stay as they are get no gradients.
    times = (GATHERS - 1 + runs["trained"]) * BYTES_16
    seconds = _moved(runs, p, times * shared_elsewhere(runs), times * experts_elsewhere(runs))
    hop = p["hop"] * arrays.where(is_early(runs), p["hop_early"], 1)
    seconds = seconds + arrays.where(is_torus(runs), 0, GATHERS * layers * hop * _rings(runs))
    # In a pipeline they stay gathered through the step, as the measured memory says too.
    seconds = seconds / arrays.where(runs["pp"] > 1, runs["micro_batches"], 1)
    is_sharded = (runs["zero"] >= 3) & (shards > 1)
    beyond = arrays.maximum(seconds - HIDEABLE * work, 0)
    shown = arrays.where(is_torus(runs), p["torus_gathers"], p["gather_exposed"])
    exposed = beyond + shown * arrays.minimum(seconds, work)
    return arrays.where(is_sharded, exposed, 0)


def gradients_of(runs: Layouts, p: Parameters, layers: Column, work: Column) -> Column:
    """Gradients summed over the replicas once a step, and the weights gathered anew.

    ZeRO-2 holds a part of the gradients alone, so it sums those of each micro-batch. In a pipeline
    it adds up whole gradients first, as its memory says too. Groups that each hold everything sum
    their shards once more, with each other.
    """
    shards, groups, own = shards_of(runs), runs["hsdp"], expert_shards_of(runs)
    shared = runs["trained"] * _shared_held_by(runs)
    # A rank that alone has its experts sums their gradients with nobody.
    experts = arrays.where(runs["ep"] >= replicas_of(runs), 0, _experts_held_by(runs))
    experts = runs["trained"] * experts
    is_divided, is_grouped = runs["zero"] >= 2, groups > 1
    sums = arrays.where(is_divided & (runs["pp"] <= 1), runs["micro_batches"], 1)
    # FSDP sums as often as it gathers, and is timed there.
    is_summed = runs["zero"] < 3
    # Each is summed in its own width; then sharded weights are gathered, or else whole sums.
    gathered = arrays.where(runs["zero"] >= 1, BYTES_16, runs["gradient_bytes"])
    times = arrays.where(is_summed, gathered + runs["gradient_bytes"] * sums, 0)
    parts = shared / shards + experts / own
    across = 2 * runs["gradient_bytes"] * sums * parts * (1 - 1 / groups)
    # Each sum hides behind the backward pass of its micro-batch, where the stack overlaps them.
    within = arrays.where(own > 1, experts, 0)
    seconds = _moved(runs, p, times * shared, times * within) + across / _own_card(runs, p)
    is_blocking = is_early(runs) | runs.where("stack", *BLOCKING)
    overlapped = arrays.where(is_blocking | (runs["overlaps_gradients"] < 1), 0, 1)
    is_ahead = runs.where("stack", *GATHERED_AHEAD) & (runs["year"] >= GATHERED_YEAR)
    forward = arrays.where(is_ahead & (runs["zero"] >= 1), 1 - BACKWARD, 0)
    hideable = overlapped * HIDEABLE * (BACKWARD * sums + forward) * work
    hidden = arrays.minimum(seconds, hideable)
    seconds = seconds - hidden * (1 - p["gradient_exposed"])
    rounds = arrays.where(is_summed, (1 + sums) * _rings(runs), 0)
    rounds = rounds + arrays.where(is_grouped, 2 * sums * groups, 0)
    # Each owner sends what it updated by itself, in place of one gather of a layer from all.
    owners = arrays.minimum(shards / layers, OWNED_TENSORS)
    rounds = rounds + arrays.where(runs["has_owners"] > 0, (owners - 1) * shards, 0)
    seconds = seconds + arrays.where(is_torus(runs), 0, rounds * p["hop"] * layers)
    return arrays.where((is_summed | is_grouped) & (replicas_of(runs) > 1), seconds, 0)
