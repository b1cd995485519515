"""Whole decoders on one device: training steps, prompts and tokens, as rows that calibrate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from flopbook.architectures.shape import Shape
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import counted
from flopbook.hardware.chip import Chip
from flopbook.prediction.decoders import SERVED_BYTES, TRAINED_BYTES, Decoder, DecoderWork
from flopbook.prediction.named_models import sizes_of
from flopbook.prediction.transformers import FLOP_PER_WEIGHT
from flopbook.quantities.units import format_quantity

MILLI, GIGA = 1e-3, 1e9
KIND = {"step": "training_throughput", "prefill": "inference", "decode": "inference"}


class DecoderOrder(NamedTuple):
    """A model, cut to some layers where it would not fit, and the work to time on it."""

    model: Shape
    sizes: Decoder
    work: tuple[DecoderWork, ...]

    @property
    def name(self) -> str:
        """The model, and what was left out of it."""
        layers = self.sizes.layers
        if layers == self.model.size("layers"):
            return self.model.id
        return f"{self.model.id} with {counted(layers, 'layer')}"


class DecoderRate(NamedTuple):
    """What a piece of work asks of a chip in a second, in `unit`, beside what is printed."""

    rate: float
    unit: str
    printed: float | None


def check_room(order: DecoderOrder, work: DecoderWork, on_file: Chip | None) -> None:
    """Raise FlopbookError where the weights alone, with what trains them, exceed the memory."""
    if on_file is None:
        return
    sizes = order.sizes
    needed = sizes.params * (TRAINED_BYTES if work.kind == "step" else SERVED_BYTES)
    room = on_file.pick_memory().value
    if needed > room:
        raise FlopbookError(
            f"{order.name} takes {format_quantity(needed, 'byte', digits=3)} for its weights"
            f"{' and their optimizer' if work.kind == 'step' else ''}, the chip has "
            f"{format_quantity(room, 'byte', digits=3)}; "
            f"--layers {max(1, int(sizes.layers * room / needed / 2))} would fit"
        )


def words(order: DecoderOrder, work: DecoderWork) -> str:
    """The work as a line of the table names it."""
    suffix = ", recomputed" if work.recompute else ""
    of = "cached" if work.kind == "decode" else "tokens"
    return f"{work.kind} of {order.name}, {work.sequences} x {work.tokens} {of}{suffix}"


def share(
    sizes: Decoder, work: DecoderWork, seconds: float, peak: float | None, bandwidth: float | None
) -> DecoderRate:
    """Model FLOP/s of training and prompts (recomputation is not counted), bytes/s of decoding."""
    if work.kind == "decode":
        return DecoderRate(_bytes_read(sizes, work) / seconds, "byte/s", bandwidth)
    passes = 3 if work.kind == "step" else 1
    return DecoderRate(passes * _forward_flop(sizes, work) / seconds, "FLOP/s", peak)


def _forward_flop(sizes: Decoder, work: DecoderWork) -> float:
    """FLOP of one pass: matrices of all layers, the triangle of scores, the head where it acts."""
    shape = sizes.shape
    tokens = work.sequences * work.tokens
    in_head = tokens if work.kind == "step" else work.sequences
    weights = shape.layer_weights * tokens + shape.embedding * in_head
    pairs = work.sequences * work.tokens * (work.tokens + 1) / 2
    # A score is a product, and weighing a value by it another one.
    return FLOP_PER_WEIGHT * (weights + 2 * shape.layers * shape.score_width * pairs)


def _bytes_read(sizes: Decoder, work: DecoderWork) -> float:
    """Weights but the looked-up embedding, and the cache of every sequence, once."""
    looked_up = 0.0 if sizes.tied else sizes.shape.embedding
    cached = 2 * sizes.layers * sizes.kv_heads * sizes.head_dim * work.tokens * work.sequences
    return SERVED_BYTES * (sizes.params - looked_up + cached)


def rows(
    order: DecoderOrder,
    work: DecoderWork,
    seconds: float,
    peak_memory: float | None,
    compiled: bool,
) -> Iterator[dict[str, Any]]:
    """What a file of runs holds of a piece of work: its time, and the memory of a training step."""
    name = f"own-{words(order, work)}".replace(" ", "-").replace(",", "").lower()
    yield _row(name, KIND[work.kind], order, work, compiled) | {"measured": _values(work, seconds)}
    if work.kind == "step" and peak_memory is not None:
        measured = {"peak_memory_gb": round(peak_memory / GIGA, 3)}
        row = _row(f"{name}-mem", "training_memory", order, work, compiled)
        yield row | {"measured": measured}


def _row(
    name: str, kind: str, order: DecoderOrder, work: DecoderWork, compiled: bool
) -> dict[str, Any]:
    """What was run. Nothing is shared with another row, which YAML would write as an anchor."""
    run = _run(work)
    if compiled:
        run["software"] = "torch.compile"
    model = _model(order, work)
    return {
        "id": name,
        "kind": kind,
        "model": model,
        "parallelism": _parallelism(work),
        "run": run,
    }


def _model(order: DecoderOrder, work: DecoderWork) -> dict[str, Any]:
    sizes = order.sizes
    built = {"name": order.name, "n_layers": sizes.layers, "n_params": sizes.params}
    return {**sizes_of(order.model, work.tokens), **built, "tied_embeddings": sizes.tied}


def _parallelism(work: DecoderWork) -> dict[str, int]:
    if work.kind != "step":
        return {"tp": 1}
    return {
        "tp": 1,
        "dp": 1,
        "zero_stage": 0,
        "micro_batch_seqs": work.sequences,
        "grad_accum": 1,
        "global_batch_seqs": work.sequences,
    }


def _run(work: DecoderWork) -> dict[str, Any]:
    if work.kind == "step":
        recompute = "full" if work.recompute else "none"
        return {"precision": "bf16 mixed", "recompute": recompute}
    run: dict[str, Any] = {"precision": "bf16", "batch_seqs": work.sequences, "phase": work.kind}
    if work.kind == "prefill":
        return {**run, "input_len_tokens": work.tokens, "output_len_tokens": 1}
    return {**run, "input_len_tokens": work.tokens}


def _values(work: DecoderWork, seconds: float) -> dict[str, float]:
    if work.kind == "decode":
        return {"ms_per_token": seconds / MILLI, "decode_tokens_per_s_per_seq": 1 / seconds}
    tokens = work.sequences * work.tokens
    if work.kind == "prefill":
        return {"first_token_latency_ms": seconds / MILLI}
    return {"step_time_s": seconds, "tokens_per_s_per_chip": tokens / seconds}
