"""Everyday questions on chips and networks, answered from data sheets before ours was asked.

H100 (NVIDIA 2022): 989.4 TFLOP/s in bf16, 3.35 TB/s, NVLink 450 GB/s one way, a card of 400 Gbit/s
for each GPU of a server of eight. TPU v5p (Google 2026): 1,200 GB/s both ways over six links.
"""

from __future__ import annotations

from tests.evaluation.questions.asked.practice import BANDWIDTH as BW
from tests.evaluation.questions.asked.practice import CARD, NVLINK, PEAK
from tests.evaluation.questions.asked.practice import q as exactly
from tests.evaluation.questions.question import Question

V5P = 600e9
DAY = 86400


def q(command: str, rel: float = 0.02, **outputs: float) -> Question:
    """A question whose answer is good to two percent, as a data sheet rounds."""
    return exactly(command, rel, **outputs)


RIDGE_POINT = [
    q("ridge-point --chip h200-sxm", flop_per_byte=989.5 / 4.8),
    q("ridge-point --chip l4 --dtype fp8", flop_per_byte=242e12 / 300e9),
    q("ridge-point --chip v100-sxm2 --dtype fp16", flop_per_byte=125e12 / 900e9),
    q("ridge-point --chip h100-sxm --dtype fp8 --sparsity 2:4", flop_per_byte=3957.8 / 3.35),
    q("ridge-point --chip rtx-4090 --dtype int4", flop_per_byte=1321.2e12 / 1.008e12),
    q("ridge-point --peak 312TFLOP/s --bandwidth 2TB/s", flop_per_byte=156),
    q("ridge-point --chip tpu-v6e --dtype int8", flop_per_byte=1836 / 1.638),
]
MIN_BATCH = [
    q("min-batch --chip a100-sxm-80gb", tokens=312 / 2.039),
    q("min-batch --chip rtx-4090 --dtype int4", tokens=165.2e12 * 0.5 / 2 / 1.008e12),
    q("min-batch --chip b200 --dtype nvfp4", tokens=9e15 * 0.5625 / 2 / 7.7e12),
]
ARITHMETIC_INTENSITY = [
    q(
        "arithmetic-intensity --m 4096 --n 4096 --k 4096 --chip h100-sxm",
        seconds=2 * 4096**3 / PEAK,
        intensity=4096 / 3,
    ),
    q(
        "arithmetic-intensity --op gemv --n 28672 --k 8192 --chip h100-sxm",
        seconds=(8192 * 28672 + 8192 + 28672) * 2 / BW,
    ),
    q(
        "arithmetic-intensity --op dot --k 1e6 --chip h100-sxm",
        bytes=4e6 + 2,
        seconds=(4e6 + 2) / BW,
    ),
    q(
        "arithmetic-intensity --op prefill --m 4096 --n 4096 --k 128 --heads 32"
        " --kv-heads 8 --chip h100-sxm",
        flop=4 * 32 * 128 * 4096 * 4097 / 2,
    ),
    q(
        "arithmetic-intensity --op decode --n 8192 --k 128 --heads 64 --kv-heads 8 --chip h100-sxm",
        bytes=2 * (2 * 8192 * 128 * 8 + 2 * 64 * 128),
        flop=4 * 8192 * 128 * 64,
    ),
    q(
        "arithmetic-intensity --m 128 --n 4096 --k 4096 --bytes-per-param 0.5"
        " --bytes-per-activation 2 --peak 100TFLOP/s --bandwidth 1TB/s",
        bytes=128 * 4096 * 2 * 2 + 4096 * 4096 * 0.5,
        seconds=max(2 * 128 * 4096 * 4096 / 1e14, (128 * 4096 * 4 + 4096**2 * 0.5) / 1e12),
    ),
]
TILE_TRAFFIC = [
    q(
        "tile-traffic --m 4096 --n 4096 --k 4096 --tile 128",
        bytes=2 * (4096**2 * 4096 / 128 * 2 + 4096**2),
        intensity=128 / 2,
    ),
    q("tile-traffic --m 8192 --n 8192 --k 8192 --tile 256 --dtype fp8", intensity=256),
    q(
        "tile-traffic --m 8192 --n 8192 --k 8192 --tile 128 --near-memory 228KiB --depth 64",
        tile_bytes=128 * 128 * 4 + 2 * 2 * 128 * 64 * 2,
    ),
    q("tile-traffic --m 1024 --n 1024 --k 1024 --tile 1", bytes=2 * (2 * 1024**3 + 1024**2)),
]
ATTENTION_TRAFFIC = [
    q(
        "attention-traffic --seq 16k --heads 64 --kv-heads 8 --head-dim 128",
        bytes=2 * 16000 * 128 * (2 * 64 + 2 * 8),
    ),
    q(
        "attention-traffic --seq 8192 --heads 8 --head-dim 64 --bytes-per-activation 4",
        bytes=4 * 8192 * 8 * 64 * 4,
    ),
    q(
        "attention-traffic --seq 8192 --heads 1 --head-dim 128 --block 128",
        bytes=2 * (2 * 8192 * 128 + 64 * 2 * 8192 * 128),
    ),
]
WAVE_QUANTISATION = [
    q(
        "wave-quantisation --m 4096 --n 4096 --tile-m 128 --tile-n 128 --processors 108",
        tiles=1024,
        waves=10,
        useful_share=1024 / 1080,
    ),
    q(
        "wave-quantisation --m 130 --n 128 --tile-m 128 --tile-n 128 --processors 1",
        tiles=2,
        tile_share=130 / 256,
    ),
    q(
        "wave-quantisation --m 1 --n 28672 --tile-m 64 --tile-n 128 --processors 132",
        tiles=224,
        waves=2,
        useful_share=28672 / (64 * 128 * 264),
    ),
    q(
        "wave-quantisation --m 16384 --n 16384 --tile-m 256 --tile-n 128 --processors 148",
        tiles=8192,
        waves=56,
    ),
]
COLLECTIVE = [
    q(
        "collective --op all-gather --chip h200-sxm --chips 8 --bytes 8GB",
        bandwidth_seconds=7e9 / NVLINK,
    ),
    q(
        "collective --op reduce-scatter --chip h100-sxm --chips 16 --bytes 1GiB",
        bandwidth_seconds=max(2**30 * 7 / 8 / NVLINK, 2**30 / 8 / 2 / CARD),
    ),
    q(
        "collective --op all-reduce --chip a100-sxm-80gb --chips 8 --bytes 256MB",
        bandwidth_seconds=2 * 7 / 8 * 256e6 / 300e9,
    ),
    q(
        "collective --op all-reduce --chip b200 --chips 8 --bytes 1GB",
        bandwidth_seconds=2 * 7 / 8 * 1e9 / 900e9,
    ),
    q(
        "collective --op all-reduce --chip gb200-gpu --chips 72 --bytes 1GB",
        bandwidth_seconds=2 * 71 / 72 * 1e9 / 900e9,
    ),
    q(
        "collective --op all-to-all --chip h100-sxm --chips 8 --bytes 800MB",
        bandwidth_seconds=100e6 * 7 / 8 / NVLINK,
    ),
    q(
        "collective --op all-reduce --chip l40s --chips 8 --bytes 1GB",
        bandwidth_seconds=2 * 7 / 8 * 1e9 / 32e9,
    ),
    q(
        "collective --op all-reduce --chip h100-pcie --chips 2 --bytes 1GB",
        bandwidth_seconds=1e9 / 300e9,
    ),
    q(
        "collective --op all-reduce --chip mi300x --chips 8 --bytes 1GB",
        bandwidth_seconds=2 * 7 / 8 * 1e9 / 448e9,
    ),
    q(
        "collective --op all-reduce --chip mi300x --chips 4 --bytes 1GB",
        bandwidth_seconds=2 * 3 / 4 * 1e9 / 192e9,
    ),
    q(
        "collective --op all-gather --chip tpu-v5p --chips 64 --bytes 1GB",
        bandwidth_seconds=1e9 * 63 / 64 / V5P,
    ),
    q(
        "collective --op all-reduce --chip tpu-v5e --chips 256 --bytes 1GB",
        bandwidth_seconds=2 * 1e9 * 255 / 256 / 200e9,
    ),
    q(
        "collective --op all-gather --chip tpu-v5e --chips 8 --bytes 1GB",
        0.35,
        bandwidth_seconds=1e9 * 7 / 8 / 100e9,
    ),
    q(
        "collective --op all-reduce --chip trainium2 --chips 16 --bytes 1GB",
        0.1,
        bandwidth_seconds=2 * 15 / 16 * 1e9 / 640e9,
    ),
    q(
        "collective --op all-reduce --chip gaudi-3 --chips 8 --bytes 1GB",
        bandwidth_seconds=2 * 7 / 8 * 1e9 / 525e9,
    ),
    q(
        "collective --op all-gather --topology switch --chips 2 --bytes 1GB"
        " --link-bandwidth 400Gbps",
        seconds=0.5e9 / 50e9,
    ),
    q(
        "collective --op permute --topology ring --chips 8 --bytes 8GB"
        " --link-bandwidth 100Gb/s --links-per-axis 1",
        seconds=1e9 / 12.5e9,
    ),
    q(
        "collective --op all-reduce --topology switch --chips 64 --bytes 4GB"
        " --link-bandwidth 25GBps --latency 5us",
        bandwidth_seconds=2 * 63 / 64 * 4e9 / 25e9,
    ),
    q(
        "collective --op all-reduce --topology two-level --chips 64 --chips-per-node 8"
        " --bytes 1GB --link-bandwidth 450GB/s --scaleout-bandwidth 50GB/s"
        " --level-overlap no",
        bandwidth_seconds=2 * (1e9 * 7 / 8 / NVLINK) + 2 * (1e9 / 8 * 7 / 8 / 50e9),
    ),
    q(
        "collective --op all-reduce --chip h100-sxm --chips 8 --bytes 1GB --reduction switch",
        bandwidth_seconds=1e9 * (1 + 1 / 8) / NVLINK,
    ),
]
SHARD = [
    q(
        "shard --array 'bf16[8192,28672]' --layout 'A[D_X, F_Y]' --mesh X=16,Y=8",
        bytes_per_device=8192 * 28672 * 2 / 128,
    ),
    q("shard --array 'fp32[1024]' --layout 'A[I]' --mesh X=8", bytes_per_device=4096, copies=8),
    q(
        "shard --array 'int8[4096,4096]' --layout 'A[I_XY, J]' --mesh X=2,Y=4,Z=3",
        bytes_per_device=4096 * 4096 / 8,
        copies=3,
    ),
    q(
        "shard --array 'bf16[32,8192,4096]' --layout 'A[B_X, S_Y, D]' --mesh X=4,Y=2",
        bytes_per_device=32 * 8192 * 4096 * 2 / 8,
    ),
]
SHARDED_MATMUL = [
    q(
        "sharded-matmul --product 'A[B_X, D] * B[D, F_Y] -> C[B_X, F_Y]'"
        " --dims B=8192,D=8192,F=28672 --mesh X=4,Y=2 --chip tpu-v5p",
        flop=2 * 8192 * 8192 * 28672 / 8,
        compute_seconds=2 * 8192 * 8192 * 28672 / 8 / 459e12,
        communication_seconds=0,
    ),
    q(
        "sharded-matmul --product 'A[B, D_X] * B[D_X, F] -> C[B, F]'"
        " --dims B=4096,D=8192,F=8192 --mesh X=4 --chip tpu-v5p",
        communication_seconds=2 * 4096 * 8192 * 2 * (3 / 4) / (V5P / 3),
    ),
    q(
        "sharded-matmul --product 'A[B, D] * B[D, F_X] -> C[B, F_X]'"
        " --dims B=4096,D=8192,F=8192 --mesh X=8 --chip h100-sxm",
        compute_seconds=2 * 4096 * 8192 * 8192 / 8 / PEAK,
    ),
    q(
        "sharded-matmul --product 'A[B_X, D] * B[D_X, F] -> C[B_X, F]'"
        " --dims B=65536,D=8192,F=28672 --mesh X=8 --chip h100-sxm",
        communication_seconds=8192 * 28672 * 2 * 7 / 8 / NVLINK,
    ),
]
DP_LIMIT = [
    q("dp-limit --chip tpu-v5p", tokens_per_chip=459e12 / V5P),
    q("dp-limit --chip a100-sxm-80gb --chips 8", tokens_per_chip=312e12 / 300e9),
    q(
        "dp-limit --chip h100-sxm --dtype fp8 --chips 8",
        0.03,
        tokens_per_chip=2 * 1978.9e12 / NVLINK / 2,
    ),
    q(
        "dp-limit --peak 500TFLOP/s --link-bandwidth 100GB/s --topology switch",
        tokens_per_chip=5000,
    ),
]
FSDP_LIMIT = [
    q("fsdp-limit --chip tpu-v5p", tokens_per_chip=459e12 / V5P),
    q("fsdp-limit --chip b200 --chips 8", tokens_per_chip=2.25e15 / 900e9),
    q("fsdp-limit --chip gb200-gpu --chips 72", tokens_per_chip=2.5e15 / 900e9),
    q(
        "fsdp-limit --chip h100-sxm --model deepseek-v3 --chips 8",
        tokens_per_chip=PEAK / NVLINK * 671 / 36.6,
    ),
    q(
        "fsdp-limit --chip h100-sxm --chips 2048 --scaleout-bandwidth 100Gb/s",
        tokens_per_chip=PEAK / 12.5e9 / 8,
    ),
]
TP_LIMIT = [
    q("tp-limit --model llama-3-8b --chip h100-sxm", forward_degree=3 * 14336 * NVLINK / PEAK / 2),
    q(
        "tp-limit --d-ff 32768 --peak 459TFLOP/s --link-bandwidth 90GB/s --axes 1 --ffn-kind plain",
        max_tp_degree=32768 * 180e9 // 459e12,
    ),
]
CP_LIMIT = [
    q(
        "cp-limit --chip h100-sxm --heads 32 --kv-heads 32 --causal no --chips 8",
        tokens_per_chip=PEAK / NVLINK,
    ),
    q(
        "cp-limit --chip h100-sxm --heads 64 --kv-heads 8 --chips 8 --causal yes",
        tokens_per_chip=2 * PEAK / NVLINK / 8,
    ),
    q(
        "cp-limit --chip tpu-v5p --heads 64 --kv-heads 8 --axes 1 --causal yes",
        tokens_per_chip=2 * 459e12 / (V5P / 3) / 8,
    ),
]
EP_LIMIT = [
    q(
        "ep-limit --model deepseek-v3 --chip h100-sxm --chips 8",
        0.03,
        slack=(6 * 2048 / PEAK) / (4 / NVLINK),
    ),
    q(
        "ep-limit --model mixtral-8x7b --chip h100-sxm --chips 8",
        slack=(6 * 14336 / PEAK) / (4 / NVLINK),
    ),
    q(
        "ep-limit --model qwen3-235b-a22b --chip h200-sxm --chips 64",
        across_slack=(6 * 1536 / 989.5e12) / (4 / 50e9),
    ),
    q(
        "ep-limit --expert-d-ff 2048 --experts 64 --experts-per-token 4 --peak 1PFLOP/s"
        " --link-bandwidth 100GB/s --topology switch --memory-bandwidth 3TB/s --chips 8",
        slack=6 * 2048 / 1e15 / (4 / 1e11),
    ),
]
BUBBLE = [
    q("bubble --stages 4 --microbatches 8", fraction=3 / 11),
    q(
        "bubble --stages 16 --microbatches 64 --schedule interleaved --virtual 4",
        overhead=15 / 64 / 4,
    ),
    q(
        "bubble --stages 4 --microbatches 4 --schedule gpipe --forward 10ms"
        " --backward-input 10ms --backward-weight 10ms",
        ideal_seconds=0.12,
        total_seconds=0.21,
    ),
    q("bubble --stages 8 --microbatches 16 --schedule zb-h1", overhead=7 / 16 / 3),
    q("bubble --stages 2 --microbatches 1000", overhead=0.001),
]
CLUSTER_POWER = [
    q(
        "cluster-power --chip h100-sxm --chips 1024 --pue 1.3 --seconds 30days",
        joules=1024 * 1275 * 1.3 * 30 * DAY,
    ),
    q("cluster-power --chip b200 --chips 8 --pue 1", watts=14300),
    q("cluster-power --chip a100-sxm-80gb --chips 8 --pue 1", watts=6500),
    q(
        "cluster-power --power 700W --chips 10000 --pue 1.2 --seconds 1year --load 70%",
        joules=7e6 * 1.2 * 0.7 * 365 * DAY,
    ),
    q("cluster-power --chip rtx-4090 --chips 4 --pue 1.1", watts=4 * 450 * 1.1),
]
QUESTIONS = [
    *RIDGE_POINT,
    *MIN_BATCH,
    *ARITHMETIC_INTENSITY,
    *TILE_TRAFFIC,
    *ATTENTION_TRAFFIC,
    *WAVE_QUANTISATION,
    *COLLECTIVE,
    *SHARD,
    *SHARDED_MATMUL,
    *DP_LIMIT,
    *FSDP_LIMIT,
    *TP_LIMIT,
    *CP_LIMIT,
    *EP_LIMIT,
    *BUBBLE,
    *CLUSTER_POWER,
]
