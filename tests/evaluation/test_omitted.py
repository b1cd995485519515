"""What an answer leaves out stands in its notes, with the size for the inputs at hand."""

from __future__ import annotations

import json

from flopbook import calculate
from flopbook.evaluation.answers import answer
from flopbook.evaluation.calculator import resolved
from flopbook.evaluation.notes import add_notes
from flopbook.evaluation.request import Request
from flopbook.evaluation.results import DEFAULT, Value
from flopbook.evaluation.solving.solutions import mark_solved
from flopbook.evaluation.sweeping import sweep
from flopbook.formulas import get_formula
from flopbook.quantities.ops import inf

OFTEN = {"chips": 16384, "chip_mtbf": "300days", "save": "30s", "restart": "10min"}
STARTS = "lost adds up three shares as if no failure hit the time that they take"


def told(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if note.startswith(STARTS)]


def test_a_large_one_is_in_text_and_json() -> None:
    """Half of the time is lost, first order; the exact model says 23 % less of it."""
    result = calculate("reliability", **OFTEN)
    (note,) = told(result.notes)
    assert note.endswith("it changes (-23 %)")
    assert f"note: {note}" in answer(result)
    assert note in json.loads(json.dumps(result.as_json()))["notes"]
    assert list(result.omitted) == ["failures_in_lost_time"]


def test_a_small_one_is_not_told() -> None:
    result = calculate("reliability", **{**OFTEN, "chips": 1024})
    assert not told(result.notes) and not result.omitted


def test_a_sweep_tells_the_largest_once() -> None:
    chips = [1024, 8192, 16384, 0.5]  # the last one is refused, so blocks are halved
    grid = sweep("reliability", **{**OFTEN, "chips": chips})
    (note,) = told(grid.notes)
    assert note.endswith("(up to -23 %)") or note.endswith("(-23 %)")


def test_an_answer_that_was_solved_for_keeps_what_is_left_out() -> None:
    result = mark_solved(calculate("reliability", **OFTEN), "restart")
    assert result.inputs["restart"].origin == "solved" and len(told(result.notes)) == 1


def test_an_open_output_leaves_nothing_out() -> None:
    """What is left out of an answer that nobody gets is no news."""
    formula = get_formula("reliability")
    lost = formula.outputs["lost"]._replace(needs=("interval",))
    without = formula._replace(outputs={**formula.outputs, "lost": lost})
    request = Request(without, OFTEN)
    values = {**resolved("reliability", **OFTEN), "interval": Value(inf, "s", DEFAULT)}
    outputs = without.compute({name: used.value for name, used in values.items()})
    add_notes(request, values, outputs)
    assert outputs["lost"] is None and not request.omitted
