"""What a transformer costs to train."""

from typing import Annotated, Any

from flopbook.formulas.conditions import rule
from flopbook.formulas.declaration import Constant, Input, Output, Step, formula, part
from flopbook.formulas.layer_inputs import LAYER_RULES, LAYER_SYMBOLS
from flopbook.formulas.layer_kinds import (
    attention_widths,
    head_width,
    layer_counts,
    seen_tokens,
    sequence_pairs,
    sequence_work,
    unmasked_work,
    whole_sequence,
)
from flopbook.formulas.parameters import DModel, Heads, Layers, Tied, Vocab
from flopbook.formulas.unsized_attention import scores_without_sequences
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
        "parameters that a token is multiplied with",
        model="compute_params",
        least=1,
        most=1e18,
    ),
]
Tokens = Annotated[
    float, Input("token", "T", "tokens trained on", model="tokens", least=1, most=1e21)
]
Seq = Annotated[
    float, Input("token", "s", "sequence length in tokens", least=1, whole=True, most=1e9)
]
Recompute = Annotated[
    str, Input("1", r"\text{recompute}", "activation recomputation", choices=RECOMPUTE)
]

_SCORES = ("layers", "seq", "heads", "d_model")
_TABLES = ("vocab", "d_model")
_BOTH = (*_SCORES, "vocab")


@rule(
    "the output matrix, --vocab times --d-model, is larger than --params: "
    "give the parameters that a token is multiplied with, the output matrix among them"
)
def head_is_a_part(params: float, vocab: float, d_model: float) -> bool:
    """The output matrix is a part of the weights; without its width it is not counted."""
    width = where(vocab < inf, where(d_model < inf, d_model, 0), 0)
    return where(vocab < inf, vocab, 0) * width <= params


def _total(symbol: str, meaning: str, needs: tuple[str, ...] = ()) -> Output:
    """An amount of arithmetic of the whole run."""
    return Output("FLOP", symbol, meaning, needs=needs)


@part
def rule_of_six(params: Params, tokens: Tokens) -> dict[str, Any]:
    """Two operations for each weight and token forward, four backward."""
    flop_per_token = FLOP_PER_WEIGHT_TRAINED * params
    return {"flop_per_token": flop_per_token, "flop": flop_per_token * tokens}


@part
def sequences_of_a_run(tokens: Tokens, seq: Seq = 0.0) -> dict[str, Any]:
    """Sequences that a run trains on; while their length is open, scores are left out."""
    return {"sequences": tokens / where(seq > 0, seq, 1)}


@part
def causal_terms(
    score_work: Step,
    sequences: Step,
    layers: Layers = 0.0,
    heads: Heads = 0.0,
) -> dict[str, Any]:
    """Work of causal scores in a run, forward and backward."""
    return {"causal_scores": FLOP_PER_WEIGHT_TRAINED * score_work * sequences}


@part
def unmasked_terms(rectangle: Step, sequences: Step) -> dict[str, Any]:
    """Work of scores without a mask."""
    return {"scores": FLOP_PER_WEIGHT_TRAINED * rectangle * sequences}


ATTENTION_SYMBOLS = {"sequences": r"\beta", "scores": r"\alpha", "causal_scores": r"\alpha_c"}
CAUSAL_ATTENTION = (
    *(
        layer_counts,
        head_width,
        attention_widths,
        seen_tokens,
        whole_sequence,
        sequence_pairs,
        sequence_work,
    ),
    *(sequences_of_a_run, causal_terms),
)


