"""A larger model, a longer sequence or a larger batch never takes less, of anything.

Parameters, bytes, operations and the seconds of each of them are sums of terms that are all
positive, so a size that grows lets none of them fall. Which terms there are differs with the kinds
of layers, with recomputation and with formats; that they are added does not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from flopbook.formulas import get_formula
from flopbook.formulas.declaration import Formula
from tests.formulas.test_least_sizes import contexts, numbers
from tests.support.generated_inputs import Inputs

# What grows, and the answers that may not fall.
SIZES = (
    *("layers", "d_model", "vocab", "heads", "kv_heads", "head_dim", "d_ff", "seq", "batch"),
    *("experts", "experts_per_token", "expert_d_ff", "expert_d_model", "shared_experts"),
    *("shared_expert_d_ff", "q_lora_rank", "o_lora_rank", "o_groups", "kv_lora_rank"),
    *("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "norms_per_layer", "micro_batch"),
    *("window", "chunk", "selected_tokens", "index_heads", "index_head_dim", "side_window"),
    *("window_kv_heads", "window_head_dim", "state_values", "state_layer_params", "context"),
    *("residual_streams", "rank", "prompt_tokens", "answer_tokens", "tokens", "params"),
)
# Where parameters are given, more of them in one place are fewer in another, so weights are left
# out there.
ANSWERS = {
    "params": ("total", "active", "compute", "embedding", "attention", "ffn", "router", "norms"),
    "kv-cache": ("bytes", "bytes_per_chip", "state_bytes"),
    "training-flops": ("flop", "attention", "attention_causal", "flop_full", "flop_causal"),
    "training-time": ("flop", "chip_hours", "joules", "cost"),
    "memory": ("activations", "logits"),
    "fine-tuning": ("trainable", "activations", "logits"),
    "decode": ("kv_seconds",),
    "prefill": ("attention_seconds",),
}
# Where one size is another one's share of something that stays.
DIVIDING = {
    ("params", "heads"): "open head dimensions are the width over the heads",
    ("memory", "d_model"): "the rows of a mixer are its parameters over the width",
    ("fine-tuning", "d_model"): "the rows of a mixer are its parameters over the width",
}
# Ways to run the same model: each keeps and repeats other terms.
WAYS: dict[str, tuple[Inputs, ...]] = {
    "memory": tuple(
        {"recompute": recompute, "attention": attention, "fusion": fusion, "params": 1e13}
        for recompute, attention, fusion in itertools.product(
            ("none", "selective", "selective-op", "full"), ("flash", "scores"), ("fused", "eager")
        )
    ),
    "fine-tuning": tuple(
        {"method": method, "adapted": adapted, "params": 1e13}
        for method, adapted in itertools.product(("lora", "qlora", "full"), ("all", "qv"))
    ),
}


def ways(formula: Formula, context: Inputs) -> Iterator[Inputs]:
    values = {**formula.defaults, **{k: v for k, v in context.items() if k in formula.inputs}}
    for way in WAYS.get(formula.id, ({},)):
        yield {**values, **way}


def shrunk(formula: Formula, values: Inputs) -> Iterator[str]:
    """Answers that are smaller where one size is twice as large."""
    base = numbers(formula, values)
    for name in SIZES:
        size = values.get(name)
        is_open = not isinstance(size, (int, float)) or not 0 < size < 1e30
        if base is None or is_open or (formula.id, name) in DIVIDING:
            continue
        grown = numbers(formula, {**values, name: 2 * size})
        for answer in ANSWERS[formula.id] if grown else ():
            if answer in base and grown and grown[answer] < base[answer] * (1 - 1e-9):
                yield f"{answer} with twice {name}: {grown[answer]:g} < {base[answer]:g}"


@pytest.mark.parametrize("id", ANSWERS)
def test_what_grows_never_takes_less(id: str) -> None:
    formula = get_formula(id)
    found = set()
    for context in contexts(formula):
        for values in ways(formula, context):
            found |= set(shrunk(formula, values))
    assert not found, "\n".join(sorted(found))
