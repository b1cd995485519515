"""Answers of exercises on serving, sequences, experts and what a run waits for, as printed."""

from __future__ import annotations

import math

import pytest

from tests.website.test_exercise_answers import BIG, CARD, H100, H100_BUS, agrees, numbers_of

PROMPT, CONTEXT, CACHE = 16384, 16384 + 256, 327.7e3
READING = (2 * BIG * PROMPT + 2 * PROMPT**2 * 64 * 128 * 80) / (8 * H100)
WRITING = (2 * BIG + 64 * CONTEXT * CACHE) / (8 * H100_BUS)
SCATTERED = 4 * 20 - 12 * (1 - 0.75**20)
TWO, FOUR = (64 * (1 - (60 / 64) ** tokens) / 4 for tokens in (2, 4))
EMPTY = 0.98**16 + 0.02**16
PAUSED = 1 - (1 - 1 / 500) ** 2048
GATHER = 2 * 70.55 / 8 * 63 / 64  # GB through a card, of the weights that TP leaves a GPU
GATHERED = 2 * 8 * 128 * 2 * 8192 * 7  # keys and values of a layer, from seven other ranks
COPIES = 8 * 4096 * 7168 * 2  # of 4,096 tokens for eight experts, in bf16
VISITED = 8 * (1 - 0.875**8)  # of eight nodes, by eight experts drawn evenly
EXPERTS = "expert-and-context-parallelism"
CASES: list[tuple[str, str, tuple[float, ...]]] = [
    ("serving", "Prompts grow", (READING, WRITING, 8 * WRITING, READING / (8 * WRITING))),
    ("serving", "A router deals", (SCATTERED, 300 * SCATTERED, 300 * 20)),
    ("inference", "A mixture has", (TWO, FOUR, 18 / (4 + 6 * TWO), 29.52 / (4 + 6 * FOUR))),
    ("reinforcement-learning", "An actor answers", (EMPTY, 1 / (1 - EMPTY))),
    ("profiling", "On a TPU", (4096 * 128 * 2, 100 * 48 / 128)),
    ("data-parallelism", "In Mixtral 8x7B", (8795, 2199 * 46.7 / 13)),
    ("mixed-parallelism", "At the best split on", (1.5 / math.sqrt(2), 2048 / 2.25)),
    ("mixed-parallelism", "From which batch", (765 * 1024, 765**2 / 244.9 * 1024)),
    ("racks", "One sequence of", (1e6 / (2205 + 160 * 42.6), 1e6 / (1102 + 160 * 42.6))),
    ("mixed-parallelism", "A TP group of", (16, GATHER, 16 * GATHER, 2 * GATHER)),
    ("reliability-and-energy", "Each of 2,048", (PAUSED, 5 + 0.3 * PAUSED, 6 * PAUSED)),
    ("low-precision", "Llama-3-8B went", (6667 / 8532, 2 * (1.03 - 6667 / 8532))),
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
