"""Questions on chips and kernels."""

from __future__ import annotations

from tests.evaluation.questions.answers import rooflines as by
from tests.evaluation.questions.answers.facts import Chip
from tests.evaluation.questions.question import Expected
from tests.evaluation.questions.question import Question as Q

H100, A100, MI300X, V5P, RTX4090, B200, L4 = map(
    Chip, ("h100-sxm", "a100-sxm-80gb", "mi300x", "tpu-v5p", "rtx-4090", "b200", "l4")
)


def ridge(chip: Chip, dtype: str = "bf16", sparsity: str = "dense") -> Expected:
    return lambda: {"flop_per_byte": chip.peak(dtype, sparsity) / chip.bandwidth}


def least(chip: Chip, dtype: str, width: float) -> Expected:
    return lambda: {
        "tokens": chip.peak(dtype) * width / 2 / chip.bandwidth,
        "flop_per_byte": chip.peak(dtype) / chip.bandwidth,
    }


def exact(
    peak: float, bandwidth: float, weight: float, sides: tuple[int, int], width: float
) -> Expected:
    return lambda: {"tokens_exact": by.batch_that_saturates(peak, bandwidth, weight, sides, width)}


def gemm(
    m: int, n: int, k: int, widths: tuple[float, float, float] = (2, 2, 2), chip: Chip | None = None
) -> Expected:
    def answer() -> dict[str, object]:
        made = by.product(m, n, k, widths)
        if chip is None:
            return {**made, "intensity": made["flop"] / made["bytes"]}
        roofs = by.under_roofs(made["flop"], made["bytes"], chip.peak(), chip.bandwidth)
        return {**made, **roofs}

    return answer


def attend(
    queries: int, keys: int, dim: int, heads: int, kv_heads: int, width: float = 2
) -> Expected:
    return lambda: by.attention(queries, keys, dim, heads, kv_heads, width)


def roof(kernels: list[tuple[float, float]], peak: float, bandwidth: float) -> Expected:
    def answer() -> dict[str, object]:
        rows = [by.under_roofs(flop, moved, peak, bandwidth) for flop, moved in kernels]
        return {
            "intensity": [row["intensity"] for row in rows],
            "attainable_flop_per_s": [row["attainable_flop_per_s"] for row in rows],
            "bound": [row["bound"] for row in rows],
        }

    return answer


def moved(kernels: list[tuple[float, float]]) -> Expected:
    return lambda: {"flop": [k[0] for k in kernels], "bytes": [k[1] for k in kernels]}


