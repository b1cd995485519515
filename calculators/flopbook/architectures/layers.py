"""Layers of each kind of a model, counted from its pattern, and values that follow from a shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flopbook.architectures import patterns
from flopbook.architectures.sizes import Sized
from flopbook.architectures.states import Mixer, State, state_of
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
        kind_of_layer = kinds(shape)
        if kind_of_layer is None or (field == "window_layers" and shape.size("window") is None):
            return None
        shared = int(shape.size("shared_kv_layers") or 0)
        number = patterns.counts(kind_of_layer, shared).get(field)
        return None if number is None else picked(shape, field, float(number), "1")

    return count


def _attending(shape: Sized) -> Picked | None:
    """Layers with attention, where some have none or have a state beside it."""
    kind_of_layer = kinds(shape)
    without = (
        0 if kind_of_layer is None else sum(kind in ("state", "none") for kind in kind_of_layer)
    )
    # Without a number, layers with a state are taken to have no attention.
    if (
        kind_of_layer is None
        or without == len(kind_of_layer)
        or not (without or "state+full" in kind_of_layer)
    ):
        return None
    return picked(shape, "attention_layers", float(len(kind_of_layer) - without), "1")


def _state(shape: Sized) -> State | None:
    """What a recurrent layer of the model keeps and has; None where its kind is not recorded."""
    kind = shape.size("state_kind")
    sizes = [shape.size(field) for field in ("d_model", "state_heads", "state_head_dim")]
    if kind is None or None in sizes:
        return None
    d_model, heads, head_dim = map(int, sizes)
    mixer = Mixer(
        d_model,
        heads,
        head_dim,
        int(shape.size("state_key_heads") or heads),
        int(shape.size("state_key_dim") or head_dim),
        int(shape.size("state_conv") or 0),
        int(shape.size("state_rank") or 0),
    )
    return state_of(str(kind), mixer)


def _state_values(shape: Sized) -> Picked | None:
    state = _state(shape)
    return state and picked(shape, "state_values", float(state.values), "1")


def _state_params(shape: Sized) -> Picked | None:
    state = _state(shape)
    return state and picked(shape, "state_layer_params", float(state.params), "param")


KIND_FIELDS = (
    "window_layers",
    "chunk_layers",
    "sparse_layers",
    "index_layers",
    "compressed_layers",
    "full_layers",
    "state_layers",
    "shared_window_layers",
)
# What is counted rather than claimed, by the name under which an input asks for it.
COUNTED: Mapping[str, Callable[[Sized], Picked | None]] = {
    **{field: _of_kind(field) for field in KIND_FIELDS},
    "attention_layers": _attending,
    "state_values": _state_values,
    "state_layer_params": _state_params,
}
