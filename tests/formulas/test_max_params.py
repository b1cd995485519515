"""The largest model that a memory holds: memory over bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook import calculate, entry, max_params
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import chip
from scripts.website.pages.meaning import meaning

sizes = st.floats(min_value=1e6, max_value=1e13)
widths = st.floats(min_value=0.25, max_value=64)


@given(sizes, widths, st.integers(1, 10_000))
def test_linear_in_memory_and_chips_and_inverse_in_bytes(
    memory: float, width: float, chips: int
) -> None:
    base = max_params(memory=memory, bytes_per_param=width)["params"]
    assert max_params(memory=memory * chips, bytes_per_param=width)["params"] == pytest.approx(
        chips * base
    )
    assert max_params(memory=memory, bytes_per_param=width, chips=chips)["params"] == pytest.approx(
        chips * base
    )
    assert max_params(memory=memory, bytes_per_param=width * 2)["params"] == pytest.approx(base / 2)


@given(sizes, widths)
def test_what_fits_fills_the_memory(memory: float, width: float) -> None:
    assert max_params(memory=memory, bytes_per_param=width)["params"] * width == pytest.approx(
        memory, rel=1e-12
    )


def test_what_is_meant_for_training_is_said() -> None:
    """Eight times as many weights fit as parameters in training."""
    told = calculate("max-params", chip="h100-sxm").omitted["weights_alone"]
    assert told.share == 7 and "--bytes-per-param 2" in told.text
    alone = calculate("max-params", chip="h100-sxm", bytes_per_param=2)
    assert "weights_alone" not in alone.omitted
    assert alone["params"] == 8 * calculate("max-params", chip="h100-sxm")["params"]


def test_h100_holds_8_billion_at_10_bytes_and_5_at_16() -> None:
    """Claims 002-L1145: 80 GB over 10 bytes is 8 billion.

    With 16 bytes (arXiv:1910.02054) it is 5 billion.
    """
    assert calculate("max-params", chip="h100-sxm", bytes_per_param=10)["params"] == pytest.approx(
        8e9, rel=1e-6
    )
    assert calculate("max-params", chip="h100-sxm")["params"] == pytest.approx(5e9, rel=1e-6)


def test_tpu_v5p_holds_9_5_billion_at_10_bytes_and_5_9_at_16() -> None:
    """Claims 002-L1145: 95 GB; the slide prints 9 billion, which rounds 9.5 down."""
    wide = calculate("max-params", memory="95GB", bytes_per_param=10)["params"]
    assert wide == pytest.approx(9.5e9) and wide != pytest.approx(9e9, rel=0.05)
    assert calculate("max-params", memory="95GB")["params"] == pytest.approx(5.9375e9)


def test_zero_3_fits_a_trillion_on_1024_chips() -> None:
    """arXiv:1910.02054 (rajbhandari2020zero).

    16 bytes x 1e12 parameters over 1,024 devices is 15.6 GB on each.
    """
    assert max_params(memory=15.625e9, bytes_per_param=16, chips=1024)["params"] == pytest.approx(
        1e12
    )


def test_the_memory_of_a_chip_is_used_with_its_source() -> None:
    result = calculate("max-params", chip="h100-sxm")
    picked = chip("h100-sxm").pick_memory()
    assert (result.inputs["memory"].value, result.inputs["memory"].source) == (
        picked.value,
        picked.source,
    )


def test_only_options_that_matter_are_taken() -> None:
    """A number format or a sparse peak would change nothing here, so neither is an option."""
    for option in ({"dtype": "fp8"}, {"sparsity": "2:4"}):
        with pytest.raises(FlopbookError, match="option of max-params"):
            calculate("max-params", chip="h100-sxm", **option)


def test_the_page_of_a_chip_uses_it() -> None:
    """The table of the page holds the calculator's own answers."""
    text = "\n".join(meaning(entry("nvidia/h100-sxm"), "accelerators/nvidia/h100-sxm.md"))
    assert "40 billion params" in text and "8 billion params" in text and "5 billion params" in text


def test_arrays_equal_floats() -> None:
    memories, widths_ = np.array([16e9, 80e9, 192e9]), np.array([2.0, 10.0, 16.0])
    arrays = max_params(memory=memories, bytes_per_param=widths_)["params"]
    singles = [
        max_params(memory=m, bytes_per_param=w)["params"]
        for m, w in zip(memories, widths_, strict=True)
    ]
    assert list(arrays) == singles


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 1e19, "80", None])
def test_memory_out_of_range_is_refused(value: object) -> None:
    with pytest.raises(FlopbookError, match=r"^memory "):
        max_params(memory=value)


@pytest.mark.parametrize("chips", [0, -8, 1.5, float("nan"), 1e10])
def test_chips_out_of_range_are_refused(chips: float) -> None:
    with pytest.raises(FlopbookError, match=r"^chips "):
        max_params(memory=80e9, chips=chips)


@pytest.mark.parametrize("width", [0, -2, 0.001, 1e4])
def test_bytes_out_of_range_are_refused(width: float) -> None:
    with pytest.raises(FlopbookError, match=r"^bytes_per_param "):
        max_params(memory=80e9, bytes_per_param=width)


@pytest.mark.parametrize("model", ["llama-3-8b", "gpt-3", "qwen-3-32b"])
def test_activations_of_a_sequence_are_nearly_those_of_a_model(model: str) -> None:
    """34 bytes for each token, layer and unit of width, whatever the memory is called."""
    shape = calculate("memory", model=model, seq=4096).inputs
    kept = 34 * 4096 * shape["layers"].value * shape["d_model"].value
    size = calculate("params", model=model)["total"]
    told = max_params.omissions
    share = next(each for each in told if each.name == "activations_of_a_sequence").value(
        {"params": size, "memory": 1e12, "bytes_per_param": 16.0}
    )
    assert -share / (1 + share) == pytest.approx(kept / 1e12, rel=0.5)


@given(st.floats(min_value=1e9, max_value=1e13), st.integers(1, 1000))
def test_no_more_fits_beside_activations_than_is_told(memory: float, chips: int) -> None:
    """Found by halving: so many parameters that they and their activations fill the memory."""
    most = max_params(memory=memory, chips=chips)["params"]
    a_layer_each = 34 * 4096 * 102

    def used(params: float) -> float:
        layers = (params / 12 / 102**2) ** (1 / 3)
        return params * 16 / chips + a_layer_each * layers**2

    low, high = 0.0, most
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if used(middle) < memory else (low, middle)
    values = {"params": most, "memory": memory, "bytes_per_param": 16.0}
    names = {each.name: each for each in max_params.omissions}
    told = names["activations_of_a_sequence"].value(values)
    assert low / most - 1 <= told + 1e-6 <= 0
    assert names["activations_of_a_sequence"].value({**values, "bytes_per_param": 2.0}) == 0
