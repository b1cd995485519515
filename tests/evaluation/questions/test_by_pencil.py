"""More questions with answers from first principles, over models, networks, formats and whole runs.

Written down before the command was asked. The default answer may be off by a tenth, or it says what
it leaves out: then the answer with that share is the one by hand.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook import calculate
from tests.evaluation.questions.test_by_hand import Asked, cache, step

K = 1024
H100, H100_BYTES = 989.4e12, 3.35e12
HOUR, DAY = 3600, 86400


def ask(calculator: str, output: str, answer: float, within: float = 0.1, **options: Any) -> Asked:
    return Asked(calculator, options, output, answer, within)


CACHES = [
    cache("qwen-2.5-72b", 32 * K, 80 * 2 * 8 * 128 * 2 * 32 * K),
    # A window of 2,047 tokens and the token itself, in every layer.
    cache("phi-3-mini", 4 * K, 32 * 2 * 32 * 96 * 2 * 2 * K),
    cache("mixtral-8x7b", 32 * K, 32 * 2 * 8 * 128 * 2 * 32 * K),
    cache("gpt-3-175b", 2 * K, 96 * 2 * 96 * 128 * 2 * 2 * K),
    cache("llama-2-70b", 4 * K, 80 * 2 * 8 * 128 * 4 * K, kv_dtype="int8"),
    cache("gemma-2-27b", 8 * K, 2 * 16 * 128 * 2 * 23 * (8 * K + 4 * K)),
    cache("deepseek-v2", 128 * K, 60 * (512 + 64) * 2 * 128 * K),
    cache("mistral-large-3", 128 * K, 61 * (512 + 64) * 2 * 128 * K),
    cache("gpt-oss-20b", 128 * K, 12 * 2 * 8 * 64 * 2 * (128 * K + 128)),
    cache("qwen-3-32b", 40 * K, 64 * 2 * 8 * 128 * 2 * 40 * K),
    cache("olmo-3-7b", 64 * K, 2 * 32 * 128 * 2 * (8 * 64 * K + 24 * 4 * K)),
]
SHAPES = [
    ask("params", "total", 1.558e9, 0.01, model="gpt-2-xl"),
    ask("params", "total", 8.54e9, 0.01, model="gemma-7b"),
    ask("params", "total", 7.62e9, 0.01, model="qwen-2.5-7b"),
    ask("params", "total", 20.6e9, 0.01, model="gpt-neox-20b"),
    # Its maker prints 675 billion with a vision encoder.
    ask("params", "total", 673e9, 0.01, model="mistral-large-3"),
    ask("params", "compute", 39e9, 0.01, model="mistral-large-3"),
    ask("params", "active", 39e9, model="mixtral-8x22b"),
    ask("params", "active", 36e9, model="dbrx"),
    ask("max-params", "params", 192e9 / 16, 0.01, chip="mi300x"),
]
STEPS = [
    step("mixtral-8x7b", "a100-sxm-80gb", 12.75e9 * 2 / 2 / 2.039e12, tp=2),
    step("llama-2-70b", "h100-sxm", 68.7e9 / 2 / H100_BYTES, dtype="int4"),
    # 256 sequences of 2,048 tokens, 131,072 bytes each token.
    ask(
        "decode",
        "seconds",
        (7.5e9 * 2 + 256 * 2 * K * 131072) / H100_BYTES,
        **{"model": "llama-3-8b", "chip": "h100-sxm", "seq": 2 * K, "batch": 256},
    ),
    ask(
        "prefill",
        "seconds",
        (2 * 12.6e9 * 4 * K + 2 * 32 * 4096 * (4 * K) ** 2) / 2 / H100,
        **{"model": "mixtral-8x7b", "chip": "h100-sxm", "tp": 2, "seq": 4 * K},
    ),
    # 238 sequences fit beside 16 GB, and a step reads all memory.
    ask(
        "serving",
        "usd_per_million_tokens",
        2 / HOUR * 1e6 * (80e9 / H100_BYTES) / 238,
        **{"model": "llama-3-8b", "chip": "h100-sxm", "seq": 2 * K, "price": "2USD/h"},
    ),
    ask(
        "serving",
        "batch_fits",
        (80e9 - 35.3e9) / (80 * 2 * 8 * 128 * 2 * 4 * K / 2),
        **{"model": "llama-3-70b", "chip": "h100-sxm", "tp": 2, "seq": 4 * K},
        weight_dtype="fp8",
    ),
    ask(
        "speculative-decoding",
        "tokens_per_step",
        (1 - 0.8**5) / 0.2,
        0.001,
        acceptance=0.8,
        draft_tokens=4,
    ),
]
RUNS = [
    ask("training-flops", "flop", 3.8e25, model="llama-3-405b", tokens=15.6e12),
    ask("training-flops", "flop", 6 * 68.7e9 * 2e12, model="llama-2-70b", tokens=2e12),
    ask(
        "training-time",
        "days",
        3.79e25 / (16384 * H100 * 0.4) / DAY,
        **{"model": "llama-3-405b", "tokens": 15.6e12, "chips": 16384, "mfu": 0.4},
        chip="h100-sxm",
    ),
    # 184,320 hours of A100, as printed, are 38.6 % of the peak.
    ask(
        "training-time",
        "chip_hours",
        184_320,
        **{"model": "llama-2-7b", "tokens": 2e12, "chips": 2048, "mfu": 0.386},
        chip="a100-sxm-80gb",
    ),
    ask("memory", "optimizer", 12 * 8.03e9, model="llama-3-8b", seq=8 * K),
    ask("memory", "optimizer", 12 * 70.55e9 / 64, model="llama-3-70b", seq=8 * K, zero=3, dp=64),
    # Korthikanti et al.: 34 bytes for each token, layer and unit of width, over eight devices.
    ask(
        "memory",
        "activations",
        34 * 2 * K * 12288 * 96 / 8,
        0.15,
        **{"model": "gpt-3-175b", "seq": 2 * K, "tp": 8, "sequence_parallel": "yes"},
        attention="flash",
    ),
    # 466 interruptions in 54 days, 419 of them not planned.
    ask(
        "reliability",
        "mtbf",
        54 * DAY / 419,
        model="llama-3-405b",
        chips=16384,
    ),
    ask("cluster-power", "watts", 1275 * 1.2 * 1024, chip="h100-sxm", chips=1024, pue=1.2),
    ask("scaling-law", "params", (5.76e23 / 6 / 20) ** 0.5, 0.15, flop=5.76e23),
    ask("fine-tuning", "weights", 16.06e9, model="llama-3-8b", method="full", seq=2 * K),
    ask(
        "bubble",
        "fraction",
        15 / (2 * 64 + 15),
        0.001,
        **{"stages": 16, "microbatches": 64, "virtual": 2, "schedule": "interleaved"},
    ),
]
# What a link reaches of its printed rate is told or counted, so a third is the room of times.
NETWORKS = [
    # Sums over NVLink 5 reached two thirds of the printed rate in the published sweep.
    ask(
        "collective",
        "seconds",
        2 * 7 / 8 * 1e9 / 900e9 / 0.65,
        **{"op": "all-reduce", "chip": "b200", "chips": 8, "bytes": "1GB"},
    ),
    ask(
        "collective",
        "bandwidth_seconds",
        15 / 16 * 1e9 / 450e9,
        **{"op": "all-gather", "chip": "h100-sxm", "chips": 16, "bytes": "1GB"},
    ),
    ask(
        "collective",
        "bandwidth_seconds",
        1e9 / 600e9,
        **{"op": "all-gather", "chip": "tpu-v5p", "chips": 64, "bytes": "1GB"},
    ),
    ask(
        "collective",
        "bandwidth_seconds",
        1e9 / 8 * 7 / 8 / 450e9,
        **{"op": "all-to-all", "chip": "h100-sxm", "chips": 8, "bytes": "1GB"},
    ),
    ask(
        "collective",
        "bandwidth_seconds",
        2 * 7 / 8 * 1e9 / (7 * 64e9),
        **{"op": "all-reduce", "chip": "mi300x", "chips": 8, "bytes": "1GB"},
    ),
    ask("fsdp-limit", "domain_tokens", 459e12 / (6 * 100e9), chip="tpu-v5p"),
    ask("ridge-point", "flop_per_byte", 1307e12 / 5.3e12, 0.01, chip="mi300x"),
    ask("ridge-point", "flop_per_byte", 197e12 / 819e9, 0.03, chip="tpu-v5e"),
    ask("ridge-point", "flop_per_byte", 312e12 / 2.039e12, 0.01, chip="a100-sxm-80gb"),
    ask("arithmetic-intensity", "intensity", 4096 / 3, 0.01, op="gemm", m=4096, n=4096, k=4096),
    ask(
        "wave-quantisation",
        "useful_share",
        1024 / 132 / 8,
        0.01,
        **{"m": 4096, "n": 4096, "tile_m": 128, "tile_n": 128, "processors": 132},
    ),
]


@pytest.mark.parametrize("asked", [*CACHES, *SHAPES, *STEPS, *RUNS, *NETWORKS], ids=str)
def test_the_default_answer_is_that_of_a_pencil(asked: Asked) -> None:
    answer = calculate(asked.calculator, **asked.options)
    given = answer[asked.output]
    assert given == pytest.approx(asked.answer, rel=asked.within)
