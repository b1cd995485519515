"""Training: arithmetic, states of the model, activations.

Kaplan et al. 2020 (2.1), Narayanan et al. 2021 (appendix) for arithmetic, Rajbhandari et al. 2020
(3, figure 1) for states, Korthikanti et al. 2022 (equations 1 to 6) for activations.
"""

from __future__ import annotations

from tests.evaluation.questions.answers.facts import Shape
from tests.evaluation.questions.answers.shapes import (
    parameters,
    sequence_scores,
    unmasked_scores,
)


def training_work(s: Shape, tokens: float, seq: int) -> dict[str, float]:
    """Forward once and backward twice: 2 operations a weight, 2 for each number of a pair."""
    numbers = parameters(s)
    flop = 6 * numbers["compute"] * tokens
    head = 6 * s.vocab * s.d_model * tokens
    return {
        "flop": flop,
        "flop_per_token": flop / tokens,
        "pf_days": flop / 8.64e19,
        "attention": 6 * unmasked_scores(s, seq) * tokens,
        "attention_causal": 6 * sequence_scores(s, seq) / seq * tokens,
        "head": head,
        "flop_layers": flop - head,
    }


def recomputed(s: Shape, tokens: float, seq: int, recompute: str) -> float:
    """Work of the machine: `selective` does the attention core again, `full` a forward pass."""
    work = training_work(s, tokens, seq)
    attention = work["attention"]
    again = {"none": 0.0, "selective": attention / 3, "full": (work["flop_layers"] + attention) / 3}
    return work["flop"] + attention + again[recompute]


def states(
    params: float, zero: int, dp: int, widths: tuple[float, float, float] = (2, 2, 12)
) -> dict[str, float]:
    """Weights, gradients and optimizer of mixed Adam: 2 + 2 + 12 bytes, each cut from its stage."""
    weight, grad, optimizer = widths
    return {
        "weights": weight * params / (dp if zero >= 3 else 1),
        "gradients": grad * params / (dp if zero >= 2 else 1),
        "optimizer": optimizer * params / (dp if zero >= 1 else 1),
    }


def layer_activations(
    seq: int, batch: int, d_model: int, heads: int, tp: int, parallel: bool, recompute: str
) -> float:
    """Bytes of a GPT layer: sbh(34 + 5as/h), without tensor parallelism (equation 1).

    10 of the 34 are norms and dropouts, which only sequence parallelism cuts (2, 4).
    """
    base = seq * batch * d_model
    if recompute == "full":
        return 2 * base / (tp if parallel else 1)
    scores = 5 * heads * seq / d_model if recompute == "none" else 0
    outside = 10 / (tp if parallel else 1)
    return base * (outside + (24 + scores) / tp)
