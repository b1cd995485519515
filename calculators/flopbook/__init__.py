"""flopbook: parallelism and hardware for large language models, computed.

The public names are the formulas, `calculate`, `chip`, `model` and the readers. They are imported
on first use, so that `import flopbook` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flopbook.formulas import CATALOGUE, get_formula

if TYPE_CHECKING:  # the same names for editors and type checkers; any other is a calculator
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
    from flopbook.formulas.declaration import Formula
    from flopbook.hardware.chip import chip as chip
    from flopbook.hardware.devices import peak as peak
    from flopbook.ledger.rows import ledger_rows as ledger_rows
    from flopbook.quantities.units import format_quantity as format_quantity
    from flopbook.quantities.units import parse_quantity as parse_quantity

    model = shape

__version__ = "0.1.0"

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
