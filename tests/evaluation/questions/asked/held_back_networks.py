"""Questions of the same practitioner on links, limits and what else a chip is asked for.

Rates one way, as data sheets print or halve them: RTX 3090 56.25 GB/s over its bridge and 32 GB/s
over PCIe 4; GB200 900 GB/s among 72; v5e and v4 50 GB/s a link, open below 16 and below a cube;
MI300X 64 GB/s to each of seven; Gaudi 3 75 GB/s to each of seven; cards of 400 and 800 Gbit/s.
"""

from __future__ import annotations

from tests.evaluation.questions.asked.practice import q

H100, H100_BYTES, NVLINK, CARD = 989.4e12, 3.35e12, 450e9, 50e9
DAY = 86_400
SUM = "collective --op all-reduce --bytes 1GB"
GATHER = "collective --op all-gather --bytes 1GB"
RUN_MTBF = 54 * DAY / 419  # 16,384 chips, Dubey et al. (2024), section 3.3.4
LINKS = [
    q(f"{SUM} --chip rtx-3090 --chips 2", bandwidth_seconds=1e9 / 56.25e9),
    # Half of it in the pair, and that half over the bus of the host.
    q(f"{SUM} --chip rtx-a6000 --chips 4", bandwidth_seconds=1e9 / 56.25e9 + 0.5e9 / 32e9),
    q(f"{GATHER} --chip gb200-gpu --chips 72", bandwidth_seconds=71 / 72 * 1e9 / 900e9),
    q(
        "collective --op all-reduce --chip gb200-gpu --chips 144 --bytes 10GB",
        bandwidth_seconds=2 * 71 / 72 * 10e9 / 900e9,
    ),
    # A corner of an open square has two links.
    q(f"{GATHER} --chip tpu-v5e --chips 64", bandwidth_seconds=63 / 64 * 1e9 / 100e9),
    q(f"{GATHER} --chip tpu-v5e --chips 256", bandwidth_seconds=255 / 256 * 1e9 / 200e9),
    q(f"{SUM} --chip tpu-v4 --chips 64", bandwidth_seconds=2 * 63 / 64 * 1e9 / 300e9),
    q(f"{SUM} --chip tpu-v4 --chips 32", bandwidth_seconds=2 * 31 / 32 * 1e9 / 150e9),
    q(f"{SUM} --chip tpu-v5e --chips 8", bandwidth_seconds=2 * 7 / 8 * 1e9 / 100e9),
    q(
        "collective --op all-to-all --chip mi300x --chips 8 --bytes 1GB",
        bandwidth_seconds=1e9 / 64 / 64e9,
    ),
    q(f"{SUM} --chip gaudi-3 --chips 8", bandwidth_seconds=2 * 7 / 8 * 1e9 / 525e9),
    # One card of 400 Gbit/s for the eight of a server.
    q(
        f"{SUM} --chip h100-sxm --chips 16 --scaleout-bandwidth 50Gb/s",
        bandwidth_seconds=1e9 / 8 / 6.25e9,
    ),
    q(f"{SUM} --chip l40s --chips 4", bandwidth_seconds=2 * 3 / 4 * 1e9 / 32e9),
    q(f"{SUM} --chip b300 --chips 16", bandwidth_seconds=2 * 7 / 8 * 1e9 / 900e9),
    # A card a server serves both sides of the ring: half of it comes over 50 GB/s.
    q(
        f"{GATHER} --topology ring --chips 2 --link-bandwidth 400Gbps --links-per-axis 1",
        bandwidth_seconds=0.5e9 / 50e9,
    ),
]
LIMITS = [
    q("dp-limit --chip b200 --chips 1024", tokens_per_chip=2.25e15 / 50e9 / 8),
    q("fsdp-limit --chip gb200-gpu --chips 1152", tokens_per_chip=2.5e15 / 900e9),
    q("fsdp-limit --chip tpu-v6e", domain_tokens=918e12 / 400e9),
    q(
        "cp-limit --model llama-3-70b --chip h100-sxm --seq 128Ki",
        domain_tokens=8 / 64 * H100 / NVLINK,
        across_tokens=8 / 64 * H100 / CARD,
    ),
    q(
        "ep-limit --model kimi-k2 --chip h100-sxm",
        max_chips=8,
        least_width=2 / 3 * H100 / NVLINK,
        across_slack=2048 / (2 / 3 * H100 / CARD),
    ),
    # All of the traffic in turn with the arithmetic, of three matrices; X_opt from both terms.
    q(
        "mixed-limit --model llama-3-70b --chip tpu-v5p --batch-tokens 4Mi",
        tokens_per_chip=8 / 3 * (459e12 / 200e9) ** 2 / 2 / 28672,
    ),
]
OTHERS = [
    q("ridge-point --chip mi355x --dtype fp8", 0.01, flop_per_byte=5033e12 / 8e12),
    q("ridge-point --chip rtx-5090", flop_per_byte=209.5e12 / 1.792e12),
    q("min-batch --chip a100-sxm-80gb --dtype int4", tokens=312e12 / 2.039e12 / 4),
    q(
        "arithmetic-intensity --op decode --m 1 --n 8192 --k 128 --heads 64 --kv-heads 8",
        2e-3,
        intensity=8,
    ),
    q(
        "arithmetic-intensity --op gemm --m 16 --k 8192 --n 28672 --chip h100-sxm",
        5e-3,
        seconds=2 * 8192 * 28672 / H100_BYTES,
    ),
    q(
        "bubble --stages 8 --microbatches 64 --virtual 4 --schedule interleaved",
        fraction=7 / (4 * 64 + 7),
    ),
    q(
        "reliability --model llama-3-405b --chips 16384 --save 60s --restart 10min",
        1e-3,
        goodput=1 - (2 * 60 / RUN_MTBF) ** 0.5 - 600 / RUN_MTBF,
    ),
    q("reliability --chips 24576 --save 60s", 1e-3, mtbf=RUN_MTBF * 16384 / 24576),
    # Another fit of the same runs; 20 tokens for each parameter are the rule.
    q("scaling-law --flop 1e24", 0.06, params=(1e24 / 120) ** 0.5),
    q(
        "speculative-decoding --acceptance 0.7 --draft-tokens 3 --draft-time 0.1",
        speedup=(1 - 0.7**4) / 0.3 / 1.3,
    ),
    q(
        "sharded-matmul --product 'A[I, J_X] * B[J_X, K] -> C[I, K]'"
        " --dims I=8192,J=8192,K=8192 --mesh X=4 --chip tpu-v5p",
        0.01,
        seconds=2 * 3 / 4 * 8192 * 8192 * 2 / 200e9,
    ),
    q(
        "shard --array 'bf16[8192,28672]' --layout 'A[I_X, J_Y]' --mesh X=8,Y=4",
        bytes_per_device=8192 * 28672 * 2 / 32,
    ),
    q(
        "attention-traffic --seq 8192 --heads 32 --head-dim 128 --bytes-per-activation 2",
        unfused_bytes=4 * 32 * 8192 * 8192 * 2 + 4 * 8192 * 4096 * 2,
    ),
    q(
        "tile-traffic --m 8192 --n 8192 --k 8192 --tile 256 --near-memory 228kB",
        bytes=2 * 8192**2 * (2 * 32 + 1),
    ),
]
QUESTIONS = [*LINKS, *LIMITS, *OTHERS]
