"""Questions on inference."""

from __future__ import annotations

from typing import Any

from tests.evaluation.questions.answers import serving as by
from tests.evaluation.questions.answers.facts import Chip, shape
from tests.evaluation.questions.question import Expected
from tests.evaluation.questions.question import Question as Q


def on(chip: str, dtype: str = "bf16", width: float = 2, **more: Any) -> by.Machine:
    one = Chip(chip)
    kv = more.pop("kv", width)
    return by.Machine(one.peak(dtype), one.bandwidth, one.memory, weight=width, kv=kv, **more)


def step(model: str, chip: str, seq: int, batch: int = 1, **more: Any) -> Expected:
    return lambda: by.decode(shape(model), on(chip, **more), seq, batch)


def prompt(model: str, chip: str, seq: int, batch: int = 1, **more: Any) -> Expected:
    return lambda: by.prefill(shape(model), on(chip, **more), seq, batch)


def served(model: str, chip: str, seq: int, batch: int | None = None, **more: Any) -> Expected:
    return lambda: by.serve(shape(model), on(chip, **more), seq, batch)


def fewest(model: str, chip: str, seq: int, batch: int = 1) -> Expected:
    return lambda: {"fewest_chips": by.fewest_chips(shape(model), Chip(chip).memory, seq, batch)}


def priced(
    model: str, chip: str, seq: int, lengths: tuple[int, int], batch: int, usd: float, **more: Any
) -> Expected:
    """The price of a request of so many tokens in and out, on chips of so many USD an hour."""
    return lambda: by.request(shape(model), on(chip, **more), seq, batch, *lengths, usd / 3600)


