"""What is asked of a plan of serving: model, chips, lengths, limits, and what is fixed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.prediction import serving
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.machines import machine
from flopbook.prediction.named_models import asked_model, sizes_of
from flopbook.prediction.open_layouts import MOST_CHIPS
from flopbook.prediction.options import amount_option, count_option, required, word_option
from flopbook.prediction.possible_layouts import check_served_heads
from flopbook.prediction.seen_layers import cache_parts, cached_values, score_flop, seen_layers
from flopbook.prediction.served_formats import WIDTHS
from flopbook.prediction.serving_case import Serving
from flopbook.prediction.serving_parts import BYTES_16
from flopbook.prediction.transformers import transformer

DEFAULT_PROMPT, DEFAULT_ANSWER = 1024, 256
FORMATS = ("bf16", "fp16", "fp8", "fp4", "int8", "int4")
POOLS = ("one", "two")


class ServingQuestion(NamedTuple):
    """What is served and on what; the search divides the chips.

    `room` is what a chip has for weights and cache, in bytes; limits are in seconds. `pools` are
    one, where a replica reads prompts and writes answers, or two; both are searched where it is
    open.
    """

    base: Serving
    heads: int
    kv_heads: float
    chips: int
    room: float
    fixed: Mapping[str, int]
    most_first_token: float = math.inf
    most_per_token: float = math.inf
    price: float | None = None
    pools: str | None = None

    def token_cost(self, tokens_per_s: float) -> float | None:
        """USD of an answered token at this pace of all chips; None without a price."""
        return None if self.price is None else self.price * self.chips / tokens_per_s


def serving_question(options: Mapping[str, str | None]) -> ServingQuestion:
    """The question that options of the command line ask. Raises FlopbookError."""
    required(options, ("model", "chip"))
    (model, _), runs_on = asked_model(options), machine(str(options["chip"]))
    if not runs_on.memory or not runs_on.memory_bandwidth:
        raise FlopbookError(f"memory or bandwidth of {runs_on.chip} is not published")
    chips = count_option(options, "chips") or 1
    if chips > MOST_CHIPS:
        raise FlopbookError(f"--chips is {chips:,}, expected at most {MOST_CHIPS:,}")
    prompt = count_option(options, "prompt") or DEFAULT_PROMPT
    sizes = sizes_of(model, prompt)
    served = transformer(sizes)
    dtype = word_option(options, "dtype", FORMATS) or "bf16"
    weight, cached = WIDTHS.get(dtype, (BYTES_16, BYTES_16))
    base = Serving(
        machine=runs_on,
        shape=served,
        cache_values=cached_values(sizes, served),
        task=serving.STATIC,
        batch=1.0,
        prompt=float(prompt),
        answer=float(count_option(options, "answer") or DEFAULT_ANSWER),
        chips=1.0,
        tp=1.0,
        weight_bytes=weight,
        cache_bytes=cached,
        peak=runs_on.peak(dtype),
        is_weight_only=dtype == "int4",
        cache_parts=cache_parts(sizes),
        score_flop=score_flop(sizes, served),
        seen=seen_layers(sizes),
    )
    fixed = {name: count_option(options, name) for name in ("tp", "pp", "dp", "ep", "batch")}
    tp = fixed["tp"] or 1
    if chips % tp == 0:  # else the plan says what does not make the chips
        check_served_heads(sizes.get("n_heads") or 0, tp)
    used = fitted_kinds()["inference"].parameters["memory_used"]
    return ServingQuestion(
        base=base,
        heads=int(sizes.get("n_heads") or 0),
        kv_heads=cache_parts(sizes),
        chips=chips,
        room=runs_on.memory * used,
        fixed={name: degree for name, degree in fixed.items() if degree is not None},
        most_first_token=amount_option(options, "max_first_token", "s") or math.inf,
        most_per_token=amount_option(options, "max_per_token", "s") or math.inf,
        price=amount_option(options, "price", "USD/s"),
        pools=word_option(options, "pools", POOLS),
    )
