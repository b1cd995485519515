"""Answers of exercises, computed anew from what the questions and chapters print.

Nothing here calls a calculator: a reader with paper and Python gets the same numbers. A value is
looked for among the numbers of its exercise, up to a prefix such as kilo or milli.
"""

from __future__ import annotations

import functools
import math
import re
from pathlib import Path

import pytest

from scripts.website.pages.prose import render

HANDBOOK = Path(__file__).resolve().parents[2] / "docs" / "handbook"
# What is printed of chips and models: peaks in bf16, memory, bandwidth, ports, parameters.
H100, H100_FP8, H100_BUS, NVLINK, CARD = 989.4e12, 1978.9e12, 3.35e12, 450e9, 50e9
V5P, V5P_PORT, V5P_MEMORY = 459e12, 600e9, 102e9
GB200, GB200_PORT, GB200_MEMORY, GB200_BUS = 2.5e15, 900e9, 186e9, 8e12
SMALL, BIG, HUGE = 8.03e9, 70.55e9, 405.9e9
PCIE, CHIP_TO_CHIP = 64e9, 450e9


@functools.cache
def exercises_of(chapter: str) -> dict[str, str]:
    """Every exercise with its answer, by the words that it opens with."""
    path = HANDBOOK / f"{chapter}.md"
    source = path.read_text(encoding="utf-8")
    before, _, rest = source.partition("\n## Exercises")
    settings = re.findall(r"^\{% set .*?%\}$", before, re.M | re.S)
    questions = rest.partition("\n### Project")[0]
    text = render("\n".join(settings) + questions, f"handbook/{path.name}", str(path), {})
    plain = re.sub(r"</?[a-z][^>]*>", "", text)
    found = re.split(r"Exercise \d+ *(?:easy|medium|hard) *", plain)[1:]
    return {" ".join(one.split())[:200]: " ".join(one.split()) for one in found}


def numbers_of(chapter: str, opening: str) -> list[float]:
    """All numbers of an exercise, question and answer."""
    found = [text for text in exercises_of(chapter).values() if text.startswith(opening)]
    assert len(found) == 1, (opening, list(exercises_of(chapter)))
    digits = re.findall(r"\d[\d,]*\.?\d*(?:e\d+)?", found[0])
    return [float(one.replace(",", "").rstrip(".")) for one in digits]


def agrees(value: float, shown: list[float], tolerance: float = 0.012) -> bool:
    """Whether a number is shown, with or without a prefix of its unit."""
    wanted = [abs(value) * 10.0 ** (3 * power) for power in range(-5, 8)]
    return any(math.isclose(one, each, rel_tol=tolerance) for one in shown for each in wanted)


def lost(stages: float, batches: float, chunks: float = 1) -> float:
    """Share of a step that the bubble takes, in per cent."""
    fill = (stages - 1) / chunks
    return 100 * fill / (batches + fill)


def calibrated(logs: tuple[float, ...], sources: float = 0.15) -> tuple[float, float, float]:
    """Variance of some runs, the weight of their mean, and the factor."""
    mean = sum(logs) / len(logs)
    variance = sum((one - mean) ** 2 for one in logs) / (len(logs) - 1)
    weight = sources**2 / (sources**2 + variance / len(logs))
    return variance, weight, math.exp(mean * weight)


def ring_tokens(peak: float, link: float, heads: int, kv_heads: int) -> float:
    """Tokens of a rank for which a causal ring hides, in bf16."""
    return 2 * 2 * peak * kv_heads / (2 * link * heads)


