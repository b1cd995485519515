"""How many parameters a transformer has, from its shape."""

from typing import Any

from flopbook.formulas.attention_weights import WEIGHT, attention_weights
from flopbook.formulas.conditions import (
    dense_layers_exist,
    feed_forward_has_a_width,
    kv_heads_are_shared,
    latent_attention_has_widths,
    rule,
    visited_experts_exist,
    window_kv_heads_are_shared,
)
from flopbook.formulas.declaration import Output, Step, formula, part
from flopbook.formulas.layer_inputs import (
    StateLayers,
)
from flopbook.formulas.parameters import (
    Biases,
    Context,
    DenseLayers,
    DFf,
    DModel,
    ExpertDFf,
    ExpertDModel,
    Experts,
    ExpertsPerToken,
    Ffn,
    FfnLayers,
    KvRank,
    Layers,
    Norm,
    NormsPerLayer,
    Positions,
    QkNorm,
    QRank,
    SharedDFf,
    SharedExperts,
    StateLayerParams,
    Tied,
    Vocab,
)
from flopbook.quantities.ops import inf, where


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


@rule(
    "--window-layers {window_layers}, --sparse-layers {sparse_layers}, --compressed-layers "
    "{compressed_layers} and --state-layers {state_layers} are kinds of the --layers {layers}, "
    "not more of them"
)
def attending_layers_exist(
    layers: float,
    attention_layers: float,
    window_layers: float,
    sparse_layers: float,
    compressed_layers: float,
    state_layers: float,
) -> bool:
    """A window and an indexer belong to a layer with attention, a state to a layer."""
    attending = where(attention_layers < inf, attention_layers, layers - state_layers)
    kinds_exist = (window_layers <= attending) & (sparse_layers + compressed_layers <= attending)
    return kinds_exist & (state_layers <= layers)


@rule("--dense-layers {dense_layers} is larger than --ffn-layers {ffn_layers}")
def dense_blocks_exist(dense_layers: float, ffn_layers: float) -> bool:
    """Layers without experts are some of those with a feed-forward block."""
    return dense_layers <= ffn_layers


