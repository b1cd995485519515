"""Fixtures of the faces.

throw-away formulas that leave the registry as it was, and one real browser.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from flopbook.formulas import declaration as registry
from flopbook.formulas.declaration import Formula, Output, formula
from tests.support.browsing import Surfer

# Numbers cross as JSON, whose shortest form gives the same double back; it has no infinity and no
# minus zero. Names cross once, in a table of heads: there are thousands of calls and answers.
RUN = """async ([source, sent]) => {
  const module = await import("data:text/javascript," + encodeURIComponent(source));
  const there = value => value === "inf" ? Infinity : value;
  const number = value => Object.is(value, -0) ? "-0" : Number.isFinite(value) ? value : `${value}`;
  const back = value => typeof value === "string" ? {word: value} : number(value);
  const {heads, calls} = JSON.parse(sent);
  const places = new Map();
  const answers = calls.map(([head, ...values]) => {
    const [name, ...keys] = heads[head];
    const inputs = Object.fromEntries(keys.map((key, i) => [key, there(values[i])]));
    const answer = module[name](inputs);
    const outputs = typeof answer === "string" ? {message: answer} : answer;
    const shown = Object.keys(outputs).join(" ");
    if (!places.has(shown)) places.set(shown, places.size);
    return [places.get(shown), ...Object.values(outputs).map(back)];
  });
  return JSON.stringify({heads: [...places.keys()].map(key => key.split(" ")), answers});
}"""


class Engine:
    """The JavaScript engine of the browser, in a tab that is kept."""

    def __init__(self, surf: Surfer) -> None:
        self._surf = surf
        self._context = surf(lambda context: context.browser.new_context())
        self._tab = surf(lambda _: self._context.new_page())

    def run(
        self, source: str, calls: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[dict[str, Any]]:
        """Load a JavaScript module and call its functions; one dict of outputs for each call.

        What is a text, the message of a broken rule, comes as `message`.
        """
        heads: dict[tuple[str, ...], int] = {}
        rows = [
            [
                heads.setdefault((name, *given), len(heads)),
                *("inf" if value == math.inf else value for value in given.values()),
            ]
            for name, given in calls
        ]
        sent = json.dumps({"heads": list(heads), "calls": rows})
        text = self._surf(lambda _: self._tab.evaluate(RUN, [source, sent]))
        made = json.loads(text)
        return [
            dict(zip(filter(None, made["heads"][head]), map(_value, values), strict=True))
            for head, *values in made["answers"]
        ]

    def close(self) -> None:
        """Close the tab."""
        self._surf(lambda _: self._context.close())


def _value(value: Any) -> float | str:
    """An output as it was there: a word comes wrapped, since an infinity comes as text."""
    return str(value["word"]) if isinstance(value, dict) else float(value)


@pytest.fixture(scope="session")
def engine(surf: Surfer) -> Iterator[Engine]:
    """The JavaScript engine of the browser that the other tests use."""
    kept = Engine(surf)
    yield kept
    kept.close()


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
