"""The time of a training step in parts, for many runs at once.

Each part is what the hardware has to do, over the rate that real software reaches; the shares of
the rates are the parameters. Arrays have one element per run and seconds as unit.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import NamedTuple

from flopbook.formulas import get_formula
from flopbook.formulas.pipeline import FOLDED, SPLIT
from flopbook.prediction import arrays
from flopbook.prediction.arrays import Column, Mask
from flopbook.prediction.attention_time import attention_of
from flopbook.prediction.experts import (
    busiest,
    expert_cost,
    expert_parallel,
    is_mixture,
    mask_products,
    replays_step,
    routing_launches,
)
from flopbook.prediction.layouts import Layouts
from flopbook.prediction.offloading import HELD, waiting_of
from flopbook.prediction.parameters import GENERATION_STARTS
from flopbook.prediction.replicas_traffic import (
    BYTES_16,
    gathers_of,
    gradients_of,
    held_by,
    is_early,
    link_rate,
    shards_of,
)
from flopbook.prediction.stacks import STACKS
from flopbook.prediction.stages import PASSES, RECOMPUTED_PASSES, repeated, stage_layers
from flopbook.prediction.torus import PAIR, is_torus, share_of_ring

Parameters = Mapping[str, float]

FLOP_PER_WEIGHT = 2.0  # a multiplication and an addition
WEIGHT_PASSES = 1.0  # of them, the one that computes gradients of weights
# Sums over the activations of a layer: two forward, two backward, two more where recomputed.
SUMS, RECOMPUTED_SUMS = 4.0, 6.0
OPTIMIZER_BYTES = 16.0  # master weight and two moments in fp32, read and written in part
RING_PASSES = 3.0  # keys and values forward and backward, and their gradients
ALIGNMENT = 64
RIDGE = 200.0  # FLOP/byte of the chip for which the halves of the rates of products are stated
# Schedules that part the backward pass, and those that run down the stages and up again.
SPLIT_BACKWARD = (*SPLIT, *FOLDED)
BENT = ("zb-v", "dualpipe-v")
# Transformer Engine overlaps tensor-parallel sums in these, from this year on.
OVERLAPPED, OVERLAPPED_YEAR = ("nemo",), 2024
# Stacks whose tensor-parallel ranks each send the activations of all to the next stage.
WHOLE_SENDERS = ("deepspeed",)
# Tensor parallelism of PyTorch itself waits for each sum, unless it is asynchronous.
WAITING = ("torchtitan", "fsdp2", "torchtune")
# The share of a kernel's launch that shows beside longer work, and of the shorter of both.
OVERLAP = 0.3


class StepParts(NamedTuple):
    """Seconds of a step: each part over all micro-batches, and what the layout adds."""

    products: Column
    experts: Column
    attention: Column
    elementwise: Column
    tensor_parallel: Column
    context_parallel: Column
    expert_parallel: Column
    pipeline_sends: Column
    launches: Column
    head: Column
    gathers: Column
    bubble: Column
    gradients: Column
    optimizer: Column
    offload: Column
    straggling: Column

    @property
    def seconds(self) -> Column:
        """The whole step."""
        return functools.reduce(operator.add, self)


def step_parts(runs: Layouts, p: Parameters) -> StepParts:
    """The parts of the step of each run, in seconds."""
    tokens = runs["micro_batch"] * runs["tokens"] / runs["cp"]
    layers = stage_layers(runs)
    rate = _Rates(runs, p, tokens)
    passes = PASSES + (RECOMPUTED_PASSES - PASSES) * repeated(runs)
    products, experts = _products(runs, p, rate, tokens * layers * (passes - _spared(runs)))
    attention = attention_of(runs, p, tokens * layers)
    elementwise = _elementwise(runs, p, tokens * layers * passes / PASSES)
    tensor = _tensor_parallel(runs, p, tokens * layers, products + experts + attention)
    context = _context_parallel(runs, p, tokens * layers, attention)
    expert = expert_parallel(runs, p, tokens * layers)
    sends = _pipeline_sends(runs, p, tokens)
    work = products + experts + attention + elementwise + tensor + context + expert + sends
    launches = _launches(runs, p, layers * passes / PASSES, work)
    head = _head(runs, p, rate, tokens, work / layers)
    gathers = gathers_of(runs, p, layers, work + launches + head)
    per_micro_batch = work + launches + head + gathers
    count = runs["micro_batches"]
    bubble = _idle_micro_batches(runs) * p["bubble"] * per_micro_batch
    gradients = gradients_of(runs, p, layers, work)
    shards = arrays.where(runs["zero"] >= 1, shards_of(runs), 1)
    updated = runs["trained"] * held_by(runs) / shards
    # A host that holds the state of the optimizer updates the weights too.
    updated = arrays.where(runs.where("offload", *HELD), 0, updated)
    optimizer = OPTIMIZER_BYTES * updated / runs["memory_bandwidth"]
    waiting = waiting_of(runs, layers, per_micro_batch * count)
    step = per_micro_batch * count + bubble + gradients + optimizer + waiting
    slower = 1 + p["straggling"] * (runs["chips"] / 1000) ** p["straggling_power"]
    slower = slower * arrays.where((runs["slices"] > 1) & is_torus(runs), 1 + p["slices"], 1)
    return StepParts(
        products=products * count,
        experts=experts * count,
        attention=attention * count,
        elementwise=elementwise * count,
        tensor_parallel=tensor * count,
        context_parallel=context * count,
        expert_parallel=expert * count,
        pipeline_sends=sends * count,
        launches=launches * count,
        head=head * count,
        gathers=gathers * count,
        bubble=bubble,
        gradients=gradients,
        optimizer=optimizer,
        offload=waiting,
        straggling=step * (slower - 1),
    )


def tokens_per_second(runs: Layouts, p: Parameters) -> Column:
    """Tokens per second and chip of each run."""
    batch = runs["micro_batch"] * runs["micro_batches"] * runs["dp"]
    return batch * runs["tokens"] / step_parts(runs, p).seconds / runs["chips"]


class _Rates:
    """FLOP/s that matrix products reach: of the layers, of dense layers among those of experts, of
    experts, and in 16 bits.
    """

    def __init__(self, runs: Layouts, p: Parameters, tokens: Column) -> None:
        shares = {name: p[f"matrix_{name}"] for name in GENERATION_STARTS}
        share = p["matrix"] * runs.choose("generation", shares, p["matrix_other"])
        stacks = {name: p[f"stack_{name}"] for name in STACKS}
        share = share * runs.choose("stack", stacks, 1.0)
        share = share * arrays.where(runs["is_power_capped"] > 0, p["power_capped"], 1)
        width = arrays.minimum(runs["d_model"], runs["ffn_width"] / runs["tp"])
        dense_width = arrays.minimum(runs["d_model"], runs["dense_width"] / runs["tp"])
        visits = tokens * runs["experts_per_token"] * runs["ep"] / runs["experts"]
        visits = arrays.maximum(visits, 1)
        expert_width = arrays.minimum(runs["expert_d_model"], runs["ffn_width"])
        peak = _peak(runs, p)
        # A chip that multiplies faster than it reads needs larger shards to be kept busy.
        ridge = _ridge(runs, peak)
        shape = _half(tokens, p["half_tokens"] * ridge) * _half(width, p["half_width"] * ridge)
        self.layer = peak * share * shape
        shape = _half(tokens, p["half_tokens"] * ridge)
        self.dense = peak * share * shape * _half(dense_width, p["half_width"] * ridge)
        shape = _half(visits, p["half_expert_tokens"] * ridge)
        self.expert = peak * share * shape * _half(expert_width, p["half_width"] * ridge)
        ridge = _ridge(runs, runs["peak_16bit"])
        shape = _half(tokens, p["half_tokens"] * ridge) * _half(width, p["half_width"] * ridge)
        self.sixteen_bit = runs["peak_16bit"] * share * shape


def _ridge(runs: Layouts, peak: Column) -> Column:
    """FLOPs that a chip does for each byte it reads, over those for which halves are stated."""
    return peak / runs["memory_bandwidth"] / RIDGE


def _half(size: Column, half: Column) -> Column:
    """The share of its best rate that a product reaches at a size; a half at `half`."""
    return size / (size + half)


def _peak(runs: Layouts, p: Parameters) -> Column:
    """The peak of the format, less what its recipe does not speed up."""
    is_framework = runs["is_framework_fp8"] > 0
    framework = p["framework_fp8"] * arrays.where(runs["has_row_scales"] > 0, p["row_scales"], 1)
    eight = runs["peak_8bit"] * arrays.where(is_framework, framework, p["fp8"])
    four = runs["peak_4bit"] * p["fp4"]
    peak = arrays.where(runs.where("precision", "fp8"), eight, runs["peak_16bit"])
    return arrays.where(runs.where("precision", "fp4"), four, peak)


def _products(runs: Layouts, p: Parameters, rate: _Rates, work: Column) -> tuple[Column, Column]:
    """Matrix products of attention and feed-forward, and those of experts that tokens are sent to.

    Layers without experts have blocks of a width of their own.
    """
    shards = runs["d_model"] / runs["tp"], runs["ffn_width"] / runs["tp"]
    is_aligned = (shards[0] % ALIGNMENT == 0) & (shards[1] % ALIGNMENT == 0)
    cost = arrays.where(is_aligned, 1, p["misaligned"]) * FLOP_PER_WEIGHT * work / runs["tp"]
    dense = arrays.where(is_mixture(runs), runs["dense_weights"], 0)
    every = arrays.where(is_mixture(runs), runs["beside_weights"], runs["ffn_weights"])
    products = (runs["attention_weights"] + every) / rate.layer + dense / rate.dense
    routed = runs["ffn_weights"] - every - dense
    masks = arrays.where(is_mixture(runs), mask_products(runs), 0) / rate.sixteen_bit
    experts = cost * routed / rate.expert * expert_cost(runs, p)
    return cost * products, experts * busiest(runs, p) + cost * masks


def _spared(runs: Layouts) -> Column:
    """Passes that nobody needs: weights that stay as they are get no gradients."""
    return WEIGHT_PASSES * (1 - runs["trained"])


def _elementwise(runs: Layouts, p: Parameters, work: Column) -> Column:
    """Norms, activations, residuals, recurrent states: read from and written to memory."""
    is_narrow = runs.where("precision", "fp8", "fp4")
    values = p["values_moved"] + arrays.where(is_narrow, p["values_cast"], 0)
    values = values * arrays.where(runs["is_compiled"] > 0, 1, p["unfused"])
    # Experts move their tokens as often again as a layer without them moves its own.
    values = values * (runs["blocks"] + arrays.where(is_mixture(runs), runs["routing"], 0))
    # Sequence parallelism divides them too, but for the earliest stacks.
    divided = arrays.where(is_early(runs), 1, runs["tp"] ** 0.8)
    moved = values * runs["d_model"] / divided + runs["state_moved"] / runs["tp"]
    return BYTES_16 * work * moved / runs["memory_bandwidth"]


def _tensor_parallel(runs: Layouts, p: Parameters, work: Column, beside: Column) -> Column:
    """Sums over the activations of a layer, in two parts of (t - 1)/t each.

    XLA sends in pieces `beside` the products; what takes longer than those shows on any chip.
    """
    sums = (SUMS + (RECOMPUTED_SUMS - SUMS) * repeated(runs)) * runs["blocks"]
    sums = sums * arrays.where(runs["has_parallel_blocks"] > 0, 0.5, 1)
    sent = sums * 2 * BYTES_16 * work * runs["d_model"] * (1 - 1 / runs["tp"])
    is_inside = runs["tp"] <= runs["domain"]
    # A ring over several nodes leaves each by all of its cards.
    cards = runs["card_bandwidth"] * runs["domain"] * p["tp_beyond"]
    links = link_rate(runs, p, runs["tp"])
    rate = arrays.where(is_inside, links, arrays.minimum(cards, links))
    rate = rate * share_of_ring(runs, runs["tp"])
    exposed = p["tp_exposed"] * arrays.where(_overlaps_sums(runs), p["tp_overlapped"], 1)
    waits = runs.where("stack", *WAITING) & (runs["is_async_tp"] < 1)
    # Sums that leave the node have no kernel that overlaps them, and no switch that adds up.
    exposed = arrays.where(waits | (runs["tp"] > runs["domain"]), 1, exposed)
    seconds = sent / rate
    hidden = arrays.minimum(seconds, beside) * (1 - p["torus_sums"])
    return arrays.where(is_torus(runs), seconds - hidden, seconds * exposed)


def _overlaps_sums(runs: Layouts) -> Mask:
    """Stacks that cut a product in pieces, so that its sum hides behind it."""
    is_vendor = runs.where("stack", *OVERLAPPED) & (runs["year"] >= OVERLAPPED_YEAR)
    return is_vendor | (runs["is_async_tp"] > 0)


def _context_parallel(runs: Layouts, p: Parameters, work: Column, attention: Column) -> Column:
    """Keys and values of all other ranks pass by, most of it behind attention."""
    # The projections have queries and outputs of the width of scores, and keys and values.
    attending = runs["attending"]
    projections = runs["attention_weights"] - runs["state_weights"]
    # A model of states alone has no projections either.
    projections = projections / arrays.maximum(attending, 1e-9)
    keys = projections / (2 * runs["d_model"]) - runs["score_width"]
    keys = arrays.where(keys > 0, keys, runs["score_width"]) / runs["tp"]
    sent = RING_PASSES * 2 * BYTES_16 * work * attending * keys * (runs["cp"] - 1)
    is_inside = runs["cp"] * runs["tp"] <= runs["domain"]
    cards = runs["card_bandwidth"] * p["card_share"]
    links = link_rate(runs, p, PAIR) * share_of_ring(runs, runs["cp"])
    rate = arrays.where(is_inside | is_torus(runs), links, cards)
    # Each step of the ring starts a send and kernels of its own, and adds up what they bring.
    steps = RING_PASSES * stage_layers(runs) * attending * p["ring_step"] * (runs["cp"] - 1)
    seconds = sent / rate
    exposed = arrays.maximum(seconds - attention, 0) + OVERLAP * arrays.minimum(seconds, attention)
    return exposed + arrays.where(is_torus(runs), 0, steps)


def _pipeline_sends(runs: Layouts, p: Parameters, tokens: Column) -> Column:
    """Activations go to the next stage and their gradients back, once for each chunk.

    Tensor-parallel ranks send a part each, which the links of the next stage put together; the
    engine of DeepSpeed lets each send all.
    """
    chunks = arrays.where(runs.where("schedule", *BENT), 2, runs["virtual"])
    senders = arrays.where(runs.where("stack", *WHOLE_SENDERS), 1, runs["tp"])
    sent = 2 * BYTES_16 * tokens * runs["d_model"] / senders * chunks
    cards = runs["card_bandwidth"] * p["card_share"]
    links = link_rate(runs, p, PAIR) * share_of_ring(runs, PAIR)
    rate = arrays.where(is_torus(runs), links, cards)
    return arrays.where(runs["pp"] > 1, sent / rate, 0)


def _launches(runs: Layouts, p: Parameters, layers: Column, work: Column) -> Column:
    """What launching kernels adds: they hide behind longer work, and hide shorter work."""
    each = arrays.where(is_early(runs), p["launch_early"], p["launch"])
    hidden, waiting = routing_launches(runs, p)
    each = arrays.where(replays_step(runs), 0, each * runs["blocks"] + hidden)
    # A compiled TPU step is one program.
    seconds = layers * arrays.where(is_torus(runs), 0.1 * p["launch"] * runs["blocks"], each)
    exposed = arrays.maximum(seconds - work, 0) + OVERLAP * arrays.minimum(work, seconds)
    return exposed + layers * waiting


def _head(runs: Layouts, p: Parameters, rate: _Rates, tokens: Column, layer: Column) -> Column:
    """Output matrix and loss; in a pipeline the last stage has it beside its layers.

    Where the layers leave places empty, the last stage is the one with fewer, so that the head
    takes their time (Llama Team, 2024: 126 layers on 16 stages).
    """
    weights = runs["d_model"] * runs["vocabulary"] / runs["tp"]
    passes = PASSES - _spared(runs)
    products = passes * FLOP_PER_WEIGHT * weights * tokens / rate.sixteen_bit
    logits = 12 * tokens * runs["vocabulary"] / runs["tp"] / runs["memory_bandwidth"]
    empty = stage_layers(runs) * runs["pp"] - runs["layers"]
    late = arrays.maximum(products + logits - empty * layer, 0) * p["last_stage"]
    return arrays.where(runs["pp"] > 1, late, products + logits)


def _idle_micro_batches(runs: Layouts) -> Column:
    """Micro-batches for whose time a stage waits while its pipeline fills and drains."""
    idle = (runs["pp"] - 1) / runs["virtual"]
    for schedule in SPLIT_BACKWARD:
        chosen = runs.where("schedule", schedule)
        if not arrays.holds_anywhere(chosen):
            continue
        count = runs["micro_batches"]
        shape = {"stages": runs["pp"], "microbatches": count, "schedule": schedule}
        formula = get_formula("bubble")
        waits = formula.compute({**formula.defaults, **shape})["overhead"] * count
        idle = arrays.where(chosen, arrays.maximum(waits, 0), idle)
    return idle