GAIN = 128 / 100
RING = ring_tokens(H100, CARD, 64, 8)
TO_HEADS = (2 * 64 * 63 / 64 + 2 * 63) * 2 * 131072 / 64 * 128
LLAMA_FLOP = 6 * HUGE * 15.6e12
LLAMA_TIME = LLAMA_FLOP / (16384 * 0.4 * H100)
INPUTS_70B, INPUTS_405B = 80 * 8192 * 8192 * 2, 126 * 8192 * 16384 * 2
AGREED, SCATTERED = (
    calibrated((-0.10, -0.14, -0.12, -0.08)),
    calibrated((-0.40, 0.25, -0.30, 0.01)),
)
NARROW = 1184 / 800
CACHE_8B, CACHE_70B = 2 * 8 * 128 * 32 * 2, 2 * 8 * 128 * 80 * 2
ROOM = 640e9 - 2 * BIG
ROUTED = (671 - 37) / (1 - 8 / 256)
OUTSIDE = 10.91 * 18 * 56 / 63  # µs; 10.91 are the copies to the 63 other ranks
HARMONIC = sum(1 / one for one in range(1, 33))
TOKEN_FLOP = 6 * BIG + 6 * 80 * 8192 * 8192
SAVING, FAILING = 12 * HUGE / 2e12, 2.062 * 86400 / 16
BEST = math.sqrt(2 * SAVING * FAILING)
RUN_ENERGY = LLAMA_FLOP / (0.4 * H100) * 1275 * 1.1
LPU = 307 * 80e12
# Variance of a token and squared length of the whole gradient, of 64 ranks of 16,384 tokens each.
NOISE = 2.4 / (1 / 2**14 - 1 / 2**20), (0.1 * 2**20 - 2.5 * 2**14) / (2**20 - 2**14)

