"""How many layers of each kind a model has: inputs, the rules between them, symbols of the steps.

A layer has full attention unless it is counted as one of the other kinds. `layer_kinds` has the
parts that compute with them.
"""

from typing import Annotated

from flopbook.formulas.conditions import rule
from flopbook.formulas.declaration import Input
from flopbook.formulas.description import LAYER_KINDS as KINDS
from flopbook.quantities.ops import inf, minimum, where


def _tokens(symbol: str, meaning: str, model: str) -> Input:
    """A number of tokens to which a kind of layer limits itself."""
    return Input("token", symbol, meaning, model=model, least=1, whole=True, most=1e12)


def _count(symbol: str, meaning: str, model: str, most: float = 1e6) -> Input:
    """A number of layers, heads or values; zero stands for none of them."""
    return Input("1", symbol, meaning, model=model, least=1, whole=True, most=most, none=True)


def _ratio(symbol: str, meaning: str, model: str) -> Input:
    """How many tokens an entry of a cache stands for."""
    return Input("1", symbol, meaning, model=model, least=1, whole=True, most=1e6)


Window = Annotated[float, _tokens("w", "sliding window, own token included", "window"), KINDS]
WindowLayers = Annotated[
    float,
    _count("L_w", "layers with a sliding window (default: all of no other kind)", "window_layers"),
    KINDS,
]
Chunk = Annotated[float, _tokens("c_a", "chunk of chunked attention", "chunk"), KINDS]
ChunkLayers = Annotated[
    float, _count("L_c", "layers with chunked attention", "chunk_layers"), KINDS
]
FullLayers = Annotated[
    float,
    _count("L_f", "layers with full attention (default: all of no other kind)", "full_layers"),
    KINDS,
]
StateLayers = Annotated[
    float,
    _count("L_s", "layers with a recurrent state: linear attention, state space", "state_layers"),
    KINDS,
]
StateValues = Annotated[
    float,
    _count("z", "values of such a state, convolution included", "state_values", 1e12),
    KINDS,
]
StateBytes = Annotated[
    float,
    Input(
        "byte",
        "b_z",
        "bytes of a value of a recurrent state",
        model="bytes_per_state",
        least=0.01,
        most=64,
    ),
    KINDS,
]
SparseLayers = Annotated[
    float,
    _count("L_i", "layers with sparse attention, which selects tokens", "sparse_layers"),
    KINDS,
]
SelectedTokens = Annotated[
    float, _tokens("k_i", "tokens that sparse attention selects", "selected_tokens"), KINDS
]
IndexHeads = Annotated[
    float, _count("H_i", "heads of the indexer that selects tokens", "index_heads"), KINDS
]
IndexDim = Annotated[float, _count("d_i", "head dimension of the indexer", "index_head_dim"), KINDS]
IndexLayers = Annotated[
    float,
    _count("L_j", "sparse layers with an indexer of their own (default: all)", "index_layers"),
    KINDS,
]
IndexCompression = Annotated[
    float,
    _ratio("m_i", "tokens in an entry of the cache of sparse layers", "index_compression"),
    KINDS,
]
CompressedLayers = Annotated[
    float,
    _count("L_h", "layers that attend to compressed tokens, all of them", "compressed_layers"),
    KINDS,
]
Compression = Annotated[
    float, _ratio("m_h", "tokens in an entry of the cache of such layers", "compression"), KINDS
]
SideWindow = Annotated[
    float,
    Input(
        "token",
        "w_s",
        "window beside compressed or selected tokens",
        model="side_window",
        least=1,
        whole=True,
        most=1e12,
        none=True,
    ),
    KINDS,
]
KeyIsValue = Annotated[
    str,
    Input(
        "1",
        r"\text{key-is-value}",
        "one vector is both key and value",
        model="key_is_value",
        choices=("no", "yes"),
    ),
    KINDS,
]
SharedKvLayers = Annotated[
    float,
    _count("L_r", "layers that reuse the KV cache of another layer", "shared_kv_layers"),
    KINDS,
]
SharedWindowLayers = Annotated[
    float,
    _count(r"L_{rw}", "of these, layers with a sliding window", "shared_window_layers"),
    KINDS,
]
WindowKvHeads = Annotated[
    float,
    _count("K_w", "KV heads of windowed layers (default: as in the others)", "window_kv_heads"),
    KINDS,
]
WindowHeadDim = Annotated[
    float,
    _count(
        "d_w", "head dimension of windowed layers (default: as in the others)", "window_head_dim"
    ),
    KINDS,
]

