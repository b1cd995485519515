"""Which work a utilisation counts: FLOPs of a trained token under each convention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.prediction.near_layers import keys_causal, keys_unmasked
from flopbook.prediction.transformers import Transformer

# FLOP for each weight and token: forward 2, backward 4, another forward 2 where recomputed.
TRAINED, TRAINED_AND_RECOMPUTED = 6.0, 8.0
# FLOP for each token, cached token and score dimension: two products of 2 FLOP, three passes.
SCORES, SCORES_AND_RECOMPUTED = 12.0, 16.0
HARDWARE = "hardware_incl_recompute"
USUAL = "full_attention_no_input_embedding"
TERA = 1e12


def flop_per_token(shape: Transformer, convention: str, active: float | None = None) -> float:
    """FLOPs of one trained token as a convention counts them.

    `active` are the active parameters that a source states, for the conventions that count all
    parameters. A convention that is not stated counts full attention without the look-up.
    """
    attending = shape.layers * shape.attending
    scores = attending * keys_unmasked(shape)
    # A recurrent state is updated and read once, with or without a mask.
    states = SCORES * shape.layers * shape.state_values
    multiplied = shape.layer_weights + shape.embedding
    if convention == HARDWARE:
        layers = TRAINED_AND_RECOMPUTED * shape.layer_weights + TRAINED * shape.embedding
        again = SCORES_AND_RECOMPUTED / SCORES
        return layers + SCORES_AND_RECOMPUTED * scores + again * states
    if convention == "full_attention_all_params":
        everything = active or shape.parameters
        if shape.is_mixture and not active:
            everything = multiplied + shape.embedding
        return TRAINED * everything + SCORES * scores + states
    if convention.startswith("causal"):
        return TRAINED * multiplied + SCORES * attending * keys_causal(shape) + states
    if convention == "six_n":
        return TRAINED * (active or multiplied)
    return TRAINED * multiplied + SCORES * scores + states


class Printed(NamedTuple):
    """What a row prints, and what turns it into tokens per second and chip.

    `batch` is the sequences of a step, None where it is open; `active` the active parameters that
    the source states.
    """

    measured: Mapping[str, Any]
    shape: Transformer
    convention: str
    peak: float
    chips: float
    batch: float | None = None
    active: float | None = None


def measured_tokens(printed: Printed) -> float:
    """Tokens per second and chip that a row states, from whichever figure it prints.

    Tokens come first, then the step time with the batch, then FLOP/s and utilisations under their
    convention. Raises FlopbookError where the row prints none of them.
    """
    measured, shape = printed.measured, printed.shape
    if "tokens_per_s_per_chip" in measured:
        return float(measured["tokens_per_s_per_chip"])
    if "tokens_per_s" in measured:
        return float(measured["tokens_per_s"]) / printed.chips
    if "step_time_s" in measured and printed.batch:
        tokens = printed.batch * shape.tokens
        return tokens / float(measured["step_time_s"]) / printed.chips
    is_of_hardware = printed.convention == HARDWARE
    model_convention = USUAL if is_of_hardware else printed.convention
    model_flop = flop_per_token(shape, model_convention, printed.active)
    hardware_flop = flop_per_token(shape, HARDWARE)
    rates = (
        ("model_tflops_per_s_per_chip", TERA, model_flop),
        ("hardware_tflops_per_s_per_chip", TERA, hardware_flop),
        ("mfu_pct", printed.peak / 100, model_flop),
        ("hfu_pct", printed.peak / 100, hardware_flop),
    )
    for name, unit, flop in rates:
        if name in measured:
            return float(measured[name]) * unit / flop
    raise FlopbookError(
        "no tokens per second, step time or utilisation is given; measured has "
        "tokens_per_s_per_chip, step_time_s, mfu_pct or model_tflops_per_s_per_chip"
    )
