"""`--explain` says which input moves the answer most, in text and in JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.sensitivity import sensitivities
from flopbook.formulas import formulas, get_formula

BASE = (
    "training-time",
    "--params",
    "8B",
    "--tokens",
    "15T",
    "--peak",
    "1PFLOP/s",
    "--chips",
    "1024",
    "--mfu",
    "0.4",
    "--chip-mtbf",
    "0",
)
OPTIONS = {
    "params": "8B",
    "tokens": "15T",
    "peak": "1PFLOP/s",
    "chips": "1024",
    "mfu": "0.4",
    "chip_mtbf": "0",
}


def section(out: str) -> list[str]:
    """The lines about what moves the answer."""
    lines = out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("What moves "))
    return lines[start : lines.index("", start)]


def test_the_text_tells_the_percents(cli: Any) -> None:
    lines = section(cli(*BASE, "--explain").out)
    assert lines[0] == "What moves seconds most: for 1 % more of an input it changes by"
    assert {"  params  +1 %", "  tokens  +1 %", "  mfu     -1 %"} <= set(lines)
    assert lines[-1].startswith("  without effect here: ") and lines[-1].endswith(", pue")


def test_outputs_can_be_chosen(cli: Any) -> None:
    words = (*BASE, "--price", "2USD/h", "--explain", "--outputs", "cost,days")
    out = cli(*words).out
    assert [line.split()[2] for line in out.splitlines() if line.startswith("What moves ")] == [
        "cost",
        "days",
    ]
    record = json.loads(cli(*words, "--json").out)
    assert [part["output"] for part in record["sensitivities"]] == ["cost", "days"]


def test_json_holds_them_when_both_are_asked_for(cli: Any) -> None:
    plain, both = (
        json.loads(cli(*BASE, *words).out) for words in (("--json",), ("--json", "--explain"))
    )
    assert {key: both[key] for key in plain} == plain and set(both) - set(plain) == {
        "sensitivities"
    }
    assert both["sensitivities"] == [sensitivities(calculate("training-time", **OPTIONS)).as_json()]


def test_a_solved_answer_is_explained_too(cli: Any) -> None:
    rest = ("--mfu", "0.4", "--chip-mtbf", "0")
    words = (*BASE[:-6], *rest, "--solve", "chips", "--target", "days=30", "--explain")
    assert "  params  +1 %" in section(cli(*words).out)
    assert {"solve", "sensitivities"} <= set(json.loads(cli(*words, "--json").out))


@pytest.mark.parametrize("name", formulas())
def test_every_example_is_explained(name: str, cli: Any) -> None:
    formula = get_formula(name)
    words = [word for key, value in formula.examples[0].items() for word in (f"--{key}", value)]
    out = cli(name, *words, "--explain").out
    if all(spec.table for spec in formula.outputs.values()):
        assert (
            "What moves" not in out and "Leaves out" in out
        )  # a table has no one number that could move
    else:
        assert len(section(out)) > 1


def test_mistakes_are_one_line(fails: Any) -> None:
    assert "tokens_exact is no number" in fails(
        "min-batch", "--chip", "h100-sxm", "--explain", "--outputs", "tokens_exact"
    )
    assert fails(*BASE, "--explain", "--outputs", "secnds").startswith(
        "unknown output of training-time 'secnds'"
    )
    assert fails(*BASE, "--outputs", "days") == (
        "--outputs shows a sweep: give --sweep NAME=VALUES as well, or --explain"
    )
