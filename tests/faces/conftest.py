"""Fixtures of the faces.

throw-away formulas that leave the registry as it was, and one real browser.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from flopbook.formulas import declaration as registry
from flopbook.formulas.declaration import Formula, Output, formula
from tests.support.browsing import Surfer

# Numbers cross as JSON, whose shortest form gives the same double back; JSON has no infinity and no
# minus zero.
RUN = """async ([source, calls]) => {
  const module = await import("data:text/javascript," + encodeURIComponent(source));
  const there = value => value === "inf" ? Infinity : value;
  const number = value => Object.is(value, -0) || !Number.isFinite(value) ? String(value) : value;
  const back = value => typeof value === "string" ? {word: value} : number(value);
  return JSON.stringify(JSON.parse(calls).map(([name, inputs]) => {
    const values = Object.entries(inputs).map(([key, value]) => [key, there(value)]);
    const answer = module[name](Object.fromEntries(values));
    const outputs = typeof answer === "string" ? {message: answer} : answer;
    return Object.fromEntries(Object.entries(outputs).map(([key, value]) => [key, back(value)]));
  }));
}"""


class Engine:
    """The JavaScript engine of the browser."""

    def __init__(self, surf: Surfer) -> None:
        self._surf = surf

    def run(
        self, source: str, calls: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[dict[str, Any]]:
        """Load a JavaScript module and call its functions; one dict of outputs for each call.

        What is a text, the message of a broken rule, comes as `message`.
        """
        infinity = float("inf")
        plain = [
            [n, {k: "inf" if v == infinity else v for k, v in given.items()}] for n, given in calls
        ]
        text = self._surf(
            lambda context: context.new_page().evaluate(RUN, [source, json.dumps(plain)])
        )
        return [
            {name: _value(value) for name, value in outputs.items()} for outputs in json.loads(text)
        ]


def _value(value: Any) -> float | str:
    """An output as it was there: a word comes wrapped, since an infinity comes as text."""
    return str(value["word"]) if isinstance(value, dict) else float(value)


@pytest.fixture(scope="session")
def engine(surf: Surfer) -> Engine:
    """The JavaScript engine of the browser that the other tests use."""
    return Engine(surf)


Make = Callable[..., Formula]


@pytest.fixture
def throwaway(monkeypatch: pytest.MonkeyPatch) -> Make:
    """Registers a function as a formula for one test: `throwaway(function, result="byte/s")`."""
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))

    def make(
        function: Callable[..., dict[str, Any]], parts: tuple[Any, ...] = (), **outputs: str
    ) -> Formula:
        declared = {
            name: Output(unit, name[0].upper(), f"the {name}") for name, unit in outputs.items()
        }
        words = {"title": "Throw away", "question": "Why?", "sources": ("none",)}
        return formula("throw-away", outputs=declared, parts=parts, **words)(function)

    return make
