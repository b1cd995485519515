"""Parameters, caches and training work of transformers, tensor by tensor.

Vaswani et al. 2017 for the block, Ainslie et al. 2023 for grouped heads, DeepSeek-AI 2024 (V2, 2.1)
for latent attention, Kaplan et al. 2020 and Narayanan et al. 2021 for the work of training.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from tests.evaluation.questions.answers.facts import Shape


def attention_weights(s: Shape, kind: str = "full") -> int:
    """Projections of one layer, with what is inside latent attention and what selects tokens."""
    picks = index_weights(s) if kind == "sparse" else 0
    if s.kv_rank:
        return _latent_weights(s) + picks
    kv, key, value = s.keys_of(kind)
    weights = s.d_model * kv * (key if s.one_vector else key + value)
    if s.out_rank:  # outputs of each group of heads through a narrow matrix (DeepSeek-AI 2026)
        weights += s.heads * value * s.out_rank + s.out_groups * s.out_rank * s.d_model
    else:
        weights += s.heads * value * s.d_model
    if s.q_rank:  # queries through a narrow matrix (StepFun 2025)
        weights += s.d_model * s.q_rank + s.q_rank * s.heads * key
    else:
        weights += s.d_model * s.heads * key
    if s.gate:  # a gate for each value of the output
        weights += s.d_model * s.heads * value
    if s.relative:  # keys of distances have a projection of their own (Dai et al. 2019, 3.3)
        weights += s.d_model * s.heads * key
    if s.biases in ("qkv", "all"):
        weights += s.heads * key + kv * (key + value)
    if s.biases == "all":
        weights += s.d_model
    return weights + picks + compressor_weights(s, kind)


def compressor_weights(s: Shape, kind: str) -> int:
    """Values, gates, places and the norm of an entry; those of sparse layers overlap (2026, V4)."""
    if kind in ("sparse", "sparse-reuse") and s.index_per > 1:
        return packer(s, s.width, 2 * s.width, s.index_per)
    if kind == "compressed":
        return packer(s, s.width, s.width, s.per)
    return 0


def packer(s: Shape, width: int, inner: int, per: int) -> int:
    """One compressor: two projections, a place for each token of an entry, a norm."""
    return 2 * s.d_model * inner + per * inner + width


def index_weights(s: Shape) -> int:
    """The lightning indexer: queries, one key with its LayerNorm, and a weight for each head."""
    queries = (s.q_rank or s.d_model) * s.index_heads * s.index_width
    key = s.d_model * s.index_width + 2 * s.index_width
    if s.index_per > 1:
        key = packer(s, s.index_width, 2 * s.index_width, s.index_per)
    return queries + key + s.d_model * s.index_heads


def state_weights(s: Shape) -> int:
    """Tensors of a recurrent mixer, as their papers lay them out.

    Gu and Dao 2023 (Mamba) with the three norms of Jamba, Dao and Gu 2024 (Mamba-2), Yang et al.
    2024 (gated delta net), Kimi Team 2025 (KDA), MiniMax 2025 (lightning attention).
    """
    assert s.state is not None
    m, d = s.state, s.d_model
    inner, keys = m.heads * m.width, m.key_heads * m.key_width
    out = inner * d
    if m.kind == "mamba":
        n = m.key_width
        steps = inner * (m.rank + 2 * n) + (m.rank * inner + inner)
        return (
            d * 2 * inner
            + inner * m.taps
            + inner
            + steps
            + inner * n
            + inner
            + m.rank
            + 2 * n
            + out
        )
    if m.kind == "mamba2":
        mixed = inner + 2 * keys
        return d * (inner + mixed + m.heads) + mixed * (m.taps + 1) + 3 * m.heads + inner + out
    if m.kind == "gated-delta":
        mixed = inner + 2 * keys
        return d * (mixed + inner) + d * 2 * m.heads + mixed * m.taps + 2 * m.heads + m.width + out
    if m.kind == "kda":
        mixed = inner + 2 * keys
        gates = 2 * d * m.width + m.width * keys + m.width * inner
        return d * (mixed + m.heads) + gates + mixed * m.taps + m.heads + keys + m.width + out
    assert m.kind == "lightning"
    return d * (2 * keys + inner) + d * inner + inner + out


def state_numbers(s: Shape) -> int:
    """What one recurrent layer keeps of a sequence: a matrix a head, inputs of its convolution."""
    if s.state is None:
        return 0
    m = s.state
    inner, keys = m.heads * m.width, m.key_heads * m.key_width
    mixed = inner if m.kind == "mamba" else inner + 2 * keys
    return inner * m.key_width + max(m.taps - 1, 0) * mixed


def _latent_weights(s: Shape) -> int:
    """W_DQ, W_UQ, W_DKV with W_KR, W_UK with W_UV, W_O."""
    query_head = s.nope + s.rope
    if s.q_rank:
        queries = s.d_model * s.q_rank + s.q_rank * s.heads * query_head
    else:
        queries = s.d_model * s.heads * query_head
    down = s.d_model * (s.kv_rank + s.rope)
    up = s.kv_rank * s.heads * (s.nope + s.v_dim)
    out = s.heads * s.v_dim * s.d_model * (2 if s.gate else 1)
    return queries + down + up + out


def block_weights(s: Shape, width: int) -> int:
    """A feed-forward block of this width."""
    matrices = 3 if s.gated else 2
    biases = 0
    if s.biases == "all":
        biases = (matrices - 1) * width + s.d_model
    return matrices * s.d_model * width + biases


def expert_weights(s: Shape) -> int:
    """One routed expert, as wide on its outside as the model or as a latent space."""
    return block_weights(replace(s, d_model=s.expert_d_model or s.d_model), s.expert_d_ff or s.d_ff)


def norm_weights(s: Shape) -> int:
    """Norms of all layers and the last one; a LayerNorm has a shift too."""
    numbers = {"rms": 1, "layer": 2, "none": 0}[s.norm]
    total = (s.layers * s.norms_per_layer + 1) * s.d_model * numbers
    for kind in s.kinds():
        if kind in ("state", "none"):
            continue
        kv, key, _ = s.keys_of(kind)
        total += {"none": 0, "head": 2 * key, "full": key * (s.heads + kv)}[s.qk_norm]
        total += s.q_rank + s.kv_rank
    return total


def parameters(s: Shape) -> dict[str, float]:
    """All weights, those a token meets, and those it is multiplied with.

    A look-up multiplies nothing; the head does, whether it is the embedding's matrix or its own.
    """
    embedding = s.vocab * s.d_model
    blocks = s.blocks or s.layers
    sparse_layers = blocks - s.dense_layers if s.experts > 1 else 0
    expert = expert_weights(s)
    shared = s.shared_experts and s.shared_experts * block_weights(
        s, s.shared_d_ff or s.expert_d_ff or s.d_ff
    )
    dense = (blocks - sparse_layers) * block_weights(s, s.d_ff) if s.d_ff else 0
    # Into the latent space of the experts and out of it, once for all of them (NVIDIA 2025).
    latent = 2 * s.d_model * s.expert_d_model
    ffn = dense + sparse_layers * (s.experts * expert + latent + shared)
    router = sparse_layers * s.experts * s.d_model
    kinds = s.kinds()
    attention = sum(attention_weights(s, kind) for kind in kinds if kind not in ("state", "none"))
    states = sum(state_weights(s) for kind in kinds if kind in ("state", "state+full"))
    norms = norm_weights(s)
    positions = s.learned_positions * s.d_model
    table = embedding * (1 if s.tied else 2) + positions
    total = table + attention + ffn + router + norms + states
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


def cached_values(s: Shape, kind: str = "full") -> int:
    """Values of a token that one layer keeps: K and V of each KV head, or the latent vector.

    Where an indexer selects, it keeps a key of its own.
    """
    picks = s.index_width if kind == "sparse" else 0
    if s.kv_rank:
        return s.kv_rank + s.rope + picks
    kv, key, value = s.keys_of(kind)
    return kv * (key if s.one_vector else key + value) + picks


def kept_tokens(s: Shape, kind: str, seq: int) -> int:
    """Tokens of a sequence whose keys such a layer still needs; a recurrent state has none.

    Compressed ones count as entries, beside a window of tokens as they are.
    """
    beside = min(seq, s.beside)
    if kind in ("sparse", "sparse-reuse"):
        return seq // s.index_per + beside
    if kind == "compressed":
        return seq // s.per + beside
    if kind in ("state", "none"):
        return 0
    if kind == "window":
        return min(seq, s.window)
    if kind == "chunk":
        return min(seq, s.chunk)
    return seq


def cache(s: Shape, seq: int, batch: int = 1, width: float = 2) -> float:
    """Bytes of all keys and values after `seq` tokens."""
    kept = 0
    for kind in s.kinds():
        picks = s.index_width if kind == "sparse" else 0
        kept += kept_tokens(s, kind, seq) * (cached_values(s, kind) - picks)
        kept += seq // s.index_per * picks
    return batch * width * kept


def states(s: Shape, batch: int = 1, width: float = 4) -> float:
    """Bytes of all recurrent states, which do not grow; fp32 as engines keep them."""
    return batch * width * state_numbers(s) * sum("state" in kind for kind in s.kinds())


def awaited(s: Shape, batch: int = 1, width: float = 4) -> float:
    """Values and gates of the tokens that will make the next entries, those of two if sparse."""
    kinds = s.kinds()
    numbers = kinds.count("compressed") * 2 * s.per * s.width
    if s.index_per > 1:
        entry = kinds.count("sparse") * (s.width + s.index_width)
        numbers += 2 * 2 * s.index_per * entry
    return batch * width * numbers


def cache_growth(s: Shape, seq: int, width: float = 2) -> float:
    """Bytes that the last token added, after `seq - 1` others; in a full window it adds none."""
    return cache(s, seq, 1, width) - cache(s, seq - 1, 1, width)


def attended(s: Shape, kind: str, seq: int) -> int:
    """Tokens that a query after `seq` tokens meets; an indexer limits them without forgetting."""
    kept = kept_tokens(s, kind, seq)
    if kind not in ("sparse", "sparse-reuse"):
        return kept
    return min(seq // s.index_per, s.selected) + min(seq, s.beside)


@functools.cache
def causal_pairs(s: Shape, kind: str, seq: int) -> float:
    """Pairs of query and key in one sequence, counted row by row, the token itself included."""
    return sum(attended(s, kind, position + 1) for position in range(seq))


def score_width(s: Shape, kind: str = "full") -> float:
    """Numbers that a pair multiplies: width of the scores and of the values, over all heads."""
    if s.kv_rank:
        return s.heads * (s.nope + s.rope + s.v_dim)
    _, key, value = s.keys_of(kind)
    return s.heads * (key + value)


def sequence_scores(s: Shape, seq: int) -> float:
    """Products of attention in a sequence that is read at once, pair by pair.

    An indexer scores every pair; a recurrent state is updated and read once for each token.
    """
    total = 0.0
    for kind in s.kinds():
        total += score_width(s, kind) * causal_pairs(s, kind, seq)
        if kind == "sparse":
            scanned = sum(token // s.index_per for token in range(1, seq + 1))
            total += s.index_heads * s.index_width * scanned
        if "state" in kind:
            total += 2 * state_numbers(s) * seq
    return total


def unmasked_scores(s: Shape, seq: int) -> float:
    """Products of one token without a mask: as many keys as its layers ever see, and indexers."""
    total = 0.0
    for kind in s.kinds():
        total += score_width(s, kind) * attended(s, kind, seq)
        if kind == "sparse":
            total += s.index_heads * s.index_width * (seq // s.index_per)
        if "state" in kind:
            total += 2 * state_numbers(s)
    return total


def step_scores(s: Shape, seq: int) -> float:
    """Products of attention for one new token; latent attention works on the latent vectors."""
    total = 0.0
    for kind in s.kinds():
        width = s.heads * (2 * s.kv_rank + s.rope) if s.kv_rank else score_width(s, kind)
        total += width * attended(s, kind, seq)
        if kind == "sparse":
            total += s.index_heads * s.index_width * (seq // s.index_per)
        if "state" in kind:
            total += 2 * state_numbers(s)
    return total


def step_bytes(s: Shape, seq: int, width: float = 2, state_width: float = 4) -> float:
    """What a step moves for a sequence: caches that it looks at, states read and written back."""
    total = 0.0
    for kind in s.kinds():
        picks = s.index_width if kind == "sparse" else 0
        values = cached_values(s, kind) - picks
        total += width * (attended(s, kind, seq) * values + seq // s.index_per * picks)
        if "state" in kind:
            total += 2 * state_width * state_numbers(s)
    return total
