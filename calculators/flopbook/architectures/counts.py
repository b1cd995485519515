"""Parameters of a model, counted from its shape.

One exact count feeds every calculator. The number that a model is marketed with is shown beside
it as a note, where it is another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from flopbook.architectures import layers
from flopbook.architectures.layers import picked
from flopbook.architectures.sizes import Sized
from flopbook.formulas import get_formula
from flopbook.hardware.picked import Picked
from flopbook.quantities.units import format_quantity

ROUNDING = 0.01  # a marketed count that is this near needs no note


def sizes(shape: Sized) -> dict[str, Any]:
    """The inputs of `params` that a shape has."""
    formula = get_formula("params")
    parameters_of = {}
    for name, spec in formula.inputs.items():
        size = shape.size(spec.model)
        if size is None and spec.model in layers.COUNTED:
            counted = layers.COUNTED[spec.model](shape)
            size = counted and counted.value
        if size is not None:
            parameters_of[name] = size
    return parameters_of


def parameters(shape: Sized) -> Mapping[str, Any] | None:
    """Parameters by part, as `params` counts them; None where the shape is not known in full.

    Rules are left to the calculator that asks, because what is typed may break them.
    """
    formula = get_formula("params")
    counted = sizes(shape)
    if any(name not in formula.defaults and name not in counted for name in formula.inputs):
        return None
    has_width = {"d_ff", "expert_d_ff"} & counted.keys()
    return formula.compute({**formula.defaults, **counted}) if has_width else None


def _params(shape: Sized) -> Picked | None:
    """Every weight in memory."""
    counted = shape.parts
    if counted is None:
        return None
    notes = [*_marketed(shape, "params", counted["total"], counted["total"], "in all")]
    return picked(shape, "params", counted["total"], "param", notes)


def _compute_params(shape: Sized) -> Picked | None:
    """Weights that a token is multiplied with: no experts that it does not visit, no look-up."""
    counted = shape.parts
    if counted is None:
        field = "active_params" if shape.model.kind == "moe" else "params"
        return shape.pick_claim(field)
    notes = []
    if shape.model.kind == "moe":
        notes.append(f"{shape.id} is a mixture of experts: its active parameters count")
        met = counted["compute"]
        notes += _marketed(shape, "active_params", counted["active"], met, "active for each token")
    return picked(shape, "compute_params", counted["compute"], "param", notes)


def _marketed(shape: Sized, field: str, counted: Any, used: Any, words: str) -> list[str]:
    """A note on the published count where it is neither the counted one nor the one that is used.

    Sizes that were given make another model, which nobody published.
    """
    claim = shape.claim(field)
    if claim is None or claim.si_value is None or shape.given or hasattr(counted, "shape"):
        return []
    published = claim.si_value
    if any(math.isclose(published, count, rel_tol=ROUNDING) for count in (counted, used)):
        return []
    printed, met, exact = (format_quantity(each, "param") for each in (published, counted, used))
    has = exact if met == exact else f"{met}, and {exact} without look-ups"
    return [f"{shape.id}: published as {printed} {words}, its shape has {has}, which are used"]


def _block_width(shape: Sized) -> float | None:
    """The width of the block that a token meets, of an average layer where some are dense."""
    typed, dense, together = shape.size("block_d_ff"), shape.size("d_ff"), _visited_width(shape)
    if typed is not None:
        return float(typed)
    if dense is None or together is None:
        return together if dense is None else float(dense)
    blocks = shape.size("ffn_layers") or shape.size("layers")
    of_dense = shape.size("dense_layers") or 0
    # A width is a whole number.
    return float((of_dense * dense + (blocks - of_dense) * together) // blocks)


def _visited_width(shape: Sized) -> float | None:
    """The width of all experts that a token visits in a layer together; None where there are none.

    Experts of an inner width of their own count as wide as their share of the model's width.
    """
    visited, each = (shape.size(name) for name in ("experts_per_token", "expert_d_ff"))
    if visited is None or each is None:
        return None
    routed = visited * each * (shape.size("expert_d_model") or shape.size("d_model"))
    shared = (shape.size("shared_experts") or 0) * (shape.size("shared_expert_d_ff") or each)
    return float(routed / shape.size("d_model") + shared)


def _block_d_ff(shape: Sized) -> Picked | None:
    """The same as an input of the limits."""
    width, dense, together = _block_width(shape), shape.size("d_ff"), _visited_width(shape)
    if width is None or together is None or width == dense:
        return shape.pick_claim("d_ff")
    experts = f"the experts that a token visits are {together:,.0f} wide together"
    if dense is None:
        return picked(
            shape, "block_d_ff", width, "1", [f"{shape.id} has no dense block: {experts}"]
        )
    note = (
        f"{shape.id}: blocks are {width:,.0f} wide on average; dense ones {dense:,.0f}, {experts}"
    )
    return picked(shape, "block_d_ff", width, "1", [note])


def _attention_share(shape: Sized) -> Picked | None:
    """Weights of a layer's attention over those of the feed-forward block that a token meets."""
    counted, d_ff = shape.parts, _block_width(shape)
    if counted is None or d_ff is None:
        return None
    attention_layers = layers.COUNTED["attention_layers"](shape)
    attending = shape.size("layers") if attention_layers is None else attention_layers.value
    matrices = 3 if shape.size("ffn") == "gated" else 2
    block = matrices * shape.size("d_model") * d_ff
    return picked(shape, "attention_share", counted["attention"] / attending / block, "1")


