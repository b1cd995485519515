"""Questions of a second practitioner, derived on paper before any command was run.

Sizes as the model reports and configuration files print them, rates as data sheets do: H100 SXM
989.4 TFLOP/s and 3.35 TB/s, A100 312 and 2.039, MI300X 1,307.4 and 5.3, RTX 4090 165.2 and 1.008
(fp32 sums), L40S 362.05, v4 275 TFLOP/s with six links of 50 GB/s, v5e four links of 50 GB/s.
"""

from __future__ import annotations

from tests.evaluation.questions.asked.practice import LARGE, MIDDLE, SMALL, Llama, q

K = 1024
H100, H100_BYTES, A100 = 989.4e12, 3.35e12, 312e12
HOUR, DAY = 3600, 86_400
QWEN_7B = Llama(28, 3584, 18944, 28, 4, vocab=152064)
QWEN_14B = Llama(40, 5120, 17408, 40, vocab=151936)
GEMMA_27B = Llama(62, 5376, 21504, 32, 16, vocab=262208, tied=True)
QWEN_4B = Llama(36, 2560, 9728, 32, vocab=151936, tied=True)
VECTORS = 0.01  # what norms and biases may add to a count of matrices


def in_layers(model: Llama) -> int:
    """Weights of all layers, without tables of the vocabulary."""
    return model.met - model.vocab * model.d_model


def causal(layers: int, width: int, tokens: int) -> float:
    """FLOPs of the causal scores of a prompt."""
    return 2 * layers * width * tokens**2


def touched(experts: int, chosen: int, tokens: int) -> float:
    """Experts of a layer that one of so many tokens visits."""
    return experts * (1 - (1 - chosen / experts) ** tokens)


