"""The best way to serve a model on some chips: how many a replica, and how many sequences on it.

Replicas are alike and share nothing; the chips of one divide heads, weights and experts among
them. Times are those that the prediction gives for each number of sequences, one by one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.architectures.shape import shape
from flopbook.errors import FlopbookError
from flopbook.planning.question import MOST_CHIPS
from flopbook.prediction import serving
from flopbook.prediction.asking import amount_option, count_option, flag_of, word_option
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.machines import machine
from flopbook.prediction.named_models import sizes_of
from flopbook.prediction.serving import Serving
from flopbook.prediction.transformers import transformer
from flopbook.prediction.validation import band_of

DEFAULT_PROMPT, DEFAULT_ANSWER = 1024, 256
FORMATS = ("bf16", "fp16", "fp8", "fp4", "int8", "int4")
MOST_SEQUENCES = 4096
HEADS = "heads do not divide"
NO_ROOM = "does not fit"
LATE = "first token later than --max-first-token"
SLOW = "tokens slower than --max-per-token"


class ServingQuestion(NamedTuple):
    """What is served and on what: one chip's share is `tp` of `base`, which the search sets.

    `room` is what a chip has for weights and cache, in bytes; limits are in seconds.
    """

    base: Serving
    heads: int
    chips: int
    room: float
    fixed: Mapping[str, int]
    most_first_token: float = math.inf
    most_per_token: float = math.inf
    price: float | None = None

    def token_cost(self, tokens_per_s: float) -> float | None:
        """USD of an answered token at this pace of all chips; None without a price."""
        return None if self.price is None else self.price * self.chips / tokens_per_s


class ServingLayout(NamedTuple):
    """A way to serve: chips of a replica, replicas, sequences at once on each, and its pace.

    Tokens are those of answers; times are in seconds, bytes on each chip.
    """

    tp: int
    replicas: int
    batch: int
    tokens_per_s: float
    tokens_per_s_per_chip: float
    low: float
    high: float
    first_token: float
    per_token: float
    bytes: float


class ServingPlan(NamedTuple):
    """The best ways to serve, how many were considered, and why others are left out."""

    question: ServingQuestion
    layouts: tuple[ServingLayout, ...]
    considered: int
    infeasible: Mapping[str, int]

    def record(self) -> dict[str, Any]:
        """The plan as JSON has it."""
        layouts = [layout._asdict() for layout in self.layouts]
        if self.question.price is not None:
            for layout in layouts:
                layout["token_cost"] = self.question.token_cost(layout["tokens_per_s"])
        return {
            "layouts": layouts,
            "considered": self.considered,
            "infeasible": dict(self.infeasible),
        }


def vllm_flags(question: ServingQuestion, layout: ServingLayout) -> str:
    """Options of `vllm serve` for each replica, as vllm/config names them at 01230b40."""
    length = int(question.base.prompt + question.base.answer)
    sizes = f"--max-num-seqs {layout.batch} --max-model-len {length}"
    return f"--tensor-parallel-size {layout.tp} {sizes}"


def serving_question(options: Mapping[str, str | None]) -> ServingQuestion:
    """The question that options of the command line ask. Raises FlopbookError."""
    for name in ("model", "chip", "chips"):
        if not options.get(name):
            raise FlopbookError(f"{flag_of(name)} is missing")
    model, runs_on = shape(str(options["model"])), machine(str(options["chip"]))
    if not runs_on.memory or not runs_on.memory_bandwidth:
        raise FlopbookError(f"memory or bandwidth of {runs_on.chip} is not published")
    chips = count_option(options, "chips") or 1
    if chips > MOST_CHIPS:
        raise FlopbookError(f"--chips is {chips:,}, expected at most {MOST_CHIPS:,}")
    prompt = count_option(options, "prompt") or DEFAULT_PROMPT
    sizes = sizes_of(model, prompt)
    served = transformer(sizes)
    dtype = word_option(options, "dtype", FORMATS) or "bf16"
    weight, cached = serving.WIDTHS.get(dtype, (serving.BYTES_16, serving.BYTES_16))
    base = Serving(
        machine=runs_on,
        shape=served,
        cache_values=serving.cached_values(sizes, served),
        task=serving.STATIC,
        batch=1.0,
        prompt=float(prompt),
        answer=float(count_option(options, "answer") or DEFAULT_ANSWER),
        chips=1.0,
        tp=1.0,
        weight_bytes=weight,
        cache_bytes=cached,
        peak=getattr(runs_on, serving.PEAK_BY_FORMAT.get(dtype, "peak_16bit")),
        is_weight_only=dtype == "int4",
    )
    fixed = {name: count_option(options, name) for name in ("tp", "batch")}
    used = fitted_kinds()["inference"].parameters["memory_used"]
    return ServingQuestion(
        base=base,
        heads=int(sizes.get("n_heads") or 0),
        chips=chips,
        room=runs_on.memory * used,
        fixed={name: degree for name, degree in fixed.items() if degree is not None},
        most_first_token=amount_option(options, "max_first_token", "s") or math.inf,
        most_per_token=amount_option(options, "max_per_token", "s") or math.inf,
        price=amount_option(options, "price", "USD/s"),
    )


def plan_serving(question: ServingQuestion, top: int = 10) -> ServingPlan:
    """The best number of sequences for each size of a replica, most tokens a second first.

    Raises FlopbookError where a replica that is fixed does not divide the chips.
    """
    degrees = [tp for tp in range(1, question.chips + 1) if question.chips % tp == 0]
    degrees = [tp for tp in degrees if question.fixed.get("tp", tp) == tp]
    if not degrees:
        raise FlopbookError(f"--tp {question.fixed['tp']} does not make {question.chips} chips")
    sizes = [question.fixed["batch"]] if "batch" in question.fixed else list(sequence_counts())
    counts: Counter[str] = Counter()
    best: dict[int, ServingLayout] = {}
    for tp in degrees:
        for batch in sizes:
            found = _considered(question, tp, batch)
            if isinstance(found, str):
                counts[found] += 1
            elif tp not in best or found.tokens_per_s > best[tp].tokens_per_s:
                best[tp] = found
    layouts = sorted(best.values(), key=lambda layout: (-layout.tokens_per_s, layout.tp))
    considered = len(degrees) * len(sizes)
    return ServingPlan(question, tuple(layouts[:top]), considered, dict(counts.most_common()))


def sequence_counts() -> tuple[int, ...]:
    """Numbers of sequences: each to 64, then eight to every power of two, up to the most."""
    powers = [2**n for n in range(6, MOST_SEQUENCES.bit_length() - 1)]
    steps = [size for power in powers for size in range(power, 2 * power, power // 8)]
    return (*range(1, 64), *steps, MOST_SEQUENCES)


def _considered(question: ServingQuestion, tp: int, batch: int) -> ServingLayout | str:
    """A way to serve, or why it is left out."""
    if question.heads % tp:
        return HEADS
    held = _bytes(question.base, tp, batch)
    if held > question.room:
        return NO_ROOM
    replica = question.base._replace(tp=float(tp), chips=float(tp), batch=float(batch))
    known = fitted_kinds()["inference"]
    # The first token of a prompt that waits for no other.
    cases = (
        replica._replace(task=serving.PREFILL, batch=1.0),
        replica._replace(task=serving.DECODE),
        replica,
    )
    first_token, per_token, rate = map(float, serving.predict(cases, known.parameters))
    if first_token > question.most_first_token:
        return LATE
    if per_token > question.most_per_token:
        return SLOW
    replicas = question.chips // tp
    factor = band_of(known, serving.SHOWN[serving.STATIC].quantity)
    total = rate * replicas
    return ServingLayout(
        tp=tp,
        replicas=replicas,
        batch=batch,
        tokens_per_s=total,
        tokens_per_s_per_chip=total / question.chips,
        low=total / factor,
        high=total * factor,
        first_token=first_token,
        per_token=per_token,
        bytes=held,
    )


def _bytes(base: Serving, tp: int, batch: int) -> float:
    """Weights and the cache of full sequences, on each chip of a replica."""
    weights = base.shape.parameters * base.weight_bytes
    tokens = batch * (base.prompt + base.answer)
    return (weights + tokens * base.cache_values * base.cache_bytes) / tp