@part
def feed_forward_weights(
    layers: Layers,
    d_model: DModel,
    d_ff: DFf = inf,
    ffn_kind: Ffn = "gated",
    biases: Biases = "none",
    experts: Experts = 1.0,
    expert_d_ff: ExpertDFf = inf,
    expert_d_model: ExpertDModel = inf,
    shared_experts: SharedExperts = 0.0,
    shared_expert_d_ff: SharedDFf = inf,
    dense_layers: DenseLayers = 0.0,
    ffn_layers: FfnLayers = inf,
) -> dict[str, Any]:
    """Feed-forward blocks, experts, and the routers that choose them."""
    # Matrices into the feed-forward width; one more leads back.
    inner = 2 if ffn_kind == "gated" else 1
    bias = 1 if biases == "all" else 0
    dense_width = where(d_ff < inf, d_ff, 0)
    expert_width = where(expert_d_ff < inf, expert_d_ff, dense_width)
    shared_width = where(shared_expert_d_ff < inf, shared_expert_d_ff, expert_width)
    per_width = inner * (d_model + bias) + d_model
    # Experts in a latent space are narrower, behind one matrix down and one up for all of them.
    expert_model = where(expert_d_model < inf, expert_d_model, d_model)
    latent_path = where(expert_d_model < inf, 2 * d_model * expert_model, 0)
    expert = expert_width * (inner * (expert_model + bias) + expert_model) + bias * expert_model
    shared = shared_experts * (shared_width * per_width + bias * d_model)
    blocks = where(ffn_layers < inf, ffn_layers, layers)
    sparse = where(experts > 1, blocks - dense_layers, 0)
    dense = (blocks - sparse) * (dense_width * per_width + bias * d_model)
    return {
        "expert": expert,
        "sparse": sparse,
        "ffn_all": WEIGHT * (dense + sparse * (experts * expert + latent_path + shared)),
        "routers": WEIGHT * sparse * experts * d_model,
    }


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
        "states": Output("param", r"N_\text{state}", "mixers of all recurrent layers"),
    },
    parts=(attention_weights, feed_forward_weights),
    sources=("vaswani2017attention", "deepseek2024v2", "brown2020language"),
    symbols={
        "head": "d",
        "value": r"d_y",
        "keys": "Y",
        "query_times": r"\chi_q",
        "output_times": r"\chi_o",
        "in_bias": r"\beta_\text{in}",
        "out_bias": r"\beta_\text{out}",
        "cached": "c",
        "projected": "p",
        "grouped": r"a_\text{GQA}",
        "window_head": r"d'_w",
        "window_value": r"d'_{yw}",
        "window_keys": "Y_w",
        "window_cached": "c_w",
        "in_window": "p_w",
        "windowed": "a_w",
        "query_head": "u",
        "query_side": "q",
        "value_side": "y",
        "latent": r"a_\text{MLA}",
        "indexer": "a_i",
        "has_values": r"\kappa",
        "out_rows": "o_1",
        "widened_out": "o_2",
        "overlapping": "c_1",
        "compressed": "c_2",
        "index_key": "c_3",
        "packing": "c_4",
        "compressors": "c_5",
        "indexing": "A_i",
        "elsewhere": r"\ell",
        "plain": "a",
        "query_from": r"\iota",
        "narrow": "q_0",
        "queried": "q_1",
        "asked_window": "q_2",
        "out_side": "y_o",
        "expert_model": "d_e",
        "latent_path": r"n_{ez}",
        "head_sizes": r"d_0",
        "queries": "Q",
        "key_values": "Q_k",
        "attending": r"\ell_a",
        "attention_all": "A",
        "inner": "i",
        "bias": r"\beta",
        "dense_width": "f",
        "expert_width": "f_e",
        "shared_width": "f_s",
        "per_width": "w",
        "expert": r"n_e",
        "shared": r"n_s",
        "blocks": r"\ell_F",
        "dense": r"n_d",
        "sparse": r"L_e",
        "ffn_all": "B",
        "routers": "B_r",
        "scale": r"\gamma",
        "qk_scales": r"\gamma_\text{qk}",
        "in_layers": r"\nu",
        "places": "P",
        "looked_up": "e",
    },
    asks=("model", "layers", "d_model", "heads", "vocab"),
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
        window_kv_heads_are_shared,
        visited_experts_exist,
        dense_layers_exist,
        dense_blocks_exist,
        attending_layers_exist,
        learned_positions_have_places,
        feed_forward_has_a_width,
        latent_attention_has_widths,
        heads_divide_the_model_width,
    ),
)
def params(
    layers: Layers,
    d_model: DModel,
    vocab: Vocab,
    head_sizes: Step,
    queries: Step,
    key_values: Step,
    attending: Step,
    attention_all: Step,
    expert: Step,
    sparse: Step,
    ffn_all: Step,
    routers: Step,
    tied_embeddings: Tied = "no",
    positions: Positions = "rotary",
    context: Context = inf,
    norm: Norm = "rms",
    norms_per_layer: NormsPerLayer = 2.0,
    qk_norm: QkNorm = "none",
    experts: Experts = 1.0,
    experts_per_token: ExpertsPerToken = 1.0,
    q_lora_rank: QRank = 0.0,
    kv_lora_rank: KvRank = 0.0,
    state_layers: StateLayers = 0.0,
    state_layer_params: StateLayerParams = 0.0,
) -> dict[str, Any]:
    """Parameters of a transformer, in all and by part, counted from its shape.

    Derivation:
        Attention has four matrices: queries and output of width H x d, keys and values of width K x
        d, and a fifth for relative positions after Transformer-XL. Latent attention compresses keys
        and values, and mostly queries, with a matrix down and one up; a part of each key that tells
        the place bypasses that. The output may go through a narrow matrix of each group of heads
        too. Where one entry of the cache stands for several tokens, a compressor makes it from
        values and gates of these tokens. A feed-forward block has two matrices, a gated one three.
        A mixture of experts has E such blocks in a layer beside the shared ones, and a router of
        one row for each expert. An embedding of V rows stands at the start, and another at the end
        unless both are one. A token meets everything but the E - k experts that it does not visit.
        The mixer of a recurrent layer, linear attention or state space, has parameters of its own
        kind, which a model supplies.

    Leaves out:
        - Small vectors of single designs: sinks, biases of routers and of the output. [no size:
          below 0.1 percent together]
        - Modules beside the decoder, such as vision towers and heads that predict further tokens.
          [no size: they are no part of the shape; add them to the total]
        - Embeddings count as active; some reports leave the input embedding out. [no size: the
          outputs give both]
    """
    scale = {"none": 0, "rms": 1}.get(norm, 2)
    qk_scales = {"none": 0, "head": 2 * head_sizes}.get(qk_norm, queries + key_values)
    # Latent attention normalises what it compressed, one scale for each rank.
    in_layers = qk_scales + attending * (q_lora_rank + kv_lora_rank)
    # One more normalisation stands before the output matrix.
    norms = WEIGHT * ((layers * norms_per_layer + 1) * scale * d_model + in_layers)
    places = context if positions == "learned" else 0
    # A tied input embedding is the output matrix, and so it is multiplied as well as looked up.
    looked_up = d_model * (places + (0 if tied_embeddings == "yes" else vocab))
    embedding = WEIGHT * (looked_up + d_model * vocab)
    states = state_layers * state_layer_params
    total = embedding + attention_all + ffn_all + routers + norms + states
    active = total - WEIGHT * sparse * (experts - experts_per_token) * expert
    return {
        "total": total,
        "active": active,
        "compute": active - WEIGHT * looked_up,
        "embedding": embedding,
        "attention": attention_all,
        "ffn": ffn_all,
        "router": routers,
        "norms": norms,
        "states": states,
    }
