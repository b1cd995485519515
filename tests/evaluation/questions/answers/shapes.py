"""Parameters, caches and training work of transformers, tensor by tensor.

Vaswani et al. 2017 for the block, Ainslie et al. 2023 for grouped heads, DeepSeek-AI 2024 (V2, 2.1)
for latent attention, Kaplan et al. 2020 and Narayanan et al. 2021 for the work of training.
"""

from __future__ import annotations

from tests.evaluation.questions.answers.facts import Shape


def attention_weights(s: Shape) -> int:
    """Projections of one layer, with what is inside latent attention."""
    out = s.heads * s.width * s.d_model
    if s.kv_rank:
        return _latent_weights(s)
    weights = s.d_model * s.width * (s.heads + 2 * s.kv) + out
    if s.relative:  # keys of distances have a projection of their own (Dai et al. 2019, 3.3)
        weights += s.d_model * s.heads * s.width
    if s.biases in ("qkv", "all"):
        weights += s.width * (s.heads + 2 * s.kv)
    if s.biases == "all":
        weights += s.d_model
    return weights


def _latent_weights(s: Shape) -> int:
    """W_DQ, W_UQ, W_DKV with W_KR, W_UK with W_UV, W_O."""
    query_head = s.nope + s.rope
    if s.q_rank:
        queries = s.d_model * s.q_rank + s.q_rank * s.heads * query_head
    else:
        queries = s.d_model * s.heads * query_head
    down = s.d_model * (s.kv_rank + s.rope)
    up = s.kv_rank * s.heads * (s.nope + s.v_dim)
    return queries + down + up + s.heads * s.v_dim * s.d_model


def block_weights(s: Shape, width: int) -> int:
    """A feed-forward block of this width."""
    matrices = 3 if s.gated else 2
    biases = 0
    if s.biases == "all":
        biases = (matrices - 1) * width + s.d_model
    return matrices * s.d_model * width + biases


def norm_weights(s: Shape) -> int:
    """Norms of all layers and the last one; a LayerNorm has a shift too."""
    numbers = {"rms": 1, "layer": 2, "none": 0}[s.norm]
    total = (s.layers * s.norms_per_layer + 1) * s.d_model * numbers
    if s.qk_norm == "head":
        total += s.layers * 2 * s.width
    if s.qk_norm == "full":
        total += s.layers * s.width * (s.heads + s.kv)
    if s.kv_rank:
        total += s.layers * (s.q_rank + s.kv_rank)
    return total


def parameters(s: Shape) -> dict[str, float]:
    """All weights, those a token meets, and those it is multiplied with.

    A look-up multiplies nothing; the head does, whether it is the embedding's matrix or its own.
    """
    embedding = s.vocab * s.d_model
    sparse_layers = s.layers - s.dense_layers if s.experts > 1 else 0
    expert = block_weights(s, s.expert_d_ff or s.d_ff)
    shared = s.shared_experts and s.shared_experts * block_weights(
        s, s.shared_d_ff or s.expert_d_ff or s.d_ff
    )
    dense = (s.layers - sparse_layers) * block_weights(s, s.d_ff) if s.d_ff else 0
    ffn = dense + sparse_layers * (s.experts * expert + shared)
    router = sparse_layers * s.experts * s.d_model
    attention = s.layers * attention_weights(s)
    norms = norm_weights(s)
    positions = s.learned_positions * s.d_model
    table = embedding * (1 if s.tied else 2) + positions
    total = table + attention + ffn + router + norms
    idle = sparse_layers * (s.experts - s.experts_per_token) * expert
    looked_up = positions if s.tied else positions + embedding
    return {
        "total": total,
        "active": total - idle,
        "compute": total - idle - looked_up,
        "embedding": table,
        "attention": attention,
        "ffn": ffn,
        "router": router,
        "norms": norms,
    }


def cached_values(s: Shape) -> int:
    """Values of a token that one layer keeps: K and V of each KV head, or the latent vector."""
    if s.kv_rank:
        return s.kv_rank + s.rope
    return 2 * s.kv * s.width


def kept_tokens(s: Shape, kind: str, seq: int) -> int:
    """Tokens of a sequence whose keys such a layer still needs; a recurrent state has none."""
    if kind == "state":
        return 0
    if kind == "window":
        return min(seq, s.window)
    if kind == "chunk":
        return min(seq, s.chunk)
    return seq


def cache(s: Shape, seq: int, batch: int = 1, width: float = 2) -> float:
    """Bytes of all keys and values after `seq` tokens."""
    tokens = sum(kept_tokens(s, kind, seq) for kind in s.kinds())
    return batch * width * cached_values(s) * tokens


def cache_growth(s: Shape, seq: int, width: float = 2) -> float:
    """Bytes that the last token added, after `seq - 1` others; in a full window it adds none."""
    return cache(s, seq, 1, width) - cache(s, seq - 1, 1, width)


def causal_pairs(s: Shape, kind: str, seq: int) -> float:
    """Pairs of query and key in one sequence, counted row by row, the token itself included."""
    return sum(kept_tokens(s, kind, position + 1) for position in range(seq))


def score_width(s: Shape) -> float:
    """Numbers that a pair multiplies: width of the scores and of the values, over all heads."""
    if s.kv_rank:
        return s.heads * (s.nope + s.rope + s.v_dim)
    return s.heads * 2 * s.width
