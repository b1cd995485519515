"""The shape of a model as a run describes it: weights and attention of an average layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError

# What holds for most models where a row is silent.
USUAL_HEAD_DIM = 128
USUAL_VOCABULARY = 50_000
GATED_MATRICES, PLAIN_MATRICES = 3, 2


class Transformer(NamedTuple):
    """Weights that a token multiplies in an average layer, and what attention does per token.

    `attention_weights` and `ffn_weights` are of one layer, the latter those of the experts that a
    token visits. `score_width` is heads times head dimension, averaged over keys and values.
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
    """The shape that the `model` of a run gives.

    Raises FlopbookError where layers or width are missing: no rule could infer them.
    """
    layers, d_model = sizes.get("n_layers"), sizes.get("d_model")
    if not layers or not d_model:
        raise FlopbookError("the number of layers or the model width is not given")
    heads = sizes.get("n_heads") or max(1, d_model // USUAL_HEAD_DIM)
    head_dim = sizes.get("head_dim") or d_model / heads
    attention, score_width = _attention(sizes, d_model, heads, head_dim)
    matrices = _matrices(sizes, attention)
    width = sizes.get("d_ff") or d_model * (4 if matrices == PLAIN_MATRICES else 8 / 3)
    expert_width = sizes.get("moe_d_ff") or width
    experts = sizes.get("n_experts", 1)
    visited, held = width, width
    if experts > 1:
        dense_share = sizes.get("n_dense_layers", 0) / layers
        shared = sizes.get("n_shared_experts", 0)
        visited_experts = sizes.get("experts_per_token", 1) + shared
        visited = expert_width * visited_experts * (1 - dense_share) + width * dense_share
        held = expert_width * (experts + shared) * (1 - dense_share) + width * dense_share
    vocabulary = sizes.get("vocab_size") or USUAL_VOCABULARY
    embeddings = 1 if sizes.get("tied_embeddings") else 2
    counted = layers * (attention + matrices * d_model * held) + embeddings * vocabulary * d_model
    return Transformer(
        layers=layers,
        d_model=d_model,
        attention_weights=attention,
        ffn_weights=matrices * d_model * visited,
        score_width=score_width,
        head_dim=head_dim,
        ffn_width=expert_width if experts > 1 else width,
        vocabulary=vocabulary,
        tokens=sizes.get("seq_len_tokens") or 2048,
        parameters=sizes.get("n_params") or counted,
        experts=experts,
        experts_per_token=sizes.get("experts_per_token", 1),
    )


def _attention(
    sizes: Mapping[str, Any], d_model: float, heads: float, head_dim: float
) -> tuple[float, float]:
    """Weights of the projections, and the width over which scores and sums run."""
    if not sizes.get("kv_lora_rank"):
        kv_heads = sizes.get("n_kv_heads") or heads
        return 2 * d_model * head_dim * (heads + kv_heads), heads * head_dim
    latent, rope = sizes["kv_lora_rank"], sizes["qk_rope_head_dim"]
    nope, value = sizes["qk_nope_head_dim"], sizes["v_head_dim"]
    query_rank = sizes.get("q_lora_rank")
    queries = heads * (nope + rope)
    query_weights = query_rank * (d_model + queries) if query_rank else d_model * queries
    latent_weights = d_model * (latent + rope) + latent * heads * (nope + value)
    weights = query_weights + latent_weights + heads * value * d_model
    return weights, heads * (nope + rope + value) / 2


def _matrices(sizes: Mapping[str, Any], attention: float) -> int:
    """Matrices of a feed-forward block: as given, else what comes nearest to the parameters."""
    gated = sizes.get("gated_ffn")
    total, width = sizes.get("n_params"), sizes.get("d_ff")
    if gated is None and total and width and sizes.get("n_experts", 1) <= 1:
        layer = sizes["d_model"] * width
        embeddings = 2 * (sizes.get("vocab_size") or USUAL_VOCABULARY) * sizes["d_model"]
        plain, with_gate = (
            sizes["n_layers"] * (attention + matrices * layer) + embeddings
            for matrices in (PLAIN_MATRICES, GATED_MATRICES)
        )
        gated = abs(with_gate - total) < abs(plain - total)
    return PLAIN_MATRICES if gated is False else GATED_MATRICES