# sequences times chips at which all-reduces of a layer take as long as reading it
REDUCED = 2 * BIG / 80 * NVLINK / (8 * 8192 * H100_BUS)
CASES: list[tuple[str, str, tuple[float, ...]]] = [
    ("pipeline-parallelism", "What share is lost", (lost(4, 8), lost(4, 16))),
    (
        "networks",
        "Each of 8 GPUs",
        (2e-6 + 7 * 64e3 / NVLINK, 28e-6 + 1.75 * 64e3 / NVLINK, 26e-6 * NVLINK / 5.25),
    ),
    (
        "context-parallelism",
        "A packed sequence has",
        (100 * 64 / 65, 15 / 64, 8 * (15 / 64 * 64 / 65 + 1 / 65 / 8)),
    ),
    ("tensor-parallelism", "Under sequence parallelism", (161, 161 * 8192 * 4)),
    (
        "accelerators",
        "A weight matrix of",
        (2**29 / PCIE, 2**29 / H100, H100 / PCIE),
    ),
    ("batch", "In a run over", (NOISE[0], NOISE[0] / NOISE[1], 1 + NOISE[0] / NOISE[1] / 2**20)),
    ("pipeline-parallelism", "How many micro-batches keep", (7 * 0.95 / 0.05,)),
    ("pipeline-parallelism", "With 16 stages", (15 * 0.95 / (64 * 0.05), lost(16, 64, 5))),
    ("pipeline-parallelism", "Between two stages", (H100 / CARD / 12,)),
    ("pipeline-parallelism", "Passes take", (39 * 29e-3, 32 * 29e-3 + 7 * (10 + 11 - 8) * 1e-3)),
    ("pipeline-parallelism", "A batch has 256", (lost(8, 8), lost(32, 32))),
    (
        "pipeline-parallelism",
        "Interleaving raised",
        (GAIN, (7 - 3.5 * GAIN) / (GAIN - 1), 7 / (GAIN - 1), 100 * (39 / 32 - 1)),
    ),
    ("pipeline-parallelism", "Show that the bubble", (lost(4, 8),)),
    ("pipeline-parallelism", "A pipeline of 8", (lost(8, 32), lost(16, 32))),
    ("expert-and-context-parallelism", "A rank holds 4", (4 / 64, 2000 * (1 - 4 / 64))),
    ("expert-and-context-parallelism", "How many weights", (46.7 - 13, 100 * (1 - 13 / 46.7))),
    (
        "expert-and-context-parallelism",
        "A batch of 16",
        (100 * (1 - (1 - 8 / 256) ** 16), 100 * (1 - (1 - 8 / 256) ** 128)),
    ),
    (
        "expert-and-context-parallelism",
        "How wide must",
        (2 * GB200 / (3 * GB200_PORT), GB200 / (3 * GB200_PORT)),
    ),
    ("context-parallelism", "Ring attention", (312e12 / 300e9,)),
    ("context-parallelism", "Six ranks", (0.5 + 5, 0.5 + 2, round(100 * 3 / 5.5), 6 / 2)),
    (
        "context-parallelism",
        "Llama 3 70B",
        (
            RING,
            math.floor(131072 / RING),
            math.floor(2 * 131072 / RING),
            TO_HEADS,
            TO_HEADS / CARD,
            4 * 131072**2 / 2 * 64 * 128 / 64 / H100,
        ),
    ),
    ("expert-and-context-parallelism", "A mixture and", (round(671 / 37), 256 / 8)),
    ("expert-and-context-parallelism", "A router sends", (0.3 * 8,)),
    ("data-parallelism", "A chip runs 4", (H100 / NVLINK / 4, 100 * 3 / 6)),
    ("choosing-a-configuration", "A run uses", (8 * 12 * 32, 1024 / 32)),
    (
        "choosing-a-configuration",
        "How many chips of",
        (18 * BIG, math.ceil(18 * BIG / 80e9), math.ceil(18 * BIG / 80e9 / 8)),
    ),
    (
        "choosing-a-configuration",
        "The first run",
        (
            lost(16, 32, 8),
            lost(16, 16, 8),
            (1 - lost(16, 32, 8) / 100) / (1 - lost(16, 16, 8) / 100),
            430 / 400,
        ),
    ),
    ("choosing-a-configuration", "How long would", (LLAMA_TIME / 86400, LLAMA_TIME * 16384 / 3600)),
    ("choosing-a-configuration", "The long sequences", (16384 / (8 * 16 * 16), 16, 131072 / 16)),
    (
        "choosing-a-configuration",
        "Count the parameters",
        (3 * 8192 * 28672 * 80, (2 * 8192 * 64 * 128 + 2 * 8192 * 8 * 128) * 80, 2 * 128256 * 8192),
    ),
    (
        "choosing-a-configuration",
        "How many FLOPs",
        (6 * BIG * 15e12, 6 * BIG * 15e12 / (6144 * 0.4 * V5P) / 86400),
    ),
    (
        "choosing-a-configuration",
        "How many of these",
        (16 * BIG, INPUTS_70B / 8192, 512 * INPUTS_70B, (16 * BIG + 512 * INPUTS_70B) / V5P_MEMORY),
    ),
    ("choosing-a-configuration", "Can FSDP alone", (4 * 2**20 / 6144, V5P / V5P_PORT)),
    (
        "choosing-a-configuration",
        "The same for",
        (
            LLAMA_FLOP,
            LLAMA_FLOP / (6144 * 0.4 * V5P) / 86400,
            16 * HUGE,
            512 * INPUTS_405B,
            math.ceil((16 * HUGE + 512 * INPUTS_405B) / V5P_MEMORY),
        ),
    ),
    (
        "choosing-a-configuration",
        "Suppose nodes",
        (
            math.floor(1.5 * 53248 * GB200_PORT / GB200),
            math.ceil(18 * HUGE / GB200_MEMORY),
            GB200 / GB200_PORT,
            16384 * H100 / GB200,
            1024 * GB200 / H100,
        ),
    ),
    (
        "choosing-a-configuration",
        "In the table",
        (2 * 6 * HUGE * 8192 * 16 * 128 / (16384 * H100), 6 * HUGE / 128 * 63 / 64),
    ),
    ("prediction", "A prediction of", (8 / 1.25, 8 * 1.25)),
    ("prediction", "Predicted are", (100 * (1200 / 1000 - 1), math.log(1.2), 17)),
    ("prediction", "A part takes", (6 * 0.5, 6 * (1 - 1 / 1.5))),
    ("prediction", "Matmuls reach", (8192 / 8342, 512 / 662, 8192 / 8342 * 662 / 512)),
    ("prediction", "Three publications", (math.exp(1.28 * 0.2), 900 / 11, math.exp(0.1))),
    ("prediction", "Four runs", AGREED),
    ("prediction", "The same, with", SCATTERED),
    ("prediction", "One parameter", (100 * 0.0225 / 0.0325, 100 * 0.225 / 0.235)),
    ("low-precision", "What is the largest", (448, 448 / 14)),
    ("low-precision", "How many bits", (8 + 8 / 32, 4 + 8 / 16)),
    ("low-precision", "Linear layers take", (1 / (0.4 + 0.3 + 0.04),)),
    (
        "low-precision",
        "Llama-3.1-405B went",
        (1 / NARROW, 2 * (1 - 1 / NARROW), 1 - 2 * (1 - 1 / NARROW)),
    ),
    ("low-precision", "A tensor has", (2**-6 * 600 / 448,)),
    ("low-precision", "Where does", (H100_FP8 / (2 * H100_BUS), H100_FP8 / H100_BUS)),
    ("low-precision", "FSDP gathers", (H100_FP8 / (2 * 8 * CARD), H100_FP8 / (8 * CARD))),
    ("low-precision", "A sum of", (2**8, 2**8 / 2, 4096 / 128)),
    ("inference", "How many sequences", (math.floor((80e9 - 2 * SMALL) / (CACHE_8B * 8192)),)),
    ("inference", "How many bytes", (CACHE_8B, CACHE_8B / 2)),
    ("inference", "At best, how", (H100_BUS / (2 * SMALL), H100_BUS / (0.5 * SMALL))),
    (
        "inference",
        "A service of",
        (math.floor(ROOM / (CACHE_70B * 32768)), math.floor(ROOM / (CACHE_70B * 8192))),
    ),
    (
        "inference",
        "The same service",
        (
            11433 / 7800,
            4.8 / 3.35,
            141 / 80,
            math.floor((8 * 141e9 - 2 * BIG) / (CACHE_70B * 8192)),
        ),
    ),
    (
        "inference",
        "A draft is",
        (
            1 + 0.6 + 0.36,
            1.96 / 1.2,
            (1 - 0.6**7) / 0.4,
            (1 - 0.6**7) / 0.4 / 1.6,
            max((1 - 0.6 ** (n + 1)) / 0.4 / (1 + n / 10) for n in range(1, 7)),
            *(round(100 * 0.6**tokens) for tokens in (4, 6)),
        ),
    ),
    ("inference", "Llama 2 7B takes", (8 / 7 * 6.488, 9.533 - 8 / 7 * 6.488, 2 * 6.738 / 2.039)),
    (
        "inference",
        "DeepSeek-V3 keeps",
        (576 * 61 * 2 * 131072, 2 * 8 * 128 * 126 * 2 * 131072, 8.456),
    ),
    ("inference", "Find the number", (139e9 / CACHE_70B, 15.01e9 / CACHE_8B)),
    ("inference", "Weights of", (5.187 / 4,)),
    ("serving", "A server writes", (24 / 3600 / 2000 * 1e6, 24 / 3600 / 2000 * 1e6 / 0.4)),
    ("serving", "A service receives", (5 * 12,)),
    ("serving", "A chat has", (300 * 20 * 21 / 2, 300 * 20, 21 / 2)),
    ("serving", "How many prompt", (50 - 8.592, (50e-3 - 8.592e-3) / 17.83e-6, 2322 + 64)),
    ("serving", "Over which network", (1.342e9 / 73.63e-3,)),
    (
        "serving",
        "DeepSeek-V3 runs",
        (128 * 64 * 8 / 256, 1.979e15 / (2 * 4.8e12), math.ceil(206.15 * 256 / 8 / 64)),
    ),
    ("serving", "At 70 percent", (0.9 / 0.1, round(100 * (1 - 0.7 / 0.9)))),
    ("racks", "How many of the", (256 / 16, 256 / 64)),
    ("racks", "What share of", (8 / 32,)),
    ("racks", "How much memory", (72 * GB200_MEMORY, 72 * GB200_MEMORY / (2 * HUGE))),
    ("racks", "Which TP degrees", (1, 2, 4, math.gcd(72, 128))),
    ("racks", "One sequence", (8 * GB200_BUS / (2 * BIG), 16 * GB200_BUS / (2 * BIG))),
    ("racks", "How wide would", (2 * H100 / (3 * NVLINK), 2 * H100 / (3 * CARD))),
    ("racks", "DeepSeek-V3 trains", (4256 / 3328, 4256 / 3328 / (2.5 / 2.25))),
    ("racks", "A rack fails", (200 / 32,)),
    ("racks", "At which number", (ROUTED, 671 - ROUTED, round(ROUTED / (671 - ROUTED)))),
    ("racks", "The exchange in", (OUTSIDE, round(2 * 3301 / (OUTSIDE - 17.99)))),
    ("reinforcement-learning", "A step has", (128 * 16 * 4096, 128 * 16 * 4096 / 64)),
    ("reinforcement-learning", "Which share of the FLOPs", (round(100 * 2 / 12),)),
    ("reinforcement-learning", "How many bytes", (2 * BIG, 2 * BIG / CARD, 2 * BIG / (8 * CARD))),
    ("reinforcement-learning", "Generation takes", (0.71, 30 / (1 - math.sqrt(0.5)), 90 / 120)),
    ("reinforcement-learning", "Answers are", (HARMONIC, round(100 / HARMONIC))),
    ("reinforcement-learning", "The answers of", (8704 / 4608, 17.95 * 8704 / 4608)),
    ("reinforcement-learning", "NVIDIA measured", (round(1 - 70 / 152, 2), 192 - 70, 152 / 122)),
    ("reinforcement-learning", "Generating pools", (70 * 0.5,)),
    ("reinforcement-learning", "Weights are sent", (2 * SMALL / CARD,)),
    ("reinforcement-learning", "The engines write", (2048 * 6 / 60, 205, 512 / 204.8, 18)),
    ("profiling", "A log shows", (105e3 * TOKEN_FLOP / H100, 105e3 * 6 * BIG / H100)),
    ("profiling", "An all-gather", (400e6 * 7 / 8 / 2e-3, round(100 * 175 / 450))),
    ("profiling", "Which share of", (round(50 / 0.7), round(50 / 0.7 * 7 / 6), 17)),
    ("profiling", "Eight ranks", (14, 4)),
    ("profiling", "A stage of", ((32 * 1.1 + 7) / 39, 8)),
    ("profiling", "Of 4,096 ranks", (round(1 - 0.9999**4096, 2), 34)),
    ("profiling", "A trace shows", (10 * 0.2, 5 - 2)),
    ("reliability-and-energy", "A run loses", (60 / 0.96,)),
    ("reliability-and-energy", "A checkpoint takes", (2, 100 * (300 / 7200 + 3600 / 86400))),
    (
        "reliability-and-energy",
        "A run saves twice",
        (
            round(100 * (2 * SAVING / BEST + BEST / 4 / FAILING), 1),
            round(100 * (SAVING / BEST + BEST / 2 / FAILING), 1),
        ),
    ),
    (
        "reliability-and-energy",
        "How fast must",
        (
            2e-4 * FAILING * 16384 / 1e5,
            12 * HUGE / (2e-4 * FAILING * 16384 / 1e5),
            12 * HUGE / 1e5 / 25e9,
        ),
    ),
    ("reliability-and-energy", "A run on 16,384", (419 * 16384 * 600 / 3600, 2.3)),
    (
        "reliability-and-energy",
        "Utilisation rises",
        (RUN_ENERGY, 0.8 * RUN_ENERGY, 100 * 70 / 1275),
    ),
    ("landscape", "A data sheet", (H100,)),
    ("landscape", "Google Cloud TPU v5p is", (V5P_PORT / NVLINK,)),
    (
        "landscape",
        "A quantity grows",
        (math.log(2) / math.log(1.4), math.log(2) / math.log(1.6), math.log(2) / math.log(1.2)),
    ),
    ("landscape", "From NVIDIA Tesla", (35e15 / 125e12, 4e15 / 125e12, 35 / 4)),
    ("landscape", "NVIDIA H20", (148e12 / 4e12, 148e12 / 1.64e12, 918 / 148)),
    ("landscape", "Compare Huawei", (271.8e15 / 559e3, 180e15 / 145e3)),
    ("landscape", "How many of", (math.ceil(BIG / 230e6), LPU, LPU / BIG)),
    ("inference", "With larger batches", tuple(round(REDUCED / batch) for batch in (64, 512))),
    ("low-precision", "A block of", (24 / 4, -6, math.sqrt(16))),
    ("racks", "FSDP runs over", (18, 2.5e15 / 900e9, 8 * CARD, 2.5e15 / (8 * CARD))),
    ("kernels", "An elementwise kernel", (3 * 5e8 / H100_BUS, 2 * 5e8 / H100_BUS)),
    ("kernels", "A product of 8,192", (256, 2, 97, 512, 4)),
    ("kernels", "Attention of one", (8 * 16384**2, 8 * 16384 * 128, 16384 / 128)),
    ("overlap-and-offloading", "Gradients of", (2 * 8e9 / PCIE,)),
    ("overlap-and-offloading", "Tiles take", (203e-6, 150e-6, 74)),
    ("overlap-and-offloading", "Products of 100", (0.032, 0.068, 0.108, 0.14)),
    ("serving", "A prompt takes", (0.32, 0.8, 10, 102, 0.72)),
    ("serving", "A server keeps", (9.6, 10)),
    ("networks", "An all-reduce of", (2 * 7 / 8 * 1e9 / 5e-3, round(100 * 350 / 450))),
    ("networks", "How many hosts", (64**2 / 2,)),
    ("networks", "What is the bisection", (2 * 16, 256 / 2)),
    ("networks", "A fat tree is", (7 * 0.2,)),
    ("networks", "Switches add up", (2 * 63 / 64,)),
    ("networks", "A torus slice", (512 / 64, 8**2 / 4**2, 8 / 4)),
    ("networks", "A cluster of", (6 * 16384, 6 * 16384 * 30, 16384 * (5 * 9 + 30))),
    ("networks", "A message of", (4e6 / 80e-6, 30e-6 - 1e6 / 50e9, 10e-6 * 50e9)),
]


@pytest.mark.parametrize(
    ("chapter", "opening", "values"), CASES, ids=[f"{one}: {two}" for one, two, _ in CASES]
)
def test_an_answer_follows_from_what_is_printed(
    chapter: str, opening: str, values: tuple[float, ...]
) -> None:
    shown = numbers_of(chapter, opening)
    missing = [value for value in values if not agrees(value, shown)]
    assert not missing, (missing, shown)


def test_the_rates_of_a_trend_subtract() -> None:
    """Its two doubling times move with the data, and the answer with them."""
    peak, power, *shown = numbers_of("landscape", "The peak doubles")
    assert agrees(round(1 / (1 / peak - 1 / power), 1), shown)


def test_a_wrong_number_is_noticed() -> None:
    """Numbers that no exercise prints are not found among those of any."""
    assert agrees(0.0123, [12.3]) and agrees(1.5e9, [1.5])
    assert not agrees(7.91, [7.4, 8.4, 79.1]) and not agrees(20.0, [2.0])


def test_no_exercise_is_meant_twice() -> None:
    openings = {(chapter, opening) for chapter, opening, _ in CASES}
    assert len(openings) == len(CASES)
