"""Random and boundary inputs of the calculators of networks and of the limits of parallelism."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

from flopbook.formulas import get_formula
from flopbook.formulas.collective_inputs import OPS
from flopbook.formulas.network_inputs import TOPOLOGIES

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
    ring = {
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
        "ring_side": 1.0,
        "latency": spread(rng, 1e-9, 1e-3),
        "startup": rng.choice([0.0, spread(rng, 1e-7, 1e-3)]),
        "ramp": rng.choice([0.0, spread(rng, 1e-9, 1e-4)]),
        "efficiency": rng.uniform(0.1, 1),
        "reduction_efficiency": rng.uniform(0.1, 1),
        "chips_per_node": inf,
        "scaleout_bandwidth": inf,
        "level_overlap": rng.choice(["yes", "no"]),
        "reduction": "chips",
    }
    return ring | shape


def random_collective(rng: random.Random) -> Inputs:
    """Any operation on any network: sides alike or not, closed or open, one level or two."""
    topology, ways = rng.choice(TOPOLOGIES), rng.choice([1.0, 2.0])
    shape: Inputs = {"topology": topology, "links_per_axis": ways, "chips": count(rng, 1e4)}
    # A line whose links lead one way would never bring anything back.
    shape["wrap"] = rng.choice(["yes", "no", "axis", "cube"]) if ways == 2 else "yes"
    shape["ring_side"] = rng.choice([1.0, 2.0, 4.0, 16.0])
    if topology in ("switch", "two-level") and rng.random() < 0.3:
        shape |= {"op": "all-reduce", "reduction": "switch"}
    if topology != "torus" and (topology == "two-level" or rng.random() < 0.5):
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
        yield network(rng, op=op, chips=chips, topology="mesh")
        for closing in ("axis", "cube"):
            slices = {"wrap": closing, "ring_side": 4.0, "topology": "torus", "axes": 3.0}
            yield network(rng, op=op, chips=chips**3, **slices)
            yield network(rng, op=op, chips=8 * chips, **slices, side_x=4.0, side_y=2.0)
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
    params = rng.choice([inf, spread(rng, 1e6, 1e13)])
    return fabric(rng) | {
        "peak": spread(rng, 1e9, 1e18),
        "link_bandwidth": spread(rng, 1e6, 1e13),
        "axes": count(rng, 6),
        "batch_tokens": rng.choice([inf, spread(rng, 1, 1e9)]),
        "bytes_per_param": rng.choice([4.0, 2.0, 1.0, 0.5]),
        "experts": experts,
        "experts_per_token": count(rng, experts),
        "params": params,
        "active_params": params if params == inf else params * rng.uniform(0.01, 1),
    }


def fabric(rng: random.Random) -> Inputs:
    """A network of one level or two, and chips to hold against a limit."""
    topology = rng.choice(["torus", "ring", "switch", "mesh"])
    domain = count(rng, 1e4) if topology == "mesh" else rng.choice([inf, count(rng, 1e4)])
    scaleout = rng.choice([inf, spread(rng, 1e6, 1e12)])
    most = domain if scaleout == inf else 1e6
    chips = inf if topology == "torus" else rng.choice([inf, count(rng, min(most, 1e6))])
    return {
        "topology": topology,
        "links_per_axis": rng.choice([1.0, 2.0]),
        "wrap": rng.choice(["yes", "no", "axis", "cube"]),
        "ring_side": rng.choice([1.0, 4.0, 16.0]),
        "side_x": inf,
        "side_y": inf,
        "chips": chips,
        "chips_per_node": domain,
        "scaleout_bandwidth": scaleout,
    }


# Names of what `fabric` draws.
FABRIC = tuple(fabric(random.Random(0)))


def random_dp(rng: random.Random) -> Inputs:
    """Data parallelism, within a pod or across."""
    return machine(rng)


def random_fsdp(rng: random.Random) -> Inputs:
    """The same with weights gathered once or twice."""
    return random_dp(rng) | {"regather": rng.choice(["yes", "no"])}


def links(rng: random.Random) -> Inputs:
    """A chip and its links alone, without a batch or a mixture."""
    names = ("peak", "link_bandwidth", "axes", "bytes_per_param", *FABRIC)
    inputs = machine(rng)
    return {name: inputs[name] for name in names}


def random_tp(rng: random.Random) -> Inputs:
    """A split feed-forward block of any width, without a batch."""
    block = {
        "d_ff": count(rng, 1e6),
        "ffn_kind": rng.choice(["plain", "gated"]),
        "regather": rng.choice(["no", "yes"]),
    }
    return links(rng) | block


def random_mixed(rng: random.Random) -> Inputs:
    """Both, with axes shared out."""
    inputs = machine(rng) | {
        "d_ff": count(rng, 1e6),
        "ffn_kind": rng.choice(["plain", "gated"]),
    }
    if inputs["chips"] == inf:
        inputs["chips"] = 1.0 if inputs["scaleout_bandwidth"] == inf else count(rng, 1e6)
    if inputs["topology"] == "torus":
        inputs |= {"axes": 1.0}
    tensor_axes = count(rng, max(inputs["axes"] - 1, 1))
    return inputs | {"tensor_axes": tensor_axes, "batch_tokens": spread(rng, 1, 1e9)}


def random_cp(rng: random.Random) -> Inputs:
    """A sequence over chips, by either method, grouped keys or not."""
    keys = count(rng, 64)
    heads = keys * rng.choice([1, 2, 4, 7])
    return links(rng) | {
        "heads": heads,
        "kv_heads": rng.choice([inf, keys]),
        "method": rng.choice(["ring", "ulysses"]),
        "causal": rng.choice(["no", "yes"]),
        "seq": rng.choice([inf, spread(rng, 1, 1e9)]),
    }


def random_ep(rng: random.Random) -> Inputs:
    """Experts over chips on one to three axes."""
    inputs = machine(rng)
    for name in ("batch_tokens", "params", "active_params"):
        del inputs[name]
    return inputs | {
        "axes": rng.choice([1.0, 2.0, 3.0]),
        "memory_bandwidth": spread(rng, 1e9, 1e14),
        "expert_d_ff": count(rng, 1e5),
        "ffn_kind": rng.choice(["gated", "plain"]),
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
        **PLAIN,
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
        **PLAIN,
        "d_model": 4096.0,
        "layers": 58.0,
    }
    for ffn, ways, axes, beside in itertools.product(
        ("plain", "gated"), (1.0, 2.0), (1.0, 2.0, 3.0), (-1, 0, 1)
    ):
        for width in (2.0, 2.0**11, 2.0**12, 2.0**14):
            layout = {"ffn_kind": ffn, "links_per_axis": ways, "axes": axes}
            yield {**chip, **shape, **layout, "expert_d_ff": width + beside}


# One network without an end, as formulas take it where nothing is said of it.
PLAIN: Inputs = {
    "topology": "torus",
    "wrap": "yes",
    "ring_side": 1.0,
    "side_x": inf,
    "side_y": inf,
    "chips": inf,
    "chips_per_node": inf,
    "scaleout_bandwidth": inf,
}


def around(value: float) -> tuple[float, float, float]:
    """A double and its two neighbours."""
    return math.nextafter(value, 0), value, math.nextafter(value, inf)


def boundary_limit(name: str, shape: Inputs) -> Iterator[Inputs]:
    """Batches that are whole multiples of the tokens per chip, and the doubles around them."""
    chip = {"peak": 4.59e14, "links_per_axis": 2.0, "bytes_per_param": 2.0, **PLAIN} | shape
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
        per_chip = get_formula(name)(**base)["tokens_per_chip"]
        for chips in (0.5, 1, 2, 7, 1000, 8960):
            for batch in around(per_chip * chips):
                yield {**base, "batch_tokens": batch}


def boundary_dp() -> Iterator[Inputs]:
    """Without and with a network beyond the pod."""
    yield from boundary_limit("dp-limit", {"params": inf, "active_params": inf})
    beyond = {"scaleout_bandwidth": 6.25e9, "chips_per_node": 1000.0}
    yield from boundary_limit("dp-limit", {"params": 671e9, "active_params": 37e9, **beyond})


def boundary_mixed() -> Iterator[Inputs]:
    """Splits that would have less than one way of either kind, and one chip alone."""
    for chips, d_ff in itertools.product((1.0, 64.0), (1.0, 32768.0, 1e6)):
        yield from boundary_limit(
            "mixed-limit",
            {
                **{"chips": chips, "d_ff": d_ff, "tensor_axes": 1.0, "ffn_kind": "plain"},
                **{"params": inf, "active_params": inf},
            },
        )


def boundary_tp() -> Iterator[Inputs]:
    """Widths at which the ways are a whole number, and the ones beside them."""
    chip = {
        "peak": 2.0**48,
        "link_bandwidth": 2.0**36,
        "axes": 1.0,
        "links_per_axis": 2.0,
        "bytes_per_param": 2.0,
        **PLAIN,
    }
    for ways, beside, ffn, regather in itertools.product(
        (1, 2, 8), (-1, 0, 1), ("plain", "gated"), ("yes", "no")
    ):
        yield {**chip, "d_ff": float(2**11 * ways + beside), "ffn_kind": ffn, "regather": regather}
