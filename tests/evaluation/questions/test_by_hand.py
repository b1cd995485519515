"""Questions as practitioners ask them, answered on the back of an envelope.

Each answer is written from the published shape or data sheet alone, without the second module; the
default answer of the command may be off by a tenth at most, or as much as is written beside it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from flopbook import calculate

K = 1024
H100, H100_BYTES, MEMORY = 989.4e12, 3.35e12, 80e9


class Asked(NamedTuple):
    """A calculator, what it is asked, the output that counts, and the answer by hand."""

    calculator: str
    options: dict[str, Any]
    output: str
    answer: float
    within: float = 0.1

    def __str__(self) -> str:
        return f"{self.calculator} {' '.join(map(str, self.options.values()))}"


def cache(model: str, seq: int, answer: float, **more: Any) -> Asked:
    return Asked("kv-cache", {"model": model, "seq": seq, **more}, "bytes", answer, 0.02)


def weights(model: str, answer: float) -> Asked:
    return Asked("params", {"model": model}, "total", answer, 0.02)


def active(model: str, answer: float) -> Asked:
    return Asked("params", {"model": model}, "active", answer, 0.15)


def step(model: str, chip: str, answer: float, **more: Any) -> Asked:
    options = {"model": model, "chip": chip, "seq": 1, **more}
    return Asked("decode", options, "seconds", answer, 0.15)


# Layers x (key and value) x KV heads x head dimension x bytes x tokens.
CACHES = [
    cache("llama-3.1-8b", 128 * K, 32 * 2 * 8 * 128 * 2 * 128 * K),
    cache("llama-3.3-70b", 32 * K, 80 * 2 * 8 * 128 * 2 * 32 * K),
    cache("mistral-7b", 32 * K, 32 * 2 * 8 * 128 * 2 * 4096),
    cache("gpt-oss-120b", 128 * K, 18 * 2 * 8 * 64 * 2 * (128 * K + 128)),
    cache("deepseek-v3", 128 * K, 61 * (512 + 64) * 2 * 128 * K),
    cache("kimi-k2", 128 * K, 61 * (512 + 64) * 2 * 128 * K),
    cache("qwen3-235b", 32 * K, 94 * 2 * 4 * 128 * 32 * K, kv_dtype="fp8"),
    cache("qwen3-next", 256 * K, 12 * 2 * 2 * 256 * 2 * 256 * K),
    cache("gemma-3-27b", 128 * K, 2 * 16 * 128 * 2 * (10 * 128 * K + 52 * K)),
    cache("llama-4-scout", K * K, 2 * 8 * 128 * 2 * (12 * K * K + 36 * 8 * K)),
    cache("minimax-m2", 192 * K, 62 * 2 * 8 * 128 * 2 * 192 * K),
    cache("minimax-text-01", K * K, 10 * 2 * 8 * 128 * 2 * K * K),
    cache("glm-4.5", 128 * K, 92 * 2 * 8 * 128 * 2 * 128 * K),
    cache("jamba-v0.1", 256 * K, 4 * 2 * 8 * 128 * 2 * 256 * K),
    cache("kimi-linear", K * K, 7 * (512 + 64) * 2 * K * K),
    cache("falcon-h1-34b", 256 * K, 72 * 2 * 4 * 128 * 2 * 256 * K),
    cache("deepseek-v4-pro", K * K, 30 * 320.1 * K * K + 31 * 8.1 * K * K),
    cache("deepseek-v3.2", K * K, 61 * 1408 * K * K),
    cache("codellama-34b", 16 * K, 48 * 2 * 8 * 128 * 2 * 16 * K, batch=1),
    cache("smollm2-135m", 8 * K, 30 * 2 * 3 * 64 * 2 * 8 * K),
]
# As their makers print them.
SIZES = [
    *(weights("llama-3.1-405b", 405.85e9), weights("qwen3-32b", 32.76e9)),
    *(weights("gpt-oss-20b", 20.9e9), weights("deepseek-v3", 671e9), weights("phi-4", 14.66e9)),
    *(weights("mixtral-8x22b", 140.6e9), weights("kimi-k2", 1.026e12)),
    *(weights("llama-4-maverick", 400e9), weights("glm-4.5-air", 106.8e9)),
    *(weights("gemma-2-27b", 27.2e9), weights("qwen3-next", 79.7e9), weights("grok-1", 314e9)),
    *(weights("deepseek-v4-flash", 284e9), weights("deepseek-v4-pro", 1.6e12)),
    *(active("deepseek-v3", 37e9), active("gpt-oss-120b", 5.1e9), active("qwen3-235b", 22e9)),
    *(active("kimi-k2", 32e9), active("glm-4.5", 32e9), active("llama-4-scout", 17e9)),
    *(active("minimax-m2", 10e9), active("deepseek-v4-flash", 13e9)),
    active("deepseek-v4-pro", 49e9),
]
# A step of one token reads every weight that it meets once.
STEPS = [
    step("llama-3-8b", "h100-sxm", (8.03e9 - 128256 * 4096) * 2 / H100_BYTES),
    step("llama-3-70b", "h100-sxm", 69.5e9 * 2 / 8 / H100_BYTES, tp=8),
    step("llama-3-70b", "rtx-4090", 69.5e9 / 2 / 2 / 1.008e12, tp=2, dtype="int4"),
    step("gpt-oss-120b", "h100-sxm", 5.1e9 * 4.25 / 8 / H100_BYTES, dtype="mxfp4"),
    step("deepseek-v3", "h200-sxm", 37e9 / 8 / 4.8e12, tp=8, dtype="fp8"),
    step("qwen3-30b-a3b", "rtx-5090", 3.04e9 / 1.792e12, dtype="fp8"),
    step("deepseek-v4-flash", "b200", 13.2e9 / 4 / 8e12, tp=4, dtype="fp8"),
    step("falcon-h1-34b", "h100-sxm", (33.64e9 - 261120 * 5120) * 2 / H100_BYTES),
]
RUNS = [
    Asked("training-flops", {"model": "gpt-3"}, "flop", 3.14e23),
    Asked("training-flops", {"model": "palm-540b"}, "flop", 2.53e24),
    Asked("training-flops", {"model": "chinchilla-70b"}, "flop", 5.76e23),
    Asked("training-flops", {"model": "deepseek-v3"}, "flop", 6 * 37e9 * 14.8e12),
    Asked(
        "training-time",
        {"model": "llama-3-8b", "tokens": "100B", "chips": 8, "chip": "h100-sxm", "mfu": 0.4},
        "joules",
        # 1,275 W a GPU with its share of the server; failures add a little.
        6 * 7.5e9 * 1e11 / (8 * H100 * 0.4) * 8 * 1275,
        0.15,
    ),
    Asked(
        "training-time",
        {"model": "tinyllama", "tokens": "3T", "chips": 16, "chip": "a100-sxm-40gb", "mfu": 0.55},
        "seconds",
        6 * 1.03e9 * 3e12 / (16 * 312e12 * 0.55),
    ),
    Asked(
        "prefill",
        {"model": "llama-3-8b", "chip": "h100-sxm", "seq": 8 * K},
        "seconds",
        (2 * 7e9 * 8 * K + 2 * 32 * 4096 * (8 * K) ** 2) / H100,
    ),
    Asked(
        "prefill",
        {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8, "seq": 128 * K},
        "seconds",
        (2 * 68.5e9 * 128 * K + 2 * 80 * 8192 * (128 * K) ** 2) / 8 / H100,
    ),
    Asked(
        "serving",
        {"model": "llama-3-8b", "chip": "h100-sxm", "seq": 8 * K},
        "batch_fits",
        (MEMORY - 16.06e9) / (32 * 2 * 8 * 128 * 2 * 8 * K),
    ),
    Asked(
        "fine-tuning",
        {"model": "llama-3-8b", "method": "lora", "rank": 16, "seq": 2 * K},
        "trainable",
        32 * 16 * ((4096 + 4096) * 2 + (4096 + 1024) * 2 + (4096 + 14336) * 3),
    ),
    Asked("bubble", {"stages": 8, "microbatches": 32}, "fraction", 7 / 39, 0.001),
    Asked("ridge-point", {"chip": "h100-sxm"}, "flop_per_byte", H100 / H100_BYTES),
    Asked("ridge-point", {"chip": "b200", "dtype": "fp8"}, "flop_per_byte", 4.5e15 / 8e12),
    Asked("min-batch", {"chip": "h100-sxm"}, "tokens", 295),
    # NCCL's ring reaches about four fifths of NVLink, so a third is the room here.
    Asked(
        "collective",
        {"op": "all-reduce", "chip": "h100-sxm", "chips": 8, "bytes": "1GB"},
        "seconds",
        2 * 7 / 8 * 1e9 / 450e9,
        0.35,
    ),
    Asked(
        "collective",
        {"op": "all-reduce", "chip": "rtx-4090", "chips": 4, "bytes": "100MB"},
        "seconds",
        2 * 3 / 4 * 1e8 / 32e9,
        0.35,
    ),
]


@pytest.mark.parametrize("asked", [*CACHES, *SIZES, *STEPS, *RUNS], ids=str)
def test_the_default_answer_is_that_of_an_envelope(asked: Asked) -> None:
    given = calculate(asked.calculator, **asked.options)[asked.output]
    assert given == pytest.approx(asked.answer, rel=asked.within)
