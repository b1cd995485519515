"""Layers of each kind of a model, counted from its pattern, and values that follow from a shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flopbook.architectures import patterns
from flopbook.architectures.sizes import Sized
from flopbook.data.claims import Claim
from flopbook.hardware.picked import Picked


def picked(
    shape: Sized, field: str, value: Any, unit: str, notes: list[str] | None = None
) -> Picked:
    """A counted value, with the source of the shape that it was counted from."""
    base = next(c for c in map(shape.claim, ("attention_pattern", "d_model", "layers")) if c)
    if field.endswith("params"):
        base = shape.claim("d_model") or base
    claim = Claim(
        field,
        value,
        base.source,
        base.as_of,
        unit,
        basis="derived",
        locator="counted from the shape",
        file=base.file,
        line=base.line,
    )
    return Picked(value, unit, claim, tuple(notes or ()))


def kinds(shape: Sized) -> tuple[str, ...] | None:
    """The kind of each layer; None for a model whose layers are all alike.

    Raises FlopbookError for a pattern that does not add up, TypeError for an array of layers.
    """
    pattern = shape.claim("attention_pattern")
    if pattern is None:
        return None
    layers, recorded = shape.size("layers"), shape.claim("layers")
    assert recorded is not None and recorded.si_value is not None
    # int() takes no array: a sweep then asks for one number of layers at a time.
    return patterns.cut(str(pattern.value), int(layers), int(recorded.si_value))


def _of_kind(field: str) -> Callable[[Sized], Picked | None]:
    """Counts the layers that an input of the layer kinds asks for."""

    def count(shape: Sized) -> Picked | None:
        found = kinds(shape)
        if found is None or (field == "window_layers" and shape.size("window") is None):
            return None
        shared = int(shape.size("shared_kv_layers") or 0)
        number = patterns.counts(found, shared).get(field)
        return None if number is None else picked(shape, field, float(number), "1")

    return count


KIND_FIELDS = (
    "window_layers",
    "chunk_layers",
    "sparse_layers",
    "full_layers",
    "state_layers",
    "shared_window_layers",
)
# What is counted rather than claimed, by the name under which an input asks for it.
COUNTED: Mapping[str, Callable[[Sized], Picked | None]] = {
    field: _of_kind(field) for field in KIND_FIELDS
}
