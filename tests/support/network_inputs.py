"""Inputs of the calculators of networks, for the tests that every face of every calculator must
pass.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

from flopbook.formulas import get_formula
from flopbook.formulas.collectives import OPS, TOPOLOGIES

Inputs = dict[str, Any]
inf = math.inf


def spread(rng: random.Random, low: float, high: float) -> float:
    """A size of any order of magnitude."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def count(rng: random.Random, high: float) -> float:
    """A whole number of any order of magnitude."""
    return float(round(spread(rng, 1, high)))


def network(rng: random.Random, **shape: Any) -> Inputs:
    """A collective on some network, its shape in full."""
    base = {
        "bytes": spread(rng, 1, 1e15),
        "chips": 8.0,
        "link_bandwidth": spread(rng, 1e8, 1e13),
        "op": rng.choice(OPS),
        "topology": "ring",
        "axes": 1.0,
        "links_per_axis": 2.0,
        "wrap": "yes",
        "side_x": inf,
        "side_y": inf,
        "latency": spread(rng, 1e-9, 1e-3),
        "chips_per_node": inf,
        "scaleout_bandwidth": inf,
    }
    return base | shape


def random_collective(rng: random.Random) -> Inputs:
    """Any operation on any network: sides alike or not, closed or open, both ways or one."""
    topology, links = rng.choice(TOPOLOGIES), rng.choice([1.0, 2.0])
    shape: Inputs = {"topology": topology, "links_per_axis": links, "chips": count(rng, 1e4)}
    shape["wrap"] = rng.choice(["yes", "no"]) if links == 2 else "yes"
    if topology == "two-level":
        per_node = count(rng, 100)
        shape |= {
            "chips_per_node": per_node,
            "chips": per_node * count(rng, 100),
            "scaleout_bandwidth": spread(rng, 1e8, 1e12),
        }
    if topology == "torus":
        axes = rng.choice([1, 2, 3])
        sides = [count(rng, 40) + 1 for _ in range(axes)]
        if rng.random() < 0.5:
            sides = sides[:1] * axes
        else:
            shape |= dict(zip(("side_x", "side_y"), sides[:-1], strict=False))
        shape |= {"axes": float(axes), "chips": float(math.prod(sides))}
    return network(rng, **shape)


def boundary_collective() -> Iterator[Inputs]:
    """One chip and two, one side of two, odd and even rings, sizes at the crossover."""
    rng = random.Random("flopbook collective")
    for op, chips, wrap in itertools.product(OPS, (1.0, 2.0, 3.0, 4.0, 5.0, 64.0), ("yes", "no")):
        yield network(rng, op=op, chips=chips, wrap=wrap)
        yield network(rng, op=op, chips=chips, topology="switch")
        yield network(rng, op=op, chips=chips**3, wrap=wrap, topology="torus", axes=3.0)
        yield network(
            rng, op=op, chips=2 * chips, wrap=wrap, topology="torus", axes=2.0, side_x=2.0
        )
        levels = {"chips_per_node": chips, "scaleout_bandwidth": 5e10, "topology": "two-level"}
        yield network(rng, op=op, chips=chips, **levels)
        yield network(rng, op=op, chips=chips * 2, **levels)
        if wrap == "yes":
            yield network(rng, op=op, chips=chips, links_per_axis=1.0)


def machine(rng: random.Random) -> Inputs:
    """A chip and its links, a batch and a mixture: what all limits ask for."""
    experts = rng.choice([1.0, count(rng, 512)])
    return {
        "peak": spread(rng, 1e9, 1e18),
        "link_bandwidth": spread(rng, 1e6, 1e13),
        "axes": count(rng, 6),
        "links_per_axis": rng.choice([1.0, 2.0]),
        "batch_tokens": rng.choice([inf, spread(rng, 1, 1e9)]),
        "bytes_per_param": rng.choice([4.0, 2.0, 1.0, 0.5]),
        "experts": experts,
        "experts_per_token": count(rng, experts),
    }


