"""`--solve` in a terminal: the value, how it was found, and the whole answer there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.solving.solver import solve
from flopbook.formulas import formulas

BASE = ("min-batch", "--chip", "h100-sxm")
SOLVED = (*BASE, "--solve", "bandwidth", "--target", "tokens=100")


def test_solve_prints_the_value_and_then_the_answer_there(cli: Any) -> None:
    outcome = cli(*SOLVED)
    lines = outcome.out.splitlines()
    assert outcome.status == 0 and lines[0].startswith(
        "bandwidth = 9.894 TB/s: tokens exactly 100 tokens"
    )
    assert (
        "closed form" in lines[0]
        and "without --solve it is 3.35 TB/s (nvidia/h100-sxm)" in lines[1]
    )
    found = solve("min-batch", "bandwidth", "tokens=100", chip="h100-sxm").value
    plain = cli(*BASE, "--bandwidth", repr(found)).out
    assert outcome.out.partition("\n\n")[2].replace("solved", "").split() == plain.split()


def test_solve_as_json_and_explained(cli: Any) -> None:
    record = json.loads(cli(*SOLVED, "--json").out)
    assert record == solve("min-batch", "bandwidth", {"tokens": 100}, chip="h100-sxm").as_json()
    assert set(record) == {"calculator", "inputs", "outputs", "notes", "sources", "solve"}
    explained = cli(*SOLVED, "--explain").out
    assert (
        explained.startswith("bandwidth = ") and "Steps" in explained and "Leaves out" in explained
    )


def test_underscores_and_hyphens_both_name_an_input(cli: Any) -> None:
    shape = (
        "memory",
        "--model",
        "llama-3-8b",
        "--seq",
        "8192",
        "--zero",
        "3",
        "--dp",
        "64",
        "--target",
        "total=80GB",
    )
    first, second = (cli(*shape, "--solve", name).out for name in ("micro-batch", "micro_batch"))
    assert first == second and first.startswith("micro-batch = ")
    assert "the largest whole number with total at most 80 GB (found by halving" in first


def test_several_answers_are_counted(cli: Any) -> None:
    out = cli(
        "bubble",
        "--stages",
        "8",
        "--microbatches",
        "32",
        "--solve",
        "schedule",
        "--target",
        "fraction<=10%",
    ).out
    assert out.startswith(
        "5 answers; the whole result is that of the first\nschedule = zb-h1: fraction at most 0.1\n"
    )
    assert "note: 1f1b gives 0.1795" in out
    assert calculate("bubble", stages=8, microbatches=32, schedule="zb-h1")["fraction"] <= 0.1


FAILURES: dict[str, tuple[tuple[str, ...], str]] = {
    "target alone": (
        ("--target", "tokens=1"),
        "--solve and --target belong together: --solve NAME is missing",
    ),
    "solve alone": (
        ("--solve", "peak"),
        "--solve and --target belong together: --target OUTPUT=VALUE is missing",
    ),
    "no value": (("--solve", "peak", "--target"), "--target needs a value"),
    "empty": (("--solve", "peak", "--target", ""), "--target is '', expected OUTPUT=VALUE"),
    "nameless": (("--solve", "", "--target", "tokens=1"), "unknown input of min-batch ''"),
    "beyond reach": (
        ("--solve", "bytes-per-param", "--target", "tokens=1e9"),
        "no bytes-per-param gives tokens",
    ),
    "given": (
        ("--solve", "peak", "--peak", "1PFLOP/s", "--target", "tokens=1"),
        "--peak is given and solved for",
    ),
    "control": (("--solve", "pe\x1bak", "--target", "tokens=1"), "unknown input of min-batch"),
    "long": (("--solve", "peak", "--target", "x" * 5000), "expected OUTPUT=VALUE"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_mistakes_are_one_line(case: str, fails: Any) -> None:
    words, message = FAILURES[case]
    found = fails(*BASE, *words)
    assert message in found and len(found) < 400


def test_solve_and_a_drawn_schedule_are_two_questions(fails: Any) -> None:
    words = (
        "bubble",
        "--stages",
        "8",
        "--solve",
        "microbatches",
        "--target",
        "fraction=0.1",
        "--timeline",
    )
    assert fails(*words) == "--solve and --timeline do not go together"


@pytest.mark.parametrize("name", formulas())
def test_the_help_of_every_calculator_tells_of_it(name: str, cli: Any) -> None:
    words = " ".join(cli(name, "--help").out.split())
    assert "--solve NAME" in words and "--target OUTPUT=VALUE" in words
