"""Questions on budgets, runs, pipelines, sharded arrays and clusters."""

from __future__ import annotations

from tests.evaluation.questions.answers import clusters as by
from tests.evaluation.questions.answers import pipelines, sharding
from tests.evaluation.questions.answers.facts import Chip
from tests.evaluation.questions.question import Expected
from tests.evaluation.questions.question import Question as Q

H100 = Chip("h100-sxm")
YEAR, DAY, HOUR = 365.25 * 86400, 86400, 3600
LAWS = [
    *(
        Q(
            f"scaling-law --flop {flop:g}FLOP",
            lambda flop=flop: by.best_size(flop, "besiroglu2024"),
            1e-6,
        )
        for flop in (1e18, 1e20, 5.76e23, 1e26)
    ),
    *(
        Q(
            f"scaling-law --flop {flop:g}FLOP --fit hoffmann2022-rounded",
            lambda flop=flop: by.best_size(flop, "hoffmann2022-rounded"),
            1e-6,
        )
        for flop in (1e19, 5.76e23, 3.8e25)
    ),
    Q("scaling-law --flop 8.64e19FLOP --fit kaplan2020", lambda: {"params": 1.3e9, "loss": None}),
    Q(
        "scaling-law --flop 3.14e23FLOP --fit kaplan2020",
        lambda: {
            "params": by.kaplan_params(3.14e23),
            "tokens": 3.14e23 / 6 / by.kaplan_params(3.14e23),
        },
    ),
]
DRAFTS = [
    Q(
        f"speculative-decoding --acceptance {a} --draft-tokens {k} --draft-time {t}"
        f" --draft-flop {f}",
        lambda a=a, k=k, t=t, f=f: by.drafted(a, k, t, f),
    )
    for a, k, t, f in (
        (0.8, 5, 0.05, 0.1),
        (0.01, 4, 0.1, 0),
        (1, 4, 0.1, 0.5),
        (0.5, 1, 0, 0),
        (0.9, 16, 0.02, 0.02),
        (0.6, 3, 1, 1),
        (0.99, 64, 0.01, 0),
        (0.7, 7, 0.11, 0.09),
    )
]


def piped(schedule: str, stages: int, batches: int, chunks: int = 1) -> Expected:
    return lambda: pipelines.simulated(schedule, stages, batches, chunks)


def split(schedule: str, stages: int, batches: int, times: tuple[float, float, float]) -> Expected:
    def answer() -> dict[str, float]:
        idle = pipelines.split_bubble(schedule, stages, *times)
        useful = batches * sum(times)
        return {
            "fraction": idle / (idle + useful),
            "overhead": idle / useful,
            "ideal_seconds": useful,
            "total_seconds": idle + useful,
        }

    return answer