def random_dp(rng: random.Random) -> Inputs:
    """Data parallelism, within a pod or across."""
    return machine(rng) | {"scaleout_bandwidth": rng.choice([inf, spread(rng, 1e6, 1e12)])}


def random_fsdp(rng: random.Random) -> Inputs:
    """The same with weights gathered once or twice."""
    return random_dp(rng) | {"regather": rng.choice(["yes", "no"])}


def random_tp(rng: random.Random) -> Inputs:
    """A split feed-forward block of any width, without a batch."""
    asked = ("peak", "link_bandwidth", "axes", "links_per_axis", "bytes_per_param")
    block = {
        "d_ff": count(rng, 1e6),
        "ffn_kind": rng.choice(["plain", "gated"]),
        "regather": rng.choice(["no", "yes"]),
    }
    return {name: value for name, value in machine(rng).items() if name in asked} | block


def random_mixed(rng: random.Random) -> Inputs:
    """Both, with axes shared out."""
    given = machine(rng) | {
        "d_ff": count(rng, 1e6),
        "ffn_kind": rng.choice(["plain", "gated"]),
        "chips": count(rng, 1e6),
    }
    tensor_axes = count(rng, max(given["axes"] - 1, 1))
    return given | {"tensor_axes": tensor_axes, "batch_tokens": spread(rng, 1, 1e9)}


def random_cp(rng: random.Random) -> Inputs:
    """A sequence over chips, by either method, grouped keys or not."""
    asked = ("peak", "link_bandwidth", "axes", "links_per_axis", "bytes_per_param")
    heads = count(rng, 256)
    return {name: value for name, value in machine(rng).items() if name in asked} | {
        "heads": heads,
        "kv_heads": rng.choice([inf, count(rng, heads)]),
        "method": rng.choice(["ring", "ulysses"]),
        "causal": rng.choice(["no", "yes"]),
        "seq": rng.choice([inf, spread(rng, 1, 1e9)]),
    }


def random_ep(rng: random.Random) -> Inputs:
    """Experts over chips on one to three axes."""
    given = {name: value for name, value in machine(rng).items() if name != "batch_tokens"}
    return given | {
        "axes": rng.choice([1.0, 2.0, 3.0]),
        "memory_bandwidth": spread(rng, 1e9, 1e14),
        "expert_d_ff": count(rng, 1e5),
        "ffn_kind": rng.choice(["gated", "plain"]),
        "chips": rng.choice([inf, count(rng, 1e4)]),
        "d_model": count(rng, 1e5),
        "layers": count(rng, 1e3),
    }


def boundary_cp() -> Iterator[Inputs]:
    """Sequences that are just long enough, and the doubles beside them."""
    chip = {
        "peak": 2.0**48,
        "link_bandwidth": 2.0**36,
        "axes": 1.0,
        "links_per_axis": 2.0,
        "bytes_per_param": 2.0,
    }
    for method, heads, causal in itertools.product(("ring", "ulysses"), (1.0, 8.0), ("no", "yes")):
        for keys, times in itertools.product((1.0, inf), (1, 2, 3, 6, 16)):
            for seq in around(2.0**11 * times):
                yield {
                    **chip,
                    "heads": heads,
                    "kv_heads": keys,
                    "method": method,
                    "causal": causal,
                    "seq": seq,
                }


def boundary_ep() -> Iterator[Inputs]:
    """Widths at which the exchange is just hidden, on a switch and on one to three axes."""
    chip = {
        "peak": 2.0**48,
        "link_bandwidth": 2.0**36,
        "memory_bandwidth": 2.0**40,
        "bytes_per_param": 2.0,
    }
    shape = {
        "experts": 64.0,
        "experts_per_token": 8.0,
        "chips": inf,
        "d_model": 4096.0,
        "layers": 58.0,
    }
    for ffn, links, axes, beside in itertools.product(
        ("plain", "gated"), (1.0, 2.0), (1.0, 2.0, 3.0), (-1, 0, 1)
    ):
        for width in (2.0, 2.0**11, 2.0**12, 2.0**14):
            given = {**chip, **shape, "ffn_kind": ffn, "links_per_axis": links, "axes": axes}
            yield {**given, "expert_d_ff": width + beside}


