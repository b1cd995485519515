"""Inputs for the calculators of rooflines, inference and clusters: random ones, edges, one example each.

The tests of the faces and of the command line take them from here.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

from flopbook.formula import Formula, Input
from flopbook.formulas import get_formula
from flopbook.ops import inf

Inputs = dict[str, Any]
WIDTHS = (8.0, 4.0, 2.0, 1.0, 0.75, 0.5)
# Where the bounds of an input are wider than what anybody has: a range for its unit.
RANGES = {
    "FLOP/s": (1e9, 1e18), "byte/s": (1e8, 1e15), "byte": (1e9, 1e13), "param": (1e6, 1e13), "token": (1, 1e6),
    "W": (10, 1e4), "s": (1, 1e8), "m2": (0.1, 10), "USD/s": (1e-5, 1e-2), "m3/J": (1e-12, 1e-8), "chip": (1, 1e5),
    "1": (1, 1e4),
}  # fmt: skip


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def one(rng: random.Random, spec: Input, default: Any) -> Any:
    """Any value that an input may have; sometimes the limit or the nothing that its default stands for."""
    if spec.choices:
        return rng.choice(spec.choices)
    if default in (0.0, inf) and rng.random() < 0.3:
        return default
    if spec.most == 64:
        return rng.choice([*WIDTHS, rng.uniform(0.1, 9)])
    low, high = RANGES.get(spec.unit, (1, 1e4))
    value = log_uniform(rng, max(low, spec.least), max(min(high, spec.most), spec.least))
    return float(round(value)) if spec.whole else value


def drawn(rng: random.Random, formula: Formula) -> Inputs:
    """Random inputs of a formula, without regard to its rules."""
    return {name: one(rng, spec, formula.defaults.get(name)) for name, spec in formula.inputs.items()}


def mended(given: Inputs, rng: random.Random) -> Inputs:
    """The same, so that the rules between the inputs hold."""
    if given.get("op") in ("dot", "gemv", "decode"):
        given["m"] = 1.0
    if given.get("op") == "dot":
        given["n"] = 1.0
    if given.get("op") == "prefill":
        given["n"] += given["m"]
    if given.get("op") in ("dot", "gemv", "gemm"):
        given |= {"heads": 1.0, "kv_heads": inf}
    if "heads" in given and given["kv_heads"] < inf:
        given["kv_heads"] = float(rng.randint(1, int(given["heads"])))
    return given


def generator(name: str) -> Callable[[random.Random], Inputs]:
    """A generator of inputs that a calculator accepts."""
    return lambda rng: mended(drawn(rng, get_formula(name)), rng)


def edges(name: str, **values: tuple[Any, ...]) -> Callable[[], Iterator[Inputs]]:
    """The example of a calculator with every combination of these values."""

    def made() -> Iterator[Inputs]:
        for chosen in itertools.product(*values.values()):
            yield {**EXAMPLE[name], **dict(zip(values, chosen, strict=True))}

    return made


def around(value: float) -> tuple[float, float, float]:
    """A double and its two neighbours."""
    return math.nextafter(value, 0), value, math.nextafter(value, inf)


CHIP = {"peak": 989.4e12, "bandwidth": 3.35e12}
EXAMPLE: dict[str, Inputs] = {
    "ridge-point": dict(CHIP),
    "arithmetic-intensity": {
        "k": 128.0, "op": "decode", "m": 1.0, "n": 8192.0, "heads": 64.0, "kv_heads": 8.0, "bytes_per_param": 2.0,
        "bytes_per_activation": 2.0, "bytes_per_result": 4.0, **CHIP,
    },
}  # fmt: skip
RANDOM = {name: generator(name) for name in EXAMPLE}
BOUNDARY: dict[str, Callable[[], Iterator[Inputs]]] = {
    "ridge-point": edges("ridge-point", peak=(1e-40, 1.0, 1e24), bandwidth=(1e-40, 1.0, 1e18)),
    "arithmetic-intensity": edges(
        "arithmetic-intensity", n=(1.0, 2.0, 1e12), kv_heads=(1.0, 64.0, inf), bytes_per_param=(0.01, 64.0),
        bytes_per_result=(0.5, inf), bandwidth=around(989.4e12 / 8), peak=(989.4e12, inf),
    ),
}  # fmt: skip
# The command line of each, and some of the outputs that it must give.
COMMANDS: dict[str, list[str]] = {
    "ridge-point": ["--chip", "nvidia/h100-sxm", "--dtype", "fp8"],
    "arithmetic-intensity": ["--op", "gemm", "--m", "512", "--n", "8192", "--k", "8192", "--chip", "nvidia/h100-sxm"],
}
OUTPUTS = {
    "ridge-point": {"flop_per_byte": "FLOP/byte"},
    "arithmetic-intensity": {"flop": "FLOP", "bytes": "byte", "intensity": "FLOP/byte"},
}
# Calculators over counts, of which units see little: laws and published values test them.
COUNTED = ("arithmetic-intensity",)