# Symbols of the steps that the parts compute, for `symbols` of a formula that takes them.
LAYER_SYMBOLS = {
    "beside": r"\ell_b",
    "open_layers": r"\ell_o",
    "windowed": r"n_w",
    "full": r"n_f",
    "even_head": r"d_1",
    "given_head": r"d_3",
    "head_size": "d",
    "keys": "K_0",
    "both": r"d_2",
    "grouped": r"a_\text{GQA}",
    "window_keys": "K_{0w}",
    "window_both": r"d_{2w}",
    "latent": r"a_\text{MLA}",
    "kv_width": "a",
    "window_width": r"a_w",
    "cut_heads": r"\sigma",
    "window_cut_heads": r"\sigma_w",
    "degree": r"t'",
    "in_window": r"s_w",
    "in_chunk": r"s_c",
    "read_tokens": r"s_r",
    "seen_window": r"s_{rw}",
    "seen_chunk": r"s_{rc}",
    "seen_selected": r"s_{ri}",
    "selected": r"s_i",
    "indexing": r"\ell_j",
    "index_entries": r"s_e",
    "packed": r"s_h",
    "at_side": r"s_s",
    "vectors": r"\kappa",
    "compressed": r"\ell_c",
    "compressed_pairs": "p_c'",
    "awaited": "A_a",
    "overlapping": "A_o",
    "gathered": "A_g",
    "recurrent": "Z_r",
    "all_entries": r"s_{re}",
    "all_packed": r"s_{rh}",
    "seen_side": r"s_{rs}",
    "index_pairs": "p_e",
    "packed_pairs": "p_h",
    "side_pairs": "p_s",
    "owners": r"\ell_f",
    "window_owners": r"\ell_w",
    "whole": r"\tau",
    "kept_full": "A_f",
    "kept_window": "A_w",
    "kept_index": "A_i",
    "kept_state": "Z",
    "full_on_chip": r"A_{fc}",
    "on_chip": r"A_c",
    "kept": "A",
    "kept_on_chip": r"A_\text{chip}",
    "kept_state_on_chip": r"Z_\text{chip}",
    "growing": r"\gamma",
    "met": r"\mu",
    "scored_pairs": r"\mu_2",
    "read_full": "R_f",
    "read_window": "R_w",
    "read_on_chip": r"R_\text{chip}",
    "moved_state_on_chip": r"Z_m",
    "absorbed": "q_r",
    "score_width": "q",
    "window_scores": "q_w",
    "token_work": "U_1",
    "last_chunk": "r_c",
    "whole_chunks": "p_0",
    "full_pairs": "p_f",
    "window_pairs": "p_w",
    "chunk_pairs": "p_c",
    "selected_pairs": "p_i",
    "widened": "q_n",
    "pair_width": "q_p",
    "window_pair": "q_{pw}",
    "score_work": "U",
    "rectangle": "U_0",
}


@rule(
    "the kinds of layers are more than --layers {layers} together: check --window-layers, "
    "--chunk-layers, --sparse-layers, --compressed-layers, --state-layers and --full-layers"
)
def kinds_fit_the_layers(
    layers: float,
    window: float,
    window_layers: float,
    chunk_layers: float,
    sparse_layers: float,
    compressed_layers: float,
    full_layers: float,
    state_layers: float,
) -> bool:
    """A layer is of one kind; only one with a state may have full attention beside it."""
    windowed = where(window < inf, where(window_layers < inf, window_layers, 0), 0)
    attending = windowed + chunk_layers + sparse_layers + compressed_layers
    full = where(full_layers < inf, full_layers, state_layers)
    return (attending + full <= layers) & (state_layers <= layers)


