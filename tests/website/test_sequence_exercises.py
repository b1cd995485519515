"""Answers of exercises on experts, sequences, overlap and served loads, from what they print."""

from __future__ import annotations

import pytest

from tests.website.test_exercise_answers import CARD, agrees, numbers_of

GATHERED = 2 * 8 * 128 * 2 * 8192 * 7  # keys and values of a layer, from seven other ranks
COPIES = 8 * 4096 * 7168 * 2  # of 4,096 tokens for eight experts, in bf16
VISITED = 8 * (1 - 0.875**8)  # of eight nodes, by eight experts drawn evenly
EXPERTS = "expert-and-context-parallelism"
CASES: list[tuple[str, str, tuple[float, ...]]] = [
    ("context-parallelism", "A sequence of", (262144 / 16, 32, 262144 / 32)),
    ("context-parallelism", "Keys and values of", (GATHERED, GATHERED / CARD)),
    ("context-parallelism", "A model has 32", (24, 54, 120, 90, 32 / 3)),
    (EXPERTS, "A rank works on", (COPIES, 1.6 * COPIES, 58 * COPIES, 58 * 1.6 * COPIES)),
    (EXPERTS, "A token visits", (VISITED, 8 / 3, VISITED / 3)),
    ("kernels", "Eight experts of", (21, 336, 24, 63, 3)),
    ("overlap-and-offloading", "A decoding step reads", (19.04e-3, 27.2e-3, 1.38, 100)),
    ("serving", "SGLang generates", (14.1, 795.3 / 509)),
]


@pytest.mark.parametrize(
    ("chapter", "opening", "values"), CASES, ids=[f"{one}: {two}" for one, two, _ in CASES]
)
def test_an_answer_follows_from_what_is_printed(
    chapter: str, opening: str, values: tuple[float, ...]
) -> None:
    shown = numbers_of(chapter, opening)
    missing = [value for value in values if not agrees(value, shown, 0.006)]
    assert not missing, (missing, shown)
