"""All calculators by section, in the order in which they are taught, and the module of each.

A module is imported when one of its calculators is asked for, because a command needs one of them
and all together take long to load. They know nothing of files, pages or vendors.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flopbook.errors import UnknownName

if TYPE_CHECKING:
    from flopbook.formulas.declaration import Formula

SECTIONS: dict[str, dict[str, str]] = {
    "Rooflines": {
        "ridge-point": "rooflines",
        "min-batch": "rooflines",
        "arithmetic-intensity": "rooflines",
        "roofline": "kernel_rooflines",
        "tile-traffic": "tiled_kernels",
        "attention-traffic": "tiled_kernels",
        "wave-quantisation": "tiled_kernels",
    },
    "Models and training": {
        "params": "weights",
        "training-flops": "training_compute",
        "max-params": "capacity",
        "memory": "training_memory",
        "fine-tuning": "tuning",
        "offload": "offloading",
        "training-time": "training_runs",
        "scaling-law": "scaling",
    },
    "Communication and sharding": {
        "collective": "collectives",
        "shard": "sharded_arrays",
        "sharded-matmul": "sharded_arrays",
    },
    "Parallelism": {
        "dp-limit": "data_parallel",
        "fsdp-limit": "data_parallel",
        "tp-limit": "tensor_parallel",
        "mixed-limit": "tensor_parallel",
        "cp-limit": "context_parallel",
        "ep-limit": "expert_parallel",
        "bubble": "pipeline",
    },
    "Inference": {
        "kv-cache": "caches",
        "prefill": "prompts",
        "decode": "inference",
        "serving": "deployment",
        "speculative-decoding": "drafting",
    },
    "Clusters": {
        "reliability": "failures",
        "cluster-power": "cost",
    },
}
CATALOGUE = {name: module for section in SECTIONS.values() for name, module in section.items()}


def formulas() -> dict[str, Formula]:
    """All calculators by id, in the order in which they are taught."""
    return {name: get_formula(name) for name in CATALOGUE}


def printed() -> dict[str, Formula]:
    """The calculators that are printed in other languages; the others are ordinary Python."""
    return {name: formula for name, formula in formulas().items() if formula.printed}


def get_formula(id: str) -> Formula:
    """One calculator by id, or by its name in Python. Raises UnknownName with the nearest ids."""
    known = id.replace("_", "-")
    if known not in CATALOGUE:
        raise UnknownName("calculator", id, CATALOGUE)
    importlib.import_module(f"flopbook.formulas.{CATALOGUE[known]}")
    from flopbook.formulas.declaration import registered

    return registered()[known]


def __getattr__(name: str) -> Any:
    """A calculator by its Python name: `from flopbook.formulas import min_batch`."""
    id = name.replace("_", "-")
    if id not in CATALOGUE:
        raise AttributeError(f"module 'flopbook.formulas' has no attribute '{name}'")
    return get_formula(id)