PROMPT = by.attention(8192, 8192, 128, 64, 8, 2)
RIDGES = [
    Q("ridge-point --chip h100-sxm", ridge(H100)),
    Q("ridge-point --chip a100-sxm-80gb", ridge(A100)),
    Q("ridge-point --chip mi300x --dtype fp8", ridge(MI300X, "fp8")),
    Q("ridge-point --chip tpu-v5p", ridge(V5P)),
    Q("ridge-point --chip h100-sxm --dtype fp8", ridge(H100, "fp8")),
    Q("ridge-point --chip h100-sxm --sparsity 2:4", ridge(H100, sparsity="2:4")),
    Q("ridge-point --chip a100-sxm-80gb --dtype int8", ridge(A100, "int8")),
    Q("ridge-point --chip a100-sxm-80gb --dtype int4", ridge(A100, "int4")),
    Q("ridge-point --chip a100-sxm-80gb --dtype tf32", ridge(A100, "tf32")),
    Q("ridge-point --peak 1PFLOP/s --bandwidth 4TB/s", lambda: {"flop_per_byte": 250}),
    Q("ridge-point --peak 100TFLOP/s --bandwidth 800Gb/s", lambda: {"flop_per_byte": 1000}),
    Q(
        "ridge-point --chip h100-sxm --bandwidth 3TB/s",
        lambda: {"flop_per_byte": H100.peak() / 3e12},
    ),
]
BATCHES = [
    Q("min-batch --chip h100-sxm", least(H100, "bf16", 2)),
    Q("min-batch --chip h100-sxm --dtype fp8", least(H100, "fp8", 1)),
    Q("min-batch --chip tpu-v5p", least(V5P, "bf16", 2)),
    Q("min-batch --chip mi300x", least(MI300X, "bf16", 2)),
    Q("min-batch --chip rtx-4090 --dtype bf16", least(RTX4090, "bf16", 2)),
    Q("min-batch --chip h100-sxm --bytes-per-param 0.5", least(H100, "bf16", 0.5)),
    Q(
        "min-batch --peak 1PFLOP/s --bandwidth 2TB/s --d-model 8192 --d-ff 28672",
        exact(1e15, 2e12, 2, (8192, 28672), 2),
    ),
    Q(
        "min-batch --peak 1PFLOP/s --bandwidth 2TB/s --d-model 1024 --d-ff 1024",
        exact(1e15, 2e12, 2, (1024, 1024), 2),
    ),
    Q(
        "min-batch --peak 1PFLOP/s --bandwidth 2TB/s --d-model 512 --d-ff 512",
        exact(1e15, 2e12, 2, (512, 512), 2),
    ),
    Q(
        "min-batch --peak 1PFLOP/s --bandwidth 2TB/s --bytes-per-param 1 --bytes-per-activation 2"
        " --d-model 4096 --d-ff 14336",
        exact(1e15, 2e12, 1, (4096, 14336), 2),
    ),
]
INTENSITIES = [
    Q(
        "arithmetic-intensity --m 512 --n 8192 --k 8192 --chip h100-sxm",
        gemm(512, 8192, 8192, chip=H100),
    ),
    Q(
        "arithmetic-intensity --m 64 --n 8192 --k 8192 --chip h100-sxm",
        gemm(64, 8192, 8192, chip=H100),
    ),
    Q("arithmetic-intensity --m 1 --n 1 --k 4096", gemm(1, 1, 4096)),
    Q("arithmetic-intensity --op gemv --n 28672 --k 8192", gemm(1, 28672, 8192)),
    Q("arithmetic-intensity --op dot --k 1024", gemm(1, 1, 1024)),
    Q(
        "arithmetic-intensity --m 128 --n 4096 --k 4096 --dtype int4 --bytes-per-activation 2",
        gemm(128, 4096, 4096, (2, 0.5, 2)),
    ),
    Q(
        "arithmetic-intensity --m 128 --n 4096 --k 4096 --bytes-per-param 1"
        " --bytes-per-activation 1 --bytes-per-result 2",
        gemm(128, 4096, 4096, (1, 1, 2)),
    ),
    Q(
        "arithmetic-intensity --op prefill --m 8192 --n 8192 --k 128 --heads 64 --kv-heads 8",
        attend(8192, 8192, 128, 64, 8),
    ),
    Q(
        "arithmetic-intensity --op prefill --m 1024 --n 4096 --k 64 --heads 12",
        attend(1024, 4096, 64, 12, 12),
    ),
    Q(
        "arithmetic-intensity --op decode --n 8192 --k 128 --heads 64 --kv-heads 8",
        attend(1, 8192, 128, 64, 8),
    ),
    Q(
        "arithmetic-intensity --op decode --n 1Ki --k 128 --heads 32 --kv-heads 1",
        attend(1, 1024, 128, 32, 1),
    ),
]
ROOFS = [
    Q(
        "roofline --chip h100-sxm --kernels 'point 100, point 300, point 1'",
        lambda: roof([(100, 1), (300, 1), (1, 1)], H100.peak(), H100.bandwidth)(),
    ),
    Q(
        "roofline --chip h100-sxm --kernels 'gemm 128x28672x8192'",
        moved([(2 * 128 * 28672 * 8192, 2 * (128 * 8192 + 8192 * 28672 + 128 * 28672))]),
    ),
    Q(
        "roofline --chip h100-sxm --kernels 'gemv 28672x8192, dot 4096'",
        moved([(2 * 28672 * 8192, 2 * (28672 * 8192 + 8192 + 28672)), (8192, 2 * 8193)]),
    ),
    Q(
        "roofline --roofs 'peak 1PFLOP/s, memory 4TB/s' --kernels 'point 250, point 125'",
        roof([(250, 1), (125, 1)], 1e15, 4e12),
    ),
    Q(
        "roofline --chip a100-sxm-80gb --kernels 'prefill seq=8192 heads=64 kv-heads=8'",
        moved([(PROMPT["flop"], PROMPT["bytes"])]),
    ),
    Q(
        "roofline --chip a100-sxm-80gb --kernels 'elementwise 8192x8192'",
        lambda: {"bytes": [2 * 2 * 8192 * 8192]},
    ),
    Q(
        "roofline --chip h100-sxm --dtype fp8 --kernels 'point 1000'",
        lambda: {"attainable_flop_per_s": [H100.peak("fp8")]},
    ),
    Q(
        "roofline --chip mi300x --kernels 'gemm 4096x4096x4096'",
        lambda: {"share": [1.0], "bound": ["arithmetic"]},
    ),
]
TILES = [
    Q(
        "tile-traffic --m 8192 --n 8192 --k 8192 --tile 128 --near-memory 228kB",
        lambda: {**by.tiled((8192, 8192, 8192), 128, 2), "largest_tile": by.largest_tile(228e3, 2)},
    ),
    Q(
        "tile-traffic --m 4096 --n 1024 --k 512 --tile 256",
        lambda: by.tiled((4096, 1024, 512), 256, 2),
    ),
    Q(
        "tile-traffic --m 1000 --n 1000 --k 1000 --tile 128",
        lambda: by.tiled((1000, 1000, 1000), 128, 2),
    ),
    Q(
        "tile-traffic --m 8192 --n 8192 --k 8192 --tile 128 --dtype fp8",
        lambda: by.tiled((8192, 8192, 8192), 128, 1),
    ),
    Q(
        "tile-traffic --m 8192 --n 8192 --k 8192 --tile 64 --dtype fp32",
        lambda: by.tiled((8192, 8192, 8192), 64, 4),
    ),
    Q("tile-traffic --m 300 --n 5000 --k 77 --tile 1", lambda: by.tiled((300, 5000, 77), 1, 2)),
    Q(
        "tile-traffic --m 64 --n 64 --k 64 --tile 256 --depth 32",
        lambda: {"bytes": by.tiled((64, 64, 64), 256, 2)["bytes"]},
    ),
    Q(
        "tile-traffic --m 8192 --n 8192 --k 8192 --tile 128 --depth 32 --near-memory 164KiB",
        lambda: {
            **by.tiled((8192, 8192, 8192), 128, 2, 32),
            "largest_tile": by.largest_tile(164 * 1024, 2, 32),
        },
    ),
]
TRAFFIC = [
    Q(
        "attention-traffic --seq 8192 --heads 64 --kv-heads 8 --head-dim 128",
        lambda: by.fused_attention(8192, 64, 8, 128),
    ),
    Q(
        "attention-traffic --seq 2048 --heads 12 --head-dim 64",
        lambda: by.fused_attention(2048, 12, 12, 64),
    ),
    Q(
        "attention-traffic --seq 8192 --heads 64 --kv-heads 8 --head-dim 128 --block 128",
        lambda: by.fused_attention(8192, 64, 8, 128, 128),
    ),
    Q(
        "attention-traffic --seq 1000 --heads 8 --head-dim 128 --block 300",
        lambda: by.fused_attention(1000, 8, 8, 128, 300),
    ),
    Q(
        "attention-traffic --seq 128Ki --heads 32 --kv-heads 1 --head-dim 128",
        lambda: by.fused_attention(131072, 32, 1, 128),
    ),
    Q(
        "attention-traffic --seq 1 --heads 32 --head-dim 128",
        lambda: by.fused_attention(1, 32, 32, 128),
    ),
    Q(
        "attention-traffic --seq 4096 --heads 32 --head-dim 128 --bytes-per-activation 1",
        lambda: by.fused_attention(4096, 32, 32, 128, 0, 1),
    ),
    Q(
        "attention-traffic --seq 4096 --heads 32 --head-dim 128 --bytes-per-activation 4"
        " --block 64",
        lambda: by.fused_attention(4096, 32, 32, 128, 64, 4),
    ),
]
WAVES = [
    Q(
        f"wave-quantisation --m {m} --n {n} --tile-m {a} --tile-n {b} --processors {p}",
        lambda m=m, n=n, a=a, b=b, p=p: by.waves(m, n, (a, b), p),
    )
    for m, n, a, b, p in (
        (4096, 28672, 256, 128, 132),
        (128, 128, 128, 128, 108),
        (129, 128, 128, 128, 108),
        (1, 8192, 64, 64, 132),
        (8192, 8192, 128, 256, 108),
        (1536, 1536, 128, 128, 144),
        (1537, 1536, 128, 128, 144),
        (17, 17, 16, 16, 3),
    )
]
QUESTIONS = [*RIDGES, *BATCHES, *INTENSITIES, *ROOFS, *TILES, *TRAFFIC, *WAVES]
