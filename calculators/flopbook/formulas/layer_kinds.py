"""What each layer of a model sees of a sequence, what it keeps of it, and the work of its scores.

A layer has full attention unless it is counted as one of the other kinds: a sliding window, chunks,
a recurrent state (linear attention, state space), or sparse attention that selects tokens. Layers
may reuse the cache of another layer. Calculators take the parts that they need, in this order:
`layer_counts`, `head_width` (or a step `head_size` of their own), `attention_widths` and
`seen_tokens`, then any of `kv_widths` and `tensor_degree` (or a step `degree`) with `kept_values`
(memory) or `step_reads` (decoding), `step_work` (decoding), `whole_sequence` (or a step
`read_tokens`) with `sequence_pairs` and `sequence_work` (prefill, training), `unmasked_work`
(training). `LAYER_SYMBOLS` and `LAYER_RULES` of `layer_inputs` go with them, for a cache
`CACHE_RULES`.
"""

from typing import Any

from flopbook.formulas.declaration import Constant, Step, part
from flopbook.formulas.inference_inputs import Seq, Tp, Width
from flopbook.formulas.layer_inputs import (
    Chunk,
    ChunkLayers,
    FullLayers,
    IndexDim,
    IndexHeads,
    SelectedTokens,
    SharedKvLayers,
    SharedWindowLayers,
    SparseLayers,
    StateLayers,
    StateValues,
    Window,
    WindowHeadDim,
    WindowKvHeads,
    WindowLayers,
)
from flopbook.formulas.parameters import (
    HeadDim,
    Heads,
    KvHeads,
    KvRank,
    Layers,
    NopeDim,
    RopeDim,
    ValueDim,
)
from flopbook.quantities.ops import floor, inf, minimum, where

UPDATE_AND_READ = Constant(2.0, "1", "a token updates and reads each value of a recurrent state")
READ_AND_WRITTEN = Constant(2.0, "1", "a decoding step reads a recurrent state and writes it back")


@part
def layer_counts(
    layers: Layers,
    window: Window = inf,
    window_layers: WindowLayers = inf,
    chunk_layers: ChunkLayers = 0.0,
    sparse_layers: SparseLayers = 0.0,
    full_layers: FullLayers = inf,
    state_layers: StateLayers = 0.0,
) -> dict[str, Any]:
    """Layers with a window and layers with full attention."""
    # Full attention may stand beside a state in one layer; then the number of both is given.
    beside = where(full_layers < inf, full_layers, state_layers)
    open_layers = layers - chunk_layers - sparse_layers - beside
    windowed = where(window < inf, minimum(window_layers, open_layers), 0)
    return {
        "windowed": windowed,
        "full": where(full_layers < inf, full_layers, open_layers - windowed),
    }


@part
def head_width(heads: Heads, head_dim: HeadDim = inf, d_model: Width = inf) -> dict[str, Any]:
    """Head dimension, given or as the heads share the model width."""
    # Where the heads are open nothing is computed with their width.
    even_head = where(d_model < inf, d_model, 0) / where(heads > 0, heads, 1)
    return {"head_size": where(head_dim < inf, head_dim, even_head)}


@part
def attention_widths(
    head_size: Step, v_head_dim: ValueDim = 0.0, window_head_dim: WindowHeadDim = 0.0
) -> dict[str, Any]:
    """Head dimensions of a key and a value together, in windowed layers and in all others."""
    both = head_size + where(v_head_dim > 0, v_head_dim, head_size)
    return {"both": both, "window_both": where(window_head_dim > 0, 2 * window_head_dim, both)}


@part
def kv_widths(
    heads: Heads,
    both: Step,
    window_both: Step,
    kv_heads: KvHeads = inf,
    kv_lora_rank: KvRank = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    window_kv_heads: WindowKvHeads = 0.0,
) -> dict[str, Any]:
    """Values that a layer keeps of a token: keys and values of each KV head, or a latent vector."""
    keys = minimum(kv_heads, heads)
    window_keys = where(window_kv_heads > 0, window_kv_heads, keys)
    grouped = keys * both
    latent = kv_lora_rank + qk_rope_head_dim
    return {
        "kv_width": where(kv_lora_rank > 0, latent, grouped),
        "window_width": where(kv_lora_rank > 0, latent, window_keys * window_both),
        # KV heads that chips may share; every chip needs all of a latent vector.
        "cut_heads": where(kv_lora_rank > 0, 1, keys),
        "window_cut_heads": where(kv_lora_rank > 0, 1, window_keys),
    }


