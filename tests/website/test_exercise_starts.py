"""What an exercise starts from is printed: in its question, or in the chapter above it.

A reader with paper and Python must not have to guess the bandwidth of a chip or the layers of a
model. Values are given to four digits; two digits of running text are too few to start from.
"""

from __future__ import annotations

import functools
import re

import pytest

from scripts.website.pages.prose import render
from tests.website.test_exercise_answers import (
    BIG,
    CARD,
    GB200_BUS,
    GB200_MEMORY,
    H100,
    H100_BUS,
    H100_FP8,
    HANDBOOK,
    HUGE,
    NVLINK,
    PCIE,
    SMALL,
    agrees,
    exercises_of,
)

EXPERTS, CONTEXT = "expert-and-context-parallelism", "context-parallelism"
INPUTS: list[tuple[str, str, tuple[float, ...]]] = [
    (EXPERTS, "How wide must", (2.5e15, 900e9, 2048)),
    (CONTEXT, "Ring attention of", (312e12, 300e9)),
    (CONTEXT, "Llama 3 70B (64", (H100, CARD, 131072, 64, 8, 128)),
    ("choosing-a-configuration", "How many chips of", (BIG, 80e9)),
    ("choosing-a-configuration", "How long would", (HUGE, 15.6e12, H100)),
    ("choosing-a-configuration", "The same for", (HUGE, 126, 16384, 53248)),
    ("choosing-a-configuration", "Suppose nodes of", (2.5e15, 186e9, 900e9, 53248)),
    ("low-precision", "FSDP gathers", (H100_FP8, CARD)),
    ("inference", "The same service", (80e9, 141e9, H100_BUS, 4.8e12)),
    ("low-precision", "Where does the", (H100_FP8, H100_BUS)),
    ("inference", "At best, how", (SMALL, H100_BUS)),
    ("inference", "A service of", (H100_BUS, 8192)),
    ("serving", "How many prompt", (BIG, H100, 64, 8.592e-3)),
    ("serving", "Prompts grow", (BIG, H100, H100_BUS, 80, 64, 128, 327.7e3)),
    ("serving", "DeepSeek-V3 runs", (1.979e15, 4.8e12)),
    ("racks", "How much memory", (GB200_MEMORY, HUGE)),
    ("racks", "One sequence of", (BIG, GB200_BUS)),
    ("racks", "How wide would", (H100, NVLINK, CARD)),
    ("reinforcement-learning", "How many bytes", (BIG, CARD)),
    ("reinforcement-learning", "The answers of", (8e-3, 12.04e-3, 4096)),
    ("kernels", "Five elementwise", (H100_BUS, 1e9)),
    ("overlap-and-offloading", "Llama 3 8B writes", (SMALL, H100_BUS, 32, 3.25e-6)),
    ("overlap-and-offloading", "All weights of", (H100, PCIE)),
    ("kernels", "The 132 tiles", (H100, H100_BUS)),
    ("profiling", "A log shows", (BIG, H100, 80, 8192)),
    ("landscape", "From NVIDIA Tesla", (125e12, 4e15, 35e15)),
    ("kernels", "An elementwise kernel", (5e8, H100_BUS)),
    ("overlap-and-offloading", "Gradients of", (8e9, PCIE)),
    ("landscape", "How long does", (7.7e12, 21e15, 819e9, 180e9)),
    ("landscape", "NVIDIA H20", (148e12, 4e12, 918e12, 1.64e12)),
    ("landscape", "How many of", (BIG, 230e6, 80e12)),
]


@functools.cache
def above(chapter: str) -> str:
    """The text of a chapter before its exercises."""
    path = HANDBOOK / f"{chapter}.md"
    source = path.read_text(encoding="utf-8").partition("\n## Exercises")[0]
    forms = {"form": lambda *names, **inputs: ""}
    text = render(source, f"handbook/{path.name}", str(path), forms)
    return re.sub(r"<svg.*?</svg>|</?[a-z][^>]*>", "", text, flags=re.S)


def numbers(text: str) -> list[float]:
    """All numbers that a text prints."""
    found = re.findall(r"\d[\d,]*\.?\d*(?:e\d+)?", text)
    return [float(number.replace(",", "").rstrip(".")) for number in found]


@pytest.mark.parametrize(
    ("chapter", "opening", "values"), INPUTS, ids=[f"{one}: {two}" for one, two, _ in INPUTS]
)
def test_what_an_exercise_starts_from_is_printed(
    chapter: str, opening: str, values: tuple[float, ...]
) -> None:
    whole = [text for text in exercises_of(chapter).values() if text.startswith(opening)]
    assert len(whole) == 1
    question = whole[0].partition("??? success")[0]
    shown = numbers(above(chapter)) + numbers(question)
    missing = [value for value in values if not agrees(value, shown, 0.004)]
    assert not missing, (missing, question)


def test_two_digits_are_too_few_to_start_from() -> None:
    assert not agrees(H100_BUS, numbers("3.4 TB/s"), 0.004)
    assert agrees(H100_BUS, numbers("3.35 TB/s"), 0.004)
