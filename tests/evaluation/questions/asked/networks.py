"""Questions on collectives and products of sharded matrices."""

from __future__ import annotations

from tests.evaluation.questions.answers import networks as by
from tests.evaluation.questions.question import Expected
from tests.evaluation.questions.question import Question as Q

NEAR = 5e-3  # messages so large that latency is less


def ring(op: str, chips: int, size: float, link: float, both_ways: bool = True) -> Expected:
    return lambda: {"seconds": by.ring_load(op, chips, size, both_ways) / link}


def switch(op: str, chips: int, size: float, port: float) -> Expected:
    def answer() -> dict[str, float]:
        seconds = by.switch_load(op, chips, size) / port
        return {"seconds": seconds, "bus_bandwidth": by.bus_bandwidth(op, chips, size, seconds)}

    return answer


OPS = ("all-gather", "reduce-scatter", "all-reduce", "all-to-all")
RINGS = [
    *(
        Q(
            f"collective --op {op} --topology ring --chips {n} --bytes 100GB"
            " --link-bandwidth 45GB/s",
            ring(op, n, 100e9, 45e9),
            NEAR,
        )
        for op in OPS
        for n in (8, 16)
    ),
    *(
        Q(
            f"collective --op {op} --topology ring --chips 7 --bytes 100GB --link-bandwidth 45GB/s",
            ring(op, 7, 100e9, 45e9),
            NEAR,
        )
        for op in OPS
    ),
    *(
        Q(
            f"collective --op {op} --topology ring --links-per-axis 1 --chips 8 --bytes 100GB"
            " --link-bandwidth 45GB/s",
            ring(op, 8, 100e9, 45e9, False),
            NEAR,
        )
        for op in OPS
    ),
]
SWITCHES = [
    *(
        Q(
            f"collective --op {op} --topology switch --chips {n} --bytes 64GB"
            " --link-bandwidth 400Gb/s",
            switch(op, n, 64e9, 50e9),
            NEAR,
        )
        for op in OPS
        for n in (2, 8, 13)
    ),
    Q(
        "collective --chip h100-sxm --chips 8 --bytes 64GB --op all-gather",
        lambda: {"seconds": 64e9 * 7 / 8 / 450e9},
        0.35,
    ),
]
LINES = [
    Q(
        f"collective --op all-gather --topology torus --axes 1 --wrap no --chips {n} --bytes 64GB"
        " --link-bandwidth 50GB/s",
        lambda n=n: {"seconds": 64e9 * (n - 1) / n / 50e9},
        NEAR,
    )
    for n in (2, 8)
]
BRIDGES = [  # the example of the issue: pairs first, not one ring over PCIe
    Q(
        "collective --chip h100-pcie --chips 8 --bytes 1GB",
        lambda: {"seconds": 15e-3, "one_ring_seconds": 27e-3},
        0.03,
    )
]
TORI = [
    Q(
        f"collective --op {op} --topology torus --axes 2 --side-x 4 --chips 16 --bytes 64GB"
        " --link-bandwidth 50GB/s",
        lambda op=op: {"seconds": by.torus(op, (4, 4), 64e9, 50e9)},
        NEAR,
    )
    for op in ("all-gather", "all-reduce")
]
LEVELS = [
    Q(
        f"collective --op {op} --topology two-level --chips {n * k} --chips-per-node {k}"
        " --bytes 64GB"
        " --link-bandwidth 450GB/s --scaleout-bandwidth 50GB/s",
        lambda op=op, n=n, k=k: {"seconds": by.two_level(op, n, k, 64e9, 450e9, 50e9)},
        NEAR,
    )
    for op in ("all-reduce", "all-gather")
    for n, k in ((2, 8), (16, 8), (4, 4))
]


def cut(m: float, k: float, n: float, ways: int, collective: float) -> Expected:
    """A product on `ways` chips of 400 TFLOP/s, and seconds of its collectives."""

    def answer() -> dict[str, float]:
        flop = 2 * m * k * n / ways
        return {
            "flop": flop,
            "compute_seconds": flop / 400e12,
            "communication_seconds": collective,
            "seconds": max(flop / 400e12, collective),
        }

    return answer


RATES = "--peak 400TFLOP/s --link-bandwidth 50GB/s"
ROWS, INNER, COLUMNS = 20480, 81920, 81920
PRODUCTS = [
    Q(
        f"sharded-matmul --product '{product}' --dims I={ROWS},J={INNER},K={COLUMNS}"
        f" --mesh X={x} {RATES} --axes 1",
        cut(ROWS, INNER, COLUMNS, x, seconds(x)),
        NEAR,
    )
    for product, seconds in (
        ("A[I_X, J] * B[J, K] -> C[I_X, K]", lambda x: 0.0),
        ("A[I, J] * B[J, K_X] -> C[I, K_X]", lambda x: 0.0),
        (
            "A[I, J_X] * B[J_X, K] -> C[I, K]",
            lambda x: by.ring_load("all-reduce", x, 2.0 * ROWS * COLUMNS) / 50e9,
        ),
        (
            "A[I, J_X] * B[J_X, K] -> C[I_X, K]",
            lambda x: by.ring_load("reduce-scatter", x, 2.0 * ROWS * COLUMNS) / 50e9,
        ),
        (
            "A[I_X, J] * B[J_X, K] -> C[I_X, K]",
            lambda x: by.ring_load("all-gather", x, 2.0 * INNER * COLUMNS) / 50e9,
        ),
    )
    for x in (4, 8)
]
QUESTIONS = [*RINGS, *SWITCHES, *LINES, *BRIDGES, *TORI, *LEVELS, *PRODUCTS]