@part
def seen_tokens(
    seq: Seq, window: Window = inf, chunk: Chunk = inf, selected_tokens: SelectedTokens = inf
) -> dict[str, Any]:
    """Tokens of a sequence that a layer of each limited kind sees at most."""
    return {
        "in_window": minimum(seq, window),
        "in_chunk": minimum(seq, chunk),
        "selected": minimum(seq, selected_tokens),
    }


@part
def tensor_degree(tp: Tp = 1.0) -> dict[str, Any]:
    """TP degree, for calculators in which it does not follow from a number of chips."""
    return {"degree": tp}


@part
def kept_values(
    seq: Seq,
    windowed: Step,
    full: Step,
    in_window: Step,
    in_chunk: Step,
    kv_width: Step,
    window_width: Step,
    cut_heads: Step,
    window_cut_heads: Step,
    degree: Step,
    chunk_layers: ChunkLayers = 0.0,
    sparse_layers: SparseLayers = 0.0,
    index_head_dim: IndexDim = 0.0,
    shared_kv_layers: SharedKvLayers = 0.0,
    shared_window_layers: SharedWindowLayers = 0.0,
    state_layers: StateLayers = 0.0,
    state_values: StateValues = 0.0,
) -> dict[str, Any]:
    """Values that stay in memory for a sequence, in all and on each chip of tensor parallelism."""
    # Layers that reuse a cache keep none of their own.
    owners = full - (shared_kv_layers - shared_window_layers)
    window_owners = windowed - shared_window_layers
    whole = (owners + sparse_layers) * seq + chunk_layers * in_chunk
    kept_full = kv_width * whole
    kept_window = window_width * window_owners * in_window
    kept_index = sparse_layers * index_head_dim * seq
    kept_state = state_layers * state_values
    # Ranks beyond the KV heads hold copies of a head; every rank indexes for itself.
    full_on_chip = kept_full / minimum(degree, cut_heads)
    on_chip = full_on_chip + kept_window / minimum(degree, window_cut_heads)
    return {
        "kept": kept_full + kept_window + kept_index,
        "kept_on_chip": on_chip + kept_index,
        "kept_state": kept_state,
        "kept_state_on_chip": kept_state / degree,
        # A full window drops a token for each new one.
        "growing": (owners + sparse_layers) * kv_width
        + sparse_layers * index_head_dim
        + where(in_window < seq, 0, window_owners * window_width)
        + where(in_chunk < seq, 0, chunk_layers * kv_width),
    }


@part
def step_reads(
    seq: Seq,
    windowed: Step,
    full: Step,
    in_window: Step,
    in_chunk: Step,
    selected: Step,
    kv_width: Step,
    window_width: Step,
    cut_heads: Step,
    window_cut_heads: Step,
    degree: Step,
    chunk_layers: ChunkLayers = 0.0,
    sparse_layers: SparseLayers = 0.0,
    index_head_dim: IndexDim = 0.0,
    state_layers: StateLayers = 0.0,
    state_values: StateValues = 0.0,
) -> dict[str, Any]:
    """Values that a chip moves for a sequence in a decoding step: caches read, states rewritten."""
    met = full * seq + chunk_layers * in_chunk + sparse_layers * selected
    read_full = kv_width * met / minimum(degree, cut_heads)
    read_window = window_width * windowed * in_window / minimum(degree, window_cut_heads)
    return {
        "read_on_chip": read_full + read_window + sparse_layers * index_head_dim * seq,
        "moved_state_on_chip": READ_AND_WRITTEN * state_layers * state_values / degree,
    }


@part
def step_work(
    heads: Heads,
    seq: Seq,
    windowed: Step,
    full: Step,
    both: Step,
    window_both: Step,
    in_window: Step,
    in_chunk: Step,
    selected: Step,
    kv_lora_rank: KvRank = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    chunk_layers: ChunkLayers = 0.0,
    sparse_layers: SparseLayers = 0.0,
    index_heads: IndexHeads = 0.0,
    index_head_dim: IndexDim = 0.0,
    state_layers: StateLayers = 0.0,
    state_values: StateValues = 0.0,
) -> dict[str, Any]:
    """Multiplications and additions of the scores of one new token after `seq` others."""
    # While writing, latent attention scores r + d_r wide and sums values r wide.
    absorbed = 2 * kv_lora_rank + qk_rope_head_dim
    score_width = heads * where(kv_lora_rank > 0, absorbed, both)
    window_scores = heads * where(kv_lora_rank > 0, absorbed, window_both)
    scored = full * seq + chunk_layers * in_chunk + sparse_layers * selected
    return {
        "token_work": score_width * scored
        + window_scores * windowed * in_window
        + sparse_layers * index_heads * index_head_dim * seq
        + UPDATE_AND_READ * state_layers * state_values
    }


