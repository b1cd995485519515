"""What the layers of a served model see and keep of a sequence: all of it, a window, or a state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.architectures.shape import Shape
from flopbook.prediction import arrays
from flopbook.prediction.transformers import FLOP_PER_WEIGHT, Transformer


class SeenLayers(NamedTuple):
    """Layers by what they see, for each layer that attends to all tokens or to some of them.

    `attending` are such layers over all layers; one that packs several tokens into an entry counts
    as that part of a layer. Of them a share `windowed` sees and keeps the last `window` tokens, and
    a share `selecting` keeps all and reads `selected` of them. The other layers keep `state_values`
    together, which every token rewrites.
    """

    attending: float = 1.0
    windowed: float = 0.0
    window: float = 1.0
    selecting: float = 0.0
    selected: float = 1.0
    state_values: float = 0.0


ALL_FULL = SeenLayers()
# The sizes in a row that say so, as `sizes_of` finds them for a model on file.
NAMES = {f"seen_{name}": name for name in SeenLayers._fields}


def seen_sizes(model: Shape) -> dict[str, float]:
    """The sizes of a model on file whose layers are not all alike, in the words of a row."""
    layers = model.size("layers")
    if not layers or model.claim("attention_pattern") is None:
        return {}
    seen = _seen(model, float(layers))
    return {name: getattr(seen, field) for name, field in NAMES.items()}


def seen_layers(sizes: Mapping[str, Any]) -> SeenLayers:
    """What the sizes of a row say of its layers; where they say nothing all see all tokens."""
    return SeenLayers(**{field: sizes[name] for name, field in NAMES.items() if name in sizes})


def _seen(model: Shape, layers: float) -> SeenLayers:
    packed = _size(model, "compressed_layers")
    chunked, sparse = _size(model, "chunk_layers"), _size(model, "sparse_layers")
    attending = _size(model, "attention_layers", layers)
    windowed = _size(model, "window_layers") if model.size("window") is not None else 0.0
    packing = _size(model, "index_compression", 1.0)
    whole = attending - windowed - chunked - sparse - packed
    packed = packed / _size(model, "compression", 1.0)
    sparse = sparse / packing
    counted = whole + windowed + chunked + sparse + packed
    if counted <= 0:
        return SeenLayers(attending=0.0, state_values=_states(model))
    return SeenLayers(
        attending=counted / layers,
        windowed=(windowed + chunked) / counted,
        window=_size(model, "window", _size(model, "chunk", 1.0)),
        selecting=sparse / counted,
        # In entries of several tokens, of which each counts as that part of a layer.
        selected=_size(model, "selected_tokens", 1.0) * packing,
        state_values=_states(model),
    )


def _states(model: Shape) -> float:
    return _size(model, "state_layers") * _size(model, "state_values")


def _size(model: Shape, field: str, otherwise: float = 0.0) -> float:
    """A size of a model, counted or claimed."""
    if not model.records(field):
        return otherwise
    claim = model.claim(field)
    if claim is not None:
        return otherwise if claim.si_value is None else float(claim.si_value)
    return float(model.pick(field).value)


def tokens_read(seen: SeenLayers, context: Any) -> Any:
    """Tokens of a context that a step reads of the cache, averaged over attending layers."""
    whole = 1 - seen.windowed - seen.selecting
    in_window = seen.windowed * arrays.minimum(context, seen.window)
    return whole * context + in_window + seen.selecting * arrays.minimum(context, seen.selected)


def tokens_kept(seen: SeenLayers, context: Any) -> Any:
    """Tokens of a context that stay in the cache, averaged over attending layers."""
    return (1 - seen.windowed) * context + seen.windowed * arrays.minimum(context, seen.window)


def pairs_seen(seen: SeenLayers, prompt: Any) -> Any:
    """Pairs of a token and one that it sees under a causal mask, averaged over all layers."""
    whole = 1 - seen.windowed - seen.selecting
    windows = seen.windowed * _pairs(prompt, arrays.minimum(prompt, seen.window))
    chosen = seen.selecting * _pairs(prompt, arrays.minimum(prompt, seen.selected))
    return seen.attending * (whole * _pairs(prompt, prompt) + windows + chosen)


def _pairs(prompt: Any, most: Any) -> Any:
    """Pairs where a token sees so many at most; the first ones see fewer."""
    return most * prompt - most * (most - 1) / 2


def cached_values(sizes: Mapping[str, Any], shape: Transformer) -> float:
    """Values that a token leaves in the cache of all layers that attend."""
    layers = shape.layers * seen_layers(sizes).attending
    if sizes.get("kv_lora_rank"):
        return layers * float(sizes["kv_lora_rank"] + sizes["qk_rope_head_dim"])
    heads = sizes.get("n_kv_heads") or sizes.get("n_heads") or shape.d_model / shape.head_dim
    return 2 * layers * float(heads) * shape.head_dim


def cache_parts(model: Mapping[str, Any]) -> float:
    """Parts into which tensor parallelism cuts the cache; a latent one is copied to all ranks."""
    if model.get("kv_lora_rank"):
        return 1.0
    return float(model.get("n_kv_heads") or model.get("n_heads") or math.inf)


def score_flop(sizes: Mapping[str, Any], shape: Transformer) -> float:
    """FLOPs of a decoding step for each cached token: scores and sums of all heads and layers.

    Heads of latent attention compare and add what is cached itself, not the keys and values that it
    stands for.
    """
    layers = shape.layers * seen_layers(sizes).attending
    if sizes.get("kv_lora_rank"):
        cached = 2 * float(sizes["kv_lora_rank"]) + float(sizes["qk_rope_head_dim"])
        return FLOP_PER_WEIGHT * layers * float(sizes["n_heads"]) * cached
    return 2 * FLOP_PER_WEIGHT * layers * shape.score_width
