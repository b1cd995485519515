"""Fine-tuning: which weights are trained, and what that costs.

Hu et al. 2021 (4.1): an adapter of rank r beside a matrix of sides a and b has r (a + b) weights.
Dettmers et al. 2023: NF4 with double quantisation takes 4.127 bits a weight.
"""

from __future__ import annotations

from tests.evaluation.questions.answers.facts import Shape
from tests.evaluation.questions.answers.shapes import parameters, state_weights

NF4 = (4 + 8 / 64 + 32 / (64 * 256)) / 8  # an 8-bit constant for 64 weights, an fp32 one for 256


def attention_matrices(s: Shape, adapted: str) -> list[tuple[int, int]]:
    """Sides of the matrices of attention that have an adapter.

    Latent attention (DeepSeek-AI 2024, 2.1) goes down to a rank and up again: W_DQ and W_UQ, W_DKV
    with W_KR, W_UK with W_UV.
    """
    value = s.v_dim or s.width
    output = (s.heads * value, s.d_model)
    if s.kv_rank:
        asked = s.heads * (s.nope + s.rope)
        down_and_up = [(s.d_model, s.q_rank), (s.q_rank, asked)] if s.q_rank else []
        queries = down_and_up or [(s.d_model, asked)]
        kept = [(s.d_model, s.kv_rank + s.rope), (s.kv_rank, s.heads * (s.nope + s.v_dim))]
        return queries + kept + ([] if adapted == "qv" else [output])
    queries = [(s.d_model, s.heads * s.width)]
    values = [(s.d_model, s.kv * value)]
    if adapted == "qv":
        return queries + values
    return [*queries, (s.d_model, s.kv * s.width), *values, output]


def block_matrices(s: Shape, experts: int) -> list[tuple[int, int]]:
    """Sides of the feed-forward matrices of all layers, with so many experts in a mixture."""
    each = 3 if s.gated else 2
    blocks = s.blocks or s.layers
    sparse = blocks - s.dense_layers if s.experts > 1 else 0
    found = [(s.d_model, s.d_ff)] * each * (blocks - sparse)
    width = s.expert_d_ff or s.d_ff
    found += [(s.expert_d_model or s.d_model, width)] * each * experts * sparse
    if s.shared_experts:  # one block as wide as all of them
        found += [(s.d_model, s.shared_experts * (s.shared_d_ff or width))] * each * sparse
    return found


def adapters(s: Shape, rank: int, adapted: str, experts: int) -> float:
    """Weights of all adapters where so many experts of a mixture have them."""
    kinds = s.kinds()
    found = attention_matrices(s, adapted) * sum(kind not in ("state", "none") for kind in kinds)
    if adapted == "all":
        found = found + block_matrices(s, experts)
    mixers = sum("state" in kind for kind in kinds) if adapted == "all" else 0
    # In and out of a mixer: as many rows as its weights make.
    rows = 2 * s.d_model + state_weights(s) / s.d_model if mixers else 0
    return rank * (sum(a + b for a, b in found) + mixers * rows)


def tuned(s: Shape, method: str, rank: int = 8, adapted: str = "all") -> dict[str, float]:
    """States of the model in bytes, and operations of a token.

    Backward goes through all frozen products for their inputs, but makes no gradient of a weight.
    """
    numbers = parameters(s)
    if method == "full":
        trained, frozen, flop = numbers["total"], 0.0, 6 * numbers["compute"]
    else:
        trained = adapters(s, rank, adapted, s.experts)
        frozen = 2 * numbers["total"]
        met = adapters(s, rank, adapted, s.experts_per_token)
        flop = 4 * numbers["compute"] + 6 * met
    if method == "qlora":
        # Norms, a ten-thousandth, are counted with the matrices here and stay wide in fact.
        rest = numbers["embedding"] + numbers["norms"]
        frozen = 2 * rest + NF4 * (numbers["total"] - rest)
    return {
        "trainable": trained,
        "share": trained / numbers["total"],
        "weights": frozen + 2 * trained,
        "gradients": 2 * trained,
        "optimizer": 12 * trained,
        "flop_per_token": flop,
    }
