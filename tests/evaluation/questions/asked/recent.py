"""Questions on layers of 2026: compressed tokens, shared selections, attention beside a state."""

from __future__ import annotations

from tests.evaluation.questions.answers.facts import shape
from tests.evaluation.questions.answers.shapes import (
    awaited,
    cache,
    cache_growth,
    parameters,
    states,
)
from tests.evaluation.questions.asked.serving import FP8, prompt, step
from tests.evaluation.questions.asked.training import HALF, worked
from tests.evaluation.questions.question import Expected
from tests.evaluation.questions.question import Question as Q

NAMES = (
    *("deepseek-v4-flash", "deepseek-v4-pro", "glm-5.2", "falcon-h1-34b", "qwen-3.5-9b"),
    *("codellama-34b", "smollm2-135m"),
)
LENGTHS = (127, 4096, 100_003)


def counted(name: str) -> Expected:
    """Weights of a model, tensor by tensor."""
    parts = ("total", "active", "compute", "attention", "ffn", "norms")
    return lambda: {part: parameters(shape(name))[part] for part in parts}


def kept(name: str, seq: int) -> Expected:
    """Cache and what else a sequence keeps."""
    return lambda: {
        "bytes": cache(shape(name), seq) + states(shape(name)) + awaited(shape(name)),
        "state_bytes": states(shape(name)) + awaited(shape(name)),
    }


QUESTIONS = [
    *(Q(f"params --model {name}", counted(name)) for name in NAMES),
    *(Q(f"kv-cache --model {name} --seq {n}", kept(name, n)) for name in NAMES for n in LENGTHS),
    Q(
        "kv-cache --model glm-5.2 --seq 65536",
        lambda: {"bytes_per_token": cache_growth(shape("glm-5.2"), 65536)},
    ),
    *(
        Q(
            f"decode --model {name} --chip b200 --tp 8 --batch 16 --seq {seq} --dtype fp8",
            step(name, "b200", seq, 16, tp=8, **FP8),
        )
        for name in ("deepseek-v4-flash", "glm-5.2")
        for seq in (256, 131_072)
    ),
    Q(
        "decode --model deepseek-v4-pro --chip b200 --chips 16 --ep 16 --batch 128 --seq 32768"
        " --dtype fp8",
        step("deepseek-v4-pro", "b200", 32768, 128, dp=16, **FP8),
    ),
    Q(
        "decode --model falcon-h1-34b --chip h100-sxm --tp 2 --batch 4 --seq 65536",
        step("falcon-h1-34b", "h100-sxm", 65536, 4, tp=2),
    ),
    *(
        Q(
            f"prefill --model {name} --chip h200-sxm --tp 8 --seq 6001",
            prompt(name, "h200-sxm", 6001, tp=8),
        )
        for name in ("deepseek-v4-flash", "glm-5.2")
    ),
    *(
        Q(
            f"training-flops --model {name} --tokens 1T --seq 4099",
            worked(name, 1e12, 4099),
            HALF,
        )
        for name in ("deepseek-v4-flash", "deepseek-v4-pro", "glm-5.2", "falcon-h1-34b")
    ),
]
