"""Questions on training."""

from __future__ import annotations

from typing import Any

from tests.evaluation.questions.answers import training as by
from tests.evaluation.questions.answers.clusters import run_time
from tests.evaluation.questions.answers.facts import Chip, shape
from tests.evaluation.questions.answers.shapes import parameters
from tests.evaluation.questions.question import Expected
from tests.evaluation.questions.question import Question as Q

H100 = Chip("h100-sxm")
HALF = 2e-3  # a triangle with its diagonal, against half of the square


def worked(model: str, tokens: float, seq: int, recompute: str = "none", **more: Any) -> Expected:
    def answer() -> dict[str, float]:
        one = shape(model, **more)
        hardware = by.recomputed(one, tokens, seq, recompute)
        return {**by.training_work(one, tokens, seq), "hardware_flop": hardware}

    return answer


def timed(model: str, tokens: float, chips: int, mfu: float, dtype: str = "bf16") -> Expected:
    def answer() -> dict[str, float]:
        work = 6 * parameters(shape(model))["compute"] * tokens
        seconds = run_time(work, chips, H100.peak(dtype), mfu)
        return {"seconds": seconds, "days": seconds / 86400, "chip_hours": seconds * chips / 3600}

    return answer


WORK = [
    Q("training-flops --model llama-3-8b --seq 8192", worked("llama-3-8b", 15e12, 8192), HALF),
    Q(
        "training-flops --model gpt-3-175b --tokens 300B --seq 2048",
        worked("gpt-3-175b", 300e9, 2048),
        HALF,
    ),
    Q(
        "training-flops --model gpt-2-small --tokens 10B --seq 1024",
        worked("gpt-2-small", 1e10, 1024),
        HALF,
    ),
    Q(
        "training-flops --model gemma-3-27b --tokens 1T --seq 32768 --recompute selective",
        worked("gemma-3-27b", 1e12, 32768, "selective"),
        HALF,
    ),
    Q(
        "training-flops --model gemma-3-27b --tokens 1T --seq 512",
        worked("gemma-3-27b", 1e12, 512),
        HALF,
    ),
    Q("training-flops --model deepseek-v3 --seq 4096", worked("deepseek-v3", 14.8e12, 4096), HALF),
    Q(
        "training-flops --model gpt-oss-120b --tokens 1T --seq 4096",
        worked("gpt-oss-120b", 1e12, 4096),
        HALF,
    ),
    Q(
        "training-flops --model glm-4.5-air --tokens 1T --seq 4096",
        worked("glm-4.5-air", 1e12, 4096),
        HALF,
    ),
    Q(
        "training-flops --model llama-3-70b --tokens 1T --seq 8192 --recompute full",
        worked("llama-3-70b", 1e12, 8192, "full"),
        HALF,
    ),
    Q(
        "training-flops --model llama-3.2-1b --tokens 1T --seq 8192",
        worked("llama-3.2-1b", 1e12, 8192),
        HALF,
    ),
    Q(
        "training-flops --params 70e9 --tokens 15T",
        lambda: {"flop": 6.3e24, "flop_per_token": 4.2e11},
    ),
    Q("training-flops --params 1 --tokens 1", lambda: {"flop": 6, "pf_days": 6 / 8.64e19}),
]
TIMES = [
    Q(
        "training-time --model llama-3-8b --chip h100-sxm --chips 1024 --mfu 0.4 --chip-mtbf 0",
        timed("llama-3-8b", 15e12, 1024, 0.4),
    ),
    Q(
        "training-time --model llama-3-405b --chip h100-sxm --chips 16384 --mfu 0.4 --chip-mtbf 0",
        timed("llama-3-405b", 15.6e12, 16384, 0.4),
    ),
    Q(
        "training-time --model deepseek-v3 --chip h100-sxm --chips 2048 --mfu 0.2"
        " --chip-mtbf 0 --dtype fp8",
        timed("deepseek-v3", 14.8e12, 2048, 0.2, "fp8"),
    ),
    Q(
        "training-time --params 70e9 --tokens 15T --peak 1PFLOP/s --chips 1000 --mfu 0.42"
        " --chip-mtbf 0",
        lambda: {"seconds": 1.5e7},
    ),
    Q(
        "training-time --params 70e9 --tokens 15T --peak 1PFLOP/s --chips 1000 --mfu 0.42"
        " --chip-mtbf 0"
        " --price 2USD/h",
        lambda: {"cost": 1.5e7 * 1000 / 3600 * 2},
    ),
    Q(
        "training-time --params 70e9 --tokens 15T --peak 1PFLOP/s --chips 1000 --mfu 0.42"
        " --chip-mtbf 0"
        " --power 1kW"
        " --pue 1.2 --carbon 400g/kWh",
        lambda: {"joules": 1.8e13, "co2": 1.8e13 / 3.6e6 * 0.4},
    ),
    Q(
        "training-time --params 1e9 --tokens 1e9 --peak 1PFLOP/s --chips 1 --mfu 1 --chip-mtbf 0",
        lambda: {"seconds": 6000, "chip_hours": 6000 / 3600},
    ),
    Q(
        "training-time --params 70e9 --tokens 15T --peak 1PFLOP/s --chips 1000 --mfu 0.42"
        " --chip-mtbf 0"
        " --counts hfu",
        lambda: {"seconds": 1.5e7 * 8 / 6},
    ),
]
GPT = (
    "memory --params 175e9 --layers 96 --d-model 12288 --heads 96 --vocab 51200 --d-ff 49152"
    " --ffn-kind plain --attention scores --dropout yes --seq 2048"
)
SMALL = (
    "memory --params 7.5e9 --layers 32 --d-model 4096 --heads 32 --vocab 32000 --d-ff 16384"
    " --seq 128"
)


def kept(tp: int, parallel: bool, recompute: str, batch: int = 1) -> Expected:
    """Layers of GPT-3, all on one stage."""

    def answer() -> dict[str, float]:
        layer = by.layer_activations(2048, batch, 12288, 96, tp, parallel, recompute)
        return {"activations": 96 * layer}

    return answer


MEMORY = [
    *(
        Q(f"{SMALL} --zero {zero} --dp 64", lambda zero=zero: by.states(7.5e9, zero, 64))
        for zero in (0, 1, 2, 3)
    ),
    *(
        Q(
            f"{GPT} --recompute {recompute} --tp {tp} --sequence-parallel {word}",
            kept(tp, word == "yes", recompute),
        )
        for recompute, tp, word in (
            ("none", 1, "no"),
            ("none", 8, "no"),
            ("none", 8, "yes"),
            ("selective", 8, "yes"),
            ("selective", 1, "no"),
            ("full", 8, "no"),
        )
    ),
    Q(f"{GPT} --recompute none --micro-batch 3 --tp 8", kept(8, False, "none", 3)),
    Q(f"{SMALL} --grad-bytes 4", lambda: by.states(7.5e9, 0, 1, (2, 4, 12))),
    Q(f"{SMALL} --tp 4", lambda: by.states(7.5e9 / 4, 0, 1)),
    Q(f"{SMALL} --optimizer-kind sgd --dtype fp32", lambda: by.states(7.5e9, 0, 1, (4, 4, 0))),
    Q(f"{SMALL} --pp 8", lambda: {"inflight": 8}),
    Q(f"{SMALL} --pp 8 --microbatches 3", lambda: {"inflight": 3}),
]
QUESTIONS = [*WORK, *TIMES, *MEMORY]
