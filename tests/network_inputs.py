"""Inputs of the calculators of networks, for the tests that every face of every calculator must pass."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

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
        "bytes": spread(rng, 1, 1e15), "chips": 8.0, "link_bandwidth": spread(rng, 1e8, 1e13), "op": rng.choice(OPS),
        "topology": "ring", "axes": 1.0, "links_per_axis": 2.0, "wrap": "yes", "side_x": inf, "side_y": inf,
        "latency": spread(rng, 1e-9, 1e-3), "chips_per_node": inf, "scaleout_bandwidth": inf,
    }  # fmt: skip
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
        yield network(rng, op=op, chips=2 * chips, wrap=wrap, topology="torus", axes=2.0, side_x=2.0)
        levels = {"chips_per_node": chips, "scaleout_bandwidth": 5e10, "topology": "two-level"}
        yield network(rng, op=op, chips=chips, **levels)
        yield network(rng, op=op, chips=chips * 2, **levels)
        if wrap == "yes":
            yield network(rng, op=op, chips=chips, links_per_axis=1.0)


RANDOM = {"collective": random_collective}
BOUNDARY = {"collective": boundary_collective}
# One call of each with every input given, whose working is checked step by step.
WORKED: dict[str, Inputs] = {
    "collective": {
        "bytes": 1e9, "chips": 512.0, "link_bandwidth": 9e10, "op": "all-reduce", "topology": "torus", "axes": 3.0,
        "links_per_axis": 2.0, "wrap": "yes", "side_x": 4.0, "side_y": 8.0, "latency": 1e-6, "chips_per_node": 8.0,
        "scaleout_bandwidth": 5e10,
    },
}  # fmt: skip
COMMANDS = {"collective": ["--chip", "google/tpu-v5p", "--chips", "64", "--bytes", "1GB", "--op", "all-gather"]}
OUTPUTS = {"collective": {"seconds": "s", "bytes_per_link": "byte", "bus_bandwidth": "byte/s"}}
# Nearly every step of a collective counts chips and hops, and units see nothing of that: simulated networks do.
COUNTED = ("collective",)
# Products and quotients of pure counts in the others: no unit can tell times from over.
BLIND: set[str] = set()