@rule("--window-layers {window_layers} needs --window, the tokens that such a layer sees")
def windows_have_a_size(window: float, window_layers: float) -> bool:
    """Open layers mean all of no other kind, and need a window only if there is one."""
    return (window < inf) | (window_layers == inf) | (window_layers == 0)


@rule("--chunk-layers {chunk_layers} needs --chunk, the tokens of a chunk")
def chunks_have_a_size(chunk: float, chunk_layers: float) -> bool:
    """A chunked layer attends within chunks of a size."""
    return (chunk < inf) | (chunk_layers == 0)


@rule("--state-layers {state_layers} needs --state-values, what such a layer keeps of a sequence")
def states_have_a_size(state_layers: float, state_values: float) -> bool:
    """A recurrent layer keeps a state."""
    return (state_layers == 0) | (state_values > 0)


@rule("--sparse-layers {sparse_layers} needs --selected-tokens")
def sparse_layers_select(sparse_layers: float, selected_tokens: float) -> bool:
    """Sparse attention reads the tokens that it selected."""
    return (sparse_layers == 0) | (selected_tokens < inf)


@rule("--index-layers {index_layers} are some of --sparse-layers {sparse_layers}")
def indexers_have_layers(index_layers: float, sparse_layers: float) -> bool:
    """An indexer belongs to a sparse layer; open means that each has one."""
    return (index_layers <= sparse_layers) | (index_layers == inf)


@rule("--compressed-layers {compressed_layers} needs --compression, the tokens of an entry")
def compressed_layers_have_a_ratio(compressed_layers: float, compression: float) -> bool:
    """An entry that stands for one token compresses nothing."""
    return (compressed_layers == 0) | (compression > 1)


@rule("no layer keeps keys, values or a state; check --full-layers {full_layers}")
def some_layer_keeps_something(
    window: float,
    chunk_layers: float,
    sparse_layers: float,
    compressed_layers: float,
    full_layers: float,
    state_layers: float,
) -> bool:
    """A model without any memory of a sequence has no cache to ask about."""
    others = chunk_layers + sparse_layers + compressed_layers
    return (window < inf) | (others + full_layers + state_layers > 0)


@rule(
    "--shared-kv-layers {shared_kv_layers}: some layer has to own the cache that others reuse; "
    "of them --shared-window-layers are at most the layers with a window"
)
def shared_caches_have_an_owner(
    layers: float,
    window: float,
    window_layers: float,
    chunk_layers: float,
    sparse_layers: float,
    compressed_layers: float,
    full_layers: float,
    state_layers: float,
    shared_kv_layers: float,
    shared_window_layers: float,
) -> bool:
    """Of each kind some layer keeps a cache: those that reuse one are fewer than the kind has."""
    beside = where(full_layers < inf, full_layers, state_layers)
    open_layers = layers - chunk_layers - sparse_layers - compressed_layers - beside
    windowed = where(window < inf, minimum(window_layers, open_layers), 0)
    full = where(full_layers < inf, full_layers, open_layers - windowed)
    shared_full = shared_kv_layers - shared_window_layers
    windows_fit = (shared_window_layers < windowed) | (shared_window_layers == 0)
    return (shared_full >= 0) & windows_fit & ((shared_full < full) | (shared_full == 0))


# For calculators of what layers see, whatever a state keeps.
SEEN_RULES = (
    kinds_fit_the_layers,
    windows_have_a_size,
    chunks_have_a_size,
    sparse_layers_select,
    indexers_have_layers,
    compressed_layers_have_a_ratio,
)
LAYER_RULES = (
    kinds_fit_the_layers,
    windows_have_a_size,
    chunks_have_a_size,
    states_have_a_size,
    sparse_layers_select,
    indexers_have_layers,
    compressed_layers_have_a_ratio,
)
# The same for calculators of a cache.
CACHE_RULES = (*LAYER_RULES, some_layer_keeps_something, shared_caches_have_an_owner)
