"""flopbook: parallelism and hardware for large language models, computed.

The public names are the formulas, `calculate`, `chip`, `model` and the readers. They are imported on first use,
so that `import flopbook` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flopbook.formulas import CATALOGUE, get_formula

if TYPE_CHECKING:  # the same names for editors and type checkers; any other is a calculator
    from flopbook.calculator import calculate as calculate
    from flopbook.devices import peak as peak
    from flopbook.entries import entry as entry
    from flopbook.entries import entry_ids as entry_ids
    from flopbook.entries import model_ids as model_ids
    from flopbook.formula import Formula
    from flopbook.ledger import ledger_rows as ledger_rows
    from flopbook.lookup import chip as chip
    from flopbook.lookup import shape
    from flopbook.problems import DataError as DataError
    from flopbook.problems import FlopbookError as FlopbookError
    from flopbook.problems import UnknownName as UnknownName
    from flopbook.references import reference as reference
    from flopbook.sensitivity import sensitivities as sensitivities
    from flopbook.solving import solve as solve
    from flopbook.sweeping import sweep as sweep
    from flopbook.units import format_quantity as format_quantity
    from flopbook.units import parse_quantity as parse_quantity

    model = shape

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


def __getattr__(name: str) -> Formula:  # what a type checker does not find above is a calculator
    if name in _CALCULATORS:
        return get_formula(_CALCULATORS[name])
    if name not in _PUBLIC:
        raise AttributeError(f"module 'flopbook' has no attribute '{name}'")
    module, _, attribute = _PUBLIC[name].partition(":")
    found: Any = getattr(importlib.import_module(module), attribute or name)
    return found


def __dir__() -> list[str]:
    return __all__
