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
    CompressedLayers,
    Compression,
    FullLayers,
    IndexCompression,
    IndexDim,
    IndexHeads,
    IndexLayers,
    KeyIsValue,
    SelectedTokens,
    SharedKvLayers,
    SharedWindowLayers,
    SideWindow,
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
    index_layers: IndexLayers = inf,
    compressed_layers: CompressedLayers = 0.0,
    full_layers: FullLayers = inf,
    state_layers: StateLayers = 0.0,
) -> dict[str, Any]:
    """Layers with a window, with full attention, and with an indexer."""
    # Full attention may stand beside a state in one layer; then the number of both is given.
    beside = where(full_layers < inf, full_layers, state_layers)
    open_layers = layers - chunk_layers - sparse_layers - compressed_layers - beside
    windowed = where(window < inf, minimum(window_layers, open_layers), 0)
    return {
        "windowed": windowed,
        "full": where(full_layers < inf, full_layers, open_layers - windowed),
        # The others read what the indexer of an earlier layer selected.
        "indexing": minimum(index_layers, sparse_layers),
    }


@part
def head_width(heads: Heads, head_dim: HeadDim = inf, d_model: Width = inf) -> dict[str, Any]:
    """Head dimension, given or as the heads share the model width; of all where they are open."""
    even_head = where(d_model < inf, d_model, 0) / where(heads > 0, heads, 1)
    given_head = where(head_dim < inf, head_dim, even_head)
    return {"head_size": where(heads > 0, given_head, even_head)}


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
    key_is_value: KeyIsValue = "no",
) -> dict[str, Any]:
    """Values that a layer keeps of a token: keys and values of each KV head, or a latent vector."""
    vectors = 2 if key_is_value == "yes" else 1
    keys = minimum(kv_heads, heads)
    window_keys = where(window_kv_heads > 0, window_kv_heads, keys)
    grouped = keys * both / vectors
    latent = kv_lora_rank + qk_rope_head_dim
    return {
        "kv_width": where(kv_lora_rank > 0, latent, grouped),
        "window_width": where(kv_lora_rank > 0, latent, window_keys * window_both / vectors),
        # KV heads that chips may share; every chip needs all of a latent vector.
        "cut_heads": where(kv_lora_rank > 0, 1, keys),
        "window_cut_heads": where(kv_lora_rank > 0, 1, window_keys),
    }


