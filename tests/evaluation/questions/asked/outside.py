"""Questions of an engineer who had not seen the answers, worked out from configurations and papers.

gpt-oss-120b (OpenAI 2025): 36 layers, every second with a window of 128, 8 KV heads of 64. Gemma 3
27B (2025): 62 layers, every sixth full, window 1,024, 16 KV heads of 128. Qwen3-Next (2025): 48
layers, every fourth with attention, 2 KV heads of 256. DeepSeek-V3 (2024): a cache entry of 576
numbers, 61 layers of which 3 are dense, width 7,168, 8 experts a token. Llama 3 (2024), section
3.3.4: 419 failures that nobody planned in 54 days of 16,384 chips.
"""

from __future__ import annotations

from tests.evaluation.questions.asked.practice import SMALL, q

LONG = 200_000
WINDOWED = (18 * LONG + 18 * 128) * 2 * 8 * 64 * 2
GEMMA = (10 * LONG + 52 * 1024) * 2 * 16 * 128 * 2
DAY = 86_400
RUN_MTBF = 2 * 54 * DAY / 419  # on half as many chips
CACHES = [
    q(f"kv-cache --model gpt-oss-120b --seq {LONG}", bytes=WINDOWED),
    q(f"kv-cache --model gemma-3-27b --seq {LONG}", bytes=GEMMA),
    q(f"kv-cache --model deepseek-v3 --seq {LONG}", bytes=61 * 576 * 2 * LONG),
    q("kv-cache --model qwen-3-next-80b-a3b --seq 262144", bytes_per_token=12 * 2 * 2 * 256 * 2),
]
LIMITS = [
    # Dispatch and combine, forward and backward, of 8 copies in 16 bits.
    q(
        "ep-limit --model deepseek-v3 --chip h100-sxm",
        bytes_per_token=2 * 2 * 8 * 7168 * 2 * (61 - 3),
    ),
    q("max-params --chip h100-sxm --chips 8 --bytes-per-param 2", params=320e9),
]
RUNS = [
    q(
        "reliability --chips 8192 --save 60s",
        2e-3,
        mtbf=RUN_MTBF,
        best_interval=(2 * 60 * RUN_MTBF) ** 0.5,
    ),
    q("cluster-power --chip h100-sxm --chips 16384 --pue 1.2", watts=16384 / 8 * 10_200 * 1.2),
    q("training-flops --model llama-3-8b --tokens 15T", flop=6 * SMALL.met * 15e12),
    q("bubble --stages 16 --microbatches 32 --schedule zb-h1", fraction=15 / (3 * 32 + 15)),
    q(
        "fine-tuning --model llama-3-8b --rank 16 --seq 2048",
        # Both sides of q, k, v, o and of the three matrices of the block, 16 wide.
        trainable=16 * 32 * (2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14336)),
    ),
]
QUESTIONS = [*CACHES, *LIMITS, *RUNS]
