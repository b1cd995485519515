"""Predicts inference rows: decoding steps, first tokens, and throughput at a batch or full load."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.data.workloads import Workload
from flopbook.errors import FlopbookError
from flopbook.prediction.arrays import Column
from flopbook.prediction.machines import machine, package_named, peak_in_halves
from flopbook.prediction.models import Case, Parameters, PredictionModel, PrintedAs
from flopbook.prediction.named_models import seen_of
from flopbook.prediction.seen_layers import (
    ALL_FULL,
    cache_parts,
    cached_values,
    pairs_seen,
    score_flop,
    seen_layers,
    tokens_read,
)
from flopbook.prediction.served_formats import served_format
from flopbook.prediction.served_values import first_token_seconds, step_seconds, tokens_per_s
from flopbook.prediction.serving_case import Serving
from flopbook.prediction.serving_division import cores, division
from flopbook.prediction.serving_load import cache_shards, full_batch, largest_within
from flopbook.prediction.serving_parameters import PRIORS
from flopbook.prediction.serving_parts import (
    BYTES_16,
    common_weights,
    elementwise_seconds,
    exchange_seconds,
    expert_work,
    experts_read,
    product_rate,
    prompt_launches,
    routed_weights,
    sharing_seconds,
    sum_seconds,
)
from flopbook.prediction.stacks import engine_named
from flopbook.prediction.submitted import LAYOUT, asked_workload, submitted, with_workload
from flopbook.prediction.transformers import FLOP_PER_WEIGHT, transformer

ATTENTION_SHARE = 0.4  # of the 16-bit peak that attention reaches
PIPELINED = ("accelerate", "zero-3", "layers split")
EARLY_STACKS = ("deepspeed", "accelerate", "fastertransformer", "neuronx")
# Software that launches each kernel from the host, or sends small messages as slowly as that.
EAGER = ("deepspeed", "accelerate", "neuronx", "eager")
# Software whose kernels widen narrow weights to 16 bits in memory before they multiply.
WIDENING = ("deepspeed", "bnb")
# Software that reads prompts and writes answers in passes apart, unless it is told to mix them
# (sgl-project/sglang at 004813e1, server_arguments.md: enable-mixed-chunk).
PARTING = ("sglang",)
# Software that multiplies 16 bits with sums in 16 bits (ggml-org/llama.cpp at 00108827,
# ggml/src/ggml-cuda/ggml-cuda.cu: CUBLAS_COMPUTE_16F).
HALVING = ("llama.cpp",)
# Until this year kernels read the cache anew for each query head that shares it.
UNSHARED_YEAR = 2023
# Experts as large as dense blocks; models with more have small ones.
FEW_EXPERTS = 16
# How far the runs of one engine and machine lie off together.
SHARED = 0.12
DECODE, PREFILL, STATIC, LOADED = "decode", "prefill", "static", "loaded"
SHOWN = {
    DECODE: PrintedAs("decode", "s"),
    PREFILL: PrintedAs("prefill", "s"),
    STATIC: PrintedAs("throughput", "token/s"),
    LOADED: PrintedAs("throughput", "token/s", band="throughput at full load"),
}


def read(row: MeasuredRun, source: RunSource) -> Case:
    """An inference row: what is served, and the quantity that it measured. Raises FlopbookError."""
    workload = asked_workload(row)
    if workload is None:
        serving, inferred = serving_of(row, source.year)
    else:
        serving, inferred = _submitted(row, workload, source.year)
    return Case(row, serving, _measured(row, serving), inferred, SHOWN[serving.task])


def _submitted(row: MeasuredRun, workload: Workload, year: int) -> tuple[Serving, tuple[str, ...]]:
    """What a row of a benchmark's results serves, and what is inferred."""
    asked, filled = with_workload(row, workload)
    serving, inferred = serving_of(asked, year)
    case, is_guess = submitted(serving, row, workload)
    return case, (*inferred, *filled, *((LAYOUT,) if is_guess else ()))


