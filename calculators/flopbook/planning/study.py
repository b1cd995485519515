"""Studies: a plan for each of many models, chips, counts and formats, priced in several ways.

A study is a file of options, each with one value or a list; its cases are all combinations. What a
case answers depends on its options and on the package alone, so that answers of other machines and
of earlier days can stand beside each other.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from flopbook.architectures.shape import shape
from flopbook.data.files import read_bytes
from flopbook.data.library import library, per_library
from flopbook.data.run_degrees import DIVIDING, contradiction
from flopbook.data.yaml_text import Node, named_children, read_yaml
from flopbook.errors import (
    MOST_TOLD,
    DataError,
    FlopbookError,
    Problem,
    UnknownName,
    printable,
    shorten,
    show_path,
)
from flopbook.planning.planner import PlannedLayout, plan
from flopbook.planning.question import question_of
from flopbook.prediction.asking import PRECISIONS
from flopbook.prediction.fitted import FILE as FITTED
from flopbook.prediction.machines import machine
from flopbook.prediction.open_layouts import RECOMPUTE
from flopbook.prediction.options import amount_option, count_option, word_option

PACKAGE = Path(__file__).resolve().parents[1]
MOST_CASES = 100_000
REQUIRED = ("model", "chip", "chips", "batch-tokens")
DEGREES = ("tp", "pp", "cp", "ep", "dp", "zero", "hsdp")
OPTIONAL = ("seq", "dtype", "stack", "price", *DEGREES, "recompute")
FIELDS = (*REQUIRED, *OPTIONAL)
_MOST_PRICE = 1e6  # USD/s, as in calculators
_LONGEST_PROBLEM = 500  # of a case, in characters
_MOST_CONSIDERED = 2**53  # what a table of real numbers holds exactly
_KINDS = get_type_hints(PlannedLayout)
_ON_FILE = ("model", "chip")
_MEND = "write options of flopbook plan, each with a value or a list of them"

Options = Mapping[str, str]


class Study(NamedTuple):
    """The options of each case, in the order of the file, and the prices in USD/s, if any."""

    cases: tuple[Options, ...]
    prices: tuple[float, ...]


class Answer(NamedTuple):
    """What a case answers: the best layouts, or why there are none.

    `made_with` names the code and the data that made it.
    """

    layouts: tuple[Mapping[str, Any], ...]
    considered: int
    problem: str
    made_with: str


def read_study(path: Path) -> Study:
    """The cases of a file. Raises DataError with the place of all that is wrong with it."""
    document, file = read_yaml(path), show_path(path)
    if not isinstance(document.value, dict):
        raise DataError([Problem(file, 1, 1, "study", "no options", "options and values", _MEND)])
    problems: list[Problem] = []
    typed: dict[str, list[tuple[Node, str]]] = {}
    for name, node in named_children(document):
        if name not in FIELDS:
            near = str(UnknownName("option", name, FIELDS))
            problems.append(_problem(file, node, near, "an option of flopbook plan"))
            continue
        values = list(_values(node))
        typed[name] = values
        # To look for the name that is nearest takes a while: nobody reads 20,000 slips.
        problems += itertools.islice(_wrong(name, values, file), MOST_TOLD)
        if not values:
            problems.append(_problem(file, node, "nothing", "at least one value"))
    for name in REQUIRED:
        if name not in typed:
            problems.append(Problem(file, 1, 1, "study", f"no {name}", f"{name}: VALUES", _MEND))
    count = math.prod(len(values) for name, values in typed.items() if name != "price")
    if count > MOST_CASES:
        most = f"at most {MOST_CASES:,}"
        problems.append(Problem(file, 1, 1, "study", f"{count:,} cases", most, "ask for fewer"))
    if problems := problems or list(_never_made(typed, file)):
        raise DataError(problems)
    fields = {name: [text for _, text in values] for name, values in typed.items()}
    prices = [amount_option({"price": text}, "price", "USD/s") for text in fields.pop("price", ())]
    names = [name.replace("-", "_") for name in fields]
    cases = (dict(zip(names, case, strict=True)) for case in itertools.product(*fields.values()))
    return Study(tuple(cases), tuple(price for price in prices if price is not None))


def _problem(file: str, node: Node, observed: str, expected: str) -> Problem:
    return Problem(file, node.line, node.column, "study", observed, expected, _MEND)


def _values(node: Node) -> Iterator[tuple[Node, str]]:
    """The values of an option as people would type them."""
    nodes = node.value if isinstance(node.value, list) else [node]
    for value_node in nodes:
        if value_node.value is not None:
            yield value_node, str(value_node.plain())


def _wrong(name: str, values: list[tuple[Node, str]], file: str) -> Iterator[Problem]:
    """Values that no case could use: names that nothing has, lists in lists, prices of nothing."""
    for node, text in values:
        if isinstance(node.value, (list, dict)):
            yield _problem(file, node, "several values in one", "a name or an amount")
            continue
        try:
            _CHECKS.get(name, _anything)(text)
        except FlopbookError as error:
            expected = f"a {name} that is on file" if name in _ON_FILE else "what a plan takes"
            yield _problem(file, node, shorten(error, 200), expected)


def _never_made(typed: Mapping[str, list[tuple[Node, str]]], file: str) -> Iterator[Problem]:
    """Degrees of which no combination makes any of the numbers of chips: no case has a plan."""
    named = [name for name in DIVIDING if name in typed]
    if not named:
        return
    sizes = [[_count(name)(text) for _, text in typed[name]] for name in ("chips", *named)]
    cases = itertools.product(*sizes)
    wrong = [
        contradiction(dict(zip(named, degrees, strict=True)), chips) for chips, *degrees in cases
    ]
    first = wrong[0]
    if first is None or None in wrong:
        return
    node, _ = typed[named[-1]][0]
    mend = "mend a degree, or the chips"
    yield Problem(file, node.line, node.column, "study", *first, mend)


def _price(text: str) -> None:
    price = amount_option({"price": text}, "price", "USD/s")
    if not price or not 0 < price <= _MOST_PRICE:
        raise FlopbookError(f"a price of {text}")


def _anything(text: str) -> None:
    """The plan says what is wrong with it."""


def _count(name: str) -> Callable[[str], Any]:
    """Reads a whole number as the plan does."""
    unit = "token" if name == "batch-tokens" else "1"
    return lambda text: count_option({name: text}, name, unit, may_be_zero=name == "zero")


def _word(name: str, words: tuple[str, ...]) -> Callable[[str], Any]:
    """Reads one of some words as the plan does."""
    return lambda text: word_option({name: text}, name, words)


_CHECKS: Mapping[str, Callable[[str], Any]] = {
    "model": shape,
    "chip": machine,
    "price": _price,
    "dtype": _word("dtype", PRECISIONS),
    "recompute": _word("recompute", RECOMPUTE),
    **{name: _count(name) for name in ("chips", "batch-tokens", "seq", *DEGREES)},
}


@per_library
def made_with() -> str:
    """What an answer depends on beside its options: code, fitted parameters, chips and models."""
    shelf = library()
    paths = (*shelf.accelerators.glob("*/*.yaml"), *shelf.models.glob("*.yaml"))
    digest = hashlib.sha256()
    for path in (*sorted(PACKAGE.rglob("*.py")), FITTED, *sorted(paths)):
        digest.update(path.name.encode() + b"\0" + read_bytes(path) + b"\0")
    return digest.hexdigest()[:16]


def name_of(options: Options, top: int) -> str:
    """The name of a case, under which its answer is found again."""
    return json.dumps({**options, "top": top}, sort_keys=True)


def answer(options: Options, top: int) -> Answer:
    """The best layouts of a case. What cannot be planned is an answer, too."""
    try:
        run_plan = plan(question_of(dict(options)), top)
    except FlopbookError as error:
        return Answer((), 0, printable(shorten(error, _LONGEST_PROBLEM)), made_with())
    layouts = tuple(layout._asdict() for layout in run_plan.layouts)
    return Answer(layouts, run_plan.considered, "" if layouts else "does not fit", made_with())


def answer_of(record: Any) -> Answer:
    """An answer that was written down or sent. Raises ValueError for what no plan answers.

    Files are cut off and edited, and workers may run anything: what comes back is read like data.
    """
    if not isinstance(record, Mapping) or set(record) != set(Answer._fields):
        raise ValueError("no answer of a case")
    layouts, problem, considered = record["layouts"], record["problem"], record["considered"]
    if not isinstance(layouts, (list, tuple)) or not all(map(_is_layout, layouts)):
        raise ValueError("no layouts")
    if not _is_count(considered):
        raise ValueError("no count of layouts")
    if not _is_text(problem, _LONGEST_PROBLEM) or bool(problem) == bool(layouts):
        raise ValueError("no reason")
    if not _is_text(record["made_with"], _LONGEST_PROBLEM):
        raise ValueError("no code that made it")
    return Answer(tuple(layouts), considered, problem, record["made_with"])


def _is_layout(layout: Any) -> bool:
    """Whether a record has what a planned layout has, each number within what there can be."""
    if not isinstance(layout, Mapping) or set(layout) != set(_KINDS):
        return False
    if not all(_is_value(layout[name], kind) for name, kind in _KINDS.items()):
        return False
    return bool(layout["low"] <= layout["seconds"] <= layout["high"])


def _is_value(value: Any, kind: type) -> bool:
    if kind is str:
        return _is_text(value, _LONGEST_PROBLEM)
    if kind is int:
        return _is_count(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return bool(0 < value <= sys.float_info.max)  # integers may be beyond it


def _is_count(value: Any) -> bool:
    """A whole number; True, which counts as 1 to Python, is a word to the table."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return is_whole and 0 <= value <= _MOST_CONSIDERED