@formula(
    "training-flops",
    title="Training FLOPs",
    question="How much arithmetic does training take?",
    outputs={
        "flop": _total("W", "arithmetic of the whole training run, by the rule of six"),
        "pf_days": Output("PF-day", r"W_\text{PF-day}", "the same in days at 1 PFLOP/s"),
        "flop_per_token": Output(
            "FLOP/token", "c", "the same for each token, forward and backward"
        ),
        "attention": _total(
            r"W_a", "attention scores without a causal mask, which the rule of six lacks", _SCORES
        ),
        "attention_causal": _total(
            r"W_c", "attention scores with a causal mask, as kernels compute them", _SCORES
        ),
        "embedding": _total(
            r"W_e", "input embedding: what counting its look-up as work would add", _TABLES
        ),
        "head": _total(r"W_h", "output matrix, part of the rule of six", _TABLES),
        "flop_full": _total(r"W_\text{full}", "rule of six and unmasked attention", _SCORES),
        "flop_causal": _total(r"W_\text{causal}", "rule of six and causal attention", _SCORES),
        "flop_embedding": _total(
            "W'", "rule of six over all weights, the input embedding included", _TABLES
        ),
        "flop_full_embedding": _total(
            r"W_\text{full}'", "unmasked attention, the input embedding included", _BOTH
        ),
        "flop_causal_embedding": _total(
            r"W_\text{causal}'", "causal attention, the input embedding included", _BOTH
        ),
        "flop_layers": _total(r"W_\ell", "rule of six without the output matrix", _TABLES),
        "hardware_flop": _total(
            r"W_\text{hw}", "with recomputation: work of the machine, unmasked attention", _BOTH
        ),
        "hfu_over_mfu": Output(
            "1", r"\eta", "hardware over model utilisation, unmasked attention", needs=_BOTH
        ),
    },
    sources=(
        "kaplan2020scaling",
        "austin2025scaling",
        "chowdhery2022palm",
        "narayanan2021efficient",
    ),
    parts=(rule_of_six, *CAUSAL_ATTENTION, unmasked_work, unmasked_terms),
    symbols={
        **LAYER_SYMBOLS,
        **ATTENTION_SYMBOLS,
        "scores_again": "R_a",
        "layers_again": r"R_\ell",
        "again": "R_+",
    },
    asks=("model", "tokens", "seq", "recompute"),
    examples=(
        {"model": "gpt-3-175b"},
        {"params": "70B", "tokens": "15T"},
        {"model": "llama-3-70b", "seq": "8192", "recompute": "selective"},
    ),
    rules=(head_is_a_part, *LAYER_RULES),
    omissions=(scores_without_sequences,),
)
def training_flops(
    tokens: Tokens,
    flop_per_token: Step,
    flop: Step,
    scores: Step,
    causal_scores: Step,
    layers: Layers = 0.0,
    seq: Seq = 0.0,
    vocab: Vocab = inf,
    d_model: DModel = inf,
    tied_embeddings: Tied = "no",
    recompute: Recompute = "none",
) -> dict[str, Any]:
    """Arithmetic of a training run: six operations for each parameter and token, and what else is
    counted.

    Derivation:
        In a matrix product every weight meets every token once, with one multiplication and one
        addition: 2 FLOP. The backward pass does that work twice more, once for the gradient of the
        activations and once for the gradient of the weights: 4 FLOP. Together 6 FLOP for each
        weight and token. A mixture of experts runs only some of its weights on a token, so its
        active parameters count. The input embedding is looked up and not multiplied, so it does not
        count, unless it is the output matrix as well; papers that count all weights count it, which
        the outputs with the embedding show.

        Scores have no weights: each query meets s keys and weighs s values, 2 FLOP for each number
        of a head, three times with the backward pass: 12 L H d s for each token. A causal mask
        leaves s(s + 1)/2 pairs of a token and one not after it. A layer with a sliding window,
        chunks or sparse attention meets no more keys than these leave; sparse attention scores all
        tokens with its indexer besides. A recurrent state is updated and read once for each token.

        Model utilisation (MFU) counts this work. Hardware utilisation (HFU) adds what is computed
        again: with full recomputation another forward pass of the layers, with the selective kind
        that of the scores.

    Leaves out:
        - Attention scores, where the length of sequences is not given.
          [attention_without_sequences]
        - Normalisation, softmax and the optimizer, whose work for each weight does not grow with
          the batch. [no size: below 1 percent in all models here]
        - Chunks inside a recurrent layer, which kernels compute as small products, at several times
          the work of its state. [no size: four times that work is below 5 percent in all models
          here]
    """
    # An open input leaves its term infinite, and the term is then left out of the answer.
    attention = where(layers * seq > 0, scores, inf)
    attention_causal = where(layers * seq > 0, causal_scores, inf)
    head = FLOP_PER_WEIGHT_TRAINED * vocab * d_model * tokens
    embedding = 0 * FLOP_PER_WEIGHT_TRAINED if tied_embeddings == "yes" else head
    flop_layers = where(head < inf, flop - where(head < inf, head, 0), inf)
    flop_full = flop + attention
    flop_causal = flop + attention_causal
    scores_again = attention / 3
    layers_again = flop_layers * (FLOP_PER_WEIGHT_AGAIN / FLOP_PER_WEIGHT_TRAINED)
    again = {"full": layers_again + scores_again, "selective": scores_again}.get(recompute, 0)
    hardware_flop = where(head < inf, flop_full, inf) + again
    return {
        "flop": flop,
        "pf_days": flop / FLOP_PER_PF_DAY,
        "flop_per_token": flop_per_token,
        "attention": attention,
        "attention_causal": attention_causal,
        "embedding": embedding,
        "head": head,
        "flop_full": flop_full,
        "flop_causal": flop_causal,
        "flop_embedding": flop + embedding,
        "flop_full_embedding": flop_full + embedding,
        "flop_causal_embedding": flop_causal + embedding,
        "flop_layers": flop_layers,
        "hardware_flop": hardware_flop,
        "hfu_over_mfu": hardware_flop / where(flop_full < inf, flop_full, FLOP),
    }