def serving_of(row: MeasuredRun, year: int | None = None) -> tuple[Serving, tuple[str, ...]]:
    """What a row serves with software of a year, of today where it is None, and what is inferred.

    Raises FlopbookError.
    """
    chip, shape = machine(row.hardware["chip"]), transformer(row.model)
    if not chip.memory_bandwidth:
        raise FlopbookError(f"the memory bandwidth of {chip.chip} is not published")
    task, sizes = _task(row), {**seen_of(row.model), **row.model}
    software = f"{row.run.get('software', '')} {row.parallelism.get('strategy', '')}".lower()
    engine, phase = engine_named(f"{software} {row.publication}"), str(row.run.get("phase", ""))
    chips = float(row.hardware.get("n_chips") or row.parallelism.get("tp", 1))
    is_sequential = any(word in software for word in PIPELINED)
    word = str(row.run.get("precision", "")).lower()
    formats = served_format(word)
    is_narrow = formats.weight_bytes < BYTES_16
    halves = peak_in_halves(package_named(chip.chip)) if engine in HALVING else 0.0
    is_widened = is_narrow and any(stack in f"{software} {word}" for stack in WIDENING)
    inferred = []
    batch = row.run.get("batch_seqs")
    if batch is None and task in (DECODE, PREFILL):
        batch = 1
        inferred.append("batch")
    if task in (STATIC, LOADED) and not row.run.get("output_len_tokens"):
        raise FlopbookError("the lengths of prompts and answers are not given")
    tp, ranks, replicas = division(row.parallelism, chips)
    serving = Serving(
        machine=chip,
        shape=shape,
        cache_values=cached_values(sizes, shape),
        task=LOADED if task == STATIC and batch is None else task,
        batch=float(batch or 0),
        prompt=float(row.run.get("input_len_tokens") or 64),
        answer=float(row.run.get("output_len_tokens") or 1),
        requests=float(row.run.get("n_prompts") or math.inf),
        chips=chips,
        tp=tp,
        ranks=ranks,
        replicas=replicas,
        weight_bytes=formats.weight_bytes,
        cache_bytes=formats.cache_bytes,
        peak=max(chip.peak(formats.products), halves),
        is_weight_only=formats.is_weight_only,
        is_eager=any(word in software for word in EAGER),
        is_widened=is_widened,
        cache_reads=_cache_reads(row.model, year),
        is_sequential=is_sequential,
        software=engine,
        cache_parts=cache_parts(row.model) / cores(row.parallelism, chips),
        score_flop=score_flop(sizes, shape),
        seen=seen_layers(sizes),
        reads_singly=task == STATIC and "static" not in phase and engine in PARTING,
        counts_prompts="tokens_per_s" in row.measured and task in (STATIC, LOADED),
    )
    return serving, tuple(inferred)


def traits(case: Serving) -> dict[str, str]:
    """What may be unlike all fitted runs; an engine that nobody names is like any."""
    kind = f"{case.task} of mixtures" if case.shape.is_mixture else case.task
    is_near = case.tp * case.ranks <= case.machine.domain
    return {
        "chip": case.machine.generation,
        "software": case.software,
        "work": kind,
        "model": _kind_of_model(case),
        "reach": "one domain" if is_near else "several domains",
        "format": f"{case.weight_bytes:g} bytes{', weights only' if case.is_weight_only else ''}",
    }


def _kind_of_model(case: Serving) -> str:
    """Whether all layers and weights of a model are alike to a token."""
    if case.seen != ALL_FULL:
        return "layers of several kinds"
    if not case.shape.is_mixture:
        return "dense"
    return "few experts" if case.shape.experts <= FEW_EXPERTS else "many experts"


def _cache_reads(model: Mapping[str, Any], year: int | None) -> float:
    """How often a step reads what a token left in the cache."""
    is_shared = year is None or year > UNSHARED_YEAR
    if is_shared or model.get("kv_lora_rank") or not model.get("n_kv_heads"):
        return 1.0
    return float(model.get("n_heads", model["n_kv_heads"]) / model["n_kv_heads"])


