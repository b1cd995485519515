"""flopbook: parallelism and hardware for large language models, computed.

The public names are the calculators, `calculate`, `predict`, `plan`, `chip`, `model` and the
readers. They are imported on first use, so that `import flopbook` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from flopbook.formulas import CATALOGUE, get_formula

# Editors and type checkers cannot follow an import by name, so every public name stands here once
# more. tests/test_doctests.py holds this list to `_PUBLIC` and to the catalogue of calculators, and
# prints the line that a new calculator needs.
if TYPE_CHECKING:
    from flopbook.architectures.shape import shape
    from flopbook.data.library import entry as entry
    from flopbook.data.library import entry_ids as entry_ids
    from flopbook.data.library import model_ids as model_ids
    from flopbook.data.library import reference as reference
    from flopbook.errors import DataError as DataError
    from flopbook.errors import FlopbookError as FlopbookError
    from flopbook.errors import UnknownName as UnknownName
    from flopbook.evaluation.calculator import calculate as calculate
    from flopbook.evaluation.sensitivity import sensitivities as sensitivities
    from flopbook.evaluation.solving.solver import solve as solve
    from flopbook.evaluation.sweeping import sweep as sweep
    from flopbook.formulas.caches import kv_cache as kv_cache
    from flopbook.formulas.capacity import max_params as max_params
    from flopbook.formulas.collectives import collective as collective
    from flopbook.formulas.context_parallel import cp_limit as cp_limit
    from flopbook.formulas.cost import cluster_power as cluster_power
    from flopbook.formulas.data_parallel import dp_limit as dp_limit
    from flopbook.formulas.data_parallel import fsdp_limit as fsdp_limit
    from flopbook.formulas.deployment import serving as serving
    from flopbook.formulas.drafting import speculative_decoding as speculative_decoding
    from flopbook.formulas.expert_parallel import ep_limit as ep_limit
    from flopbook.formulas.failures import reliability as reliability
    from flopbook.formulas.inference import decode as decode
    from flopbook.formulas.kernel_rooflines import roofline as roofline
    from flopbook.formulas.offloading import offload as offload
    from flopbook.formulas.pipeline import bubble as bubble
    from flopbook.formulas.prompts import prefill as prefill
    from flopbook.formulas.rooflines import arithmetic_intensity as arithmetic_intensity
    from flopbook.formulas.rooflines import min_batch as min_batch
    from flopbook.formulas.rooflines import ridge_point as ridge_point
    from flopbook.formulas.scaling import scaling_law as scaling_law
    from flopbook.formulas.sharded_arrays import shard as shard
    from flopbook.formulas.sharded_arrays import sharded_matmul as sharded_matmul
    from flopbook.formulas.tensor_parallel import mixed_limit as mixed_limit
    from flopbook.formulas.tensor_parallel import tp_limit as tp_limit
    from flopbook.formulas.tiled_kernels import attention_traffic as attention_traffic
    from flopbook.formulas.tiled_kernels import tile_traffic as tile_traffic
    from flopbook.formulas.tiled_kernels import wave_quantisation as wave_quantisation
    from flopbook.formulas.training_compute import training_flops as training_flops
    from flopbook.formulas.training_memory import memory as memory
    from flopbook.formulas.training_runs import training_time as training_time
    from flopbook.formulas.tuning import fine_tuning as fine_tuning
    from flopbook.formulas.weights import params as params
    from flopbook.hardware.chip import chip as chip
    from flopbook.hardware.devices import peak as peak
    from flopbook.ledger.rows import ledger_rows as ledger_rows
    from flopbook.planning.calls import plan as plan
    from flopbook.planning.calls import predict as predict
    from flopbook.quantities.units import format_quantity as format_quantity
    from flopbook.quantities.units import parse_quantity as parse_quantity

    model = shape

__version__ = "0.15.0"

# Public name -> its module, with the name that it has there where that is another one.
_PUBLIC = {
    "calculate": "flopbook.evaluation.calculator",
    "chip": "flopbook.hardware.chip",
    "model": "flopbook.architectures.shape:shape",
    "entry": "flopbook.data.library",
    "entry_ids": "flopbook.data.library",
    "model_ids": "flopbook.data.library",
    "peak": "flopbook.hardware.devices",
    "reference": "flopbook.data.library",
    "ledger_rows": "flopbook.ledger.rows",
    "plan": "flopbook.planning.calls",
    "predict": "flopbook.planning.calls",
    "solve": "flopbook.evaluation.solving.solver",
    "sweep": "flopbook.evaluation.sweeping",
    "sensitivities": "flopbook.evaluation.sensitivity",
    "parse_quantity": "flopbook.quantities.units",
    "format_quantity": "flopbook.quantities.units",
    "FlopbookError": "flopbook.errors",
    "DataError": "flopbook.errors",
    "UnknownName": "flopbook.errors",
}
_CALCULATORS = {name.replace("-", "_"): name for name in CATALOGUE}

__all__ = ["__version__", *sorted([*_PUBLIC, *_CALCULATORS])]

# Hidden from type checkers: with it, they would take any name for one that exists.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used."""
        if name in _CALCULATORS:
            return get_formula(_CALCULATORS[name])
        if name not in _PUBLIC:
            raise AttributeError(f"module 'flopbook' has no attribute '{name}'")
        module, _, name_there = _PUBLIC[name].partition(":")
        return getattr(importlib.import_module(module), name_there or name)


def __dir__() -> list[str]:
    return __all__