def _is_text(value: Any, most: int) -> bool:
    return isinstance(value, str) and len(value) <= most and value.isprintable()


def rows(study: Study, answers: Mapping[str, Answer], top: int) -> Iterator[dict[str, Any]]:
    """A row for each case, price and layout, in the order of the file; without one, of its problem.

    `seconds`, `low` and `high` are in seconds, `price` in USD/s, `token_cost` in USD.
    """
    for options in study.cases:
        run_plan = answers.get(name_of(options, top))
        if run_plan is None:
            continue
        for price in study.prices or (None,):
            asked = {**options, "price": price, "considered": run_plan.considered}
            for rank, layout in enumerate(run_plan.layouts, 1):
                cost = _token_cost(options, layout, price)
                yield {**asked, "problem": None, "rank": rank, **_prefixed(layout), **cost}
            if not run_plan.layouts:
                yield {**asked, "problem": run_plan.problem, "rank": 0}


def _prefixed(layout: Mapping[str, Any]) -> dict[str, Any]:
    """A layout by the columns of a table, where options that fixed a degree have its name."""
    return {f"best_{name}" if name in OPTIONAL else name: value for name, value in layout.items()}


def _token_cost(
    options: Options, layout: Mapping[str, Any], price: float | None
) -> dict[str, float]:
    """USD of a trained token; nothing without a price."""
    if price is None:
        return {}
    chips = amount_option(options, "chips") or 0.0
    tokens = amount_option(options, "batch_tokens", "token") or math.inf
    return {"token_cost": price * chips * float(layout["seconds"]) / tokens}