def _task(row: MeasuredRun) -> str:
    phase = str(row.run.get("phase", "")).lower()
    if phase.startswith("prefill+decode"):
        return STATIC if "static" in phase or "batch_seqs" in row.run else LOADED
    if phase.startswith("prefill"):
        return PREFILL
    return DECODE if phase.startswith("decode") else LOADED


def _measured(row: MeasuredRun, serving: Serving) -> float:
    """Seconds of a decoding step or first token; tokens a second of all chips else."""
    if serving.task == DECODE:
        return step_seconds(row.measured, serving.batch)
    if serving.task == PREFILL:
        return first_token_seconds(row.measured, serving.batch * serving.prompt)
    return tokens_per_s(row.measured, serving.chips)


def predict(cases: Sequence[Serving], p: Parameters) -> Column:
    """What `predict_one` says of each case."""
    import numpy  # a single prediction does without: loading it takes longer than the answer

    return numpy.array([predict_one(case, p) for case in cases])


def predict_one(case: Serving, p: Parameters) -> float:
    """Seconds of a step or first token, or tokens per second of all chips, by task."""
    if case.layouts:
        return max(predict_one(layout, p) for layout in case.layouts)
    if case.task == DECODE:
        return _step(case, case.batch, case.context, p)
    if case.task == PREFILL:
        return _first_token(case, case.batch, p)
    if case.task == STATIC:
        rate = case.batch * case.answer / _answers(case, case.batch, p)
    else:
        rate = _loaded_rate(case, p)
    return rate * (case.prompt + case.answer) / case.answer if case.counts_prompts else rate


def _loaded_rate(case: Serving, p: Parameters) -> float:
    """Tokens of answers a second at full load, until the last request of a run is answered.

    The last batch is half empty on average, so that half of one without sequences is lost.
    """
    batch = _loaded_batch(case, p)
    waves = case.requests / batch
    seconds = _answers(case, batch, p)
    lost = min(waves - 1, 1.0) * _answers(case, case.replicas, p) / 2
    return p["loaded"] * batch * case.answer / (seconds + lost / waves)


def _answers(case: Serving, batch: float, p: Parameters) -> float:
    """Seconds in which a batch of prompts is read and answered."""
    share = _together(case, batch)
    return _prompts(case, share, p) + case.answer * _step(case, share, case.context, p)


def _loaded_batch(case: Serving, p: Parameters) -> float:
    """Sequences at full load: as many as the memory holds and a limit of time allows."""
    most = full_batch(case, p)
    if not case.token_limit:
        return most

    def pace(batch: float) -> float:
        return _answers(case, batch, p) / case.answer

    return largest_within(case.token_limit, most, case.replicas, pace)


def _groups(case: Serving) -> float:
    """Chips that work at the same time on a layer."""
    return 1.0 if case.is_sequential else max(case.tp * case.ranks, 1.0)


def _together(case: Serving, batch: float) -> float:
    """Sequences of a pass: of one replica, and of one of its stages, which work side by side."""
    if case.is_sequential or case.task not in (STATIC, LOADED):
        return batch / case.replicas
    return max(batch / max(case.chips / _groups(case), 1.0), 1.0)


def _step(case: Serving, batch: float, context: float, p: Parameters) -> float:
    """Seconds of one decoding step."""
    shape, chips = case.shape, _groups(case)
    share = p["weights_share"] * (p["quantised_share"] if case.is_weight_only else 1)
    bandwidth = case.machine.memory_bandwidth
    read = case.ranks * common_weights(shape) + experts_read(shape, batch)
    weights = read * case.moved_bytes / (chips * bandwidth * share)
    tokens = batch * float(tokens_read(case.seen, context))
    again = 1 + p["read_again"] * (case.cache_reads - 1)
    cached = tokens * case.cache_values * case.cache_bytes * again
    states = 2 * batch * case.seen.state_values * BYTES_16 / chips
    reading = (cached / cache_shards(case, chips) + states) / (bandwidth * p["cache_share"])
    scores = tokens * case.score_flop
    arithmetic = scores / (chips * case.machine.peak_16bit * ATTENTION_SHARE)
    cache = max(reading, arithmetic)
    each = p["eager_seconds"] if case.is_eager else p["layer_seconds"]
    seconds = cache + shape.layers * (each * shape.blocks + _routing(case, p))
    seconds += float(sharing_seconds(weights, _products(case, batch, p), p))
    scheduling = 0.0
    if case.task in (STATIC, LOADED):
        scheduling = p["step_seconds"] + p["sequence_seconds"] * batch / case.ranks
    return seconds + _elementwise(case, batch, p) + _sums(case, batch, p) + scheduling


