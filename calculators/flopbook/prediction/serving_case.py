"""What is served: a model on some chips, its formats and lengths, and what is asked of it."""

from __future__ import annotations

import math
from typing import NamedTuple

from flopbook.prediction.machines import ChipRates
from flopbook.prediction.seen_layers import ALL_FULL, SeenLayers
from flopbook.prediction.serving_parts import BYTES_16
from flopbook.prediction.transformers import Transformer


class Serving(NamedTuple):
    """A model on some chips: formats, lengths, and what is asked of it.

    `cache_reads` is how often a step reads what a token left in the cache: kernels did it anew for
    each query head, until they learnt to share. `cache_parts` are the parts into which tensor
    parallelism cuts the cache, copied beyond that; `score_flop` is what all heads and layers do
    with a cached token in a step. `ranks` of `tp` chips each hold sequences of their own and share
    what a layer's other weights do; of such groups there are `replicas`, and stages for the rest.
    Where it `reads_singly`, prompts come when an answer ends, and each has a pass of its own.
    `held` are the tokens of a sequence while it runs, where answers differ in length. At full load
    a run ends after so many `requests`. A server
    with a `token_limit` (s) runs no more sequences than come within it, and of several `layouts`
    the one that gives the most tokens counts.
    """

    machine: ChipRates
    shape: Transformer
    cache_values: float
    task: str
    batch: float
    prompt: float
    answer: float
    chips: float
    tp: float
    weight_bytes: float
    cache_bytes: float
    peak: float
    is_weight_only: bool = False
    is_eager: bool = False
    is_widened: bool = False
    cache_reads: float = 1.0
    is_sequential: bool = False
    counts_prompts: bool = False
    reads_singly: bool = False
    software: str = ""
    cache_parts: float = math.inf
    score_flop: float = 0.0
    ranks: float = 1.0
    replicas: float = 1.0
    seen: SeenLayers = ALL_FULL
    held: float = 0.0
    requests: float = math.inf
    token_limit: float = 0.0
    layouts: tuple[Serving, ...] = ()

    @property
    def context(self) -> float:
        """Tokens that a sequence holds on average while its answer is written."""
        return self.held or self.prompt + self.answer / 2

    @property
    def moved_bytes(self) -> float:
        """Bytes that cross the memory bus for a weight: narrow, written wide, read again."""
        return self.weight_bytes + (2 * BYTES_16 if self.is_widened else 0.0)
