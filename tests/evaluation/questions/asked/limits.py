"""Questions on how far a step can be spread."""

from __future__ import annotations

import math

from tests.evaluation.questions.answers import limits as by
from tests.evaluation.questions.answers.facts import Chip, shape
from tests.evaluation.questions.answers.serving import looked_up
from tests.evaluation.questions.answers.shapes import parameters
from tests.evaluation.questions.question import Expected
from tests.evaluation.questions.question import Question as Q

V5P, H100, A100 = Chip("tpu-v5p"), Chip("h100-sxm"), Chip("a100-sxm-80gb")
V5P_LINK, H100_LINK, A100_LINK = 100e9, 450e9, 300e9  # one way
PORT = "--peak 1PFLOP/s --link-bandwidth 500GB/s --axes 1 --links-per-axis 1"
TORUS = "--peak 400TFLOP/s --link-bandwidth 50GB/s --axes 2 --links-per-axis 2"


def idle(name: str) -> float:
    """Stored weights that pass over the network, over those that compute."""
    numbers = parameters(shape(name))
    return (numbers["total"] - looked_up(shape(name))) / numbers["compute"]


def most(tokens: float, answer: dict[str, float]) -> dict[str, float]:
    return {**answer, "max_chips": tokens // answer["tokens_per_chip"]}


DP = [
    Q(
        "dp-limit --chip tpu-v5p --batch-tokens 4M",
        lambda: most(4e6, by.data_parallel(V5P.peak(), 6 * V5P_LINK)),
    ),
    Q("dp-limit --chip tpu-v5p --axes 1", lambda: by.data_parallel(V5P.peak(), 2 * V5P_LINK)),
    Q(f"dp-limit {PORT}", lambda: by.data_parallel(1e15, 500e9)),
    Q(f"dp-limit {TORUS}", lambda: by.data_parallel(400e12, 200e9)),
    Q(f"dp-limit {PORT} --bytes-per-param 1", lambda: by.data_parallel(1e15, 500e9, 1)),
    Q(f"dp-limit {PORT} --bytes-per-param 4", lambda: by.data_parallel(1e15, 500e9, 4)),
    Q(f"dp-limit {PORT} --batch-tokens 1M", lambda: most(1e6, by.data_parallel(1e15, 500e9))),
    Q(
        "dp-limit --peak 1PFLOP/s --link-bandwidth 400Gb/s --axes 1 --links-per-axis 1",
        lambda: by.data_parallel(1e15, 50e9),
    ),
]


def between_nodes() -> dict[str, float]:
    """Eight cards with 400 Gb/s each bring a node's one copy of the weights in."""
    inside = by.fully_sharded(989.4e12, 450e9)["tokens_per_chip"]
    across = by.fully_sharded(989.4e12, 8 * 50e9)["tokens_per_chip"]
    return {"domain_tokens": inside, "across_tokens": across, "pod_tokens": 8 * across}


FSDP = [
    Q(
        "fsdp-limit --chip tpu-v5p --batch-tokens 4M",
        lambda: most(4e6, by.fully_sharded(V5P.peak(), 6 * V5P_LINK)),
    ),
    Q("fsdp-limit --chip tpu-v5p --axes 2", lambda: by.fully_sharded(V5P.peak(), 4 * V5P_LINK)),
    Q("fsdp-limit --chip h100-sxm", between_nodes),
    Q(
        "fsdp-limit --chip h100-sxm --batch-tokens 16M",
        lambda: {"max_chips": 16e6 // between_nodes()["across_tokens"]},
    ),
    Q(f"fsdp-limit {PORT}", lambda: by.fully_sharded(1e15, 500e9)),
    Q(f"fsdp-limit {PORT} --regather no", lambda: by.fully_sharded(1e15, 500e9, regather=False)),
    Q(f"fsdp-limit {TORUS}", lambda: by.fully_sharded(400e12, 200e9)),
    Q(f"fsdp-limit {PORT} --bytes-per-param 1", lambda: by.fully_sharded(1e15, 500e9, 1)),
    Q(f"fsdp-limit {PORT} --batch-tokens 16M", lambda: most(16e6, by.fully_sharded(1e15, 500e9))),
    Q(
        "fsdp-limit --peak 1PFLOP/s --link-bandwidth 400Gbps --axes 1 --links-per-axis 1",
        lambda: by.fully_sharded(1e15, 50e9),
    ),
]


def split(
    peak: float,
    rate: float,
    d_ff: float,
    gated: bool,
    regather: bool = False,
    width: float = 2,
    domain: float = math.inf,
) -> Expected:
    def answer() -> dict[str, float]:
        forward, backward = by.tensor_parallel(peak, rate, d_ff, gated, width, regather)
        return {
            "max_tp_degree": min(min(forward, backward) // 1, domain),
            "forward_degree": forward,
            "backward_degree": backward,
        }

    return answer


TP = [
    Q(
        "tp-limit --chip tpu-v5p --model llama-3-70b",
        split(459e12, 600e9, 28672, True),
    ),
    Q(f"tp-limit {PORT} --d-ff 28672", split(1e15, 500e9, 28672, False)),
    Q(f"tp-limit {PORT} --d-ff 28672 --ffn-kind gated", split(1e15, 500e9, 28672, True)),
    Q(f"tp-limit {PORT} --d-ff 28672 --regather yes", split(1e15, 500e9, 28672, False, True)),
    Q(f"tp-limit {TORUS} --d-ff 8192", split(400e12, 200e9, 8192, False)),
    Q(
        f"tp-limit {PORT} --d-ff 100000 --bytes-per-param 1",
        split(1e15, 500e9, 1e5, False, width=1),
    ),
    Q(
        "tp-limit --chip h100-sxm --model llama-3-8b",
        split(989.4e12, 450e9, 14336, True, domain=8),
    ),
    # The answer is a degree inside a server; cards beyond it would carry 31.
    Q(
        "tp-limit --chip a100-sxm-80gb --model gpt-3-175b",
        split(312e12, 300e9, 49152, False, domain=8),
    ),
]


def mixed(
    peak: float, link: float, d_ff: float, axes: tuple[int, int], batch: float, chips: float
) -> Expected:
    return lambda: by.mixed(peak, link, d_ff, axes, batch, chips)


MIXED = [
    Q(
        f"mixed-limit --peak {peak}TFLOP/s --link-bandwidth {link}GB/s --axes {sum(axes)}"
        f" --tensor-axes {axes[1]} --links-per-axis 2 --d-ff {d_ff} --batch-tokens {batch}"
        f" --chips {chips}",
        mixed(peak * 1e12, link * 1e9, d_ff, axes, batch, chips),
        1e-6,
    )
    for peak, link, d_ff, axes, batch, chips in (
        (459, 100, 28672, (2, 1), 48000, 64),
        (459, 100, 28672, (1, 2), 48000, 64),
        (459, 100, 28672, (2, 1), 1000000, 2048),
        (197, 50, 14336, (1, 1), 100000, 64),
        (197, 50, 14336, (1, 1), 1000000, 256),
        (918, 100, 53248, (1, 1), 500000, 256),
        (459, 100, 8192, (2, 1), 100000, 64),
        (275, 50, 28672, (2, 1), 400000, 512),
    )
]
CP = [
    Q(
        "cp-limit --chip a100-sxm-80gb --model llama-2-7b --causal no",
        lambda: by.ring_attention(312e12, 300e9, 32, 32, False),
    ),
    Q(
        "cp-limit --chip tpu-v5p --model llama-3-70b --causal no",
        lambda: by.ring_attention(459e12, 600e9, 64, 8, False),
    ),
    Q(
        "cp-limit --chip tpu-v5p --model llama-3-70b --causal yes",
        lambda: by.ring_attention(459e12, 600e9, 64, 8, True),
    ),
    Q(
        f"cp-limit {PORT} --heads 64 --kv-heads 8 --causal no",
        lambda: by.ring_attention(1e15, 500e9, 64, 8, False),
    ),
    Q(
        f"cp-limit {PORT} --heads 64 --causal no",
        lambda: by.ring_attention(1e15, 500e9, 64, 64, False),
    ),
    Q(
        f"cp-limit {PORT} --heads 32 --kv-heads 1 --causal yes",
        lambda: by.ring_attention(1e15, 500e9, 32, 1, True),
    ),
    Q(
        f"cp-limit {PORT} --heads 64 --kv-heads 8 --causal no --bytes-per-param 1",
        lambda: by.ring_attention(1e15, 500e9, 64, 8, False, 1),
    ),
    Q(
        f"cp-limit {TORUS} --heads 64 --kv-heads 8 --causal no --seq 1M",
        lambda: most(1e6, by.ring_attention(400e12, 200e9, 64, 8, False)),
    ),
]
FAST = f"{PORT} --memory-bandwidth 4TB/s"
EP = [
    Q(
        "ep-limit --chip h100-sxm --model deepseek-v3 --layers 58 --chips 8",
        lambda: {
            **by.experts(989.4e12, 450e9, 3.35e12, (2048, 256, 8), True, 8),
            "bytes_per_token": 8 * 7168 * 2 * 4 * 58,
        },
    ),
    *(
        Q(
            f"ep-limit {FAST} --experts {e} --experts-per-token {k} --expert-d-ff {f} --chips {n}"
            f" --ffn-kind {kind}",
            lambda e=e, k=k, f=f, n=n, kind=kind: by.experts(
                1e15, 500e9, 4e12, (f, e, k), kind == "gated", n
            ),
        )
        for e, k, f, n, kind in (
            (8, 2, 14336, 8, "gated"),
            (128, 8, 1536, 8, "gated"),
            (64, 1, 4096, 4, "plain"),
            (256, 8, 2048, 32, "gated"),
            (16, 4, 10752, 2, "gated"),
            (384, 8, 2048, 16, "plain"),
            (4, 4, 2048, 4, "gated"),
        )
    ),
]
QUESTIONS = [*DP, *FSDP, *TP, *MIXED, *CP, *EP]
