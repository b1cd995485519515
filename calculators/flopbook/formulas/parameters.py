"""How many parameters a transformer has, from its shape."""

from typing import Annotated, Any

from flopbook.formulas.conditions import (
    dense_layers_exist,
    feed_forward_has_a_width,
    kv_heads_are_shared,
    latent_attention_has_widths,
    rule,
    visited_experts_exist,
)
from flopbook.formulas.declaration import Constant, Group, Input, Output, formula
from flopbook.quantities.ops import inf, minimum, where

WEIGHT = Constant(1.0, "param", "one entry of a matrix or of a vector")
FFN_KINDS = ("gated", "plain")
POSITIONS = ("rotary", "learned", "relative", "alibi", "none")
BIASES = ("none", "qkv", "all")
NORMS = ("rms", "layer", "none")
QK_NORMS = ("none", "head", "full")


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
    float, _size("K", "key and value heads; as many as heads if open", "kv_heads", 1e6)
]
HeadDim = Annotated[
    float, _size("d_h", "width of a head; model width over heads if open", "head_dim", 1e6)
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
Positions = Annotated[
    str, _word("positions", "how places are told", "positions", POSITIONS), DETAILS
]
Context = Annotated[float, _size("C", "places with a learned vector", "context"), DETAILS]
Biases = Annotated[str, _word("biases", "which projections have a bias", "biases", BIASES), DETAILS]
Norm = Annotated[
    str,
    _word("norm", "normalisation: scale (rms), scale and shift (layer), none", "norm", NORMS),
    DETAILS,
]
NormsPerLayer = Annotated[
    float, _size("n", "normalisations in a layer", "norms_per_layer", 100), DETAILS
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
    float, _size("k", "experts that a token visits", "experts_per_token", 1e6), MIXTURE
]
ExpertDFf = Annotated[
    float, _size("F_e", "width of an expert; as a dense block if open", "expert_d_ff"), MIXTURE
]
SharedExperts = Annotated[
    float, _some("S", "experts that all tokens visit", "shared_experts", 1e6), MIXTURE
]
SharedDFf = Annotated[
    float,
    _size("F_s", "width of a shared expert; as an expert if open", "shared_expert_d_ff"),
    MIXTURE,
]
DenseLayers = Annotated[float, _some("L_d", "layers without experts", "dense_layers", 1e6), MIXTURE]
QRank = Annotated[
    float, _some("r_q", "latent attention: width of compressed queries", "q_lora_rank"), LATENT
]
KvRank = Annotated[
    float,
    _some("r", "latent attention: width of compressed keys and values", "kv_lora_rank"),
    LATENT,
]
NopeDim = Annotated[
    float,
    _some("d_n", "latent attention: head width without place", "qk_nope_head_dim", 1e6),
    LATENT,
]
RopeDim = Annotated[
    float, _some("d_r", "latent attention: head width with place", "qk_rope_head_dim", 1e6), LATENT
]
ValueDim = Annotated[
    float, _some("d_v", "latent attention: width of a value", "v_head_dim", 1e6), LATENT
]


@rule("learned positions need --context: there is one vector for each place")
def learned_positions_have_places(positions: str, context: float) -> bool:
    """A table of learned positions is as long as the context."""
    return (positions != "learned") | (context < inf)


@rule("--d-model {d_model} is not a multiple of --heads {heads}; give --head-dim")
def heads_divide_the_model_width(
    d_model: float, heads: float, head_dim: float, kv_lora_rank: float
) -> bool:
    """Without a width of their own, heads share that of the model."""
    return (head_dim < inf) | (kv_lora_rank > 0) | (d_model % heads == 0)


@formula(
    "params",
    title="Parameters",
    question="How many parameters does a transformer of this shape have?",
    outputs={
        "total": Output("param", "N", "all parameters"),
        "active": Output(
            "param",
            r"N_\text{active}",
            "parameters that a token meets: all but the experts not visited",
        ),
        "compute": Output(
            "param",
            "N_c",
            "parameters that a token is multiplied with: active ones without look-ups",
        ),
        "embedding": Output(
            "param", r"N_\text{emb}", "token and position embeddings and the output matrix"
        ),
        "attention": Output("param", r"N_\text{attn}", "projections of all attention layers"),
        "ffn": Output("param", r"N_\text{ffn}", "feed-forward blocks and experts of all layers"),
        "router": Output("param", r"N_\text{router}", "matrices that choose the experts"),
        "norms": Output("param", r"N_\text{norm}", "scales and shifts of the normalisations"),
    },
    sources=("vaswani2017attention", "deepseek2024v2", "brown2020language"),
    symbols={
        "head": "d",
        "queries": "Q",
        "keys": "Y",
        "in_bias": r"\beta_\text{in}",
        "relative": "R",
        "grouped": r"a_\text{GQA}",
        "query_head": "u",
        "direct": "q_0",
        "query_side": "q",
        "value_side": "y",
        "latent": r"a_\text{MLA}",
        "inner": "i",
        "bias": r"\beta",
        "dense_width": "f",
        "expert_width": "f_e",
        "shared_width": "f_s",
        "per_width": "w",
        "expert": r"n_e",
        "shared": r"n_s",
        "dense": r"n_d",
        "sparse": r"L_e",
        "scale": r"\gamma",
        "qk_scale": r"\gamma_\text{qk}",
        "in_layer": r"\nu",
        "places": "P",
        "looked_up": "e",
    },
    examples=(
        {"model": "llama-3-70b"},
        {"model": "deepseek-v3"},
        {
            "layers": "32",
            "d-model": "4096",
            "heads": "32",
            "kv-heads": "8",
            "d-ff": "14336",
            "vocab": "128256",
        },
    ),
    rules=(
        kv_heads_are_shared,
        visited_experts_exist,
        dense_layers_exist,
        learned_positions_have_places,
        feed_forward_has_a_width,
        latent_attention_has_widths,
        heads_divide_the_model_width,
    ),
)
def params(
    layers: Layers,
    d_model: DModel,
    heads: Heads,
    vocab: Vocab,
    d_ff: DFf = inf,
    kv_heads: KvHeads = inf,
    head_dim: HeadDim = inf,
    ffn_kind: Ffn = "gated",
    tied_embeddings: Tied = "no",
    positions: Positions = "rotary",
    context: Context = inf,
    biases: Biases = "none",
    norm: Norm = "rms",
    norms_per_layer: NormsPerLayer = 2.0,
    qk_norm: QkNorm = "none",
    experts: Experts = 1.0,
    experts_per_token: ExpertsPerToken = 1.0,
    expert_d_ff: ExpertDFf = inf,
    shared_experts: SharedExperts = 0.0,
    shared_expert_d_ff: SharedDFf = inf,
    dense_layers: DenseLayers = 0.0,
    q_lora_rank: QRank = 0.0,
    kv_lora_rank: KvRank = 0.0,
    qk_nope_head_dim: NopeDim = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    v_head_dim: ValueDim = 0.0,
) -> dict[str, Any]:
    """Parameters of a transformer, in all and by part, counted from its shape.

    Derivation:
        Attention has four matrices: queries and output of width H x d, keys and values of width K x
        d, and a fifth for relative positions after Transformer-XL. Latent attention compresses keys
        and values, and mostly queries, with a matrix down and one up; a part of each key that tells
        the place bypasses that. A feed-forward block has two matrices, a gated one three. A mixture
        of experts has E such blocks in a layer beside the shared ones, and a router of one row for
        each expert. An embedding of V rows stands at the start, and another at the end unless both
        are one. A token meets everything but the E - k experts that it does not visit.

    Leaves out:
        Small vectors of single designs (sinks, biases of routers and of the output): below 0.1
        percent together. Modules beside the decoder, such as vision towers and heads that predict
        further tokens. Layers without attention, such as state space. Embeddings count as active;
        some reports leave the input embedding out.
    """
    head = where(head_dim < inf, head_dim, d_model / heads)
    queries = heads * head
    keys = minimum(kv_heads, heads) * head
    # Queries, keys and values have a bias where any projection has; the output only with all.
    in_bias = 0 if biases == "none" else queries + 2 * keys
    relative = queries if positions == "relative" else 0
    grouped = (
        d_model * (2 * queries + 2 * keys + relative)
        + in_bias
        + (d_model if biases == "all" else 0)
    )
    query_head = qk_nope_head_dim + qk_rope_head_dim
    # Without a rank for queries they are not compressed.
    direct = d_model * heads * query_head
    query_side = where(q_lora_rank > 0, q_lora_rank * (d_model + heads * query_head), direct)
    value_side = (
        kv_lora_rank * heads * (qk_nope_head_dim + v_head_dim) + heads * v_head_dim * d_model
    )
    latent = query_side + d_model * (kv_lora_rank + qk_rope_head_dim) + value_side
    attention = WEIGHT * layers * where(kv_lora_rank > 0, latent, grouped)
    # Matrices into the feed-forward width; one more leads back.
    inner = 2 if ffn_kind == "gated" else 1
    bias = 1 if biases == "all" else 0
    dense_width = where(d_ff < inf, d_ff, 0)
    expert_width = where(expert_d_ff < inf, expert_d_ff, dense_width)
    shared_width = where(shared_expert_d_ff < inf, shared_expert_d_ff, expert_width)
    per_width = inner * (d_model + bias) + d_model
    expert = expert_width * per_width + bias * d_model
    shared = shared_experts * (shared_width * per_width + bias * d_model)
    sparse = where(experts > 1, layers - dense_layers, 0)
    dense = (layers - sparse) * (dense_width * per_width + bias * d_model)
    ffn = WEIGHT * (dense + sparse * (experts * expert + shared))
    router = WEIGHT * sparse * experts * d_model
    scale = {"none": 0, "rms": 1}.get(norm, 2)
    qk_scale = {"none": 0, "head": 2 * head}.get(qk_norm, queries + keys)
    # Latent attention normalises what it compressed, one scale for each rank.
    in_layer = norms_per_layer * scale * d_model + qk_scale + q_lora_rank + kv_lora_rank
    # The last term is the normalisation before the output matrix.
    norms = WEIGHT * (layers * in_layer + scale * d_model)
    places = context if positions == "learned" else 0
    # A tied input embedding is the output matrix, and so it is multiplied as well as looked up.
    looked_up = d_model * (places + (0 if tied_embeddings == "yes" else vocab))
    embedding = WEIGHT * (looked_up + d_model * vocab)
    total = embedding + attention + ffn + router + norms
    active = total - WEIGHT * sparse * (experts - experts_per_token) * expert
    return {
        "total": total,
        "active": active,
        "compute": active - WEIGHT * looked_up,
        "embedding": embedding,
        "attention": attention,
        "ffn": ffn,
        "router": router,
        "norms": norms,
    }
