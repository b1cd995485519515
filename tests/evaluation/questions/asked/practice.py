"""Questions as practitioners put them, answered with the numbers that papers and data sheets print.

Llama 3 (Dubey et al. 2024, table 3), Mixtral (Jiang et al. 2024), DeepSeek-V3 (2024, 4.2), Gemma 3
(2025, table 1), gpt-oss (OpenAI 2025, table 1): sizes; H100 (NVIDIA 2022): 989.4 TFLOP/s in bf16,
3.35 TB/s, 80 GB, NVLink 450 GB/s one way, 400 Gbit/s beyond a server of eight.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.evaluation.questions.question import Question as Q

PEAK, BANDWIDTH, NVLINK, CARD = 989.4e12, 3.35e12, 450e9, 50e9
HOUR = 3600


class Llama(NamedTuple):
    """A Llama 3: all matrices without bias, a gated block, two norms in a layer and one after."""

    layers: int
    d_model: int
    d_ff: int
    heads: int
    kv_heads: int = 8
    width: int = 128
    vocab: int = 128256
    tied: bool = False

    @property
    def total(self) -> int:
        """All weights."""
        attention = 2 * self.d_model * self.width * (self.heads + self.kv_heads)
        layer = attention + 3 * self.d_model * self.d_ff + 2 * self.d_model
        tables = (1 if self.tied else 2) * self.vocab * self.d_model
        return self.layers * layer + self.d_model + tables

    @property
    def met(self) -> int:
        """Weights that a token is multiplied with."""
        return self.total - (0 if self.tied else self.vocab * self.d_model)

    def cache(self, tokens: int, width: float = 2) -> float:
        """Bytes of keys and values of so many tokens."""
        return 2 * self.layers * self.kv_heads * self.width * tokens * width

    def scores(self, tokens: float) -> float:
        """FLOPs of causal scores of a token in training."""
        return 6 * self.layers * self.heads * self.width * (tokens + 1)


SMALL, MIDDLE = Llama(32, 4096, 14336, 32), Llama(80, 8192, 28672, 64)
LARGE, ONE = Llama(126, 16384, 53248, 128), Llama(16, 2048, 8192, 32, width=64, tied=True)
HALF = SMALL._replace(layers=16)
# Printed by the reports: Mixtral 46.7 and 12.9 billion, DeepSeek-V3 671 and 37 billion.
MIXTRAL, MIXTRAL_MET = 46_702_792_704, 12_879_925_248 - 32000 * 4096


def q(command: str, rel: float = 1e-9, **outputs: Any) -> Q:
    """A question whose answer is a number that stands beside it."""
    wanted: Mapping[str, Any] = outputs
    return Q(command, lambda: wanted, rel)


def days(flop: float, chips: int, mfu: float) -> float:
    """Seconds of a run on H100 at a share of their peak."""
    return flop / (chips * PEAK * mfu)


def step(model: Llama, tokens: int, chips: int = 1) -> float:
    """A decoding step of one sequence: all weights that it meets, and its cache, are read."""
    return (2 * model.met + model.cache(tokens)) / (chips * BANDWIDTH)


SIZES = [
    q("params --model llama-3-405b", total=LARGE.total),
    q("params --model llama-3-8b --layers 16 --vocab 128256", total=HALF.total),
    q("params --model gpt-oss-20b", 1e-3, total=20.91e9),
    q("params --model falcon-7b", total=6_921_720_704),
]
CACHES = [
    q("kv-cache --model llama-3-70b --seq 8192 --batch 32", bytes=32 * MIDDLE.cache(8192)),
    q("kv-cache --model llama-3-405b --seq 131072", bytes=LARGE.cache(131072)),
    q("kv-cache --model llama-3.2-1b --seq 2k --dtype fp8", bytes=ONE.cache(2000, 1)),
    q("kv-cache --model llama-3-8b --seq 4096 --kv-dtype int4", bytes=SMALL.cache(4096, 0.5)),
    q("kv-cache --model deepseek-v3 --seq 128Ki", bytes=61 * (512 + 64) * 131072 * 2),
    q("kv-cache --model gemma-2-9b --seq 8192", bytes=2 * 2 * 8 * 256 * 21 * (8192 + 4096)),
    q("kv-cache --model mistral-7b --seq 32768", bytes=2 * 2 * 32 * 8 * 128 * 4096),
    q(
        "kv-cache --model gpt-oss-120b --seq 131072",
        bytes=2 * 2 * 8 * 64 * 18 * (131072 + 128),
    ),
    q(
        "kv-cache --model llama-4-scout --seq 1000000",
        bytes=2 * 2 * 8 * 128 * (12 * 1_000_000 + 36 * 8192),
    ),
]
RUNS = [
    q("training-flops --model llama-3-405b --tokens 15.6T", flop=6 * LARGE.met * 15.6e12),
    q(
        "training-flops --model llama-3-8b --seq 8192 --tokens 15T",
        flop_causal=(6 * SMALL.met + SMALL.scores(8192)) * 15e12,
    ),
    q("training-flops --model llama-3-8b --tokens 1T --layers 16", flop=6 * HALF.met * 1e12),
    q("training-flops --params 175B --tokens 300B", flop=3.15e23),
    q("training-flops --model mixtral-8x7b --tokens 1T", flop=6 * MIXTRAL_MET * 1e12),
    q(
        "training-time --model llama-3-70b --tokens 15T --chip h100-sxm --chips 6000 --mfu 40%"
        " --chip-mtbf 0",
        seconds=days(6 * MIDDLE.met * 15e12, 6000, 0.4),
    ),
    q(
        "training-time --model llama-3-8b --seq 8192 --tokens 1T --chip h100-sxm --chips 64"
        " --mfu 0.4 --chip-mtbf 0",
        seconds=days((6 * SMALL.met + SMALL.scores(8192)) * 1e12, 64, 0.4),
    ),
    q(
        "training-time --model llama-3-8b --tokens 1T --chip h100-sxm --chips 12 --mfu 0.4"
        " --price 2.5USD/h --chip-mtbf 0",
        # Nodes of eight are billed whole.
        cost=16 * 2.5 / HOUR * days(6 * SMALL.met * 1e12, 12, 0.4),
    ),
    q(
        "training-time --params 65.2B --tokens 1.4T --chip a100-sxm-80gb --chips 2048 --mfu 0.477"
        " --chip-mtbf 0",
        seconds=6 * 65.2e9 * 1.4e12 / (2048 * 312e12 * 0.477),
    ),
]
MEMORY = [
    q("memory --model llama-3-8b --seq 4096", weights=2 * SMALL.total, optimizer=12 * SMALL.total),
    q(
        "memory --model llama-3-70b --seq 8192 --zero 3 --dp 64",
        weights=2 * MIDDLE.total / 64,
        gradients=2 * MIDDLE.total / 64,
        optimizer=12 * MIDDLE.total / 64,
    ),
    q(
        "memory --model llama-3-8b --chips 8 --zero 1 --seq 8192 --chip h100-sxm",
        weights=2 * SMALL.total,
        optimizer=12 * SMALL.total / 8,
    ),
    q("memory --model llama-3-8b --seq 8192 --dtype fp32", weights=4 * SMALL.total),
    q("memory --model llama-3-8b --seq 512 --layers 16", weights=2 * HALF.total),
    q(
        "fine-tuning --model llama-3-8b --rank 16 --seq 2048 --adapted qv",
        trainable=32 * 16 * ((4096 + 4096) + (4096 + 1024)),
    ),
    q("fine-tuning --model llama-3-8b --method full --seq 2048", flop_per_token=6 * SMALL.met),
    q(
        "fine-tuning --model mixtral-8x7b --rank 16 --seq 2048",
        trainable=32 * 16 * (2 * 8192 + 2 * 5120 + 8 * 3 * (4096 + 14336)),
    ),
    q("max-params --chip h200-sxm --chips 8 --bytes-per-param 2", params=8 * 141e9 / 2),
]
NETWORKS = [
    q(
        "collective --op all-reduce --chip h100-sxm --chips 1024 --bytes 16GB",
        bandwidth_seconds=2 * 16e9 / 8 * (1 - 1 / 128) / CARD,
    ),
    q(
        "collective --op all-to-all --chip h100-sxm --chips 64 --bytes 1GB",
        bandwidth_seconds=1e9 / 64 * 56 / 64 / CARD,
    ),
    q(
        "collective --op all-reduce --chip mi300x --chips 2 --bytes 1GB",
        bandwidth_seconds=1e9 / 64e9,
    ),
    # Four chips of v5e are an open square: each receives three quarters over two links of 50 GB/s.
    q(
        "collective --op all-gather --chip tpu-v5e --chips 4 --bytes 1GB",
        bandwidth_seconds=0.75e9 / (2 * 50e9),
    ),
    # 64 A100 are eight servers, and each card carries an eighth of the gradients twice.
    q(
        "collective --op all-reduce --chip a100-sxm-80gb --chips 64 --bytes 1GB",
        bandwidth_seconds=2 * 1e9 / 8 * (1 - 1 / 8) / 25e9,
    ),
    q("dp-limit --chip h100-sxm", domain_tokens=PEAK / NVLINK, across_tokens=PEAK / CARD / 8),
    q("fsdp-limit --chip h100-sxm --chips 1024", tokens_per_chip=PEAK / CARD / 8),
    q(
        "fsdp-limit --chip h100-sxm --model mixtral-8x7b --chips 1024",
        tokens_per_chip=PEAK / CARD / 8 * MIXTRAL / MIXTRAL_MET,
    ),
    q("fsdp-limit --chip a100-sxm-80gb --chips 256", tokens_per_chip=312e12 / 25e9 / 8),
    q("fsdp-limit --chip h100-sxm --batch-tokens 4M", max_chips=4e6 // (PEAK / CARD / 8)),
    q("tp-limit --model llama-3-70b --chip tpu-v5p", max_tp_degree=56),
]
SERVED = [
    q("decode --model llama-3-8b --chip h100-sxm --seq 2048", seconds=step(SMALL, 2048)),
    q(
        "decode --model llama-3-70b --chip h100-sxm --tp 8 --seq 2048",
        seconds=step(MIDDLE, 2048, 8),
    ),
    q(
        "decode --model llama-3-70b --chip h100-sxm --seq 1",
        weight_bytes=2 * MIDDLE.total,
        fewest_chips=2,
    ),
    q(
        "serving --model llama-3-70b --chip h100-sxm --tp 8 --seq 4096",
        weight_bytes=2 * MIDDLE.total / 8,
        batch_fits=(80e9 - 2 * MIDDLE.total / 8) // (MIDDLE.cache(4096) / 8),
    ),
    q(
        "serving --model llama-3-8b --chip l4 --seq 4096",
        batch_fits=(24e9 - 2 * SMALL.total) // SMALL.cache(4096),
    ),
    q(
        "serving --model llama-3-8b --chip h100-sxm --seq 4096 --memory-share 0.92",
        batch_fits=(0.92 * 80e9 - 2 * SMALL.total) // SMALL.cache(4096),
    ),
    q(
        "serving --model llama-3-8b --chip h100-sxm --seq 2048 --batch 1 --price 2USD/h",
        usd_per_million_tokens=1e6 * 2 / HOUR * step(SMALL, 2048),
    ),
]
OTHERS = [
    q("ridge-point --chip tpu-v5e", flop_per_byte=197e12 / 819e9),
    q("ridge-point --chip mi300x", flop_per_byte=1307.4e12 / 5.3e12),
    q("bubble --stages 8 --microbatches 32", overhead=7 / 32, fraction=7 / 39),
    q("bubble --stages 16 --microbatches 16 --schedule gpipe", overhead=15 / 16),
    q(
        "reliability --params 405B --chips 16384 --chip-mtbf 50000h --save 60s --restart 10min",
        mtbf=50000 * HOUR / 16384,
        best_interval=(2 * 60 * 50000 * HOUR / 16384) ** 0.5,
    ),
    q(
        "speculative-decoding --acceptance 80% --draft-tokens 4 --draft-time 0.1",
        tokens_per_step=(1 - 0.8**5) / 0.2,
        speedup=(1 - 0.8**5) / 0.2 / 1.4,
    ),
    q("wave-quantisation --m 8192 --n 8192 --tile-m 128 --tile-n 256 --processors 132", waves=16),
    # About 20 tokens for each parameter (Besiroglu et al. 2024).
    q("scaling-law --flop 5.76e23", 0.05, params=(5.76e23 / 120) ** 0.5),
    q("cluster-power --chip h100-sxm --chips 24576 --pue 1.1", watts=24576 * 1275 * 1.1),
]
QUESTIONS = [*SIZES, *CACHES, *RUNS, *MEMORY, *NETWORKS, *SERVED, *OTHERS]
