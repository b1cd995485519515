"""Calls that no calculator answers: each is refused with the option or the name to give."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate, takes
from flopbook.formulas import get_formula


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("min-batch", {}, "min-batch needs --peak or --chip"),
        ("training-flops", {"params": 7e9}, "training-flops needs --tokens or --model"),
        ("bubble", {"stages": 8}, "bubble needs --microbatches"),
        (
            "min-batch",
            {"chip": "nvidia/h100-sxm", "bandwidth": "80GB"},
            "--bandwidth: '80GB' is in byte, expected byte/s",
        ),
        (
            "training-flops",
            {"params": "70B", "tokens": "80GB"},
            "--tokens: '80GB' is in byte, expected token",
        ),
        (
            "training-flops",
            {"params": "70B", "tokens": "-1"},
            "--tokens is -1, expected at least 1",
        ),
        (
            "training-flops",
            {"params": "70B", "tokens": [1]},
            "--tokens is '\\[1\\]', expected a number",
        ),
        (
            "min-batch",
            {"chip": "nvidia/dgx-h100"},
            "is a node, not a chip; name its chip: nvidia/h100-sxm",
        ),
        (
            "min-batch",
            {"chip": "nvidia/h100-sxm", "dtype": "fp4"},
            "has no dense fp4 tensor peak; it has: .*bf16 dense",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_said_with_the_option(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(FlopbookError, match=message):
        calculate(name, **options)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("min-batches", {}, "unknown calculator 'min-batches'; nearest: min-batch"),
        ("min-batch", {"chips": "h100-sxm"}, "unknown option of min-batch 'chips'; nearest: chip"),
        ("min-batch", {"chip": "h100-smx"}, "unknown chip 'h100-smx'; nearest: .*h100-sxm"),
        (
            "training-flops",
            {"model": "gpt-4-175b"},
            "unknown model 'gpt-4-175b'; nearest: gpt-3-175b",
        ),
        (
            "min-batch",
            {"peak": 1e15, "bandwidth": 1e12, "dtype": "bf61"},
            "unknown dtype 'bf61'; nearest: bf16",
        ),
        (
            "min-batch",
            {"peak": 1e15, "bandwidth": 1e12, "sparsity": "2:5"},
            "unknown sparsity '2:5'; nearest: 2:4",
        ),
        (
            "bubble",
            {"stages": 8, "microbatches": 8, "schedule": "gpip"},
            "unknown --schedule 'gpip'; nearest: gpipe",
        ),
    ],
)
def test_unknown_names_offer_the_nearest(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownName, match=message):
        calculate(name, **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("min-batch", ("chip", "dtype", "sparsity")),
        ("max-params", ("chip",)),
        ("memory", ("chip", "dtype", "model")),
        ("training-time", ("chip", "dtype", "sparsity", "model")),
        ("training-flops", ("model",)),
        ("bubble", ()),
        ("scaling-law", ()),
    ],
)
def test_only_options_that_change_an_answer_are_taken(name: str, options: tuple[str, ...]) -> None:
    assert takes(get_formula(name)) == options


def test_a_formula_that_is_asked_for_a_chip_names_what_looks_chips_up() -> None:
    """A function of the package takes numbers.

    Only where nothing could be looked up is the name just unknown.
    """
    for name, option in (
        ("memory", "model"),
        ("min-batch", "chip"),
        ("collective", "chip"),
        ("roofline", "dtype"),
    ):
        with pytest.raises(FlopbookError) as caught:
            get_formula(name)(**{option: "x"})
        assert f'calculate("{name}", {option}=...)' in str(caught.value)
    with pytest.raises(UnknownName):
        get_formula("bubble")(chip="h100-sxm")
