"""Questions on models: parameters and caches."""

from __future__ import annotations

from typing import Any

from tests.evaluation.questions.answers import shapes as by
from tests.evaluation.questions.answers.facts import Shape, shape
from tests.evaluation.questions.question import Expected
from tests.evaluation.questions.question import Question as Q


def counted(name: str, **changes: Any) -> Expected:
    return lambda: by.parameters(shape(name, **changes))


def made(**numbers: Any) -> Expected:
    return lambda: by.parameters(Shape(**numbers))


def kept(
    name: str, seq: int, batch: int = 1, width: float = 2, tp: int = 1, **changes: Any
) -> Expected:
    def answer() -> dict[str, float]:
        one = shape(name, **changes)
        total = by.cache(one, seq, batch, width)
        kept_states = by.states(one, batch)
        heads = 1 if one.kv_rank else max(one.kv / tp, 1) / one.kv
        return {
            "bytes": total + kept_states,
            "bytes_per_token": by.cache_growth(one, seq, width),
            "bytes_per_chip": total * heads + kept_states / tp,
            "state_bytes": kept_states,
        }

    return answer


SMALL = "params --layers 2 --d-model 64 --heads 4 --vocab 100"
TINY: dict[str, Any] = {"layers": 2, "d_model": 64, "heads": 4, "vocab": 100}
PARAMS = [
    *(
        Q(f"params --model {name}", counted(name))
        for name in (
            "llama-3-8b",
            "llama-3-70b",
            "gpt-2-small",
            "gpt-3-175b",
            "gemma-3-27b",
            "mixtral-8x7b",
            "deepseek-v3",
            "qwen-3-30b-a3b",
            "gpt-oss-120b",
            "falcon-40b",
            "qwen-2.5-7b",
            "olmo-2-7b",
            "llama-3.2-1b",
            "glm-4.5-air",
            "deepseek-v2",
            "opt-175b",
            "kimi-k2",
            "phi-4",
            "qwen-3-next-80b-a3b",
            "kimi-linear-48b-a3b",
            "minimax-m1",
            "granite-4.0-h-small",
            "jamba-52b",
            "gemma-4-26b-a4b",
            "mimo-v2-flash",
            "glm-5",
        )
    ),
    Q("params --model llama-3-8b --layers 16", counted("llama-3-8b", layers=16)),
    Q("params --model llama-3-8b --tied-embeddings yes", counted("llama-3-8b", tied=True)),
    Q(f"{SMALL} --d-ff 256", made(**TINY, d_ff=256)),
    Q(
        f"{SMALL} --d-ff 256 --ffn-kind plain --biases all --norm layer --positions learned"
        " --context 32",
        made(**TINY, d_ff=256, gated=False, biases="all", norm="layer", learned_positions=32),
    ),
    Q(
        f"{SMALL} --d-ff 256 --biases qkv --kv-heads 2 --head-dim 32 --tied-embeddings yes",
        made(**TINY, d_ff=256, biases="qkv", kv_heads=2, head_dim=32, tied=True),
    ),
    Q(
        f"{SMALL} --experts 8 --experts-per-token 2 --expert-d-ff 96 --shared-experts 1"
        " --dense-layers 1"
        " --d-ff 256",
        made(
            **TINY,
            d_ff=256,
            experts=8,
            experts_per_token=2,
            expert_d_ff=96,
            shared_experts=1,
            dense_layers=1,
        ),
    ),
    Q(
        f"{SMALL} --d-ff 256 --qk-norm head --norms-per-layer 4 --kv-heads 1",
        made(**TINY, d_ff=256, qk_norm="head", norms_per_layer=4, kv_heads=1),
    ),
    Q(
        f"{SMALL} --d-ff 256 --q-lora-rank 24 --kv-lora-rank 16 --qk-nope-head-dim 12"
        " --qk-rope-head-dim 4 --v-head-dim 12",
        made(**TINY, d_ff=256, q_rank=24, kv_rank=16, nope=12, rope=4, v_dim=12),
    ),
    Q(
        f"{SMALL} --d-ff 256 --kv-lora-rank 16 --qk-nope-head-dim 12 --qk-rope-head-dim 4"
        " --v-head-dim 12",
        made(**TINY, d_ff=256, kv_rank=16, nope=12, rope=4, v_dim=12),
    ),
]
CACHES = [
    Q("kv-cache --model llama-3-70b --seq 8192", kept("llama-3-70b", 8192)),
    Q("kv-cache --model llama-3-70b --seq 1", kept("llama-3-70b", 1)),
    Q("kv-cache --model llama-3-8b --seq 128k --batch 7", kept("llama-3-8b", 128_000, 7)),
    Q("kv-cache --model llama-3-8b --seq 128Ki --dtype fp8", kept("llama-3-8b", 131072, 1, 1)),
    Q(
        "kv-cache --model llama-3-8b --seq 4096 --bytes-per-kv 0.5",
        kept("llama-3-8b", 4096, 1, 0.5),
    ),
    Q("kv-cache --model llama-3-70b --seq 8192 --tp 8", kept("llama-3-70b", 8192, tp=8)),
    Q("kv-cache --model llama-3-70b --seq 8192 --tp 16", kept("llama-3-70b", 8192, tp=16)),
    Q("kv-cache --model gpt-3-175b --seq 2048 --dtype fp32", kept("gpt-3-175b", 2048, 1, 4)),
    Q("kv-cache --model deepseek-v3 --seq 32768 --batch 64", kept("deepseek-v3", 32768, 64)),
    Q("kv-cache --model deepseek-v3 --seq 4096 --tp 8", kept("deepseek-v3", 4096, tp=8)),
    Q("kv-cache --model gemma-3-27b --seq 131072", kept("gemma-3-27b", 131072)),
    Q("kv-cache --model gemma-3-27b --seq 1000", kept("gemma-3-27b", 1000)),
    Q("kv-cache --model gemma-3-27b --seq 1024 --batch 3", kept("gemma-3-27b", 1024, 3)),
    Q("kv-cache --model falcon-7b --seq 2048", kept("falcon-7b", 2048)),
    *(
        Q(f"kv-cache --model {name} --seq {seq} --batch {batch}", kept(name, seq, batch))
        for name, seq, batch in (
            ("qwen-3-next-80b-a3b", 262144, 1),
            ("kimi-linear-48b-a3b", 1000000, 4),
            ("minimax-m1", 1000000, 1),
            ("granite-4.0-h-small", 131072, 8),
            ("jamba-52b", 262144, 2),
            ("deepseek-v3.2", 131072, 3),
            ("gemma-4-31b", 262144, 1),
            ("mimo-v2-flash", 262144, 2),
        )
    ),
    Q(
        "kv-cache --layers 10 --heads 8 --kv-heads 2 --head-dim 64 --seq 5000 --window 512",
        lambda: {"bytes": 10 * 2 * 2 * 64 * 512 * 2, "bytes_per_token": 0},
    ),
    Q(
        "kv-cache --layers 10 --heads 8 --kv-heads 2 --head-dim 64 --seq 5000 --window 512"
        " --window-layers 8",
        lambda: {
            "bytes": 2 * 2 * 64 * 2 * (8 * 512 + 2 * 5000),
            "bytes_per_token": 2 * 2 * 2 * 64 * 2,
        },
    ),
    Q(
        "kv-cache --layers 48 --heads 16 --kv-heads 2 --head-dim 256 --seq 262144 --state-layers 36"
        " --state-values 557056",
        lambda: {
            "bytes": 12 * 2 * 2 * 256 * 262144 * 2 + 36 * 557056 * 4,
            "state_bytes": 36 * 557056 * 4,
        },
    ),
]
QUESTIONS = [*PARAMS, *CACHES]
