"""The models and chips that the forms of a question offer."""

from __future__ import annotations

from collections.abc import Iterable

from flopbook.architectures.shape import Shape
from flopbook.data.library import vendor
from flopbook.hardware.picked import Picked
from scripts.website.markup import Html, attribute
from scripts.website.pages.explorer import START, ExplorerRow, items, state_of
from scripts.website.pages.quantities import peak_id, value_of

# Of these one may ask whether something runs on them: sold or rented today, with enough memory.
_STATES = ("shipping", "cloud-only")
_LEAST_MEMORY = 16e9


def model_options(shapes: Iterable[Shape], chosen: str) -> Html:
    """Models by name."""
    named = sorted(shapes, key=lambda one: one.model.name)
    return _options(((one.id, one.model.name) for one in named), chosen)


def _options(pairs: Iterable[tuple[str, str]], chosen: str) -> Html:
    return Html().join(
        Html('<option value="{}"{}>{}</option>').format(
            attribute(name), Html(" selected") if name == chosen else Html(), words
        )
        for name, words in pairs
    )


def chip_options(chosen: str) -> Html:
    """Chips of today by vendor, those of the largest vendors first."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for row in sorted(items(), key=_newest):
        if is_asked_for(row):
            pair = row.entry.id, row.entry.name
            groups.setdefault(row.entry.vendor, []).append(pair)
    ranked = sorted(groups, key=lambda name: (-len(groups[name]), name))
    return Html().join(
        Html('<optgroup label="{}">{}</optgroup>').format(
            vendor(name).name, _options(groups[name], chosen)
        )
        for name in ranked
    )


def _newest(row: ExplorerRow) -> tuple[float, str]:
    return -(value_of(row.cells, "date") or 0), row.entry.name


def is_asked_for(row: ExplorerRow) -> bool:
    """Whether people may ask for a chip today: sold or rented, with rates and memory on file."""
    has_peak = isinstance(row.cells.get(peak_id(*START)), Picked)
    has_bandwidth = isinstance(row.cells.get("memory_bandwidth"), Picked)
    is_enough = (value_of(row.cells, "memory") or 0) >= _LEAST_MEMORY
    is_sold = state_of(row.entry) in _STATES and row.entry.computes
    return is_sold and has_peak and has_bandwidth and is_enough
