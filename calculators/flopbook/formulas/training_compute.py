"""What a transformer costs to train."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Constant, Input, Output, Step, formula, part
from flopbook.formulas.parameters import (
    DModel,
    HeadDim,
    Heads,
    Layers,
    NopeDim,
    RopeDim,
    Tied,
    ValueDim,
    Vocab,
)
from flopbook.quantities.ops import inf, where

FLOP_PER_WEIGHT_TRAINED = Constant(6.0, "FLOP", "per weight and token: 2 forward, 4 backward")
FLOP_PER_WEIGHT_AGAIN = Constant(
    2.0, "FLOP", "per weight and token of a forward pass computed again"
)
FLOP_PER_PF_DAY = Constant(8.64e19, "FLOP", "1e15 FLOP/s for 86,400 s")
FLOP = Constant(1.0, "FLOP", "one operation, where nothing is known to divide by")
RECOMPUTE = ("none", "selective", "full")

Params = Annotated[
    float,
    Input(
        "param",
        "N",
        "parameters that compute on each token",
        model="compute_params",
        least=1,
        most=1e18,
    ),
]
Tokens = Annotated[
    float, Input("token", "T", "tokens trained on", model="tokens", least=1, most=1e21)
]
Seq = Annotated[float, Input("1", "s", "tokens in a sequence", least=1, whole=True, most=1e9)]
Recompute = Annotated[
    str, Input("1", r"\text{recompute}", "what the backward pass computes again", choices=RECOMPUTE)
]

_SCORES = ("layers", "seq", "heads", "d_model")
_TABLES = ("vocab", "d_model")
_BOTH = (*_SCORES, "vocab")


def _total(symbol: str, meaning: str, needs: tuple[str, ...] = ()) -> Output:
    """An amount of arithmetic of the whole run."""
    return Output("FLOP", symbol, meaning, needs=needs)


@part
def terms(
    params: Params,
    tokens: Tokens,
    layers: Layers = inf,
    d_model: DModel = inf,
    heads: Heads = inf,
    seq: Seq = inf,
    vocab: Vocab = inf,
    head_dim: HeadDim = inf,
    tied_embeddings: Tied = "no",
    qk_nope_head_dim: NopeDim = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    v_head_dim: ValueDim = 0.0,
) -> dict[str, Any]:
    """Each term of the arithmetic: weights, scores, the lookup that 6NT counts as work, and the
    head.
    """
    flop_per_token = FLOP_PER_WEIGHT_TRAINED * params
    flop = flop_per_token * tokens
    # Guards: an open input leaves its term infinite, and the term is then left out of the answer.
    square = where(heads < inf, d_model / where(heads < inf, heads, 1), 1)
    head_width = where(
        v_head_dim > 0,
        qk_nope_head_dim + qk_rope_head_dim + v_head_dim,
        2 * where(head_dim < inf, head_dim, square),
    )
    head = FLOP_PER_WEIGHT_TRAINED * vocab * d_model * tokens
    return {
        "flop": flop,
        "flop_per_token": flop_per_token,
        "head": head,
        "attention": FLOP_PER_WEIGHT_TRAINED * layers * heads * head_width * seq * tokens,
        "embedding": 0 * FLOP_PER_WEIGHT_TRAINED if tied_embeddings == "yes" else head,
    }


@formula(
    "training-flops",
    title="Training FLOPs",
    question="How much arithmetic does training take?",
    outputs={
        "flop": _total("W", "arithmetic of the whole training run, by the rule of six"),
        "pf_days": Output("PF-day", r"W_\text{PF-day}", "the same in days at 1 PFLOP/s"),
        "flop_per_token": Output(
            "FLOP/token", "w", "the same for each token, forward and backward"
        ),
        "attention": _total(
            r"W_a", "scores of full attention, which the rule of six leaves out", _SCORES
        ),
        "embedding": _total(
            r"W_e", "input embedding, counted by the rule of six although it is looked up", _TABLES
        ),
        "head": _total(r"W_h", "output matrix, part of the rule of six", _TABLES),
        "flop_full": _total(r"W_\text{full}", "rule of six and full attention", _SCORES),
        "flop_causal": _total(
            r"W_\text{causal}", "rule of six and causal attention, half the scores", _SCORES
        ),
        "flop_full_no_embedding": _total(
            r"W_\text{full}'", "full attention, without the input embedding", _BOTH
        ),
        "flop_causal_no_embedding": _total(
            r"W_\text{causal}'", "causal attention, without the input embedding", _BOTH
        ),
        "flop_layers": _total(r"W_\ell", "rule of six without embedding and head", _TABLES),
        "hardware_flop": _total(
            r"W_\text{hw}", "with recomputation: work of the machine, full attention", _BOTH
        ),
        "hfu_over_mfu": Output(
            "1", r"\eta", "hardware over model utilisation, full attention", needs=_BOTH
        ),
    },
    sources=(
        "kaplan2020scaling",
        "austin2025scaling",
        "chowdhery2022palm",
        "narayanan2021efficient",
    ),
    parts=(terms,),
    symbols={
        "square": r"d_1",
        "head_width": r"d",
        "looked_up": r"W_{e0}",
        "multiplied": r"W_{h0}",
        "executed": r"W_x",
        "scores_again": "R_a",
        "layers_again": r"R_\ell",
        "again": "R",
    },
    examples=(
        {"model": "gpt-3-175b"},
        {"params": "70B", "tokens": "15T"},
        {"model": "llama-3-70b", "seq": "8192", "recompute": "selective"},
    ),
)
def training_flops(
    flop: Step,
    flop_per_token: Step,
    attention: Step,
    embedding: Step,
    head: Step,
    recompute: Recompute = "none",
) -> dict[str, Any]:
    """Arithmetic of a training run: six operations for each parameter and token, and what else is
    counted.

    Derivation:
        In a matrix product every weight meets every token once, with one multiplication and one
        addition: 2 FLOP. The backward pass does that work twice more, once for the gradient of the
        activations and once for the gradient of the weights: 4 FLOP. Together 6 FLOP for each
        weight and token. A mixture of experts runs only some of its weights on a token; the
        parameters that count are the active ones.

        Scores have no weights: each query meets s keys and weighs s values, 2 FLOP for each number
        of a head, three times with the backward pass: 12 L H d s for each token. A causal mask
        makes half of the pairs idle, and some count it so. The input embedding is looked up and not
        multiplied, unless it is the output matrix as well.

        Model utilisation (MFU) counts this work. Hardware utilisation (HFU) adds what is computed
        again: with full recomputation another forward pass of the layers, with the selective kind
        that of the scores.

    Leaves out:
        Normalisation, softmax and the optimizer, whose work per weight does not grow with the
        batch: below 1 percent. Windows and sparse patterns in attention. Routers of experts.
    """
    looked_up = where(embedding < inf, embedding, 0)
    multiplied = where(head < inf, head, 0)
    flop_layers = where(head < inf, flop - looked_up - multiplied, inf)
    flop_full = flop + attention
    flop_causal = flop + attention / 2
    # The machine does not multiply by the input embedding, it looks rows up.
    executed = where(head < inf, flop_full - looked_up, inf)
    scores_again = attention / 3
    layers_again = flop_layers * (FLOP_PER_WEIGHT_AGAIN / FLOP_PER_WEIGHT_TRAINED)
    again = {"full": layers_again + scores_again, "selective": scores_again}.get(recompute, 0)
    hardware_flop = executed + again
    return {
        "flop": flop,
        "pf_days": flop / FLOP_PER_PF_DAY,
        "flop_per_token": flop_per_token,
        "attention": attention,
        "embedding": embedding,
        "head": head,
        "flop_full": flop_full,
        "flop_causal": flop_causal,
        "flop_full_no_embedding": executed,
        "flop_causal_no_embedding": where(head < inf, flop_causal - looked_up, inf),
        "flop_layers": flop_layers,
        "hardware_flop": hardware_flop,
        "hfu_over_mfu": hardware_flop / where(executed < inf, executed, FLOP),
    }
