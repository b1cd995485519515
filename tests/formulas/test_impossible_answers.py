"""Answers that cannot be: those that chance has found, and what the attack takes for impossible."""

from __future__ import annotations

import math
from typing import Any

import pytest

from flopbook.errors import FlopbookError
from flopbook.formulas import get_formula
from scripts.attack.areas.answers import faults, start_of

# Kinds of layers that are more than there are layers gave negative parameters.
TOO_MANY = {
    "windows": {"layers": 4.0, "window_layers": 16.0, "window_head_dim": 64.0},
    "states": {"state_layers": 850.0},
    "sparse": {"sparse_layers": 81.0, "index_heads": 1.0, "index_head_dim": 8.0},
    "attention": {"attention_layers": 3.0, "window_layers": 4.0, "window_head_dim": 64.0},
    "dense blocks": {"experts": 102.0, "dense_layers": 7.0, "ffn_layers": 1.0},
}


def answer(name: str, **changes: Any) -> dict[str, Any]:
    """The outputs for the first example with some inputs changed."""
    formula = get_formula(name)
    return formula(**{**start_of(formula), **changes})


@pytest.mark.parametrize("kinds", TOO_MANY.values(), ids=list(TOO_MANY))
def test_kinds_of_layers_are_no_more_than_the_layers(kinds: dict[str, float]) -> None:
    with pytest.raises(FlopbookError, match=r"--(window-layers|dense-layers) "):
        answer("params", **kinds)


@pytest.mark.parametrize("name", ["prefill", "decode", "serving"])
def test_tables_larger_than_the_model_are_refused(name: str) -> None:
    """Reading the rest of the weights took less than no time."""
    small = {"params": 64.0, "compute_params": 8.0, "vocab": 0.0, "positions": "learned"}
    with pytest.raises(FlopbookError, match="only looked up"):
        answer(name, **small, context=4096.0)


@pytest.mark.parametrize("changes", [{"ffn_layers": 8.0}, {"d_ff": 13.0}])
def test_no_layer_computes_less_than_nothing_again(changes: dict[str, float]) -> None:
    """A block that is very narrow, or missing, keeps more than half of its little."""
    assert answer("memory", **changes, recompute="selective-op")["working"] >= 0


def test_layers_without_a_feed_forward_block_keep_nothing_of_it() -> None:
    """Every second product is kept, so a layer keeps its last one only where it has one."""
    kept = [
        answer("memory", ffn_layers=layers, recompute="selective-op")["activations"]
        for layers in (80.0, 60.0, 40.0)
    ]
    assert kept[0] > kept[1] > kept[2]
    assert kept[0] - kept[1] == pytest.approx(kept[1] - kept[2])


def test_a_run_that_never_ends_has_no_price() -> None:
    formula = get_formula("training-time")
    assert all(formula.outputs[name].absent for name in ("seconds", "joules", "cost", "co2"))


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ({"seconds": -1.0}, "seconds is negative: -1.0"),
        ({"flop": math.nan}, "flop is nan"),
        ({"flop": math.inf}, "flop is inf"),
        ({"goodput": 1.5}, "goodput is a share of 1.5"),
        ({"seconds": math.inf}, ""),  # declared as a run that never ends
        ({"cost": -1.0}, ""),  # open, since no price was given
        ({"seconds": 1.0, "goodput": 1.0}, ""),
    ],
)
def test_what_cannot_be_is_told(outputs: dict[str, float], said: str) -> None:
    formula = get_formula("training-time")
    given = {**formula.defaults, **start_of(formula), "price": formula.defaults["price"]}
    assert next(faults(formula, given, outputs), "") == said


def test_hfu_below_mfu_is_told() -> None:
    formula = get_formula("training-flops")
    given = {**formula.defaults, **start_of(formula)}
    assert list(faults(formula, given, {"hfu_over_mfu": 0.9})) == ["HFU is below MFU"]
