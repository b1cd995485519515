"""Answers of exercises on kernels, on what overlaps with them, and on options of frameworks."""

from __future__ import annotations

import math

import pytest

from flopbook.hardware.chip import chip
from flopbook.ledger.rows import ledger_row
from tests.website.test_exercise_answers import (
    BIG,
    CHIP_TO_CHIP,
    GB200,
    H100,
    H100_BUS,
    PCIE,
    SMALL,
    agrees,
    lost,
    numbers_of,
)

CASES: list[tuple[str, str, tuple[float, ...]]] = [
    ("reliability-and-energy", "A run trains", (12e6, 9e6, 375e6, 1875, 7.5)),
    ("inference", "On four chips", (8.5e-3, round(100 * 1 / 8.5), round(100 * 3.5 / 6), 48 / 38)),
    ("inference", "At which TP", (160 * 12e-6, 140e9 / (160 * 12e-6 * H100_BUS), 320 * 12e-6)),
    ("from-plan-to-flags", "A Megatron-LM script", (8 * 4 * 2, 512 / 64, 256 / 8)),
    ("from-plan-to-flags", "Write the plan", (512 / 4, 512 / (512 / 4), 1 / 4)),
    ("from-plan-to-flags", "DeepSpeed is given", (64 / 4, 64 / 4 * 2, 512 / 32)),
    (
        "from-plan-to-flags",
        "A recipe of AutoModel",
        (80 / 4 / 4, 128 / (4 * 2), round(lost(4, 4, 5)), 128 / 2, round(lost(4, 64, 5), 1)),
    ),
    ("from-plan-to-flags", "A mixture runs in", (32 * 1 * 2 / 16,)),
    ("from-plan-to-flags", "GPUs are numbered", (4 * 16, 4 * 16 / 8, 4)),
    ("from-plan-to-flags", "A mixture with 8", (16 - 1, 8 * (1 - 1 / 16))),
    (
        "from-plan-to-flags",
        "The interleaved schedule",
        (round(lost(8, 32, 10), 1), lost(8, 32), 79),
    ),
    ("from-plan-to-flags", "You move a MaxText", (2 * BIG / 256, 2 * BIG / 256 * 1.5)),
    ("kernels", "A vector register", (256 / 16, math.ceil(1000 / 16), 100 * 1000 / (63 * 16))),
    ("kernels", "Five elementwise", (5 * 2e9 / H100_BUS, 2e9 / H100_BUS)),
    (
        "kernels",
        "Tiles of 128",
        (32 * 32, 33 * 33, 100 * 1024 / (8 * 132), 100 * 1089 / (9 * 132), 3.1),
    ),
    (
        "overlap-and-offloading",
        "Llama 3 8B writes",
        (320 * 260e-6 / 80, 2 * SMALL / H100_BUS, 2 * SMALL / H100_BUS / 8, 320 * 70e-6 / 80),
    ),
    ("overlap-and-offloading", "A kernel works", (100 * 5e-6, 2e-6 + 100 * 3e-6)),
    ("overlap-and-offloading", "All weights of", (H100 / PCIE, PCIE / (2 * SMALL))),
    ("overlap-and-offloading", "A step has", (30, 50 / 30, 1.1)),
    ("overlap-and-offloading", "Adam on the", (28 * H100 / (6 * 300e9),)),
    (
        "kernels",
        "A single sequence",
        (2**29, 2**29 / (8 * 60e9), H100_BUS / 60e9, H100_BUS / 60e9 / 8, 7, 2**29 / H100_BUS),
    ),
    ("kernels", "Two blocks of", (2 / math.e**2 + 1, (4 / math.e**2 + 5) / (2 / math.e**2 + 1))),
    (
        "overlap-and-offloading",
        "A message takes",
        (math.sqrt(80), 1e-3 + 0.8e-3 / 9 + 9e-5, 1.8e-3 / (1e-3 + 0.8e-3 / 9 + 9e-5)),
    ),
    (
        "overlap-and-offloading",
        "Which of Llama",
        (34 * H100 / (24 * PCIE), 34 * GB200 / (24 * CHIP_TO_CHIP)),
    ),
    ("from-plan-to-flags", "A mixture is", (8 * 2, 8 * 64)),
    ("from-plan-to-flags", "A model with", (0.92 * 80e9 - 26e9, 0.9 * 54e9, 47.6 / 54)),
]


@pytest.mark.parametrize(
    ("chapter", "opening", "values"), CASES, ids=[f"{one}: {two}" for one, two, _ in CASES]
)
def test_an_answer_on_kernels_is_what_the_printed_numbers_give(
    chapter: str, opening: str, values: tuple[float, ...]
) -> None:
    shown = numbers_of(chapter, opening)
    assert [value for value in values if not agrees(value, shown)] == []


def test_exponentials_take_half_as_long_as_the_products_of_attention() -> None:
    """For heads of 128, as the authors of the third version say."""
    rate = ledger_row("flash3-exponentials").stated.si_value
    assert rate is not None
    products = 4 * 128 / chip("h100-sxm").peak("bf16")
    assert 1 / rate / products == pytest.approx(0.5, abs=0.01)
    assert products / (products + 1 / rate) == pytest.approx(0.67, abs=0.005)
