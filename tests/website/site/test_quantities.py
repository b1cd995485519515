"""Amounts are read and written on the page as in Python."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from flopbook.quantities.units import UnitError, format_quantity, one_way, parse_quantity

pytestmark = pytest.mark.browser


UNITS = (
    "FLOP/s",
    "byte/s",
    "byte",
    "token",
    "param",
    "FLOP",
    "USD",
    "USD/s",
    "kg/J",
    "m3/J",
    "s",
    "W",
    "1",
    "byte/param",
    "chip",
    "stage",
    "micro-batch",
)
SUFFIXES = (
    "",
    "GB",
    "GiB",
    "TB/s",
    "Gbit/s",
    "TFLOP/s",
    "TOP/s",
    "T",
    "B",
    "M",
    "k",
    "K",
    "m",
    "G",
    "Gbps",
    "MBps",
    "Gb/s",
    "kb/s",
    "Gb",
    "Ki",
    "Ki tokens",
    "Mi params",
    "W",
    "kW",
    "ms",
    "us",
    "µs",
    "h",
    "days",
    "tokens",
    "tok",
    "params",
    "chips",
    "M tokens",
    "B tokens",
    "kparams",
    "%",
    "percent",
    "PF-day",
    "byte/param",
    "B/s",
    "bit",
    "bananas",
    ",5",
    "/s",
    "GB/s/s",
    "constructor",
    "toString",
    "__proto__",
    "TFLOPs",
    "FLOPS",
    "Mi",
)
NUMBERS = (
    "0",
    "1",
    "-3",
    "+7",
    ".5",
    "5.",
    "1_000",
    "3.35",
    "1e3",
    "1E-3",
    "1e400",
    "e5",
    "",
    "1.2.3",
    "٣",
    "1__0",
    "_1",
    "1_",
    "1e5_0",
)


def samples(count: int) -> list[tuple[str, str]]:
    """Texts with the unit they are read in.

    All kinds of numbers, suffixes that fit and that do not.
    """
    rng = random.Random("flopbook quantities")
    found = [
        (f"{number}{suffix}", unit)
        for number, suffix, unit in zip(NUMBERS * 4, SUFFIXES * 2, UNITS * 7, strict=False)
    ]
    found += [(f"{rng.uniform(0, 1e5)!r} {suffix}", unit) for suffix in SUFFIXES for unit in UNITS]
    while len(found) < count:
        number = (
            rng.choice(NUMBERS)
            if rng.random() < 0.3
            else repr(10 ** rng.uniform(-12, 24) * rng.choice((1, 1, 1, -1)))
        )
        blank = rng.choice(("", "", " ", "  "))
        found.append(
            (
                f"{blank}{number}{rng.choice(('', ' '))}{rng.choice(SUFFIXES)}{blank}",
                rng.choice(UNITS),
            )
        )
    return found


SCRIPT = """async ([base, calls]) => {
  const quantity = await import(base + "assets/flopbook/quantity.js");
  quantity.useTables(await (await fetch(base + "assets/flopbook/data.json")).json());
  return JSON.parse(calls).map(([name, ...given]) => {
    try {
      const made = quantity[name](...given);
      return typeof made === "number" ? [made, Object.is(made, -0)] : made;
    }
    catch { return "error"; }
  });
}"""


def _quantities(context: Any, base: str, calls: list[Any]) -> list[Any]:
    tab = context.new_page()
    tab.goto(base + "404.html")
    return tab.evaluate(SCRIPT, [base, json.dumps(calls)])


def _parsed(text: str, unit: str) -> Any:
    try:
        return parse_quantity(text, unit).hex()
    except UnitError:
        return "error"


def _hex(answer: Any) -> str:
    """What the page read, as Python writes it; JSON has no negative zero, so it is told apart."""
    if isinstance(answer, str):
        return answer
    value, is_negative_zero = answer
    return (-0.0 if is_negative_zero else float(value)).hex()


def test_quantities_are_read_as_in_python(surf: Any, base: str) -> None:
    given = samples(1500)
    there = surf(_quantities, base, [["parseQuantity", text, unit] for text, unit in given])
    back = [_hex(answer) for answer in there]
    wrong = [(g, b, _parsed(*g)) for g, b in zip(given, back, strict=True) if b != _parsed(*g)]
    assert wrong == []
    assert sum(b != "error" for b in back) > 150 and "error" in back


def test_quantities_are_written_as_in_python(surf: Any, base: str) -> None:
    rng = random.Random("flopbook formats")
    values = [
        0.0,
        1.0,
        2.5,
        999.95,
        9999.5,
        10000.5,
        12345.5,
        99999.5,
        999999.5,
        1e-4,
        9.9995e-5,
        1e6,
        1e9,
        1e12,
        1e15,
        1e21,
        1e22,
        0.5,
        307.25,  # a tie of the fourth digit
        307.75,
        30.725,
        2.0625,
        1234.5e6,
    ]
    values += [10 ** rng.uniform(-14, 30) for _ in range(400)] + [
        float(rng.randrange(10**7)) + 0.5 for _ in range(60)
    ]
    values += [-value for value in values[:60]]
    given = [
        (value, unit)
        for number, value in enumerate(values)
        for unit in (UNITS[number % len(UNITS)], UNITS[(number * 5 + 3) % len(UNITS)])
    ]
    there = surf(_quantities, base, [["formatQuantity", value, unit] for value, unit in given])
    wrong = [
        (g, t, format_quantity(*g))
        for g, t in zip(given, there, strict=True)
        if t != format_quantity(*g)
    ]
    assert wrong == []


def test_directions_and_binary_prefixes_are_those_of_python(surf: Any, base: str) -> None:
    texts = [
        "900GB/s both ways",
        " 900 GB/s both",
        "450GB/s one-way ",
        "450GB/s one way",
        "450GB/s",
        "1 both x",
        "",
    ]
    amounts = [1024.0, 1e6, 80e9, 2.0**40, 1e17]
    calls = [["oneWay", text] for text in texts] + [["binaryBytes", amount] for amount in amounts]
    there = surf(_quantities, base, calls)
    assert [tuple(pair) for pair in there[: len(texts)]] == [one_way(text) for text in texts]
    assert there[len(texts) :] == [
        format_quantity(amount, "byte", binary=True) for amount in amounts
    ]
