"""What a run without the length of its sequences leaves out: the scores of attention."""

from flopbook.formulas.declaration import Constant
from flopbook.formulas.layer_kinds import UPDATE_AND_READ
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import inf, maximum, minimum, where

SEQ = Constant(8192.0, "token", "sequences for which attention is sized where none are given")


@omission(
    "attention is left out of the arithmetic without --seq: with sequences of 8,192 tokens the run "
    "takes longer ({size})",
    of="seconds",
)
def attention_without_sequences(
    params: float,
    layers: float,
    seq: float,
    d_model: float,
    heads: float,
    head_dim: float,
    v_head_dim: float,
    window_head_dim: float,
    kv_lora_rank: float,
    qk_nope_head_dim: float,
    qk_rope_head_dim: float,
    full_layers: float,
    window: float,
    window_layers: float,
    chunk: float,
    chunk_layers: float,
    sparse_layers: float,
    selected_tokens: float,
    index_layers: float,
    index_heads: float,
    index_head_dim: float,
    index_compression: float,
    compressed_layers: float,
    compression: float,
    side_window: float,
    state_layers: float,
    state_values: float,
) -> float:
    """Pairs of a query and a key for each token, over the products with its parameters."""
    beside = where(full_layers < inf, full_layers, state_layers)
    open_layers = layers - chunk_layers - sparse_layers - compressed_layers - beside
    windowed = where(window < inf, minimum(window_layers, open_layers), 0)
    full = where(full_layers < inf, full_layers, open_layers - windowed)
    # A token sees half of all tokens on average, of a window less while it fills.
    in_window = minimum(window, SEQ)
    filling = in_window * (1 - in_window / SEQ / 2)
    at_side = minimum(side_window, SEQ)
    side = at_side * (1 - at_side / SEQ / 2)
    entries = SEQ / index_compression
    selected = minimum(selected_tokens, entries)
    chosen = sparse_layers * (selected * (1 - selected / entries / 2) + side)
    packed = compressed_layers * (SEQ / compression / 2 + side)
    seen = full * SEQ / 2 + chunk_layers * minimum(chunk, SEQ) / 2 + chosen + packed
    width = where(d_model < inf, d_model, 0)
    head = where(head_dim < inf, head_dim, width / where(heads > 0, heads, 1))
    both = head + where(v_head_dim > 0, v_head_dim, head)
    window_both = where(window_head_dim > 0, 2 * window_head_dim, both)
    latent = qk_nope_head_dim + qk_rope_head_dim + v_head_dim
    pair = where(heads > 0, heads * where(kv_lora_rank > 0, latent, both), 2 * width)
    window_pair = where(heads > 0, heads * where(kv_lora_rank > 0, latent, window_both), 2 * width)
    indexing = minimum(index_layers, sparse_layers) * index_heads * index_head_dim * entries / 2
    states = UPDATE_AND_READ * state_layers * state_values
    work = pair * seen + window_pair * windowed * filling + indexing + states
    return where(seq > 0, 0, maximum(work, 0) / params)


# The same of the arithmetic alone.
scores_without_sequences = attention_without_sequences.worded(
    "flop has no attention scores: with --seq 8192 they come on top, in flop_causal ({size})"
).of_output("flop")