def _beside_share(shape: Sized) -> Picked | None:
    """Weights of a layer's attention and shared experts over those of the experts of a token."""
    counted = shape.parts
    if counted is None or shape.model.kind != "moe":
        return None
    sized = ("experts", "experts_per_token", "expert_d_ff", "d_model", "layers")
    experts, visited, each, d_model, count = (shape.size(name) for name in sized)
    if each is None:
        return None
    blocks = shape.size("ffn_layers") or count
    sparse = blocks - (shape.size("dense_layers") or 0)
    matrices = 3 if shape.size("ffn") == "gated" else 2
    routed = matrices * d_model * each * visited
    if counted["total"] > counted["active"]:  # not where a token visits each expert
        routed = (counted["total"] - counted["active"]) / (experts - visited) * visited / sparse
    width = shape.size("shared_expert_d_ff") or each
    shared = matrices * d_model * width * (shape.size("shared_experts") or 0)
    attention = counted["attention"] / count
    return picked(shape, "beside_share", (attention + shared) / routed, "1")


def _expert_layers(shape: Sized) -> Picked | None:
    """Layers whose feed-forward block is a mixture of experts."""
    if shape.model.kind != "moe":
        return None
    blocks = shape.size("ffn_layers") or shape.size("layers")
    return picked(shape, "expert_layers", blocks - (shape.size("dense_layers") or 0), "1")


def _weight_format_share(shape: Sized) -> Picked | None:
    """Share of the weights that a published checkpoint has in its narrow format."""
    counted, part = shape.parts, shape.size("weight_format_of")
    if counted is None or part is None:
        return None
    if part == "experts":
        experts, visited = (shape.size(name) for name in ("experts", "experts_per_token"))
        routed = (counted["total"] - counted["active"]) * experts / (experts - visited)
        return picked(shape, "weight_format_share", routed / counted["total"], "1")
    wide = sum(counted[name] for name in ("embedding", "router", "norms"))
    return picked(shape, "weight_format_share", 1 - wide / counted["total"], "1")


# What is counted rather than claimed, by the name under which an input asks for it.
COUNTED: Mapping[str, Callable[[Sized], Picked | None]] = {
    "params": _params,
    "compute_params": _compute_params,
    "attention_share": _attention_share,
    "beside_share": _beside_share,
    "block_d_ff": _block_d_ff,
    "expert_layers": _expert_layers,
    "weight_format_share": _weight_format_share,
}