def _elementwise(case: Serving, tokens: float, p: Parameters) -> float:
    """Seconds of norms, residuals and activations; layers on several chips have one at a time."""
    tp = 1.0 if case.is_sequential else case.tp
    return float(elementwise_seconds(case.machine, case.shape, tokens / case.ranks, tp, p))


def _routing(case: Serving, p: Parameters) -> float:
    """Seconds of a layer in which a mixture chooses experts, sorts tokens and adds results up."""
    return p["expert_seconds"] * case.shape.feeding if case.shape.is_mixture else 0.0


def _products(case: Serving, tokens: float, p: Parameters) -> float:
    """Seconds of the matrix products of a pass over some tokens."""
    shape, half = case.shape, p["half_batch"]
    rate = product_rate(case.peak, case.machine, p[f"serve_{case.machine.generation}"], p)
    plain = shape.layer_weights - routed_weights(shape)
    work = plain * (tokens + case.ranks * half)
    work += expert_work(shape, tokens, half, case.tp * case.ranks if case.ranks > 1 else 1.0)
    return float(FLOP_PER_WEIGHT * work / (_groups(case) * rate))


def _sums(case: Serving, tokens: float, p: Parameters) -> float:
    """Seconds of the sums over tensor-parallel ranks, two in a usual layer."""
    if case.is_sequential or case.tp * case.ranks <= 1:
        return 0.0
    shape = case.shape
    sent = BYTES_16 * tokens / case.ranks * shape.d_model
    after_attention = sum_seconds(case.machine, case.tp, sent, p)
    if case.ranks == 1:
        return float(2 * shape.layers * shape.blocks * after_attention)
    # A token goes once to each rank that has some of its experts, and comes back.
    group = case.tp * case.ranks
    sent = BYTES_16 * tokens / case.ranks * shape.expert_d_model
    copies = 2 * min(shape.experts_per_token, group) / case.tp
    exchanged = exchange_seconds(case.machine, group, sent * copies, p)
    return float(shape.layers * (shape.mixing * after_attention + shape.feeding * exchanged))


def _prompts(case: Serving, batch: float, p: Parameters) -> float:
    """Seconds in which the prompts of a batch are read, together or each by itself."""
    each = batch if case.reads_singly else 1.0
    return each * _first_token(case, batch / each, p)


def _first_token(case: Serving, batch: float, p: Parameters) -> float:
    """Seconds until the prompts of a batch are read."""
    shape, tokens = case.shape, batch * case.prompt
    pairs = batch * float(pairs_seen(case.seen, case.prompt))
    scores = 2 * FLOP_PER_WEIGHT * shape.layers * shape.score_width * pairs
    attention = scores / (_groups(case) * case.machine.peak_16bit * ATTENTION_SHARE)
    weights = shape.parameters * case.moved_bytes
    reading = weights / (_groups(case) * case.machine.memory_bandwidth * p["weights_share"])
    products = sharing_seconds(reading, _products(case, tokens, p), p)
    work = products + attention + _elementwise(case, tokens, p)
    each = p["eager_seconds"] if case.is_eager else p["prompt_launch"]
    each = each * shape.blocks + _routing(case, p)
    launches = prompt_launches(case.machine, shape.layers, each, work, p)
    return float(work + launches + _sums(case, tokens, p))


MODEL = PredictionModel(
    "inference", SHOWN[LOADED], PRIORS, read, predict, shared=SHARED, traits=traits
)