@part
def seen_tokens(
    seq: Seq,
    full: Step,
    window: Window = inf,
    chunk: Chunk = inf,
    chunk_layers: ChunkLayers = 0.0,
    sparse_layers: SparseLayers = 0.0,
    selected_tokens: SelectedTokens = inf,
    index_compression: IndexCompression = 1.0,
    compressed_layers: CompressedLayers = 0.0,
    compression: Compression = 1.0,
    side_window: SideWindow = 0.0,
) -> dict[str, Any]:
    """Tokens, or entries of several, that a layer of each kind sees at most, and that all layers
    without a window see together."""
    in_chunk = minimum(seq, chunk)
    index_entries = floor(seq / index_compression)
    packed = floor(seq / compression)
    at_side = minimum(seq, side_window)
    selected = minimum(index_entries, selected_tokens)
    return {
        "in_window": minimum(seq, window),
        "in_chunk": in_chunk,
        "index_entries": index_entries,
        "packed": packed,
        "at_side": at_side,
        "met": full * seq
        + chunk_layers * in_chunk
        + sparse_layers * (selected + at_side)
        + compressed_layers * (packed + at_side),
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
    indexing: Step,
    in_window: Step,
    in_chunk: Step,
    index_entries: Step,
    packed: Step,
    at_side: Step,
    kv_width: Step,
    window_width: Step,
    cut_heads: Step,
    window_cut_heads: Step,
    degree: Step,
    chunk_layers: ChunkLayers = 0.0,
    sparse_layers: SparseLayers = 0.0,
    index_head_dim: IndexDim = 0.0,
    index_compression: IndexCompression = 1.0,
    compressed_layers: CompressedLayers = 0.0,
    compression: Compression = 1.0,
    shared_kv_layers: SharedKvLayers = 0.0,
    shared_window_layers: SharedWindowLayers = 0.0,
    state_layers: StateLayers = 0.0,
    state_values: StateValues = 0.0,
) -> dict[str, Any]:
    """Values that stay in memory for a sequence, in all and on each chip of tensor parallelism."""
    # Layers that reuse a cache keep none of their own.
    owners = full - (shared_kv_layers - shared_window_layers)
    window_owners = windowed - shared_window_layers
    compressed = sparse_layers * (index_entries + at_side) + compressed_layers * (packed + at_side)
    whole = owners * seq + compressed + chunk_layers * in_chunk
    kept_full = kv_width * whole
    kept_window = window_width * window_owners * in_window
    kept_index = indexing * index_head_dim * index_entries
    # Values and gates of the tokens that make the next entry; those of sparse layers overlap.
    awaited = 2 * compressed_layers * compression * kv_width
    overlapping = 4 * index_compression * (sparse_layers * kv_width + indexing * index_head_dim)
    gathered = awaited + where(index_compression > 1, overlapping, 0)
    recurrent = state_layers * state_values
    # Ranks beyond the KV heads hold copies of a head; every rank indexes for itself.
    full_on_chip = kept_full / minimum(degree, cut_heads)
    on_chip = full_on_chip + kept_window / minimum(degree, window_cut_heads)
    return {
        "kept": kept_full + kept_window + kept_index,
        "kept_on_chip": on_chip + kept_index,
        "kept_state": recurrent + gathered,
        "kept_state_on_chip": recurrent / degree + gathered,
        # A full window drops a token for each new one.
        "growing": owners * kv_width
        + (sparse_layers * kv_width + indexing * index_head_dim) / index_compression
        + compressed_layers * kv_width / compression
        + where(at_side < seq, 0, (sparse_layers + compressed_layers) * kv_width)
        + where(in_window < seq, 0, window_owners * window_width)
        + where(in_chunk < seq, 0, chunk_layers * kv_width),
    }


@part
def step_reads(
    windowed: Step,
    indexing: Step,
    in_window: Step,
    index_entries: Step,
    met: Step,
    kv_width: Step,
    window_width: Step,
    cut_heads: Step,
    window_cut_heads: Step,
    degree: Step,
    index_head_dim: IndexDim = 0.0,
    state_layers: StateLayers = 0.0,
    state_values: StateValues = 0.0,
) -> dict[str, Any]:
    """Values that a chip moves for a sequence in a decoding step: caches read, states rewritten."""
    read_full = kv_width * met / minimum(degree, cut_heads)
    read_window = window_width * windowed * in_window / minimum(degree, window_cut_heads)
    return {
        "read_on_chip": read_full + read_window + indexing * index_head_dim * index_entries,
        "moved_state_on_chip": READ_AND_WRITTEN * state_layers * state_values / degree,
    }


