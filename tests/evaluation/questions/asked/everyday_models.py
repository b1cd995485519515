"""Everyday questions on models, answered from the shapes in their papers before ours was asked."""

from __future__ import annotations

from tests.evaluation.questions.asked.everyday_chips import q
from tests.evaluation.questions.asked.practice import BANDWIDTH as BW
from tests.evaluation.questions.asked.practice import (
    HALF,
    HOUR,
    MIDDLE,
    ONE,
    PEAK,
    SMALL,
    Llama,
)

YEAR, DAY = 365 * 86400, 86400
THREE = Llama(28, 3072, 8192, 24, tied=True)  # Llama 3.2 3B


def run(flop: float, chips: int, mfu: float, peak: float = PEAK) -> float:
    """Seconds of a run."""
    return flop / (chips * peak * mfu)


def best(
    flop: float, floor: float, a: float, b: float, alpha: float, beta: float
) -> dict[str, float]:
    """The closed form of Hoffmann et al. 2022 (3.3)."""
    scale = (alpha * a / (beta * b)) ** (1 / (alpha + beta))
    params = scale * (flop / 6) ** (beta / (alpha + beta))
    tokens = flop / 6 / params
    loss = floor + a / params**alpha + b / tokens**beta
    return {"params": params, "tokens": tokens, "loss": loss}


def step(
    model: Llama,
    tokens: int,
    rate: float,
    batch: int = 1,
    chips: int = 1,
    w: float = 2,
    kv: float = 2,
) -> float:
    """Seconds of a step: every weight that is met, and every cache, read once."""
    return (w * model.met + batch * model.cache(tokens, kv)) / chips / rate


def prompt(model: Llama, tokens: int, peak: float, batch: int = 1) -> float:
    """Seconds of a prompt: products of all layers, causal scores, the head for the last token."""
    head = model.vocab * model.d_model
    products = 2 * (model.met - head) * tokens * batch + 2 * head * batch
    scores = 2 * batch * model.layers * model.heads * model.width * tokens * (tokens + 1)
    return (products + scores) / peak


