"""Plain functions in JavaScript: every construct gives the same doubles, all others are refused."""

from __future__ import annotations

import json
import math
import random
from typing import Any, NamedTuple

import numpy as np
import pytest

from flopbook.faces.expressions import UnprintableError
from flopbook.faces.functions import functions_module
from flopbook.formulas import get_formula

RATES = {"fast": 3.0, "slow": 0.5}
NAMES = ("fast", "slow")
LIMIT = 4.0
OPEN = math.inf


class Shares(NamedTuple):
    """Two parts in an order."""

    first: float
    second: float


class Scaled:
    """A number and its double."""

    def __init__(self, runs: Any, p: Any) -> None:
        self.once = runs["size"] * p["scale_fast"]
        self.twice = 2 * self.once


def everything(runs: Any, p: Any) -> Any:
    """Each construct that parts of a prediction use."""
    made = Scaled(runs, p)
    table = {name: p[f"scale_{name}"] for name in NAMES}
    chosen = runs.choose("kind", table, 1.5) * runs.choose("kind", RATES, 7.0)
    is_fast = runs.where("kind", "fast") & (runs["size"] >= 1) | ~runs.where("kind", *NAMES)
    first, second = halves(runs["size"] - made.once / (chosen + 1))
    longest = np.maximum(first, np.minimum(second, LIMIT)) ** 1.5
    left: float = np.where(is_fast, longest, -longest)
    for name in NAMES:
        if name not in RATES or name == "slow":
            continue
        left += RATES[name] % 2
    size = runs["size"] + (100 if runs["kind"].startswith("s") else 0)
    case = {"stages": size, "microbatches": 2 * size, "schedule": "1f1b"}
    bubble = get_formula("bubble")
    waits = bubble.compute({**bubble.defaults, **case})["overhead"]
    between = 1.0 if 0 < size <= 2 and not runs.inferred("kind") else math.hypot(size, made.twice)
    parts = Shares(second=left // 3, first=RATES.get("other", waits))
    parts = parts._replace(second=min(parts.second, OPEN) + between)
    return parts


def halves(size: Any) -> Any:
    """A third and what is left."""
    if size < 0:
        return 0.0, abs(size)
    else:
        size /= 3
    return size, float(2 * size)


class Run(dict[str, Any]):
    """A run as Python has it."""

    def where(self, name: str, *words: str) -> Any:
        """Whether the word is one of these."""
        return np.bool_(self[name] in words)

    def choose(self, name: str, table: Any, otherwise: float) -> Any:
        """The number of the word."""
        return table.get(self[name], otherwise)

    def inferred(self, name: str) -> bool:
        """Whether a rule filled this in."""
        return name in self["inferred"]


PARAMETERS = {"scale_fast": 1.25, "scale_slow": 0.1}
_CALLED = """async ([source, runs, p]) => {
  const {everything} = await import("data:text/javascript," + encodeURIComponent(source));
  return JSON.parse(runs).map((run) => { return everything(run, p); });
}"""


@pytest.mark.browser
def test_every_construct_is_the_same_function(surf: Any) -> None:
    rng = random.Random("functions")
    sizes = [1.0, 2.0, 3.0, 40.0, *(float(rng.randint(1, 99)) for _ in range(60))]
    runs = [
        Run(
            size=size, kind=rng.choice(["fast", "slow", "odd"]), inferred=rng.choice([[], ["kind"]])
        )
        for size in sizes
    ]
    source = functions_module([everything])
    there = surf(
        lambda context: context.new_page().evaluate(_CALLED, [source, json.dumps(runs), PARAMETERS])
    )
    for run, answer in zip(runs, there, strict=True):
        here = everything(run, PARAMETERS)
        assert list(answer) == list(here._fields)
        assert list(answer.values()) == pytest.approx([float(one) for one in here], rel=1e-13)


def has_a_set(size: float) -> Any:
    """A set display."""
    return {size}


def has_a_keyword(size: float) -> Any:
    """A keyword to a plain function."""
    return halves(size=size)


def has_a_stranger(size: float) -> Any:
    """A function of no known meaning."""
    return np.cumsum(size)


def has_a_while(size: float) -> Any:
    """A loop without an end."""
    while size > 1:
        size = size / 2
    return size


def has_a_global(size: float) -> Any:
    """A function as a value."""
    return size if halves else 0


def has_a_filter(size: float) -> Any:
    """A table that leaves names out."""
    return {name: size for name in NAMES if name == "fast"}


def has_a_format(size: float) -> Any:
    """Text with digits."""
    return f"{size:.2f}"


def has_a_shift(size: int) -> Any:
    """An operator that parts do not use."""
    return size << 1


def has_a_constant_of_numpy(size: float) -> Any:
    """A constant that JavaScript lacks."""
    return size * np.euler_gamma


def has_an_item_set(size: Any) -> Any:
    """A change of an array."""
    size[0] = 1
    return size


def has_an_unpacked_loop(size: float) -> Any:
    """A loop over pairs."""
    for _name, rate in RATES.items():
        size = size * rate
    return size


def test_all_else_is_refused_with_its_place() -> None:
    refused = [value for name, value in globals().items() if name.startswith("has_a")]
    assert len(refused) == 11
    for function in refused:
        with pytest.raises(UnprintableError) as error:
            functions_module([function])
        line = function.__code__.co_firstlineno
        place = str(error.value).split(": ")[0]
        file, _, number = place.rpartition(":")
        assert file == __file__ and line < int(number) <= line + 4, str(error.value)
        assert "cannot be printed" in str(error.value)


def test_a_module_holds_each_function_and_constant_once() -> None:
    text = functions_module([everything, halves])
    for name in ("everything", "halves", "Scaled"):
        assert text.count(f"function {name}(") == 1
    assert text.count("const RATES = ") == 1 and "const NumPy" not in text
    assert text.endswith("export {everything, halves};\n")
    assert "const OPEN = Infinity;" in text
