"""The address that opens a form in the very state that gave a number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from flopbook.evaluation.calculator import divides_chips, takes
from flopbook.formulas.declaration import Formula

# What a bare number may not be typed as: rates that are too small to be in SI units, and prices.
_RATES = ("FLOP/s", "byte/s")
_LEAST_BARE_RATE = 1e6
_CUSTOMARY = {"USD/s": (3600.0, "USD/h"), "kg/J": (3.6e9, "g/kWh")}
_NEUTRAL = {"dtype": "bf16", "sparsity": "dense"}


def state_query(formula: Formula, options: Mapping[str, Any]) -> str:
    """The query of a link to a form with these options and no others.

    What the first example has and the options lack is named too, without a value: else the form
    would add it.
    """
    state = {name: _typed(formula, name, setting) for name, setting in options.items()}
    stated = {name: text for name, text in state.items() if text}
    if not set(stated) <= {*takes(formula), *divides_chips(formula), *formula.inputs}:
        return ""  # an option that forms do not have
    example = [name.replace("-", "_") for name in formula.examples[0]]
    cleared = {name: _NEUTRAL.get(name, "") for name in example if name not in stated}
    pairs = ((name.replace("_", "-"), text) for name, text in {**stated, **cleared}.items())
    return "?" + "&".join(f"{name}={quote(text, safe='/:,+ ')}" for name, text in pairs).replace(
        "+", "%2B"
    ).replace(" ", "+")


def _typed(formula: Formula, name: str, setting: Any) -> str:
    """A setting as somebody would type it."""
    if setting is None or isinstance(setting, str):
        return setting or ""
    if not isinstance(setting, (int, float)) or not math.isfinite(setting):
        return ""
    spec = formula.inputs.get(name)
    unit = spec.unit if spec else ""
    if unit in _CUSTOMARY and setting:
        factor, written = _CUSTOMARY[unit]
        return f"{setting * factor:.15g}{written}"
    is_small = unit in _RATES and 0 < setting < _LEAST_BARE_RATE
    return f"{setting:.17g}{unit if is_small else ''}"