PARAMS = [
    q("params --model llama-3.2-3b", total=THREE.total),
    q("params --model llama-3.3-70b", total=70.55e9),
    q("params --model qwen3-8b", total=8.19e9),
    q("params --model qwen2.5-72b", total=72.7e9),
    q("params --model gemma-3-12b", total=11.77e9),
    q("params --model gpt2-xl", total=1.5576e9),
    q(
        "params --layers 12 --d-model 768 --heads 12 --vocab 50257 --d-ff 3072"
        " --ffn-kind plain --tied-embeddings yes",
        total=12 * 12 * 768**2 + 50257 * 768,
    ),
    q(
        "params --layers 61 --d-model 7168 --heads 128 --vocab 129280 --d-ff 18432"
        " --experts 256 --experts-per-token 8 --expert-d-ff 2048 --shared-experts 1"
        " --dense-layers 3 --q-lora-rank 1536 --kv-lora-rank 512 --qk-nope-head-dim 128"
        " --qk-rope-head-dim 64 --v-head-dim 128",
        total=671e9,
        active=37.5e9,
    ),
]
TRAINING_FLOPS = [
    q("training-flops --params 7B --tokens 2T", flop=8.4e22, pf_days=8.4e22 / 8.64e19),
    q("training-flops --params 1.5B --tokens 30B --seq 1k", flop=2.7e20),
    q("training-flops --model qwen3-8b --tokens 36T", flop=6 * (8.19e9 - 151936 * 4096) * 36e12),
    q(
        "training-flops --model llama-3-70b --tokens 15T --seq 131072",
        flop_causal=(6 * MIDDLE.met + MIDDLE.scores(131072)) * 15e12,
    ),
    q("training-flops --model mixtral-8x22b --tokens 1T", flop=6 * 39e9 * 1e12),
]
MAX_PARAMS = [
    q("max-params --chip rtx-5090 --bytes-per-param 0.5", params=64e9),
    q("max-params --chip tpu-v5e --chips 256", params=256 * 2**30),
    q("max-params --chip mi355x --chips 8 --bytes-per-param 1", params=8 * 288e9),
    q("max-params --memory 128GiB --bytes-per-param 4.25", params=128 * 2**30 / 4.25),
]
MEMORY = [
    q(
        "memory --model llama-3-8b --seq 8192 --dp 8 --zero 3 --chip h100-sxm",
        weights=2 * SMALL.total / 8,
        optimizer=12 * SMALL.total / 8,
    ),
    q(
        "memory --model llama-3-70b --seq 4096 --tp 8 --pp 4 --chips 64 --zero 1",
        weights=2 * MIDDLE.total / 32,
        optimizer=12 * MIDDLE.total / 64,
        gradients=2 * MIDDLE.total / 32,
    ),
    q(
        "memory --model llama-3.2-1b --seq 2048 --dtype fp32 --micro-batch 4",
        weights=4 * ONE.total,
        gradients=4 * ONE.total,
        optimizer=8 * ONE.total,
    ),
    q(
        "memory --model llama-3-8b --seq 8192 --dtype fp8",
        weights=2 * SMALL.total,
        optimizer=12 * SMALL.total,
    ),
    q("memory --model llama-3-8b --seq 8192 --grad-dtype fp32", gradients=4 * SMALL.total),
    q(
        "memory --model mixtral-8x7b --seq 4096 --ep 8 --dp 8",
        weights=2 * (46.7e9 - 45.1e9 * 7 / 8),
    ),
    q(
        "memory --model llama-3-8b --seq 8192 --recompute full --micro-batch 1",
        activations=32 * 8192 * 4096 * 2,
    ),
    q(
        "memory --model llama-3-8b --seq 8192 --recompute full --cp 4",
        activations=32 * 8192 * 4096 * 2 / 4,
    ),
]
FINE_TUNING = [
    q(
        "fine-tuning --model llama-3-70b --method qlora --rank 64 --seq 512",
        trainable=80 * 64 * ((8192 + 8192) * 2 + (8192 + 1024) * 2 + 3 * (8192 + 28672)),
    ),
    q(
        "fine-tuning --model llama-3-8b --method lora --rank 8 --seq 2048 --adapted attention",
        trainable=32 * 8 * ((4096 * 2) * 2 + (4096 + 1024) * 2),
        flop_per_token=4 * SMALL.met + 6 * 3407872,
    ),
    q(
        "fine-tuning --model qwen2.5-7b --method qlora --rank 16 --seq 2048 --chip rtx-4090",
        trainable=28 * 16 * ((3584 * 2) * 2 + (3584 + 512) * 2 + 3 * (3584 + 18944)),
    ),
    q(
        "fine-tuning --model llama-3-8b --method full --seq 2048 --dp 8 --zero 3 --chip h100-sxm",
        weights=2 * SMALL.total / 8,
        optimizer=12 * SMALL.total / 8,
    ),
    q(
        "fine-tuning --model llama-3-8b --method frozen --seq 2048 --trained-layers 4",
        trainable=4 * (SMALL.total - HALF.total) / 16,
    ),
    q(
        "fine-tuning --model mistral-7b --rank 16 --seq 1k --adapted qv",
        trainable=32 * 16 * (8192 + 5120),
    ),
]
TRAINING_TIME = [
    q(
        "training-time --model llama-3-8b --tokens 15T --chip b200 --chips 512 --mfu 0.45"
        " --chip-mtbf 0",
        seconds=run(6 * SMALL.met * 15e12, 512, 0.45, 2.25e15),
    ),
    q(
        "training-time --model llama-3-70b --tokens 2T --chip tpu-v5p --chips 1024"
        " --mfu 55% --chip-mtbf 0",
        seconds=run(6 * MIDDLE.met * 2e12, 1024, 0.55, 459e12),
    ),
    q(
        "training-time --model llama-3-8b --tokens 1T --chip h100-sxm --chips 100"
        " --mfu 40% --price 3USD/h --chip-mtbf 0",
        billed_chips=104,
        cost=104 * 3 / HOUR * run(6 * SMALL.met * 1e12, 100, 0.4),
    ),
    q(
        "training-time --params 1.3B --tokens 26B --chip a100-sxm-40gb --chips 8"
        " --mfu 50% --chip-mtbf 0",
        seconds=6 * 1.3e9 * 26e9 / (8 * 312e12 * 0.5),
    ),
    q(
        "training-time --model llama-3-405b --tokens 15.6T --chip h100-sxm --chips 16384"
        " --mfu 0.41 --chip-mtbf 50000h --save 30s --restart 10min",
        goodput=1 - ((2 * 30 / (50000 * HOUR / 16384)) ** 0.5 + 600 / (50000 * HOUR / 16384)),
    ),
    q(
        "training-time --model llama-3-8b --tokens 1T --chip h100-sxm --chips 64"
        " --mfu 0.4 --power 1.4kW --pue 1.2 --chip-mtbf 0",
        joules=1.2 * 64 * 1400 * run(6 * SMALL.met * 1e12, 64, 0.4),
    ),
    q(
        "training-time --model llama-3-8b --tokens 100B --chip rtx-4090 --chips 8"
        " --mfu 0.3 --chip-mtbf 0",
        seconds=run(6 * SMALL.met * 1e11, 8, 0.3, 165.2e12),
    ),
    q(
        "training-time --model llama-3-8b --tokens 1T --chip h100-sxm --chips 64"
        " --mfu 0.35 --dtype fp8 --chip-mtbf 0",
        seconds=run(6 * SMALL.met * 1e12, 64, 0.35, 1978.9e12),
    ),
    q(
        "training-time --model llama-3-8b --tokens 1T --chip v100-sxm2 --dtype fp16"
        " --chips 64 --mfu 0.4 --chip-mtbf 0",
        seconds=run(6 * SMALL.met * 1e12, 64, 0.4, 125e12),
    ),
]
SCALING_LAW = [
    q(
        "scaling-law --flop 1e21 --fit hoffmann2022-rounded",
        **best(1e21, 1.69, 406.4, 410.7, 0.34, 0.28),
    ),
    q(
        "scaling-law --flop 1e23 --fit besiroglu2024",
        **best(1e23, 1.8172, 482.01, 2085.43, 0.3478, 0.3658),
    ),
    q("scaling-law --flop 6e22FLOP", 0.15, params=(6e22 / 120) ** 0.5),
    q("scaling-law --flop 1PF-day --fit kaplan2020", params=1.3e9),
]
KV_CACHE = [
    q("kv-cache --model llama-3.1-8b --seq 128k --batch 64", bytes=64 * SMALL.cache(128000)),
    q("kv-cache --model qwen2.5-7b --seq 32Ki", bytes=2 * 28 * 4 * 128 * 2 * 32768),
    q("kv-cache --model deepseek-r1 --seq 64Ki --dtype fp8", bytes=61 * 576 * 65536),
    q("kv-cache --model gpt-3-175b --seq 2048 --batch 16", bytes=16 * 2 * 96 * 12288 * 2 * 2048),
    q("kv-cache --model phi-3-mini --seq 4096", bytes=2 * 32 * 3072 * 2 * 2048),
    q("kv-cache --model mixtral-8x22b --seq 64k", bytes=2 * 56 * 8 * 128 * 2 * 64000),
    q("kv-cache --model gemma-2-27b --seq 8192", bytes=2 * 2 * 16 * 128 * (23 * 8192 + 23 * 4096)),
    q("kv-cache --model llama-3-8b --layers 16 --seq 8k", bytes=SMALL.cache(8000) / 2),
    q(
        "kv-cache --layers 16 --kv-heads 8 --heads 32 --head-dim 128 --seq 8192",
        bytes=2 * 16 * 8 * 128 * 2 * 8192,
    ),
    q(
        "kv-cache --model llama-3-8b --seq 8192 --kv-dtype int8 --batch 3",
        bytes=3 * SMALL.cache(8192, 1),
    ),
]
DECODE = [
    q(
        "decode --model llama-3-8b --chip h200-sxm --batch 16 --seq 8192",
        seconds=step(SMALL, 8192, 4.8e12, 16),
    ),
    q(
        "decode --model llama-3-8b --chip l40s --seq 1k --dtype fp8",
        seconds=step(SMALL, 1000, 864e9, w=1, kv=1),
    ),
    q(
        "decode --model llama-3-8b --chip rtx-4090 --seq 4096 --dtype int4",
        seconds=step(SMALL, 4096, 1.008e12, w=0.5),
    ),
    q(
        "decode --model llama-3-70b --chip h100-sxm --chips 8 --batch 64 --seq 4096 --dtype fp8",
        seconds=step(MIDDLE, 4096, 3.35e12, 64, 8, 1, 1),
    ),
    q(
        "decode --model llama-3-8b --chip a100-sxm-80gb --batch 256 --seq 512",
        seconds=max(2 * SMALL.met / 2.039e12, 2 * 256 * SMALL.met / 312e12)
        + 256 * SMALL.cache(512) / 2.039e12,
    ),
    q(
        "decode --model llama-3-8b --chip v100-sxm2 --seq 1024 --dtype fp16",
        seconds=step(SMALL, 1024, 900e9),
    ),
    q(
        "decode --model llama-3-8b --chip v100-sxm2 --seq 1024 --compute-dtype fp16",
        seconds=step(SMALL, 1024, 900e9),
    ),
    q(
        "decode --model llama-3-8b --chip t4 --seq 1024 --dtype int8",
        seconds=step(SMALL, 1024, 320e9, w=1, kv=1),
    ),
    q(
        "decode --model llama-3-8b --chip t4 --seq 1024 --dtype int4 --compute-dtype fp16",
        seconds=step(SMALL, 1024, 320e9, w=0.5),
    ),
    q(
        "decode --model llama-3-8b --chip h100-sxm --seq 1024 --weight-dtype fp8",
        seconds=step(SMALL, 1024, 3.35e12, w=1),
    ),
    q(
        "decode --model llama-3-8b --chip a100-sxm-80gb --seq 1024 --weight-dtype fp8",
        seconds=step(SMALL, 1024, 2.039e12, w=1),
    ),
    q(
        "decode --model llama-3-70b --chip b200 --seq 8192 --dtype nvfp4",
        seconds=step(MIDDLE, 8192, 7.7e12, w=0.5625, kv=1),
    ),
    q(
        "decode --model llama-3-70b --chip h100-sxm --seq 2048 --dtype mxfp4",
        seconds=step(MIDDLE, 2048, 3.35e12, w=0.53125),
    ),
    q(
        "decode --model llama-3-8b --chip tpu-v5e --tp 4 --seq 2048 --batch 8",
        seconds=step(SMALL, 2048, 819e9, 8, 4),
    ),
    q(
        "decode --model llama-3.2-1b --chip rtx-3090 --seq 2k",
        seconds=(2 * ONE.total + ONE.cache(2000)) / 936e9,
    ),
    q(
        "decode --model llama-3-70b --chip h100-sxm --tp 4 --dp 2 --batch 64 --seq 2048",
        seconds=(2 * MIDDLE.met + 32 * MIDDLE.cache(2048)) / 4 / BW,
    ),
]
PREFILL = [
    q("prefill --model llama-3-8b --chip h100-sxm --seq 8192", seconds=prompt(SMALL, 8192, PEAK)),
    q(
        "prefill --model llama-3-8b --chip a100-sxm-80gb --seq 1000 --batch 8",
        seconds=prompt(SMALL, 1000, 312e12, 8),
    ),
    q(
        "prefill --model llama-3-8b --chip rtx-4090 --seq 2048 --dtype int4",
        seconds=prompt(SMALL, 2048, 165.2e12),
    ),
    q("prefill --model llama-3-8b --chip h100-sxm --seq 1", seconds=2 * SMALL.met / BW),
]
SERVING = [
    q(
        "serving --model llama-3-70b --chip h100-sxm --chips 4 --seq 4096 --dtype fp8",
        batch_fits=(320e9 - MIDDLE.total) // MIDDLE.cache(4096, 1),
    ),
    q("serving --model llama-3-8b --chip rtx-4090 --seq 8192 --dtype int4", batch_fits=18),
    q(
        "serving --model llama-3-8b --chip h100-sxm --seq 4096 --batch 32 --price 2.5USD/h",
        usd_per_million_tokens=1e6 * 2.5 / HOUR * step(SMALL, 4096, BW, 32) / 32,
    ),
    q(
        "serving --model llama-3-70b --chip mi300x --seq 8192 --memory-share 0.9",
        batch_fits=(0.9 * 192e9 - 2 * MIDDLE.total) // MIDDLE.cache(8192),
    ),
    q("serving --model llama-3-405b --chip h100-sxm --seq 4096", batch_fits=0),
    q(
        "serving --model llama-3-8b --chip tpu-v5e --tp 2 --seq 2048",
        batch_fits=(2 * 16 * 2**30 - 2 * SMALL.total) // SMALL.cache(2048),
    ),
    q(
        "serving --model llama-3-8b --chip h100-sxm --seq 2048 --batch 64"
        " --prompt-tokens 1000 --answer-tokens 500 --price 2USD/h",
        usd_per_request=2
        / HOUR
        * (prompt(SMALL, 1000, PEAK) + 499 * step(SMALL, 2048, BW, 64) / 64),
    ),
]
SPECULATIVE_DECODING = [
    q(
        "speculative-decoding --acceptance 0.7 --draft-tokens 3 --draft-time 0.2",
        tokens_per_step=1 + 0.7 + 0.49 + 0.343,
        speedup=(1 + 0.7 + 0.49 + 0.343) / 1.6,
    ),
    q(
        "speculative-decoding --acceptance 90% --draft-tokens 8 --draft-time 5%",
        speedup=(1 - 0.9**9) / 0.1 / 1.4,
    ),
    q(
        "speculative-decoding --acceptance 0.5 --draft-tokens 2 --draft-time 0.1 --draft-flop 0.1",
        operations=(2 * 0.1 + 3) / 1.75,
    ),
    q("speculative-decoding --acceptance 1 --draft-tokens 5 --draft-time 0.1", speedup=6 / 1.5),
]
RELIABILITY = [
    q(
        "reliability --params 70B --chips 2048 --chip-mtbf 50000h --save 20s --restart 5min",
        mtbf=50000 * HOUR / 2048,
        best_interval=(2 * 20 * 50000 * HOUR / 2048) ** 0.5,
    ),
    q(
        "reliability --model llama-3-405b --chips 16384 --chip-mtbf 5years --save 1min"
        " --restart 15min",
        failures_per_hour=16384 / (5 * 365 * 24),
        best_interval=(2 * 60 * 5 * YEAR / 16384) ** 0.5,
    ),
    q(
        "reliability --params 8B --chips 512 --storage 2GB/s --restart 3min --chip-mtbf 50000h",
        best_interval=(2 * (8e9 * 12 / 512 / 2e9) * 50000 * HOUR / 512) ** 0.5,
    ),
    q(
        "reliability --params 8B --chips 8 --chip-mtbf 40000h --save 1min --restart 5min"
        " --interval 2h",
        saving=60 / 7200,
        repeating=3600 / (40000 * HOUR / 8),
    ),
]
QUESTIONS = [
    *PARAMS,
    *TRAINING_FLOPS,
    *MAX_PARAMS,
    *MEMORY,
    *FINE_TUNING,
    *TRAINING_TIME,
    *SCALING_LAW,
    *KV_CACHE,
    *DECODE,
    *PREFILL,
    *SERVING,
    *SPECULATIVE_DECODING,
    *RELIABILITY,
]