@part
def step_work(
    heads: Heads,
    windowed: Step,
    indexing: Step,
    both: Step,
    window_both: Step,
    in_window: Step,
    index_entries: Step,
    met: Step,
    kv_lora_rank: KvRank = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
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
    return {
        "token_work": score_width * met
        + window_scores * windowed * in_window
        + indexing * index_heads * index_head_dim * index_entries
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
    index_compression: IndexCompression = 1.0,
    compression: Compression = 1.0,
    side_window: SideWindow = 0.0,
) -> dict[str, Any]:
    """Pairs of a token and one that it sees, itself included, in a sequence under a causal mask."""
    seen_window = minimum(read_tokens, window)
    seen_chunk = minimum(read_tokens, chunk)
    all_entries = floor(read_tokens / index_compression)
    seen_selected = minimum(all_entries, selected_tokens)
    all_packed = floor(read_tokens / compression)
    seen_side = minimum(read_tokens, side_window)
    # Chunks without limit are none that is whole, and the sequence is the last one.
    whole_chunks = floor(read_tokens / chunk)
    last_chunk = read_tokens - whole_chunks * seen_chunk
    return {
        "full_pairs": read_tokens * (read_tokens + 1) / 2,
        # The first tokens see fewer than a window holds.
        "window_pairs": seen_window * read_tokens - seen_window * (seen_window - 1) / 2,
        "chunk_pairs": whole_chunks * seen_chunk * (seen_chunk + 1) / 2
        + last_chunk * (last_chunk + 1) / 2,
        # A token sees the entries that its predecessors and itself have filled.
        "index_pairs": all_entries * (read_tokens + 1 - index_compression * (all_entries + 1) / 2),
        "selected_pairs": seen_selected
        * (read_tokens + 1 - index_compression * (seen_selected + 1) / 2),
        "packed_pairs": all_packed * (read_tokens + 1 - compression * (all_packed + 1) / 2),
        "side_pairs": seen_side * read_tokens - seen_side * (seen_side - 1) / 2,
    }


@part
def sequence_work(
    heads: Heads,
    head_size: Step,
    read_tokens: Step,
    windowed: Step,
    full: Step,
    both: Step,
    window_both: Step,
    full_pairs: Step,
    indexing: Step,
    window_pairs: Step,
    chunk_pairs: Step,
    index_pairs: Step,
    selected_pairs: Step,
    packed_pairs: Step,
    side_pairs: Step,
    kv_lora_rank: KvRank = 0.0,
    qk_nope_head_dim: NopeDim = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    v_head_dim: ValueDim = 0.0,
    chunk_layers: ChunkLayers = 0.0,
    sparse_layers: SparseLayers = 0.0,
    compressed_layers: CompressedLayers = 0.0,
    index_heads: IndexHeads = 0.0,
    index_head_dim: IndexDim = 0.0,
    state_layers: StateLayers = 0.0,
    state_values: StateValues = 0.0,
) -> dict[str, Any]:
    """Multiplications and additions of the scores of a whole sequence, read at once."""
    # While reading, latent attention widens its keys and values to those of its heads.
    widened = qk_nope_head_dim + qk_rope_head_dim + v_head_dim
    # Without a number of heads, those of keys are as wide as the model together, as are values.
    pair_width = where(heads > 0, heads * where(kv_lora_rank > 0, widened, both), 2 * head_size)
    window_pair = where(
        heads > 0, heads * where(kv_lora_rank > 0, widened, window_both), 2 * head_size
    )
    compressed_pairs = sparse_layers * (selected_pairs + side_pairs) + compressed_layers * (
        packed_pairs + side_pairs
    )
    scored_pairs = full * full_pairs + chunk_layers * chunk_pairs + compressed_pairs
    return {
        "pair_width": pair_width,
        "window_pair": window_pair,
        "score_work": pair_width * scored_pairs
        + window_pair * windowed * window_pairs
        + indexing * index_heads * index_head_dim * index_pairs
        + UPDATE_AND_READ * state_layers * state_values * read_tokens,
    }


@part
def unmasked_work(
    seq: Seq,
    windowed: Step,
    indexing: Step,
    in_window: Step,
    index_entries: Step,
    met: Step,
    pair_width: Step,
    window_pair: Step,
    index_heads: IndexHeads = 0.0,
    index_head_dim: IndexDim = 0.0,
    state_layers: StateLayers = 0.0,
    state_values: StateValues = 0.0,
) -> dict[str, Any]:
    """The same without a causal mask: each query meets as many keys as its layer ever sees."""
    return {
        "rectangle": seq
        * (
            pair_width * met
            + window_pair * windowed * in_window
            + indexing * index_heads * index_head_dim * index_entries
            + UPDATE_AND_READ * state_layers * state_values
        )
    }


# What every calculator of a cache starts from, in the order in which each needs the one before.
LAYER_PARTS = (layer_counts, head_width, attention_widths, kv_widths, seen_tokens)