@part
def whole_sequence(seq: Seq) -> dict[str, Any]:
    """Tokens that are read at once: the sequence, for calculators that ask of no other prompt."""
    return {"read_tokens": seq}


@part
def sequence_pairs(
    read_tokens: Step,
    window: Window = inf,
    chunk: Chunk = inf,
    selected_tokens: SelectedTokens = inf,
) -> dict[str, Any]:
    """Pairs of a token and one that it sees, itself included, in a sequence under a causal mask."""
    seen_window = minimum(read_tokens, window)
    seen_chunk = minimum(read_tokens, chunk)
    seen_selected = minimum(read_tokens, selected_tokens)
    # Chunks without limit are none that is whole, and the sequence is the last one.
    whole_chunks = floor(read_tokens / chunk)
    last_chunk = read_tokens - whole_chunks * seen_chunk
    return {
        "full_pairs": read_tokens * (read_tokens + 1) / 2,
        # The first tokens see fewer than a window holds.
        "window_pairs": seen_window * read_tokens - seen_window * (seen_window - 1) / 2,
        "chunk_pairs": whole_chunks * seen_chunk * (seen_chunk + 1) / 2
        + last_chunk * (last_chunk + 1) / 2,
        "selected_pairs": seen_selected * read_tokens - seen_selected * (seen_selected - 1) / 2,
    }


@part
def sequence_work(
    heads: Heads,
    read_tokens: Step,
    windowed: Step,
    full: Step,
    both: Step,
    window_both: Step,
    full_pairs: Step,
    window_pairs: Step,
    chunk_pairs: Step,
    selected_pairs: Step,
    kv_lora_rank: KvRank = 0.0,
    qk_nope_head_dim: NopeDim = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    v_head_dim: ValueDim = 0.0,
    chunk_layers: ChunkLayers = 0.0,
    sparse_layers: SparseLayers = 0.0,
    index_heads: IndexHeads = 0.0,
    index_head_dim: IndexDim = 0.0,
    state_layers: StateLayers = 0.0,
    state_values: StateValues = 0.0,
) -> dict[str, Any]:
    """Multiplications and additions of the scores of a whole sequence, read at once."""
    # While reading, latent attention widens its keys and values to those of its heads.
    widened = qk_nope_head_dim + qk_rope_head_dim + v_head_dim
    pair_width = heads * where(kv_lora_rank > 0, widened, both)
    window_pair = heads * where(kv_lora_rank > 0, widened, window_both)
    scored_pairs = full * full_pairs + chunk_layers * chunk_pairs + sparse_layers * selected_pairs
    return {
        "pair_width": pair_width,
        "window_pair": window_pair,
        "score_work": pair_width * scored_pairs
        + window_pair * windowed * window_pairs
        + sparse_layers * index_heads * index_head_dim * full_pairs
        + UPDATE_AND_READ * state_layers * state_values * read_tokens,
    }


@part
def unmasked_work(
    seq: Seq,
    windowed: Step,
    full: Step,
    in_window: Step,
    in_chunk: Step,
    selected: Step,
    pair_width: Step,
    window_pair: Step,
    chunk_layers: ChunkLayers = 0.0,
    sparse_layers: SparseLayers = 0.0,
    index_heads: IndexHeads = 0.0,
    index_head_dim: IndexDim = 0.0,
    state_layers: StateLayers = 0.0,
    state_values: StateValues = 0.0,
) -> dict[str, Any]:
    """The same without a causal mask: each query meets as many keys as its layer ever sees."""
    reach = full * seq + chunk_layers * in_chunk + sparse_layers * selected
    return {
        "rectangle": seq
        * (
            pair_width * reach
            + window_pair * windowed * in_window
            + sparse_layers * index_heads * index_head_dim * seq
            + UPDATE_AND_READ * state_layers * state_values
        )
    }


# What every calculator of a cache starts from, in the order in which each needs the one before.
LAYER_PARTS = (layer_counts, head_width, attention_widths, kv_widths, seen_tokens)
