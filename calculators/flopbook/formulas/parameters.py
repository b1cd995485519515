"""The shape of a model as an input of formulas, in the words of the data."""

from typing import Annotated

from flopbook.formulas.declaration import Group, Input
from flopbook.formulas.description import LAYER_KINDS as KINDS

FFN_KINDS = ("gated", "plain")
POSITIONS = ("rotary", "learned", "relative", "alibi", "none")
BIASES = ("none", "qkv", "all")
NORMS = ("rms", "layer", "none")
QK_NORMS = ("none", "head", "full")
GATES = ("no", "yes")


def _size(symbol: str, meaning: str, model: str, most: float = 1e9) -> Input:
    """A whole number of the shape, which a model supplies under the name of its field."""
    return Input("1", symbol, meaning, model=model, least=1, whole=True, most=most)


def _some(symbol: str, meaning: str, model: str, most: float = 1e9) -> Input:
    """A size that may be zero: a shape without such a part."""
    return _size(symbol, meaning, model, most)._replace(none=True)


def _word(symbol: str, meaning: str, model: str, choices: tuple[str, ...]) -> Input:
    """One of several words of the shape, which a model supplies under the name of its field."""
    return Input("1", rf"\text{{{symbol}}}", meaning, model=model, choices=choices)


# What a long form folds away together.
DETAILS = Group("Details of the shape")
MIXTURE = Group("Mixture of experts")
LATENT = Group("Latent attention")

# The shape, in the words of the data: a model supplies each value under the name of its field.
Layers = Annotated[float, _size("L", "layers", "layers", 1e6)]
DModel = Annotated[float, _size("D", "model width", "d_model")]
Heads = Annotated[float, _size("H", "attention heads", "heads", 1e6)]
Vocab = Annotated[float, _size("V", "tokens in the vocabulary, padding included", "vocab")]
DFf = Annotated[float, _size("F", "width of a dense feed-forward block", "d_ff")]
KvHeads = Annotated[
    float, _size("K", "KV heads (default: same as attention heads)", "kv_heads", 1e6)
]
HeadDim = Annotated[
    float, _size("d_h", "head dimension (default: model dimension over heads)", "head_dim", 1e6)
]
Ffn = Annotated[
    str,
    _word("ffn", "feed-forward block: gated has three matrices, plain two", "ffn", FFN_KINDS),
    DETAILS,
]
Tied = Annotated[
    str,
    _word("tied", "input embedding is the output matrix too", "tied_embeddings", ("no", "yes")),
    DETAILS,
]
Positions = Annotated[str, _word("positions", "position encoding", "positions", POSITIONS), DETAILS]
Context = Annotated[float, _size("C", "learned positions, one vector each", "context"), DETAILS]
Biases = Annotated[str, _word("biases", "which projections have a bias", "biases", BIASES), DETAILS]
Norm = Annotated[
    str,
    _word("norm", "normalisation: scale (rms), scale and shift (layer), none", "norm", NORMS),
    DETAILS,
]
NormsPerLayer = Annotated[
    float, _size("n", "normalisations in a layer", "norms_per_layer", 100), DETAILS
]
ResidualStreams = Annotated[
    float,
    _size("j_r", "residual streams side by side (hyper-connections)", "residual_streams", 100),
    DETAILS,
]
QkNorm = Annotated[
    str,
    _word("qk-norm", "queries and keys normalised: by head, full", "qk_norm", QK_NORMS),
    DETAILS,
]
Experts = Annotated[
    float, _size("E", "routed experts in a layer; 1 when dense", "experts", 1e6), MIXTURE
]
ExpertsPerToken = Annotated[
    float, _size("k", "active experts per token (top-k)", "experts_per_token", 1e6), MIXTURE
]
ExpertDFf = Annotated[
    float, _size("F_e", "expert dimension (default: same as a dense block)", "expert_d_ff"), MIXTURE
]
ExpertDModel = Annotated[
    float,
    _size(
        "D_e",
        "width in which routed experts work (default: model width)",
        "expert_d_model",
    ),
    MIXTURE,
]
SharedExperts = Annotated[
    float, _some("S", "shared experts, which all tokens visit", "shared_experts", 1e6), MIXTURE
]
SharedDFf = Annotated[
    float,
    _size("F_s", "shared-expert dimension (default: same as an expert)", "shared_expert_d_ff"),
    MIXTURE,
]
DenseLayers = Annotated[float, _some("L_d", "layers without experts", "dense_layers", 1e6), MIXTURE]
QRank = Annotated[float, _some("r_q", "rank of compressed queries", "q_lora_rank"), LATENT]
OutRank = Annotated[
    float,
    _some("r_o", "rank of a compressed output projection", "o_lora_rank"),
    LATENT,
]
OutGroups = Annotated[
    float,
    _size("g_o", "groups of heads whose outputs are compressed apart", "o_groups", 1e6),
    LATENT,
]
KvRank = Annotated[
    float,
    _some("r", "MLA: rank of compressed keys and values", "kv_lora_rank"),
    LATENT,
]
NopeDim = Annotated[
    float,
    _some("d_n", "MLA: head dimension without rotary part", "qk_nope_head_dim", 1e6),
    LATENT,
]
RopeDim = Annotated[
    float,
    _some("d_r", "MLA: rotary part of the head dimension", "qk_rope_head_dim", 1e6),
    LATENT,
]
ValueDim = Annotated[
    float,
    _some("d_v", "MLA: head dimension of a value", "v_head_dim", 1e6),
    LATENT,
]

AttentionGate = Annotated[
    str,
    _word("gate", "output of attention gated, by a matrix of its own", "attention_gate", GATES),
    DETAILS,
]
AttentionLayers = Annotated[
    float,
    _size(
        "L_a", "layers with attention (default: all but recurrent ones)", "attention_layers", 1e6
    ),
    KINDS,
]
FfnLayers = Annotated[
    float, _size("L_F", "layers with a feed-forward block (default: all)", "ffn_layers", 1e6), KINDS
]
StateLayerParams = Annotated[
    float,
    Input(
        "param",
        "n_z",
        "parameters of the mixer of a recurrent layer",
        model="state_layer_params",
        least=1,
        most=1e15,
        none=True,
    ),
    KINDS,
]
