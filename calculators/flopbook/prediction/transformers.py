"""The shape of a model as a run describes it: weights and attention of an average layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.formulas import get_formula

FLOP_PER_WEIGHT = 2.0  # a multiplication and an addition
# What holds for most models where a row is silent.
USUAL_HEAD_DIM = 128
USUAL_VOCABULARY = 50_000
GATED, PLAIN = "gated", "plain"
# Latent attention has all of these, or its weights cannot be counted.
LATENT = ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
# Name of a size in a row -> field of a model, and input of the formulas that count it.
BODY = {
    "n_layers": "layers",
    "d_model": "d_model",
    "n_heads": "heads",
    "n_kv_heads": "kv_heads",
    "head_dim": "head_dim",
}
TOTALS = {"d_ff": "d_ff", "vocab_size": "vocab", "n_params": "params"}
# Experts and latent attention.
INPUTS = {
    "n_experts": "experts",
    "experts_per_token": "experts_per_token",
    "moe_d_ff": "expert_d_ff",
    "n_shared_experts": "shared_experts",
    "n_dense_layers": "dense_layers",
    "q_lora_rank": "q_lora_rank",
    "kv_lora_rank": "kv_lora_rank",
    "qk_nope_head_dim": "qk_nope_head_dim",
    "qk_rope_head_dim": "qk_rope_head_dim",
    "v_head_dim": "v_head_dim",
}
# Inputs of `params` that decide vectors alone, which no token is multiplied with.
_VECTORS = ("norm", "norms_per_layer", "qk_norm", "biases")
_PLAIN = {*BODY.values(), *TOTALS.values(), *INPUTS.values(), "ffn_kind", "tied_embeddings"}
# What else decides the weights of a model on file, as its row carries it: layers of each kind,
# mixers with a state, the width in which experts work. A row that gives sizes has none of these.
OF_KINDS = {
    f"kind_{name}": name
    for name in get_formula("params").inputs
    if name not in _PLAIN and name not in _VECTORS
}


# What else decides the attention of a model on file: layers that see near tokens alone.
NEAR = {f"near_{name}": name for name in ("windowed", "window", "chunked", "chunk")}


class Transformer(NamedTuple):
    """Weights that a token multiplies in an average layer, and what attention does per token.

    `attention_weights` and `ffn_weights` are of one layer, the latter those of the experts that a
    token visits; `expert_parameters` are those of all experts of all layers. `score_width` is heads
    times head dimension, averaged over keys and values.

    Layers may be of several kinds, as in a hybrid of attention and state spaces, and one may be a
    single block. Of all layers `attending` have attention, `feeding` a feed-forward block or
    experts, and of a mixture `routing` experts; `blocks` are mixers and feed-forward blocks, over
    the two of a usual layer.

    Mixers with a state have `state_weights` of the `attention_weights`, and update `state_values`
    for each token; kernels that are known multiply `state_products` times and move `state_moved`
    values of 16 bits for it, forward and backward.

    Of the feed-forward weights of a mixture `dense_weights` are those of layers without experts,
    `dense_width` wide, and `beside_weights` those of blocks that all tokens visit beside the
    experts, which work in and receive tokens of the width `expert_d_model`. Experts with a
    `capacity` have places for that many times their even share of tokens, all of which they
    multiply; 0 where they take all tokens that come.

    Of the layers that attend a share `windowed` sees the last `window` tokens, with scores
    `window_width` wide, and a share `chunked` the tokens of its chunk of `chunk`.
    """

    layers: float
    d_model: float
    attention_weights: float
    ffn_weights: float
    score_width: float
    head_dim: float
    ffn_width: float
    vocabulary: float
    tokens: float
    parameters: float
    experts: float
    experts_per_token: float
    expert_parameters: float
    expert_d_model: float
    attending: float = 1.0
    feeding: float = 1.0
    blocks: float = 1.0
    state_weights: float = 0.0
    state_values: float = 0.0
    state_products: float = 0.0
    state_moved: float = 0.0
    routing: float = 1.0
    capacity: float = 0.0
    dense_weights: float = 0.0
    dense_width: float = 1.0
    beside_weights: float = 0.0
    windowed: float = 0.0
    window: float = 1.0
    window_width: float = 0.0
    chunked: float = 0.0
    chunk: float = 1.0

    @property
    def is_mixture(self) -> bool:
        """Whether a token visits some of several experts."""
        return self.experts > 1

    @property
    def mixing(self) -> float:
        """Mixers, of attention or of a state, over layers."""
        return 2 * self.blocks - self.feeding

    @property
    def layer_weights(self) -> float:
        """Weights of all layers that a token multiplies, without embedding and head."""
        return self.layers * (self.attention_weights + self.ffn_weights)

    @property
    def embedding(self) -> float:
        """Weights of one embedding matrix."""
        return self.vocabulary * self.d_model


def transformer(sizes: Mapping[str, Any]) -> Transformer:
    """The shape that the `model` of a run gives, its weights counted by the formula `params`.

    Raises FlopbookError where layers or width are missing: no rule could infer them.
    """
    layers, d_model = sizes.get("n_layers"), sizes.get("d_model")
    if not layers or not d_model:
        raise FlopbookError("the number of layers or the model width is not given")
    missing = [name for name in LATENT if sizes.get("kv_lora_rank") and not sizes.get(name)]
    if missing:
        raise FlopbookError(f"kv_lora_rank is given, but not {', '.join(missing)}")
    heads = sizes.get("n_heads") or max(1, d_model // USUAL_HEAD_DIM)
    head_dim = sizes.get("head_dim") or d_model / heads
    vocabulary = sizes.get("vocab_size") or USUAL_VOCABULARY
    numbers_given = {
        **{name: float(sizes[size]) for size, name in INPUTS.items() if sizes.get(size)},
        "layers": float(layers),
        "d_model": float(d_model),
        "heads": float(heads),
        "head_dim": float(head_dim),
        "kv_heads": float(sizes.get("n_kv_heads") or heads),
        "vocab": float(vocabulary),
        "tied_embeddings": "yes" if sizes.get("tied_embeddings") else "no",
    }
    kind = _kind(sizes, numbers_given)
    numbers_given["ffn_kind"] = kind
    numbers_given |= {name: sizes[size] for size, name in OF_KINDS.items() if size in sizes}
    width = sizes.get("d_ff") or d_model * (4 if kind == PLAIN else 8 / 3)
    counted = _counted({**numbers_given, "d_ff": float(width)})
    experts = sizes.get("n_experts", 1)
    parameters = sizes.get("n_params") or _matrices(counted)
    # Experts of a token and those that it leaves out; a total that is stated may be smaller.
    routed = (counted["total"] - counted["active"]) / max(1 - _visited_share(sizes), 1e-9)
    return Transformer(
        layers=layers,
        d_model=d_model,
        attention_weights=(counted["attention"] + counted["states"]) / layers,
        ffn_weights=_visited(counted) / layers,
        score_width=_score_width(sizes, heads, head_dim),
        head_dim=head_dim,
        ffn_width=(sizes.get("moe_d_ff") or width) if experts > 1 else width,
        vocabulary=vocabulary,
        tokens=sizes.get("seq_len_tokens") or 2048,
        parameters=parameters,
        experts=experts,
        experts_per_token=sizes.get("experts_per_token", 1),
        expert_parameters=min(routed, parameters) if experts > 1 else 0.0,
        expert_d_model=sizes.get("kind_expert_d_model", d_model),
        state_weights=counted["states"] / layers,
        **_kinds(sizes, layers),
        **_without_routing(sizes, counted, kind, layers),
        **_near(sizes, heads, _score_width(sizes, heads, head_dim)),
    )


def _kinds(sizes: Mapping[str, Any], layers: float) -> dict[str, float]:
    """Layers of each kind over all, and the values of their states; all alike by default."""
    states = sizes.get("kind_state_layers", 0)
    attending = sizes.get("kind_attention_layers", layers - states)
    feeding = sizes.get("kind_ffn_layers", layers)
    return {
        "attending": attending / layers,
        "feeding": feeding / layers,
        "blocks": (attending + states + feeding) / (2 * layers),
        "state_values": sizes.get("seen_state_values", 0) / layers,
        "state_products": sizes.get("kernel_products", 0) / layers,
        "state_moved": sizes.get("kernel_moved", 0) / layers,
    }


def _without_routing(
    sizes: Mapping[str, Any], counted: Mapping[str, float], kind: str, layers: float
) -> dict[str, float]:
    """Layers with experts over all, and what else of a mixture is a feed-forward block.

    Blocks of layers without experts are dense ones. The others stand beside experts: shared ones,
    whatever their width, and the way into a latent space and out of it.
    """
    experts, visited = sizes.get("n_experts", 1), _visited_share(sizes)
    if experts <= 1:
        return {}
    blocks, dense = sizes.get("kind_ffn_layers", layers), sizes.get("n_dense_layers", 0)
    width = sizes.get("d_ff", 0)
    dense_weights = dense * sizes["d_model"] * width * (2 if kind == PLAIN else 3)
    routed = (counted["total"] - counted["active"]) / max(1 - visited, 1e-9)
    # Where a token visits every expert, nothing tells them from blocks beside them.
    beside = _visited(counted) - routed * visited - dense_weights if visited < 1 else 0.0
    return {
        "routing": (blocks - dense) / layers,
        "capacity": float(sizes.get("capacity_factor", 0)),
        "dense_weights": dense_weights / layers,
        "dense_width": float(width or 1),
        "beside_weights": max(beside, 0.0) / layers,
    }


def _near(sizes: Mapping[str, Any], heads: float, width: float) -> dict[str, float]:
    """Layers that see near tokens alone, as shares of those that attend, and how far they see.

    Heads may be narrower in a window; else its scores have the `width` of all others.
    """
    near = {name: sizes[size] for size, name in NEAR.items() if size in sizes}
    own = sizes.get("kind_window_head_dim")
    return {**near, "window_width": float(heads * own if own else width)}


def _visited_share(sizes: Mapping[str, Any]) -> float:
    """The share of its experts that a token visits."""
    return float(sizes.get("experts_per_token", 1) / sizes.get("n_experts", 1))


def _counted(given: Mapping[str, Any]) -> Mapping[str, float]:
    """Parameters by part. Runs may have heads that do not divide the width: rules are not asked."""
    formula = get_formula("params")
    return formula.compute({**formula.defaults, **given})


def _matrices(counted: Mapping[str, float]) -> float:
    """All weights but those of norms and routers."""
    return counted["attention"] + counted["states"] + counted["ffn"] + counted["embedding"]


def _visited(counted: Mapping[str, float]) -> float:
    """Feed-forward weights of all layers that a token visits."""
    return counted["ffn"] - (counted["total"] - counted["active"])


def _score_width(sizes: Mapping[str, Any], heads: float, head_dim: float) -> float:
    """The width over which scores and sums run, averaged over keys and values."""
    if not sizes.get("kv_lora_rank"):
        return heads * head_dim
    widths = sizes["qk_nope_head_dim"] + sizes["qk_rope_head_dim"] + sizes["v_head_dim"]
    return float(heads * widths / 2)


def _kind(sizes: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """The kind of a feed-forward block: as said, else what comes nearest to the parameters."""
    gated = sizes.get("gated_ffn")
    total, width = sizes.get("n_params"), sizes.get("d_ff")
    if gated is None and total and width and sizes.get("n_experts", 1) <= 1:
        shape = {**given, "d_ff": float(width), "tied_embeddings": "no"}
        plain, with_gate = (
            _matrices(_counted({**shape, "ffn_kind": kind})) for kind in (PLAIN, GATED)
        )
        gated = abs(with_gate - total) < abs(plain - total)
    return PLAIN if gated is False else GATED
