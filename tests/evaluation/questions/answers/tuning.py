"""Fine-tuning: which weights are trained, and what that costs.

Hu et al. 2021 (4.1): an adapter of rank r beside a matrix of sides a and b has r (a + b) weights.
Dettmers et al. 2023: NF4 with double quantisation takes 4.127 bits a weight.
"""

from __future__ import annotations

from tests.evaluation.questions.answers.facts import Shape
from tests.evaluation.questions.answers.shapes import parameters

NF4 = (4 + 8 / 64 + 32 / (64 * 256)) / 8  # an 8-bit constant for 64 weights, an fp32 one for 256


def matrices(s: Shape, adapted: str) -> list[tuple[int, int]]:
    """Sides of the matrices of a layer that have an adapter."""
    queries, keys = (s.d_model, s.heads * s.width), (s.d_model, s.kv * s.width)
    output = (s.heads * s.width, s.d_model)
    if adapted == "qv":
        return [queries, keys]
    attention = [queries, keys, keys, output]
    if adapted == "attention":
        return attention
    return attention + [(s.d_model, s.d_ff)] * (3 if s.gated else 2)


def adapters(s: Shape, rank: int, adapted: str) -> int:
    """Weights of all adapters."""
    return s.layers * sum(rank * (a + b) for a, b in matrices(s, adapted))


def tuned(s: Shape, method: str, rank: int = 8, adapted: str = "all") -> dict[str, float]:
    """States of the model in bytes, and operations of a token.

    Backward goes through all frozen products for their inputs, but makes no gradient of a weight.
    """
    numbers = parameters(s)
    if method == "full":
        trained, frozen, flop = numbers["total"], 0.0, 6 * numbers["compute"]
    else:
        trained = adapters(s, rank, adapted)
        frozen = 2 * numbers["total"]
        flop = 4 * numbers["compute"] + 6 * trained
    if method == "qlora":
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