CACHES = [
    q(
        "kv-cache --model qwen-3-30b-a3b --seq 32Ki --batch 16 --kv-dtype fp8",
        bytes=48 * 2 * 4 * 128 * 16 * 32 * K,
    ),
    # Eight ranks share four KV heads, so each holds a whole one.
    q(
        "kv-cache --model qwen-3-30b-a3b --seq 32Ki --batch 16 --tp 8",
        bytes_per_chip=48 * 2 * 1 * 128 * 2 * 16 * 32 * K,
    ),
    # The latent vector belongs to all heads.
    q(
        "kv-cache --model deepseek-v3 --seq 8Ki --batch 64 --tp 8",
        bytes_per_chip=61 * 576 * 2 * 64 * 8 * K,
    ),
    q("kv-cache --model gemma-3-4b --seq 128Ki", bytes=4 * 4 * 256 * (5 * 128 * K + 29 * K)),
    q(
        "kv-cache --model gemma-4-31b --seq 256Ki",
        bytes=4 * (10 * 4 * 512 * 256 * K + 50 * 16 * 256 * K),
    ),
    q("kv-cache --model qwen-3.5-9b --seq 256Ki", 0.01, bytes=8 * 2 * 4 * 256 * 2 * 256 * K),
    q(
        "kv-cache --model mimo-v2-flash --seq 256Ki",
        bytes=2 * 320 * (9 * 4 * 256 * K + 39 * 8 * 128),
    ),
    q("kv-cache --model glm-5 --seq 128Ki", bytes=78 * 128 * K * 2 * (576 + 128)),
    # 54 states of 256 heads, 64 wide, with 256 values each, and three taps of the convolution.
    q(
        "kv-cache --model nemotron-h-56b --seq 8Ki --batch 32",
        1e-3,
        bytes=32 * (10 * 4 * 8 * 128 * 8 * K + 54 * 4 * (256 * 64 * 256 + 3 * (16384 + 4096))),
    ),
    q("kv-cache --model llama-4-maverick --seq 32Ki", bytes=4096 * (12 * 32 * K + 36 * 8 * K)),
    # A scale of eight bits for 16 values.
    q(
        "kv-cache --model llama-3-70b --seq 128Ki --kv-dtype nvfp4",
        bytes=MIDDLE.cache(128 * K, 4.5 / 8),
    ),
    q("kv-cache --model falcon-180b --seq 2Ki --batch 16", bytes=80 * 2 * 8 * 64 * 2 * 32 * K),
]
SIZES = [
    q("params --model minimax-m2", 0.05, total=230e9, compute=10e9),
    q("params --model step-3.5-flash", 0.01, total=196e9),
    q("params --model longcat-flash", 0.05, active=27e9),
    q("params --model nemotron-3-nano-30b-a3b", 0.01, total=31.6e9),
    q("params --model gpt-neox-20b", total=20_554_567_680),
    q(
        "params --model opt-66b",
        VECTORS,
        total=64 * 12 * 9216**2 + (50272 + 2048) * 9216,
    ),
    q(
        "params --layers 24 --d-model 2048 --d-ff 5632 --heads 32 --kv-heads 4 --vocab 32000",
        total=Llama(24, 2048, 5632, 32, 4, 64, 32000).total,
    ),
]
EXPERT, MIXED_ATTENTION = 3 * 2048 * 768, 2 * 2048 * 128 * (32 + 4)
SPARSE = 48 * (MIXED_ATTENTION + touched(128, 8, 64) * EXPERT) + 151936 * 2048
DECODED = [
    q(
        "decode --model qwen-3-30b-a3b --chip h100-sxm --batch 64 --seq 2048",
        1e-3,
        seconds=(2 * SPARSE + 48 * 2 * 4 * 128 * 2 * 64 * 2048) / H100_BYTES,
    ),
    q(
        "decode --model llama-3-70b --chip h100-sxm --tp 16 --batch 128 --seq 8192",
        chip_bytes=2 * MIDDLE.total / 16 + MIDDLE.cache(128 * 8192) / 8,
    ),
    q(
        "decode --model llama-3-8b --chip rtx-4090 --tp 2 --batch 32 --seq 1024",
        seconds=(2 * SMALL.met + SMALL.cache(32 * 1024)) / 2 / 1.008e12,
    ),
    q(
        "decode --model gemma-3-27b --chip rtx-5090 --dtype int4 --seq 8192",
        1e-3,
        seconds=(GEMMA_27B.met / 2 + 64 * 128 * (10 * 8 * K + 52 * K)) / 1.792e12,
    ),
    q(
        "decode --model llama-3-70b --chip tpu-v5e --tp 8 --dtype int8 --seq 2048",
        seconds=(MIDDLE.met + MIDDLE.cache(2048, 1)) / 8 / 819e9,
    ),
    q(
        "decode --model llama-3-70b --chip gaudi-3 --tp 8 --batch 16 --seq 4096",
        seconds=(2 * MIDDLE.met + MIDDLE.cache(16 * 4096)) / 8 / 3.67e12,
    ),
    q(
        "decode --model llama-3-405b --chip trainium2 --tp 16 --seq 4096",
        seconds=(2 * LARGE.met / 16 + LARGE.cache(4096) / 8) / 2.9e12,
    ),
    q(
        "decode --model llama-3-70b --chip mi300x --seq 8192",
        seconds=(2 * MIDDLE.met + MIDDLE.cache(8192)) / 5.3e12,
    ),
    q(
        "decode --model deepseek-v3 --chip h20 --tp 8 --dtype fp8 --batch 32 --seq 4096"
        " --kv-dtype bf16",
        kv_seconds=61 * 576 * 2 * 32 * 4096 / 4e12,
    ),
    q(
        "decode --model llama-3-8b --chip rtx-3090 --dtype int4 --seq 2048",
        seconds=(SMALL.met / 2 + SMALL.cache(2048)) / 936e9,
    ),
]
PROMPTS = [
    q(
        "prefill --model llama-3-8b --chip rtx-4090 --seq 4096",
        1e-3,
        seconds=(2 * in_layers(SMALL) * 4096 + causal(32, 4096, 4096)) / 165.2e12,
    ),
    # No tensor core of an H100 multiplies in int4.
    q(
        "prefill --model llama-3-8b --chip h100-sxm --seq 4096 --dtype int4",
        1e-3,
        seconds=(2 * in_layers(SMALL) * 4096 + causal(32, 4096, 4096)) / H100,
    ),
    q(
        "prefill --model gemma-3-27b --chip h100-sxm --seq 128Ki",
        1e-3,
        seconds=(
            2 * in_layers(GEMMA_27B) * 128 * K
            + causal(10, 4096, 128 * K)
            + 4 * 52 * 4096 * K * 128 * K
        )
        / H100,
    ),
    q(
        "prefill --model qwen-2.5-7b --chip l40s --seq 2048 --batch 8",
        1e-3,
        seconds=8 * (2 * in_layers(QWEN_7B) * 2048 + causal(28, 3584, 2048)) / 362.05e12,
    ),
    q(
        "prefill --model llama-3-70b --chip h100-sxm --tp 8 --seq 32",
        1e-3,
        seconds=2 * MIDDLE.met / 8 / H100_BYTES,
    ),
]
SERVED = [
    q(
        "serving --model llama-3-405b --chip h200-sxm --tp 8 --seq 8192 --dtype fp8",
        batch_fits=(8 * 141e9 - LARGE.total) // LARGE.cache(8192, 1),
    ),
    q(
        "serving --model llama-3-405b --chip h200-sxm --tp 8 --seq 8192 --weight-dtype fp8",
        batch_fits=(8 * 141e9 - LARGE.total) // LARGE.cache(8192),
    ),
    q(
        "serving --model qwen-3-14b --chip rtx-5090 --weight-dtype fp8 --seq 4096",
        batch_fits=(32e9 - QWEN_14B.total) // QWEN_14B.cache(4096),
    ),
    q(
        "serving --model llama-3-70b --chip h100-sxm --tp 8 --seq 4096 --batch 64 --price 2.5USD/h",
        usd_per_million_tokens=1e6
        * 2.5
        / HOUR
        * (2 * MIDDLE.met + MIDDLE.cache(64 * 4096))
        / H100_BYTES
        / 64,
    ),
    q(
        "serving --model llama-3-70b --chip tpu-v6e --tp 8 --seq 4096",
        batch_fits=(8 * 32 * 2**30 - 2 * MIDDLE.total) // MIDDLE.cache(4096),
    ),
    # Twice the peak at half the bytes of a weight: the batch of the ridge stays.
    q(
        "serving --model llama-3-70b --chip h100-sxm --tp 8 --seq 1024 --dtype fp8",
        1e-3,
        batch_saturates=H100 / H100_BYTES,
    ),
]
RUNS = [
    q(
        "training-flops --model gemma-3-27b --seq 32Ki --tokens 1T",
        1e-3,
        flop_causal=6e12 * (GEMMA_27B.met + 2 * 4096 * (10 * 16 * K + 52 * K)),
    ),
    q(
        "training-flops --model llama-3-70b --seq 8192 --tokens 15T",
        1e-3,
        flop_causal=(6 * MIDDLE.met + 6 * 80 * 8192 * 8192) * 15e12,
    ),
    # Printed: 1,720,320 hours of A100; one percent of failures beside.
    q(
        "training-time --model llama-2-70b --tokens 2T --chip a100-sxm-80gb --chips 2048"
        " --mfu 0.43",
        0.02,
        chip_hours=1_720_320,
    ),
    q(
        "training-time --model palm-540b --chip tpu-v4 --chips 6144 --mfu 0.462 --chip-mtbf 0",
        0.01,
        days=6 * 540.35e9 * 780e9 / (6144 * 275e12 * 0.462) / DAY,
    ),
    q(
        "training-time --model bloom-176b --tokens 341B --chip a100-sxm-80gb --chips 384"
        " --mfu 0.48 --counts hfu --chip-mtbf 0",
        0.02,
        days=8 * 176e9 * 341e9 / (384 * A100 * 0.48) / DAY,
    ),
    # Thirteen nodes are billed.
    q(
        "training-time --model llama-3-8b --tokens 200B --chip h100-sxm --chips 100 --mfu 40%"
        " --price 2USD/h --chip-mtbf 0",
        cost=104 * 2 / HOUR * 6 * SMALL.met * 200e9 / (100 * H100 * 0.4),
    ),
    # A DGX B200 takes 14.3 kW; the site a tenth more.
    q(
        "training-time --model llama-3-70b --tokens 15T --chip b200 --chips 2048 --mfu 0.35"
        " --chip-mtbf 0",
        joules=6 * MIDDLE.met * 15e12 / (2.25e15 * 0.35) * 14300 / 8 * 1.1,
    ),
    q(
        "training-time --model llama-3-70b --tokens 1T --chip h100-sxm --chips 1024 --mfu 0.35"
        " --dtype fp8 --chip-mtbf 0",
        1e-4,
        days=6 * MIDDLE.met * 1e12 / (1024 * 2 * H100 * 0.35) / DAY,
    ),
]
MIXTRAL_EXPERTS = 32 * 8 * 3 * 4096 * 14336
MEMORY = [
    q(
        "memory --model llama-3-70b --chips 64 --zero 3 --seq 8192 --recompute full",
        activations=2 * 8192 * 8192 * 80,
    ),
    # States of experts are held once; dense ones are divided by eight.
    q(
        "memory --model mixtral-8x7b --chips 8 --ep 8 --zero 1 --seq 4096",
        weights=2 * (MIXTRAL_EXPERTS / 8 + 46_702_792_704 - MIXTRAL_EXPERTS),
        optimizer=12 * 46_702_792_704 / 8,
    ),
    q("memory --model gpt-2-xl --dtype fp32 --seq 1024", 1e-3, optimizer=8 * 1.5576e9),
    q(
        "memory --model gpt-3-175b --tp 8 --pp 1 --seq 2048 --recompute none --attention scores",
        activations=2048 * 12288 * 96 * (10 + 24 / 8 + 5 * 96 * 2048 / 12288 / 8),
    ),
    q(
        "fine-tuning --model llama-3-8b --method lora --seq 8192 --chip h100-sxm --recompute full",
        activations=2 * 8192 * 4096 * 32,
    ),
    q(
        "fine-tuning --model llama-3-70b --method qlora --seq 2048",
        0.01,
        weights=in_layers(MIDDLE) * 4.127 / 8 + 2 * 2 * 128256 * 8192,
    ),
    q(
        "fine-tuning --model qwen-2.5-7b --rank 64 --seq 2048",
        trainable=28 * 64 * (2 * (3584 + 3584) + 2 * (3584 + 512) + 3 * (3584 + 18944)),
    ),
    q(
        "fine-tuning --model gpt-oss-20b --rank 8 --adapted attention --seq 1024",
        trainable=24 * 8 * (2 * (2880 + 4096) + 2 * (2880 + 512)),
    ),
    q(
        "fine-tuning --model llama-3-8b --method frozen --trained-layers 4 --seq 2048",
        1e-3,
        flop_per_token=2 * SMALL.met + 4 * in_layers(SMALL) / 8 + 2 * 128256 * 4096,
    ),
    q(
        "offload --params 1B --chip rtx-4090 --offload no --offload-activations yes"
        " --activations 20GB --microbatches 2",
        exposed=2 * 2 * 20e9 / 32e9,
    ),
]
QUESTIONS = [*CACHES, *SIZES, *DECODED, *PROMPTS, *SERVED, *RUNS, *MEMORY]