def around(value: float) -> tuple[float, float, float]:
    """A double and its two neighbours."""
    return math.nextafter(value, 0), value, math.nextafter(value, inf)


def boundary_limit(name: str, shape: Inputs) -> Iterator[Inputs]:
    """Batches that are whole multiples of the tokens per chip, and the doubles around them."""
    chip = {"peak": 4.59e14, "links_per_axis": 2.0, "bytes_per_param": 2.0} | shape
    rates = itertools.product(
        (9e10, 1e11, 45e9), (1.0, 2.0, 3.0), ((1.0, 1.0), (256.0, 8.0), (7.0, 3.0))
    )
    for link, axes, (experts, visited) in rates:
        base = {
            **chip,
            "link_bandwidth": link,
            "axes": axes,
            "experts": experts,
            "experts_per_token": visited,
        }
        per_chip = get_formula(name).function(**base)["tokens_per_chip"]
        for chips in (0.5, 1, 2, 7, 1000, 8960):
            for batch in around(per_chip * chips):
                yield {**base, "batch_tokens": batch}


def boundary_dp() -> Iterator[Inputs]:
    """Without and with a network beyond the pod."""
    yield from boundary_limit("dp-limit", {"scaleout_bandwidth": inf})
    yield from boundary_limit("dp-limit", {"scaleout_bandwidth": 6.25e9})


def boundary_mixed() -> Iterator[Inputs]:
    """Splits that would have less than one way of either kind, and one chip alone."""
    for chips, d_ff in itertools.product((1.0, 64.0), (1.0, 32768.0, 1e6)):
        yield from boundary_limit(
            "mixed-limit", {"chips": chips, "d_ff": d_ff, "tensor_axes": 1.0, "ffn_kind": "plain"}
        )


def boundary_tp() -> Iterator[Inputs]:
    """Widths at which the ways are a whole number, and the ones beside them."""
    chip = {
        "peak": 2.0**48,
        "link_bandwidth": 2.0**36,
        "axes": 1.0,
        "links_per_axis": 2.0,
        "bytes_per_param": 2.0,
    }
    for ways, beside, ffn, regather in itertools.product(
        (1, 2, 8), (-1, 0, 1), ("plain", "gated"), ("yes", "no")
    ):
        yield {**chip, "d_ff": float(2**11 * ways + beside), "ffn_kind": ffn, "regather": regather}