FP8: dict[str, Any] = {"dtype": "fp8", "width": 1}
DECODES = [
    Q(
        "decode --model llama-3-8b --chip h100-sxm --batch 8 --seq 4096",
        step("llama-3-8b", "h100-sxm", 4096, 8),
    ),
    Q("decode --model llama-3-8b --chip h100-sxm --seq 1", step("llama-3-8b", "h100-sxm", 1)),
    Q(
        "decode --model llama-3-70b --chip h100-sxm --tp 8 --batch 32 --seq 4096",
        step("llama-3-70b", "h100-sxm", 4096, 32, tp=8),
    ),
    Q(
        "decode --model llama-3-70b --chip h100-sxm --tp 16 --batch 512 --seq 8192",
        step("llama-3-70b", "h100-sxm", 8192, 512, tp=16),
    ),
    Q(
        "decode --model llama-3-8b --chip h100-sxm --batch 1000 --seq 64",
        step("llama-3-8b", "h100-sxm", 64, 1000),
    ),
    Q(
        "decode --model llama-3-8b --chip mi300x --dtype fp8 --batch 16 --seq 2048",
        step("llama-3-8b", "mi300x", 2048, 16, **FP8),
    ),
    Q(
        "decode --model qwen-3-30b-a3b --chip h100-sxm --seq 4096",
        step("qwen-3-30b-a3b", "h100-sxm", 4096),
    ),
    Q(
        "decode --model qwen-3-30b-a3b --chip h100-sxm --batch 37 --seq 4096",
        step("qwen-3-30b-a3b", "h100-sxm", 4096, 37),
    ),
    Q(
        "decode --model mixtral-8x7b --chip a100-sxm-80gb --tp 2 --batch 64 --seq 2048",
        step("mixtral-8x7b", "a100-sxm-80gb", 2048, 64, tp=2),
    ),
    Q(
        "decode --model deepseek-v3 --chip h200-sxm --chips 32 --ep 32 --batch 256 --seq 4096"
        " --dtype fp8",
        step("deepseek-v3", "h200-sxm", 4096, 256, dp=32, **FP8),
    ),
    Q(
        "decode --model deepseek-v3 --chip h200-sxm --tp 8 --batch 64 --seq 8192 --dtype fp8",
        step("deepseek-v3", "h200-sxm", 8192, 64, tp=8, **FP8),
    ),
    Q(
        "decode --model gemma-3-27b --chip h100-sxm --batch 4 --seq 131072",
        step("gemma-3-27b", "h100-sxm", 131072, 4),
    ),
    Q(
        "decode --model gemma-3-27b --chip h100-sxm --batch 4 --seq 512",
        step("gemma-3-27b", "h100-sxm", 512, 4),
    ),
    Q(
        "decode --model llama-3-405b --chip h100-sxm --batch 64 --seq 1024",
        lambda: {
            **step("llama-3-405b", "h100-sxm", 1024, 64)(),
            **fewest("llama-3-405b", "h100-sxm", 1024, 64)(),
        },
    ),
    Q(
        "decode --model gpt-2-small --chip l4 --seq 1024",
        step("gpt-2-small", "l4", 1024),
    ),
]
PROMPTS = [
    Q(
        "prefill --model llama-3-8b --chip h100-sxm --seq 4096",
        prompt("llama-3-8b", "h100-sxm", 4096),
    ),
    Q(
        "prefill --model llama-3-70b --chip h100-sxm --tp 8 --seq 8192",
        prompt("llama-3-70b", "h100-sxm", 8192, tp=8),
    ),
    Q("prefill --model llama-3-8b --chip h100-sxm --seq 16", prompt("llama-3-8b", "h100-sxm", 16)),
    Q(
        "prefill --model llama-3-8b --chip h100-sxm --seq 131072 --dtype fp8",
        prompt("llama-3-8b", "h100-sxm", 131072, **FP8),
    ),
    Q(
        "prefill --model mixtral-8x7b --chip h100-sxm --tp 2 --seq 64 --batch 3",
        prompt("mixtral-8x7b", "h100-sxm", 64, 3, tp=2),
    ),
    Q(
        "prefill --model qwen-3-30b-a3b --chip h100-sxm --seq 4",
        prompt("qwen-3-30b-a3b", "h100-sxm", 4),
    ),
    Q(
        "prefill --model gpt-2-small --chip l4 --seq 1024 --batch 8",
        prompt("gpt-2-small", "l4", 1024, 8),
    ),
    Q(
        "prefill --model gemma-3-27b --chip h100-sxm --seq 32768",
        prompt("gemma-3-27b", "h100-sxm", 32768),
    ),
    Q(
        "prefill --model gemma-3-27b --chip h100-sxm --seq 700",
        prompt("gemma-3-27b", "h100-sxm", 700),
    ),
    Q(
        "prefill --model deepseek-v3 --chip h200-sxm --tp 8 --seq 4096 --dtype fp8",
        prompt("deepseek-v3", "h200-sxm", 4096, tp=8, **FP8),
    ),
    Q(
        "prefill --model llama-3-405b --chip b200 --tp 8 --seq 2048 --batch 2",
        prompt("llama-3-405b", "b200", 2048, 2, tp=8),
    ),
]
SERVED = [
    Q(
        "serving --model llama-3-8b --chip h100-sxm --seq 4096",
        served("llama-3-8b", "h100-sxm", 4096),
    ),
    Q(
        "serving --model llama-3-70b --chip h100-sxm --tp 8 --seq 8192",
        served("llama-3-70b", "h100-sxm", 8192, tp=8),
    ),
    Q(
        "serving --model llama-3-8b --chip h100-sxm --seq 4096 --batch 16",
        served("llama-3-8b", "h100-sxm", 4096, 16),
    ),
    Q(
        "serving --model llama-3-8b --chip h100-sxm --seq 4096 --batch 1000",
        served("llama-3-8b", "h100-sxm", 4096, 1000),
    ),
    Q(
        "serving --model qwen-3-30b-a3b --chip h100-sxm --batch 1 --seq 4096",
        served("qwen-3-30b-a3b", "h100-sxm", 4096, 1),
    ),
    Q(
        "serving --model mixtral-8x7b --chip h100-sxm --tp 2 --seq 2048",
        served("mixtral-8x7b", "h100-sxm", 2048, tp=2),
    ),
    Q(
        "serving --model deepseek-v3 --chip h100-sxm --seq 4096 --chips 32 --dtype fp8",
        served("deepseek-v3", "h100-sxm", 4096, tp=32, **FP8),
    ),
    Q(
        "serving --model gemma-3-27b --chip h100-sxm --seq 131072",
        served("gemma-3-27b", "h100-sxm", 131072),
    ),
    Q(
        "serving --model llama-3-8b --chip mi300x --dtype fp8 --seq 1024",
        served("llama-3-8b", "mi300x", 1024, **FP8),
    ),
    Q(
        "serving --model llama-3-8b --chip rtx-4090 --dtype int4 --seq 8192",
        served("llama-3-8b", "rtx-4090", 8192, width=0.5, kv=2),
    ),
    Q("serving --model qwen-3-8b --chip l40s --seq 32768", served("qwen-3-8b", "l40s", 32768)),
]
PRICED = [
    Q(
        "serving --model llama-3-8b --chip h100-sxm --seq 2048 --batch 64 --price 2USD/h"
        " --prompt-tokens 1024 --answer-tokens 512",
        priced("llama-3-8b", "h100-sxm", 2048, (1024, 512), 64, 2),
    ),
    Q(
        "serving --model llama-3-70b --chip h100-sxm --tp 8 --seq 4096 --batch 100 --price 3USD/h"
        " --prompt-tokens 4096 --answer-tokens 1",
        priced("llama-3-70b", "h100-sxm", 4096, (4096, 1), 100, 3, tp=8),
    ),
    Q(
        "serving --model qwen-3-30b-a3b --chip h200-sxm --seq 8192 --batch 32 --price 2.5USD/h"
        " --prompt-tokens 8192 --answer-tokens 300",
        priced("qwen-3-30b-a3b", "h200-sxm", 8192, (8192, 300), 32, 2.5),
    ),
    Q(
        "serving --model qwen-3.5-27b --chip b200 --seq 32768 --batch 48 --price 4USD/h"
        " --prompt-tokens 32768 --answer-tokens 1000",
        priced("qwen-3.5-27b", "b200", 32768, (32768, 1000), 48, 4),
    ),
    Q(
        "serving --model gemma-3-4b --chip l40s --seq 600 --batch 20 --price 1USD/h"
        " --prompt-tokens 600 --answer-tokens 40",
        priced("gemma-3-4b", "l40s", 600, (600, 40), 20, 1),
    ),
    Q(
        "serving --model deepseek-v3.2 --chip h200-sxm --tp 8 --seq 16384 --batch 16 --price 3USD/h"
        " --dtype fp8 --prompt-tokens 16384 --answer-tokens 200",
        priced("deepseek-v3.2", "h200-sxm", 16384, (16384, 200), 16, 3, tp=8, **FP8),
    ),
]
HYBRIDS = [
    Q(
        f"decode --model {model} --chip {chip} --batch {batch} --seq {seq}",
        step(model, chip, seq, batch),
    )
    for model, chip, batch, seq in (
        ("qwen-3-next-80b-a3b", "b200", 16, 262144),
        ("qwen-3.5-27b", "h100-sxm", 8, 65536),
        ("kimi-linear-48b-a3b", "h200-sxm", 32, 131072),
        ("minimax-m2", "mi355x", 4, 8192),
        ("granite-4.0-h-small", "h100-sxm", 12, 32768),
        ("jamba-52b", "h200-sxm", 6, 131072),
        ("gemma-4-31b", "h100-sxm", 3, 20000),
        ("mimo-v2-flash", "mi355x", 1, 100000),
        ("olmo-3-32b", "h100-sxm", 5, 16384),
    )
] + [
    Q(f"prefill --model {model} --chip {chip} --seq {seq}", prompt(model, chip, seq))
    for model, chip, seq in (
        ("qwen-3-next-80b-a3b", "b200", 40000),
        ("qwen-3.5-35b-a3b", "h200-sxm", 10000),
        ("kimi-linear-48b-a3b", "h200-sxm", 5000),
        ("granite-4.0-h-small", "h100-sxm", 3000),
        ("gemma-4-26b-a4b", "h100-sxm", 9000),
        ("jamba-52b", "h200-sxm", 2000),
    )
]
QUESTIONS = [*DECODES, *PROMPTS, *SERVED, *PRICED, *HYBRIDS]
