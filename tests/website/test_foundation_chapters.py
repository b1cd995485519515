"""Statements of the chapters from why-compute to fsdp that were wrong once, with what is right."""

from __future__ import annotations

import numpy as np
import pytest

from flopbook import model_ids
from flopbook.architectures.shape import Shape, shape
from flopbook.evaluation.calculator import calculate
from scripts.website.figures.mfu_kinds import kinds
from tests.support.rendering import text_of


@pytest.mark.parametrize("doublings", [0, 1, 3])
def test_a_doubling_at_the_critical_batch_saves_a_quarter_of_the_steps_at_most(
    doublings: int,
) -> None:
    """S = 1 + B_c / B and D = 1 + B / B_c, from B_c on; both chapters say so."""
    batch = 2.0**doublings
    steps = (1 + 1 / (2 * batch)) / (1 + 1 / batch)
    tokens = (1 + 2 * batch) / (1 + batch)
    assert steps >= 3 / 4
    assert tokens >= 3 / 2
    for chapter in ("batch", "data-parallelism"):
        assert "saves a quarter of the steps at most" in text_of(chapter)


def test_the_steps_of_the_opening_question_follow_from_printed_numbers() -> None:
    """2 for each of 1,024 tokens and 4 for each of 2,474, against 6 for each of 8,192."""
    assert pytest.approx(12_000, rel=0.01) == 2 * 1024 + 4 * 2474
    assert pytest.approx(49_000, rel=0.01) == 6 * 8192
    assert "That makes about {{ kept_step" in text_of("batch")


def test_the_assumed_share_of_the_peak_lies_in_the_upper_part_of_the_middle_half() -> None:
    """40 percent by the rule of six, with the attention of a 70B model at 8,192 tokens added."""
    model = calculate("params", model="llama-3-70b")
    counted = 0.4 * (1 + 12 * 8192 * 80 * 8192 / (6 * model["compute"]))
    dense = next(row for row in kinds() if (row.family, row.bits) == ("dense", "16 bits"))
    assert dense.middle < counted < dense.high


@pytest.mark.parametrize(("chips", "topology"), [(8, "ring"), (64, "ring"), (8, "switch")])
def test_w_is_what_a_chip_receives_along_an_axis_one_way(chips: int, topology: str) -> None:
    """Two links of 100 GB/s on a ring of v5p, a port of 450 GB/s at the switch of a node."""
    name, rate = ("tpu-v5p", 200e9) if topology == "ring" else ("h100-sxm", 450e9)
    options: dict[str, object] = {"startup": 0, "ramp": 0, "efficiency": 1, "topology": topology}
    if topology == "ring":
        options["axes"] = 1
    gathered = calculate(
        "collective", chip=name, chips=chips, op="all-gather", bytes=1e9, **options
    )
    assert gathered["bandwidth_seconds"] == pytest.approx(1e9 / rate * (1 - 1 / chips), rel=1e-6)
    assert r"\frac{V}{w} \left( 1 - \frac{1}{N} \right)" in text_of("sharded-matrices")


def by_seven_numbers(model: Shape, tables: int) -> float:
    """Parameters of a gated dense model from its widths, heads, layers and vocabulary."""
    names = ("d_model", "d_ff", "heads", "kv_heads", "layers", "vocab")
    wide, inner, heads, shared, layers, vocab = (float(model.size(name)) for name in names)
    head = float(model.size("head_dim") or wide / heads)
    layer = 2 * wide * head * (heads + shared) + 3 * wide * inner + 2 * wide
    return layers * layer + tables * vocab * wide + wide


@pytest.mark.parametrize(
    ("name", "tables"),
    [("llama-3-8b", 2), ("qwen-2.5-32b", 2), ("qwen-3-0.6b", 1), ("gemma-3-1b", 1)],
)
def test_seven_numbers_need_to_know_whether_a_table_is_shared(name: str, tables: int) -> None:
    """They give the parameters then; a table counted twice adds a quarter to a small model."""
    model = shape(name)
    assert by_seven_numbers(model, tables) == pytest.approx(float(model.params), rel=0.001)
    if tables == 1:
        assert by_seven_numbers(model, 2) > 1.25 * float(model.params)
    assert "and whether input and output share a table" in text_of("transformers")


def test_no_model_of_the_data_has_more_tokens_for_a_parameter_than_the_chapter_says() -> None:
    """15 trillion tokens for 8 billion are far from the most."""
    ratios = []
    for name in model_ids():
        model = shape(name)
        active = "active_params" if model.records("active_params") else "params"
        if model.records("tokens") and (tokens := model.size("tokens")) is not None:
            ratios.append(float(tokens) / float(getattr(model, active)))
    assert 10_500 < max(ratios) < 11_500
    assert "up to eleven thousand in our data" in text_of("why-compute")


def test_a_product_takes_two_operations_for_each_combination_of_its_letters() -> None:
    """NumPy counts the same for the scores of all heads: the letter of the heads once."""
    tokens, read, heads, width = 8, 16, 4, 32
    queries, keys = np.zeros((tokens, heads, width)), np.zeros((read, heads, width))
    _, report = np.einsum_path("thd,shd->tsh", queries, keys)
    counted = float(str(report).split("Naive FLOP count:")[1].split()[0])
    assert counted == pytest.approx(2 * tokens * read * heads * width, rel=1e-3)
    assert "counts once: $2 T S H d$" in text_of("transformers")