RANDOM = {
    "collective": random_collective,
    "dp-limit": random_dp,
    "fsdp-limit": random_fsdp,
    "tp-limit": random_tp,
    "mixed-limit": random_mixed,
    "cp-limit": random_cp,
    "ep-limit": random_ep,
}
BOUNDARY = {
    "collective": boundary_collective,
    "dp-limit": boundary_dp,
    "tp-limit": boundary_tp,
    "mixed-limit": boundary_mixed,
    "cp-limit": boundary_cp,
    "ep-limit": boundary_ep,
}
V5P = {"peak": 4.59e14, "link_bandwidth": 90e9, "links_per_axis": 2.0, "bytes_per_param": 2.0}
MIXTURE = {"experts": 256.0, "experts_per_token": 8.0}
# One call of each with every input given, whose working is checked step by step.
WORKED: dict[str, Inputs] = {
    "collective": {
        "bytes": 1e9,
        "chips": 512.0,
        "link_bandwidth": 9e10,
        "op": "all-reduce",
        "topology": "torus",
        "axes": 3.0,
        "links_per_axis": 2.0,
        "wrap": "yes",
        "side_x": 4.0,
        "side_y": 8.0,
        "latency": 1e-6,
        "chips_per_node": 8.0,
        "scaleout_bandwidth": 5e10,
    },
    "dp-limit": {**V5P, "axes": 3.0, "batch_tokens": 16e6, **MIXTURE, "scaleout_bandwidth": 6.25e9},
    "fsdp-limit": {
        **V5P,
        "axes": 3.0,
        "batch_tokens": 16e6,
        **MIXTURE,
        "scaleout_bandwidth": 6.25e9,
        "regather": "no",
    },
    "tp-limit": {**V5P, "axes": 3.0, "d_ff": 28672.0, "ffn_kind": "gated", "regather": "yes"},
    "mixed-limit": {
        **V5P,
        "axes": 3.0,
        "tensor_axes": 1.0,
        "batch_tokens": 48000.0,
        "chips": 64.0,
        "d_ff": 32768.0,
        "ffn_kind": "gated",
        **MIXTURE,
    },
    "cp-limit": {
        **V5P,
        "axes": 3.0,
        "heads": 64.0,
        "kv_heads": 8.0,
        "method": "ulysses",
        "causal": "yes",
        "seq": 131072.0,
    },
    "ep-limit": {
        **V5P,
        "axes": 3.0,
        **MIXTURE,
        "memory_bandwidth": 2.765e12,
        "expert_d_ff": 2048.0,
        "ffn_kind": "gated",
        "chips": 64.0,
        "d_model": 7168.0,
        "layers": 58.0,
    },
}
LINKS = ["--link-bandwidth", "90GB/s", "--scaleout-bandwidth", "50Gbit/s"]
COMMANDS = {
    "collective": [
        "--chip",
        "google/tpu-v5p",
        "--chips",
        "64",
        "--bytes",
        "1GB",
        "--op",
        "all-gather",
    ],
    "dp-limit": [
        "--chip",
        "google/tpu-v5p",
        "--batch-tokens",
        "16M",
        "--scaleout-bandwidth",
        "50Gbit/s",
    ],
    "fsdp-limit": ["--chip", "google/tpu-v5p", "--axes", "3", "--batch-tokens", "16M", *LINKS],
    "tp-limit": ["--chip", "google/tpu-v5p", "--axes", "1", "--d-ff", "28672"],
    "mixed-limit": [
        "--chip",
        "google/tpu-v5p",
        "--d-ff",
        "32768",
        "--chips",
        "64",
        "--batch-tokens",
        "48000",
    ],
}
COMMANDS |= {
    "cp-limit": ["--chip", "google/tpu-v5p", "--heads", "64", "--seq", "131072"],
    "ep-limit": ["--chip", "nvidia/h100-sxm", "--model", "deepseek-v3", "--layers", "58"],
}
LIMIT = {"tokens_per_chip": "token", "max_chips": "chip"}
OUTPUTS = {
    "collective": {"seconds": "s", "bytes_per_link": "byte", "bus_bandwidth": "byte/s"},
    "dp-limit": LIMIT,
    "tp-limit": {"max_ways": "chip"},
    "mixed-limit": LIMIT | {"x_opt": "1"},
    "cp-limit": LIMIT,
    "ep-limit": LIMIT,
}
# Nearly every step of these counts chips and tokens, and units see nothing of that: simulated
# networks and a search do.
COUNTED = ("collective", "mixed-limit")
# Products and quotients of pure counts in the others: no unit can tell times from over.
BLIND = {
    "0 / tokens_per_chip",
    "tokens_per_chip * 2 * 3",
    "tokens_per_chip / 2",
    "forward_tokens * (1 + sent) * 3",
    "forward_tokens * sent * 2",
    "forward_tokens / (1 + sent)",
    "forward_tokens / sent",
    "FLOP_PER_WEIGHT * matrices / d_ff",
    "FLOP_PER_WEIGHT / matrices",
    "forward_ways * 4 * sent",
    "forward_ways * 6 * (2 + sent)",
    "forward_ways / 4",
    "forward_ways / 6",
    "FLOP_PER_WEIGHT * network / heads",
    "forward_tokens * 2 * 5",
    "forward_tokens * 4 * 5",
    "forward_tokens * 4 * 7",
    "forward_tokens * 6 * 7",
    "forward_tokens / 2",
    "forward_tokens / 4",
    "forward_tokens / 6",
    "mask * bytes_per_param * peak / moved",
    "seq * forward_tokens",
    "shortest * ways",
    "4 * bytes_per_param * experts_per_token * d_model / layers",
    "4 * bytes_per_param * experts_per_token / d_model",
    "4 * bytes_per_param / experts_per_token",
    "4 * slack * axes",
    "4 / slack",
    "busy * experts * (experts_per_token * spread)",
    "busy / experts",
    "bytes_per_param * peak / 2",
    "expert_d_ff * least_width",
    "experts_per_token / spread",
    "side * side / side",
    "side / side",
}