BUBBLES = [
    *(
        Q(f"bubble --stages {p} --microbatches {m} --schedule {s}", piped(s, p, m))
        for s, p, m in (
            ("1f1b", 8, 32),
            ("1f1b", 1, 4),
            ("1f1b", 7, 3),
            ("gpipe", 4, 9),
            ("gpipe", 8, 1),
        )
    ),
    *(
        Q(
            f"bubble --stages {p} --microbatches {m} --schedule interleaved --virtual {v}",
            piped("interleaved", p, m, v),
        )
        for p, m, v in ((4, 8, 2), (8, 32, 4), (2, 6, 3))
    ),
    Q("bubble --stages 8 --microbatches 32 --schedule zb-h1", split("zb-h1", 8, 32, (1, 1, 1))),
    Q("bubble --stages 8 --microbatches 32 --schedule zb-h2", split("zb-h2", 8, 32, (1, 1, 1))),
    Q(
        "bubble --stages 4 --microbatches 16 --schedule zb-h1 --forward 10ms --backward-input 12ms"
        " --backward-weight 8ms",
        split("zb-h1", 4, 16, (0.01, 0.012, 0.008)),
    ),
    Q(
        "bubble --stages 8 --microbatches 32 --schedule dualpipe",
        split("dualpipe", 8, 32, (1, 1, 1)),
    ),
]
MESH = {"X": 4, "Y": 8, "Z": 2}
SHARDS = [
    Q(
        f"shard --array '{text}' --layout '{layout}' --mesh X=4,Y=8,Z=2",
        lambda sides=sides, axes=axes, width=width: sharding.block(sides, axes, MESH, width),
    )
    for text, layout, sides, axes, width in (
        ("bf16[256,2048]", "A[I_XY, J]", (256, 2048), ("XY", ""), 2),
        ("bf16[256,2048]", "A[I, J]", (256, 2048), ("", ""), 2),
        ("fp32[256,2048]", "A[I_X, J_Y]", (256, 2048), ("X", "Y"), 4),
        ("fp8[256,2048]", "A[I_Z, J_XY]", (256, 2048), ("Z", "XY"), 1),
        ("int4[64,64]", "A[I_X, J]", (64, 64), ("X", ""), 0.5),
        ("bf16[8,128,4096]", "A[B_Y, S_X, D]", (8, 128, 4096), ("Y", "X", ""), 2),
        ("bf16[4096]", "A[I_XYZ]", (4096,), ("XYZ",), 2),
        ("fp16[32,64]", "A[I, J_Z]", (32, 64), ("", "Z"), 2),
    )
]
FITS = [
    Q("max-params --chip h100-sxm", lambda: {"params": 80e9 / 16}),
    Q("max-params --chip h100-sxm --chips 8", lambda: {"params": 8 * 80e9 / 16}),
    Q("max-params --chip h100-sxm --bytes-per-param 2", lambda: {"params": 40e9}),
    Q("max-params --chip mi300x --bytes-per-param 18", lambda: {"params": 192e9 / 18}),
    Q("max-params --memory 24GB --bytes-per-param 0.5", lambda: {"params": 48e9}),
    Q("max-params --memory 24GiB --bytes-per-param 1", lambda: {"params": 24 * 2**30}),
    Q("max-params --memory 16GB --chips 3", lambda: {"params": 3e9}),
    Q(
        "max-params --chip rtx-4090 --bytes-per-param 4",
        lambda: {"params": Chip("rtx-4090").memory / 4},
    ),
]
FAILURES = [
    Q(
        "reliability --params 405e9 --chips 16384 --chip-mtbf 5years --save 30s --restart 10min",
        lambda: by.checkpoints(5 * YEAR / 16384, 30, 600),
        1e-3,
    ),
    Q(
        "reliability --params 70e9 --chips 1 --chip-mtbf 1000h --save 60s --restart 0s",
        lambda: by.checkpoints(3.6e6, 60, 0),
    ),
    Q(
        "reliability --params 70e9 --chips 1000 --chip-mtbf 10000h --save 1min --restart 5min"
        " --interval 1h",
        lambda: by.checkpoints(36000, 60, 300, 3600),
    ),
    Q(
        "reliability --params 70e9 --chips 1024 --chip-mtbf 50000h --restart 300s"
        " --storage 100MB/s",
        lambda: by.checkpoints(50000 * HOUR / 1024, 70e9 * 12 / 1024 / 100e6, 300),
    ),
    Q(
        "reliability --params 7e9 --chips 8 --chip-mtbf 50000h --restart 300s --storage 1GB/s"
        " --state-per-param 14",
        lambda: by.checkpoints(50000 * HOUR / 8, 7e9 * 14 / 8e9, 300),
    ),
    Q(
        "reliability --params 70e9 --chips 24000 --chip-mtbf 40000h --save 10s --restart 3min",
        lambda: by.checkpoints(6000, 10, 180),
    ),
    Q(
        "reliability --params 1e12 --chips 100000 --chip-mtbf 50000h --save 5s --restart 2min",
        lambda: by.checkpoints(1800, 5, 120),
    ),
    Q(
        "reliability --params 405e9 --chips 16384 --chip-mtbf 50000h --save 1s --restart 1min"
        " --interval 1h",
        lambda: {"saving": 1 / 3600, "repeating": 1800 / (50000 * HOUR / 16384)},
    ),
]
POWERS = [
    Q(
        "cluster-power --chip h100-sxm --chips 16384 --pue 1.1 --chips-per-rack 16",
        lambda: {"it_watts": 16384 * 1275, "watts": 16384 * 1275 * 1.1},
    ),
    Q(
        "cluster-power --power 1kW --chips 1000 --pue 1.25",
        lambda: {"watts": 1.25e6, "it_watts": 1e6},
    ),
    Q("cluster-power --power 1kW --chips 1000 --pue 1 --overhead 100W", lambda: {"watts": 1.1e6}),
    Q(
        "cluster-power --power 1kW --chips 1000 --pue 1.2 --load 0.8 --seconds 1day",
        lambda: {"watts": 960e3, "joules": 960e3 * DAY},
    ),
    Q(
        "cluster-power --power 700W --chips 1 --pue 1.1 --seconds 1h",
        lambda: {"joules": 770 * HOUR},
    ),
    Q(
        "cluster-power --power 1kW --chips 100 --pue 1.5 --chips-per-rack 32 --floor-factor 2",
        lambda: {"square_metres": 4 * 0.6588 * 2},
    ),
    Q(
        "cluster-power --power 1kW --chips 1000 --pue 1.2 --seconds 1h --water-per-joule 1.8L/kWh",
        lambda: {"cubic_metres": 1.8},
    ),
    Q(
        "cluster-power --power 10.2kW --chips 1 --pue 1 --rack-area 1m2 --chips-per-rack 1",
        lambda: {"square_metres": 1, "watts": 10200},
    ),
]
QUESTIONS = [*LAWS, *DRAFTS, *BUBBLES, *SHARDS, *FITS, *FAILURES, *POWERS]
