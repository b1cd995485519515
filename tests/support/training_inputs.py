"""Inputs of the calculators of training, for the tests of the faces."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from flopbook.formulas import get_formula
from tests.support.generated_inputs import Inputs, boundary_inputs, random_inputs

# One full set of inputs for each; random ones are changed from there.
WORKED: dict[str, Inputs] = {
    "training-flops": {
        "params": 8.03e9,
        "tokens": 15e12,
        "layers": 32.0,
        "d_model": 4096.0,
        "heads": 32.0,
        "seq": 8192.0,
        "vocab": 128256.0,
        "head_dim": 128.0,
        "tied_embeddings": "no",
        "recompute": "full",
        "qk_nope_head_dim": 128.0,
        "qk_rope_head_dim": 64.0,
        "v_head_dim": 128.0,
    },
    "training-time": {
        "params": 65.2e9,
        "tokens": 1.4e12,
        "peak": 312e12,
        "chips": 2048.0,
        "mfu": 0.477,
        "power": 400.0,
        "pue": 1.1,
        "price": 2.0 / 3600,
        "carbon": 0.385 / 3.6e6,
        "counts": "hfu",
    },
    "scaling-law": {"flop": 5.76e23, "fit": "hoffmann2022"},
    "max-params": {"memory": 80e9, "bytes_per_param": 16.0, "chips": 8.0},
    "memory": {
        "params": 671e9,
        "layers": 61.0,
        "d_model": 7168.0,
        "vocab": 129280.0,
        "heads": 128.0,
        "seq": 4096.0,
        "micro_batch": 1.0,
        "microbatches": 64.0,
        "zero": 1.0,
        "dp": 128.0,
        "tp": 2.0,
        "pp": 4.0,
        "cp": 2.0,
        "ep": 64.0,
        "schedule": "interleaved",
        "virtual": 2.0,
        "recompute": "none",
        "sequence_parallel": "yes",
        "attention": "scores",
        "dropout": "yes",
        "optimizer_kind": "muon",
        "bytes_per_param": 2.0,
        "grad_bytes": 4.0,
        "activation_bytes": 2.0,
        "memory": 80e9,
        "d_ff": 18432.0,
        "kv_heads": 128.0,
        "head_dim": 128.0,
        "ffn_kind": "gated",
        "tied_embeddings": "no",
        "norms_per_layer": 2.0,
        "experts": 256.0,
        "experts_per_token": 8.0,
        "expert_d_ff": 2048.0,
        "shared_experts": 1.0,
        "shared_expert_d_ff": 2048.0,
        "dense_layers": 3.0,
        "q_lora_rank": 1536.0,
        "kv_lora_rank": 512.0,
        "qk_nope_head_dim": 128.0,
        "qk_rope_head_dim": 64.0,
        "v_head_dim": 128.0,
    },
}


def _random(name: str) -> Callable[[random.Random], Inputs]:
    return lambda rng: random_inputs(get_formula(name), rng, WORKED[name])


def _boundary(name: str) -> Callable[[], Iterator[Inputs]]:
    return lambda: boundary_inputs(get_formula(name), WORKED[name])


RANDOM: dict[str, Any] = {name: _random(name) for name in WORKED}
BOUNDARY: dict[str, Any] = {name: _boundary(name) for name in WORKED}
