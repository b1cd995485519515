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


class Transformer(NamedTuple):
    """Weights that a token multiplies in an average layer, and what attention does per token.

    `attention_weights` and `ffn_weights` are of one layer, the latter those of the experts that a
    token visits; `expert_parameters` are those of all experts of all layers. `score_width` is heads
    times head dimension, averaged over keys and values.
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

    @property
    def is_mixture(self) -> bool:
        """Whether a token visits some of several experts."""
        return self.experts > 1

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
    numbers_given["ffn_kind"] = _kind(sizes, numbers_given)
    width = sizes.get("d_ff") or d_model * (4 if numbers_given["ffn_kind"] == PLAIN else 8 / 3)
    counted = _counted({**numbers_given, "d_ff": float(width)})
    experts = sizes.get("n_experts", 1)
    parameters = sizes.get("n_params") or _matrices(counted)
    # Experts of a token and those that it leaves out; a total that is stated may be smaller.
    routed = (counted["total"] - counted["active"]) / max(1 - _visited_share(sizes), 1e-9)
    return Transformer(
        layers=layers,
        d_model=d_model,
        attention_weights=counted["attention"] / layers,
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
    )


def _visited_share(sizes: Mapping[str, Any]) -> float:
    """The share of its experts that a token visits."""
    return float(sizes.get("experts_per_token", 1) / sizes.get("n_experts", 1))


def _counted(given: Mapping[str, Any]) -> Mapping[str, float]:
    """Parameters by part. Runs may have heads that do not divide the width: rules are not asked."""
    formula = get_formula("params")
    return formula.compute({**formula.defaults, **given})


def _matrices(counted: Mapping[str, float]) -> float:
    """All weights but those of norms and routers."""
    return counted["attention"] + counted["ffn"] + counted["embedding"]


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
