"""Parameters of attention: projections, latent and compressed paths, indexers and compressors."""

from typing import Any

from flopbook.formulas.declaration import Constant, part
from flopbook.formulas.layer_inputs import (
    CompressedLayers,
    Compression,
    IndexCompression,
    IndexDim,
    IndexHeads,
    IndexLayers,
    KeyIsValue,
    SparseLayers,
    StateLayers,
    WindowHeadDim,
    WindowKvHeads,
    WindowLayers,
)
from flopbook.formulas.parameters import (
    AttentionGate,
    AttentionLayers,
    Biases,
    DModel,
    HeadDim,
    Heads,
    KvHeads,
    KvRank,
    Layers,
    NopeDim,
    OutGroups,
    OutRank,
    Positions,
    QRank,
    RopeDim,
    ValueDim,
)
from flopbook.quantities.ops import inf, minimum, where

WEIGHT = Constant(1.0, "param", "one entry of a matrix or of a vector")


@part
def attention_weights(
    layers: Layers,
    d_model: DModel,
    heads: Heads,
    kv_heads: KvHeads = inf,
    head_dim: HeadDim = inf,
    positions: Positions = "rotary",
    biases: Biases = "none",
    attention_gate: AttentionGate = "no",
    q_lora_rank: QRank = 0.0,
    o_lora_rank: OutRank = 0.0,
    o_groups: OutGroups = 1.0,
    key_is_value: KeyIsValue = "no",
    kv_lora_rank: KvRank = 0.0,
    qk_nope_head_dim: NopeDim = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    v_head_dim: ValueDim = 0.0,
    window_layers: WindowLayers = 0.0,
    window_kv_heads: WindowKvHeads = 0.0,
    window_head_dim: WindowHeadDim = 0.0,
    sparse_layers: SparseLayers = 0.0,
    index_layers: IndexLayers = inf,
    index_heads: IndexHeads = 0.0,
    index_head_dim: IndexDim = 0.0,
    index_compression: IndexCompression = 1.0,
    compressed_layers: CompressedLayers = 0.0,
    compression: Compression = 1.0,
    attention_layers: AttentionLayers = inf,
    state_layers: StateLayers = 0.0,
) -> dict[str, Any]:
    """Projections of attention, windowed layers with widths of their own, indexers, compressors."""
    head = where(head_dim < inf, head_dim, d_model / heads)
    value = where(v_head_dim > 0, v_head_dim, head)
    keys = minimum(kv_heads, heads)
    # Queries once more for relative positions, and the output once more for its gate.
    query_times = 2 if positions == "relative" else 1
    output_times = 2 if attention_gate == "yes" else 1
    # Queries, keys and values have a bias where any projection has; the output only with all.
    in_bias = 0 if biases == "none" else 1
    out_bias = d_model if biases == "all" else 0
    has_values = 0 if key_is_value == "yes" else 1
    cached = keys * (head + has_values * value)
    # Queries may come through a narrow matrix, which all layers then have.
    query_from = where(q_lora_rank > 0, q_lora_rank, d_model)
    narrow = d_model * q_lora_rank
    # The output may go through a narrow matrix as well, one for each group of heads.
    out_rows = where(o_lora_rank > 0, o_lora_rank, output_times * d_model)
    widened_out = o_groups * o_lora_rank * d_model
    queried = narrow + query_from * heads * query_times * head
    projected = heads * value * out_rows + widened_out + d_model * cached
    grouped = queried + projected + in_bias * (heads * head + cached) + out_bias
    window_head = where(window_head_dim > 0, window_head_dim, head)
    window_value = where(window_head_dim > 0, window_head_dim, value)
    window_keys = where(window_kv_heads > 0, window_kv_heads, keys)
    window_cached = window_keys * (window_head + has_values * window_value)
    in_window = heads * window_value * out_rows + widened_out + d_model * window_cached
    asked_window = narrow + query_from * heads * query_times * window_head
    windowed = asked_window + in_window + in_bias * (heads * window_head + window_cached) + out_bias
    query_head = qk_nope_head_dim + qk_rope_head_dim
    # Without a rank for queries they are not compressed.
    query_side = narrow + query_from * heads * query_head
    out_side = output_times * heads * v_head_dim * d_model
    value_side = kv_lora_rank * heads * (qk_nope_head_dim + v_head_dim) + out_side
    latent = query_side + d_model * (kv_lora_rank + qk_rope_head_dim) + value_side
    # A compressor makes an entry of values and gates, with a place for each token of it; in sparse
    # layers an entry overlaps the one before. Without compression the indexer has one normal key.
    overlapping = 4 * d_model + 2 * index_compression + 1
    compressed = where(index_compression > 1, overlapping, 0)
    index_key = where(index_compression > 1, overlapping, d_model + 2)
    packing = compressed_layers * head * (2 * d_model + compression + 1)
    compressors = sparse_layers * head * compressed + where(compression > 1, packing, 0)
    # The indexer has queries, from the compressed ones where there are any, one key, and a weight
    # for each of its heads.
    indexer = index_head_dim * (index_heads * query_from + index_key) + d_model * index_heads
    indexing = minimum(index_layers, sparse_layers) * indexer
    attending = where(attention_layers < inf, attention_layers, layers - state_layers)
    elsewhere = attending - window_layers
    plain = elsewhere * grouped + window_layers * windowed
    # Widths of all layers together, for the normalisation of queries and keys.
    head_sizes = elsewhere * head + window_layers * window_head
    return {
        "head_sizes": head_sizes,
        "queries": heads * head_sizes,
        "key_values": elsewhere * keys * head + window_layers * window_keys * window_head,
        "attending": attending,
        "attention_all": WEIGHT
        * (where(kv_lora_rank > 0, attending * latent, plain) + indexing + compressors),
    }
