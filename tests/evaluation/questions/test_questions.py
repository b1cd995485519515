"""Questions from the command line, answered by a module that shares no code with the formulas."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from flopbook.cli.app import run
from flopbook.formulas import SECTIONS
from tests.evaluation.questions.answers.facts import Chip, shape
from tests.evaluation.questions.answers.serving import fewest_chips
from tests.evaluation.questions.answers.shapes import cache, parameters
from tests.evaluation.questions.asked import QUESTIONS
from tests.evaluation.questions.question import Question
from tests.support.cases import every

LEAST = 300
LEAST_OF_ONE = 8


BY_COMMAND = {one.command: one for one in QUESTIONS}


@every("command", [one.command for one in QUESTIONS if not one.defect])
def test_the_calculator_gives_the_answer(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer(BY_COMMAND[command], capsys)


def test_a_known_defect_is_still_there(capsys: pytest.CaptureFixture[str]) -> None:
    """A question with one must fail until it is mended."""
    for question in QUESTIONS:
        if question.defect:
            with pytest.raises(AssertionError):
                answer(question, capsys)


def answer(question: Question, capsys: pytest.CaptureFixture[str]) -> None:
    """Ask the command line, and compare with the answer that shares no code with it."""
    status = run([*question.words, "--json"])
    printed = capsys.readouterr()
    assert status == 0, printed.err
    outputs = json.loads(printed.out)["outputs"]
    expected = question.expected()
    given = {name: outputs[name]["value"] for name in expected}
    assert given == {name: nearly(value, question.rel) for name, value in expected.items()}


def nearly(value: Any, rel: float) -> Any:
    """Numbers to within `rel`; words and open answers as they are."""
    if isinstance(value, (list, tuple)):
        return [nearly(one, rel) for one in value]
    if value is None or isinstance(value, str):
        return value
    return pytest.approx(value, rel=rel, abs=1e-12) if math.isfinite(value) else None


def test_every_calculator_is_asked() -> None:
    """Three hundred questions or more, and several on each calculator."""
    counts = Counter(question.calculator for question in QUESTIONS)
    calculators = {name for names in SECTIONS.values() for name in names}
    assert len(QUESTIONS) >= LEAST
    assert {name for name in calculators if counts[name] < LEAST_OF_ONE} == set()


def test_no_question_is_asked_twice() -> None:
    commands = [question.command for question in QUESTIONS]
    assert len(commands) == len(set(commands))


Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """The whole answer in JSON."""

    def call(command: str) -> dict[str, Any]:
        assert run([*command.split(), "--json"]) == 0
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    return call


@pytest.mark.parametrize(
    "command",
    [
        "ridge-point --chip {}|h100-sxm,mi300x,tpu-v5p",
        "decode --chip h100-sxm --batch 4 --seq 4096 --model {}|llama-3-8b,gemma-3-27b",
        "params --model {}|llama-3-8b,gpt-2-small,deepseek-v3",
        "fsdp-limit --chip {}|tpu-v5p,h100-sxm",
    ],
)
def test_several_at_once_are_each_alone(command: str, ask: Ask) -> None:
    template, names = command.split("|")
    together = ask(template.format(names))["answers"]
    alone = [ask(template.format(name)) for name in names.split(",")]
    assert [one["outputs"] for one in together] == [one["outputs"] for one in alone]


def test_what_does_not_fit_says_so_first(ask: Ask) -> None:
    """405B in bf16 with 64 sequences of 1,024 tokens takes eleven cards of 80 GB, not one."""
    answer = ask("decode --model llama-3-405b --chip h100-sxm --batch 64 --seq 1024")
    model, card = shape("llama-3-405b"), Chip("h100-sxm").memory
    held = 2 * parameters(model)["total"] + cache(model, 1024, 64)
    assert answer["fits"] is False and answer["smallest_chips"] == 11
    assert answer["smallest_chips"] == fewest_chips(model, card, 1024, 64)
    assert answer["over"]["value"] == pytest.approx(held - card)
    assert ask("decode --model llama-3-8b --chip h100-sxm --seq 1024")["fits"] is True


def test_a_size_that_is_changed_changes_the_answer(ask: Ask) -> None:
    """`--layers 16` halves the layers of every answer that depends on them."""
    for command in ("kv-cache --model llama-3-8b --seq 4096", "params --model llama-3-8b"):
        whole, half = ask(command), ask(f"{command} --layers 16")
        name = "bytes" if "kv-cache" in command else "attention"
        values = (one["outputs"][name]["value"] for one in (whole, half))
        assert next(values) == 2 * next(values)
    model = shape("llama-3-8b", layers=16)
    answer = ask("decode --model llama-3-8b --layers 16 --chip h100-sxm --seq 1024")
    held = 2 * parameters(model)["total"] + cache(model, 1024)
    assert answer["outputs"]["chip_bytes"]["value"] == pytest.approx(held)