# What people put into the forms: values by hand, from a chip, from a model, and every word of the
# choices.
STATES: dict[str, list[dict[str, str]]] = {
    "collective": [
        {"bytes": "1GB", "chips": "8", "chip": "nvidia/h100-sxm"},
        {"bytes": "1MB", "chips": "64", "chip": "google/tpu-v5p"},
        {
            "bytes": "32MiB",
            "chips": "4",
            "link-bandwidth": "45GB/s",
            "wrap": "no",
            "op": "all-gather",
        },
        {
            "bytes": "1GB",
            "chips": "32",
            "chip": "google/tpu-v5p",
            "topology": "torus",
            "axes": "2",
            "side-x": "4",
        },
        {
            "bytes": "1GB",
            "chips": "144",
            "chip": "nvidia/gb200-gpu",
            "topology": "two-level",
            "op": "all-to-all",
        },
        {
            "bytes": "1GB",
            "chips": "16",
            "link-bandwidth": "450GB/s",
            "topology": "two-level",
            "chips-per-node": "8",
        }
        | {"scaleout-bandwidth": "400Gbit/s", "op": "permute"},
        {
            "bytes": "1GB",
            "chips": "8",
            "chip": "nvidia/h100-sxm",
            "topology": "ring",
            "op": "reduce-scatter",
        },
    ],
    "dp-limit": [
        {"chip": "google/tpu-v5p", "batch-tokens": "16M"},
        {"chip": "nvidia/gb200-gpu", "model": "mixtral-8x7b"},
        {"peak": "459TFLOP/s", "link-bandwidth": "90GB/s", "scaleout-bandwidth": "50Gbit/s"},
    ],
    "tp-limit": [
        {"chip": "google/tpu-v5p", "axes": "1", "d-ff": "28672"},
        {"chip": "nvidia/h100-sxm", "model": "llama-3-70b", "ffn-kind": "gated", "regather": "yes"},
    ],
    "mixed-limit": [
        {"chip": "google/tpu-v5p", "d-ff": "32768", "chips": "64", "batch-tokens": "48000"},
        {"chip": "nvidia/h100-sxm", "model": "llama-3-70b", "ffn-kind": "gated"},
    ],
    "cp-limit": [
        {"chip": "nvidia/h100-sxm", "model": "llama-3-70b", "seq": "131072"},
        {"chip": "google/tpu-v5p", "heads": "32"},
        {
            "chip": "nvidia/h100-sxm",
            "heads": "64",
            "kv-heads": "8",
            "method": "ulysses",
            "causal": "yes",
            "seq": "1M",
        },
    ],
    "ep-limit": [
        {"chip": "nvidia/h100-sxm", "model": "deepseek-v3", "layers": "58"},
        {
            "chip": "google/tpu-v5p",
            "expert-d-ff": "4096",
            "experts": "64",
            "experts-per-token": "4",
            "ffn-kind": "plain",
        },
    ],
}
