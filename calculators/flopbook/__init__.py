"""flopbook: parallelism and hardware for large language models, computed.

The public names are the formulas, `calculate`, `chip`, `model` and the readers. They are imported on first use,
so that `import flopbook` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

from flopbook.formulas import CATALOGUE, get_formula

__version__ = "0.1.0"

_PUBLIC = {
    "calculate": "flopbook.calculator", "chip": "flopbook.lookup", "model": "flopbook.lookup:shape",
    "entry": "flopbook.entries", "entry_ids": "flopbook.entries", "model_ids": "flopbook.entries",
    "peak": "flopbook.devices", "reference": "flopbook.references", "ledger_rows": "flopbook.ledger",
    "solve": "flopbook.solving", "sweep": "flopbook.sweeping",
    "sensitivities": "flopbook.sensitivity",
    "parse_quantity": "flopbook.units", "format_quantity": "flopbook.units",
    "FlopbookError": "flopbook.problems", "DataError": "flopbook.problems", "UnknownName": "flopbook.problems",
}  # fmt: skip
_CALCULATORS = {name.replace("-", "_"): name for name in CATALOGUE}

__all__ = ["__version__", *sorted([*_PUBLIC, *_CALCULATORS])]


def __getattr__(name: str) -> Any:
    if name in _CALCULATORS:
        return get_formula(_CALCULATORS[name])
    if name not in _PUBLIC:
        raise AttributeError(f"module 'flopbook' has no attribute '{name}'")
    module, _, attribute = _PUBLIC[name].partition(":")
    return getattr(importlib.import_module(module), attribute or name)


def __dir__() -> list[str]:
    return __all__
