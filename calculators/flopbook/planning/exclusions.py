"""Which layouts exist, and why others do not: each is counted under the first rule it breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from flopbook.formulas.conditions import Rule
from flopbook.formulas.training_layouts import LAYOUT_RULES
from flopbook.prediction.arrays import Column, Mask

Columns = dict[str, Column]
DEGREES = frozenset({"tp", "pp", "cp", "ep", "dp"})
CHUNKS = DEGREES | {"schedule", "virtual"}
BATCHES = CHUNKS | {"microbatches"}
# Rule of the memory calculator -> what is said of the layouts that break it.
REASONS = {
    "tp_divides_heads": "heads do not divide",
    "tp_divides_kv_heads": "KV heads do not divide",
    "stages_have_layers": "more stages than layers",
    "ep_divides_experts": "experts do not divide",
    "ep_divides_the_replicas": "replicas do not divide into experts",
    "groups_divide_the_replicas": "replicas do not divide into groups",
    "ep_divides_the_group": "replicas of a group do not divide into experts",
    "cp_divides_the_sequence": "sequence does not divide",
    "virtual_stages_are_interleaved": "virtual stages are not interleaved",
    "interleaved_rounds_are_full": "micro-batches do not divide by stages",
    "dualpipe_stages_are_paired": "stages do not pair",
    "dualpipe_microbatches_are_paired": "micro-batches do not pair",
    "gpipe_has_an_end": "number of micro-batches is open",
    "folded_pipelines_fill": "fewer micro-batches than two for each stage",
}
NARROW = "feed-forward width does not divide"
UNEVEN = "layers do not divide"
NO_PIPELINE = "schedule without a pipeline"
BATCH = "batch does not divide"
NO_GROUPS = "no group of replicas inside a domain"
NO_REPLICAS = "no replicas for ZeRO to shard over"
TWICE = "same as a lower ZeRO stage"
NO_ROOM = "does not fit"
TOO_SLOW = "longer than --max-seconds"


class Sieve:
    """Drops layouts that break rules, and counts each for all layouts that it stands for."""

    def __init__(self, shared: Mapping[str, Any]) -> None:
        self.shared = shared
        self.counts: Counter[str] = Counter()

    def keep(self, rows: Columns, holds: Any, reason: str, stands_for: int) -> Columns:
        """The rows for which a condition holds; the others are counted."""
        size = len(next(iter(rows.values())))
        mask: Mask = np.broadcast_to(np.asarray(holds, dtype=bool), size)
        kept = int(mask.sum())
        self.count(reason, (size - kept) * stands_for)
        if kept == size:
            return rows
        return {name: column[mask] for name, column in rows.items()}

    def obey(self, rows: Columns, rules: Iterable[Rule], stands_for: int, **words: Any) -> Columns:
        """The rows that keep some rules of the memory calculator."""
        for rule in rules:
            holds = rule.value({**self.shared, **words, **rows})
            rows = self.keep(rows, holds, REASONS[rule.name], stands_for)
        return rows

    def count(self, reason: str, layouts: int) -> None:
        """So many layouts are left out for a reason."""
        if layouts:
            self.counts[reason] += layouts


def rules_on(known: frozenset[str], more: frozenset[str]) -> tuple[Rule, ...]:
    """The rules that need some inputs of a layout, all of them among those that are known."""
    decided = DEGREES | {"schedule", "virtual", "microbatches", "micro_batch"}
    chosen = []
    for rule in LAYOUT_RULES:
        needed = decided & set(rule.inputs.values())
        if needed & more and needed <= known:
            chosen.append(rule)
    return tuple(chosen)


DEGREE_RULES = rules_on(DEGREES, DEGREES)
CHUNK_RULES = rules_on(CHUNKS, CHUNKS - DEGREES)
BATCH_RULES = rules_on(BATCHES, BATCHES - CHUNKS)
MODEL_RULES = tuple(
    rule for rule in LAYOUT_RULES if rule not in (*DEGREE_RULES, *CHUNK_RULES, *BATCH_RULES)
)
